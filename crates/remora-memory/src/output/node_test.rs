//! node's own test runner, with its default reporter and with TAP.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::trace_frames;
use super::{Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let count = |name: &str| {
        doc.lines.iter().rev().find_map(|line| {
            let line = line
                .strip_prefix("ℹ ")
                .or_else(|| line.strip_prefix("# "))?;
            let rest = line.strip_prefix(name)?;
            text::parse_number(rest.strip_prefix(' ')?).map(|(n, _)| n)
        })
    };
    let (passed, failed) = (count("pass").unwrap_or(0), count("fail")?);
    let mut draft = CommandDraft::new("node --test");
    for at in 0..doc.lines.len() {
        if let Some(problem) = parse_failure(doc, at).or_else(|| tap_failure(doc, at)) {
            draft.add_problem(at, problem);
        }
    }
    draft.apply_test_counts(TestCounts {
        passed,
        failed,
        skipped: count("skipped").unwrap_or(0),
    });
    Some(draft)
}

/// `✖ reads the settings (1.83ms)` and what was thrown, on the next line.
fn parse_failure(doc: &CommandOutput<'_>, at: usize) -> Option<Problem> {
    let (name, _) = doc
        .line_at(at)
        .trim_start()
        .strip_prefix("✖ ")?
        .rsplit_once(" (")?;
    let block = doc.lines.get(at + 1..)?;
    let thrown = block.first()?.trim();
    if thrown == "'test failed'" {
        return Some(Problem::new("the file failed to run").with_subject(name));
    }
    if !thrown.contains("Error") {
        return None;
    }
    let mut message = thrown.to_owned();
    if message.ends_with(':') {
        let next = block.iter().skip(1).map(|line| line.trim());
        let values = next.take(3).find(|line| !line.is_empty());
        message = format!("{message} {}", values.unwrap_or_default());
    }
    let mut problem = Problem::new(message).with_subject(name);
    if let Some(frame) = trace_frames::own_js_frame(block) {
        problem = problem.with_location(&frame.file, frame.line);
    }
    Some(problem)
}

/// `not ok 2 - reads the settings`, and the block below it with what was wrong.
fn tap_failure(doc: &CommandOutput<'_>, at: usize) -> Option<Problem> {
    let line = doc.line_at(at).trim_start();
    let (_, name) = line.strip_prefix("not ok ")?.split_once(" - ")?;
    let block = doc.lines.get(at + 1..)?;
    let end = block.iter().position(|line| line.trim() == "...");
    let block = &block[..end?];
    let value = |name: &str| {
        let lines = block.iter().enumerate();
        let mut found =
            lines.filter_map(|(n, line)| Some((n, line.trim().strip_prefix(name)?.trim())));
        let (n, value) = found.next()?;
        // A text of several lines begins below its name.
        let below = || {
            block[n + 1..]
                .iter()
                .take(4)
                .map(|line| line.trim())
                .filter(|line| !line.is_empty())
        };
        Some(match value {
            "|-" | "|" => below().take(2).collect::<Vec<_>>().join(" "),
            value => value.trim_matches('\'').to_owned(),
        })
    };
    // That of a suite or a file only says that something in it failed.
    if value("failureType:")? == "subtestsFailed" {
        return None;
    }
    let mut problem = Problem::new(value("error:")?).with_subject(name);
    let location = value("location:").unwrap_or_default();
    if let Some((file, line)) = location
        .rsplit_once(':')
        .and_then(|(place, _)| place.rsplit_once(':'))
        && let Ok(line) = line.parse::<u32>()
    {
        problem = problem.with_location(file, line);
    }
    Some(problem)
}
