//! node's own test runner, with its default reporter.

use super::draft::{Counts, Doc, Draft};
use super::trace_frames;
use super::{Problem, text};

pub(super) fn read(doc: &Doc<'_>) -> Option<Draft> {
    let count = |name: &str| {
        doc.lines.iter().rev().find_map(|line| {
            let rest = line.strip_prefix("ℹ ")?.strip_prefix(name)?;
            text::number(rest.strip_prefix(' ')?).map(|(n, _)| n)
        })
    };
    let (passed, failed) = (count("pass").unwrap_or(0), count("fail")?);
    let mut draft = Draft::new("node --test");
    for at in 0..doc.lines.len() {
        if let Some(problem) = failure(doc, at) {
            draft.problem(at, problem);
        }
    }
    draft.tests(Counts {
        passed,
        failed,
        skipped: count("skipped").unwrap_or(0),
    });
    Some(draft)
}

/// `✖ reads the settings (1.83ms)` and what was thrown, on the next line.
fn failure(doc: &Doc<'_>, at: usize) -> Option<Problem> {
    let (name, _) = doc
        .line(at)
        .trim_start()
        .strip_prefix("✖ ")?
        .rsplit_once(" (")?;
    let block = doc.lines.get(at + 1..)?;
    let thrown = block.first()?.trim();
    if !thrown.contains("Error") {
        return None;
    }
    let mut message = thrown.to_owned();
    if message.ends_with(':') {
        let next = block.iter().skip(1).map(|line| line.trim());
        let values = next.take(3).find(|line| !line.is_empty());
        message = format!("{message} {}", values.unwrap_or_default());
    }
    let mut problem = Problem::new(message).subject(name);
    if let Some(frame) = trace_frames::own_js_frame(block) {
        problem = problem.at(&frame.file, frame.line);
    }
    Some(problem)
}
