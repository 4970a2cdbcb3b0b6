//! jest.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::trace_frames;
use super::{Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let suites = doc
        .lines
        .iter()
        .rposition(|l| l.starts_with("Test Suites:"));
    let tests = doc.lines.iter().rposition(|l| l.starts_with("Tests:  "));
    let mut draft = CommandDraft::new("jest");
    let mut file: Option<&str> = None;
    let mut broken = 0_u32;
    for (at, line) in doc.lines.iter().enumerate() {
        let t = line.trim_start();
        if let Some(rest) = t.strip_prefix("FAIL ").or_else(|| t.strip_prefix("PASS ")) {
            let name = rest.trim_start().split(' ').next().unwrap_or_default();
            file = Some(name).filter(|n| text::is_path(n));
        } else if let Some(name) = line.strip_prefix("  ● ") {
            if name.starts_with("Console") || name.contains("Deprecation") {
                continue;
            }
            broken += u32::from(name.trim() == "Test suite failed to run");
            draft.add_problem(at, parse_failure(doc, at, name.trim(), file));
        } else if t == "Summary of all failing tests" {
            // Everything below it was printed above already.
            break;
        }
    }
    if suites.is_none() && tests.is_none() && draft.problems.is_empty() {
        return None;
    }
    let mut counts = tests.map_or_else(TestCounts::default, |at| {
        TestCounts::parse_line(doc.lines[at])
    });
    if let Some(at) = suites {
        draft.keep_lines(at, at + 4);
        let failed = text::count_of(doc.lines[at], "failed").unwrap_or(0);
        // A suite that does not load has no failing test, and only the suites'
        // line counts it.
        if counts.failed == 0 {
            broken = broken.max(failed);
        }
        draft.add_fact(format!(
            "suites: {}",
            doc.lines[at]["Test Suites:".len()..].trim()
        ));
    }
    counts.failed += broken;
    draft.apply_test_counts(counts);
    Some(draft)
}

fn parse_failure(doc: &CommandOutput<'_>, at: usize, name: &str, file: Option<&str>) -> Problem {
    let block = doc.lines.get(at + 1..).unwrap_or_default();
    let end = block
        .iter()
        .position(|l| l.starts_with("  ● ") || l.starts_with("Test Suites:"))
        .unwrap_or(block.len())
        .min(120);
    let block = &block[..end];
    let mut message = String::new();
    for line in block.iter().map(|l| l.trim()) {
        if line.is_empty() || line.starts_with('|') {
            continue;
        }
        let side = line.starts_with("Expected") || line.starts_with("Received");
        if message.is_empty() {
            message.push_str(line.split(" // ").next().unwrap_or(line));
        } else if side && message.len() < 160 {
            message.push_str(", ");
            message.push_str(line);
        } else if line.starts_with("at ") || line.starts_with('>') {
            break;
        }
    }
    let subject = match (name, file) {
        ("Test suite failed to run", Some(file)) => file,
        _ => name,
    };
    let problem = Problem::new(message).with_subject(subject);
    match (trace_frames::own_js_frame(block), file) {
        (Some(frame), _) => problem.with_location(&frame.file, frame.line),
        (None, Some(file)) => problem.with_location(file, None),
        (None, None) => problem,
    }
}
