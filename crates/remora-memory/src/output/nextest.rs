//! `cargo nextest run`.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::trace_frames;
use super::{Problem, text};

/// Statuses in front of `[   0.004s] crate module::test`.
const FAILURE_STATUSES: &[&str] = &[
    "FAIL",
    "SIGABRT",
    "SIGSEGV",
    "ABORT",
    "TIMEOUT",
    "LEAK-FAIL",
];

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let summary = doc
        .lines
        .iter()
        .rposition(|l| l.trim_start().starts_with("Summary ["));
    let started = doc.text.contains("Nextest run ID");
    if summary.is_none() && !started {
        return None;
    }
    let mut draft = CommandDraft::new("cargo nextest");
    let mut seen: Vec<String> = Vec::new();
    let mut passed = 0_u32;
    for (at, line) in doc.lines.iter().enumerate() {
        let Some((status, name)) = parse_status(line) else {
            continue;
        };
        if status == "PASS" {
            passed += 1;
        }
        // A failing test is listed when it fails and again in the summary.
        if !FAILURE_STATUSES.contains(&status) || draft.is_full() || seen.contains(&name) {
            continue;
        }
        draft.add_problem(at, parse_failure(doc, at, status, &name));
        seen.push(name);
    }
    let mut counts = TestCounts {
        passed,
        ..TestCounts::default()
    };
    if let Some(at) = summary {
        let line = doc.lines[at];
        counts.passed = text::count_of(line, "passed").unwrap_or(0);
        counts.failed = text::count_of(line, "failed").unwrap_or(0)
            + text::count_of(line, "timed out").unwrap_or(0);
        counts.skipped = text::count_of(line, "skipped").unwrap_or(0);
        draft.keep_lines(at, at + 1);
    }
    if counts.passed + counts.failed == 0 && draft.problems.is_empty() {
        return None;
    }
    draft.apply_test_counts(counts);
    Some(draft)
}

fn parse_status(line: &str) -> Option<(&str, String)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    if !status.bytes().all(|b| b.is_ascii_uppercase() || b == b'-') {
        return None;
    }
    let (time, name) = rest.split_once("] ")?;
    if !time.trim_end().ends_with('s') {
        return None;
    }
    // Newer versions count the tests in front of the name.
    let name = name.trim();
    let name = match name.strip_prefix('(').and_then(|n| n.split_once(')')) {
        Some((_, name)) => name.trim(),
        None => name,
    };
    // The binary's name precedes the test's.
    let test = name.split_once(' ').map_or(name, |(_, test)| test);
    Some((status, test.trim().to_owned()))
}

fn parse_failure(doc: &CommandOutput<'_>, at: usize, status: &str, name: &str) -> Problem {
    let wanted = format!("thread '{name}'");
    let block = doc
        .lines
        .iter()
        .position(|l| l.contains(&wanted) && l.contains(" panicked at "));
    if let Some(panic) = block.and_then(|from| trace_frames::rust_panic(&doc.lines[from..])) {
        let problem = Problem::new(panic.message).with_subject(name);
        match panic.place {
            Some((file, line)) => problem.with_location(&file, line),
            None => problem,
        }
    } else {
        let said = doc
            .lines
            .iter()
            .skip(at + 1)
            .take(30)
            .find(|l| l.trim_start().starts_with("Error: "));
        let statement = match (said, status) {
            (Some(line), _) => line.trim().to_owned(),
            (None, "FAIL") => String::new(),
            (None, status) => status.to_lowercase(),
        };
        Problem::new(statement).with_subject(name)
    }
}
