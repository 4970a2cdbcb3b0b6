//! mocha with its default reporter.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::trace_frames;
use super::{Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let is = |line: &str, word: &str| {
        text::parse_number(line.trim_start())
            .is_some_and(|(_, rest)| line.starts_with(' ') && rest.trim_start().starts_with(word))
    };
    let passing = doc.lines.iter().rposition(|l| is(l, "passing ("));
    let failing = doc.lines.iter().rposition(|l| is(l, "failing"));
    let pending = doc.lines.iter().rposition(|l| is(l, "pending"));
    let start = failing.or(passing)?;
    let count = |at: Option<usize>| {
        at.and_then(|at| text::parse_number(doc.lines[at].trim_start()))
            .map_or(0, |(n, _)| n)
    };
    let mut draft = CommandDraft::new("mocha");
    if let Some(failing) = failing {
        let mut at = failing + 1;
        while at < doc.lines.len() {
            if let Some((_, rest)) = text::parse_number(doc.lines[at].trim_start())
                && let Some(suite) = rest.strip_prefix(") ")
            {
                let (problem, next) = parse_failure(doc, at, suite);
                draft.add_problem(at, problem);
                at = next;
            } else {
                at += 1;
            }
        }
    }
    draft.keep_lines(passing.unwrap_or(start), start + 1);
    draft.apply_test_counts(TestCounts {
        passed: count(passing),
        failed: count(failing),
        skipped: count(pending),
    });
    Some(draft)
}

/// The name is spread over lines, the last of which ends with a colon.
fn parse_failure(doc: &CommandOutput<'_>, at: usize, suite: &str) -> (Problem, usize) {
    let mut name = suite.trim().to_owned();
    let mut next = at + 1;
    while !name.ends_with(':') && next < doc.lines.len() && next < at + 8 {
        let line = doc.lines[next].trim();
        if line.is_empty() {
            break;
        }
        name.push(' ');
        name.push_str(line);
        next += 1;
    }
    let block = doc.lines.get(next..).unwrap_or_default();
    let end = block
        .iter()
        .position(|l| text::parse_number(l.trim_start()).is_some_and(|(_, r)| r.starts_with(") ")))
        .unwrap_or(block.len());
    let block = &block[..end];
    let mut said = block.iter().map(|l| l.trim()).filter(|l| !l.is_empty());
    let mut message = said.next().unwrap_or_default().to_owned();
    // The values stand in the next line when the first ends with a colon.
    if message.ends_with(':') {
        message = format!("{message} {}", said.next().unwrap_or_default());
    }
    let mut problem = Problem::new(message).with_subject(name.trim_end_matches(':'));
    if let Some(frame) = trace_frames::own_js_frame(block) {
        problem = problem.with_location(&frame.file, frame.line);
    }
    (problem, next + end)
}
