//! Python's own unittest, also under Django and the like.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::trace_frames::{is_python_library, python_frame};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let ran = doc
        .lines
        .iter()
        .rposition(|l| l.starts_with("Ran ") && l.contains(" test") && l.contains(" in "))?;
    let (total, _) = text::parse_number(&doc.lines[ran]["Ran ".len()..])?;
    let closing =
        doc.lines.iter().skip(ran + 1).find(|l| {
            l.starts_with("FAILED") || l.starts_with("OK") || l.starts_with("NO TESTS RAN")
        });
    let mut draft = CommandDraft::new("unittest");
    for (at, line) in doc.lines.iter().enumerate() {
        let Some(rest) = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "))
        else {
            continue;
        };
        // A docstring may come between the name and the line; log output has no
        // such line.
        if doc.line_at(at + 1).starts_with("-----") || doc.line_at(at + 2).starts_with("-----") {
            draft.add_problem(at, parse_failure(doc, at, rest));
        }
    }
    let said = closing.copied().unwrap_or_default();
    let failed = text::find_labelled_number(said, "failures=").unwrap_or(0)
        + text::find_labelled_number(said, "errors=").unwrap_or(0);
    let skipped = text::find_labelled_number(said, "skipped=").unwrap_or(0);
    let failed = failed
        .max(text::to_count(draft.problems.len()))
        .max(u32::from(said.starts_with("FAILED")));
    draft.keep_lines(ran, ran + 3);
    draft.apply_test_counts(TestCounts {
        passed: total.saturating_sub(failed).saturating_sub(skipped),
        failed,
        skipped,
    });
    if total == 0 {
        draft.title = String::from("unittest: no tests ran");
        draft.verdict = (doc.host == CommandOutcome::Failed).then_some(CommandOutcome::Failed);
    }
    Some(draft)
}

fn parse_failure(doc: &CommandOutput<'_>, at: usize, name: &str) -> Problem {
    // `test_x (tests.test_a.TestA.test_x)`; before 3.11 without the repetition.
    let (test, class) = name
        .split_once(" (")
        .map_or((name, ""), |(t, c)| (t, c.split(')').next().unwrap_or(c)));
    let class = class
        .strip_suffix(test)
        .map_or(class, |c| c.trim_end_matches('.'));
    let class = class.rsplit('.').next().unwrap_or(class);
    let subject = if class.is_empty() {
        test.to_owned()
    } else {
        format!("{class}.{test}")
    };
    let mut frame = None;
    let mut message = "";
    for line in doc.lines.iter().skip(at + 2).take(200) {
        if line.starts_with("=====") || line.starts_with("Ran ") {
            break;
        }
        if let Some(found) = python_frame(line) {
            if !is_python_library(&found.file) {
                frame = Some(found);
            }
        } else if !line.starts_with([' ', '-', '+', '?'])
            && !line.is_empty()
            && !line.starts_with("Traceback")
            && line.contains("Error")
        {
            message = line;
            break;
        }
    }
    let problem = Problem::new(message).with_subject(&subject);
    match frame {
        Some(frame) => problem.with_location(&frame.file, frame.line),
        None => problem,
    }
}
