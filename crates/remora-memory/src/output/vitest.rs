//! vitest.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::{Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let tests = doc
        .lines
        .iter()
        .rposition(|l| l.trim_start().starts_with("Tests  "));
    let files = doc
        .lines
        .iter()
        .rposition(|l| l.trim_start().starts_with("Test Files  "));
    let mut draft = CommandDraft::new("vitest");
    let mut broken = 0_u32;
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(name) = line.trim_start().strip_prefix("FAIL  ")
            && (name.contains(" > ") || name.contains(" [ "))
        {
            // A file that does not load is listed without a test.
            broken += u32::from(!name.contains(" > "));
            draft.add_problem(at, parse_failure(doc, at, name.trim()));
        }
    }
    if tests.is_none() && files.is_none() && draft.problems.is_empty() {
        return None;
    }
    let mut counts = tests.map_or_else(TestCounts::default, |at| {
        TestCounts::parse_line(doc.lines[at])
    });
    if let Some(at) = files {
        draft.keep_lines(at, at + 3);
        if counts.failed == 0 {
            broken = broken.max(text::count_of(doc.lines[at], "failed").unwrap_or(0));
        }
        draft.add_fact(format!(
            "files: {}",
            text::collapse_whitespace(doc.lines[at].trim_start().trim_start_matches("Test Files"))
        ));
    }
    counts.failed += broken;
    draft.apply_test_counts(counts);
    Some(draft)
}

fn parse_failure(doc: &CommandOutput<'_>, at: usize, name: &str) -> Problem {
    let (file, test) = name.split_once(" > ").unwrap_or((name, ""));
    // With workspaces the project's name comes first, between bars.
    let file = file.split(" [ ").next().unwrap_or(file).trim();
    let file = file.rsplit(' ').next().unwrap_or(file);
    let mut message = "";
    let mut line_number = None;
    let mut place = file;
    for line in doc.lines.iter().skip(at + 1).take(60) {
        let t = line.trim();
        if t.starts_with("FAIL  ") || t.starts_with("⎯⎯⎯") {
            break;
        }
        if message.is_empty() && !t.is_empty() {
            message = t.split(" // ").next().unwrap_or(t);
        } else if let Some(found) = t
            .strip_prefix("❯ ")
            .and_then(|p| text::parse_location(p.rsplit(' ').next().unwrap_or(p)))
        {
            place = found.file;
            line_number = Some(found.line);
            break;
        }
    }
    Problem::new(message)
        .with_subject(if test.is_empty() { file } else { test })
        .with_location(place, line_number)
}
