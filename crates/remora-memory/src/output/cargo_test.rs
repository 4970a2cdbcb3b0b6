//! `cargo test`: unit, integration and documentation tests.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::trace_frames;
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // nextest shows what each test process printed, which looks like a run.
    if doc.text.contains("Nextest run ID")
        || doc
            .lines
            .iter()
            .any(|l| l.trim_start().starts_with("Summary ["))
    {
        return None;
    }
    let mut draft = CommandDraft::new("cargo test");
    let mut counts = TestCounts::default();
    let mut results = 0_u32;
    let mut listed: Vec<(usize, &str)> = Vec::new();
    let mut seen_ok = 0_u32;
    let mut filtered = 0_u32;
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("test result: ") {
            results += 1;
            counts.passed += text::count_of(rest, "passed;").unwrap_or(0);
            counts.failed += text::count_of(rest, "failed;").unwrap_or(0);
            counts.skipped += text::count_of(rest, "ignored;").unwrap_or(0);
            filtered += text::count_of(rest, "filtered out").unwrap_or(0);
        } else if let Some(rest) = line.strip_prefix("test ") {
            if let Some(name) = rest
                .strip_suffix(" ... FAILED")
                .or_else(|| rest.strip_suffix(" - should panic ... FAILED"))
            {
                listed.push((at, name.trim_end_matches(" - should panic")));
            } else if rest.ends_with(" ... ok") {
                seen_ok += 1;
            }
        } else if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|l| l.strip_suffix(" stdout ----"))
            && !draft.is_full()
        {
            draft.add_problem(at, parse_failure(doc, at, name));
        }
    }
    // Runners of other languages say "... FAILED" too; only these lines are cargo's.
    if results == 0 && draft.problems.is_empty() && listed.is_empty() && !has_rerun_hint(doc) {
        return None;
    }
    // Quiet or cut output lacks the blocks; the names alone still tell which
    // tests failed.
    if draft.problems.is_empty() {
        let names = if listed.is_empty() {
            failures_list(doc)
        } else {
            listed
        };
        for (at, name) in names {
            draft.add_problem(
                at,
                with_name_location(Problem::new("").with_subject(name), name),
            );
        }
    }
    if results == 0 {
        counts.passed = seen_ok;
        // Cut before its result, as by `| head`: the hint is all that is left
        // of the failure.
        counts.failed = counts.failed.max(u32::from(has_rerun_hint(doc)));
    }
    draft.apply_test_counts(counts);
    if counts.passed + counts.failed == 0 && draft.problems.is_empty() {
        draft.title = if filtered > 0 {
            format!("cargo test: no test ran, {filtered} filtered out")
        } else {
            "cargo test: no tests".to_owned()
        };
    }
    // One test target passed, another one did not build.
    if !draft.has_failed() && doc.text.contains("error: could not compile") {
        draft.verdict = Some(CommandOutcome::Failed);
    }
    if draft.has_failed() && doc.text.contains(" panicked at ") {
        draft.add_concept("panic");
    }
    Some(draft)
}

fn has_rerun_hint(doc: &CommandOutput<'_>) -> bool {
    doc.text.contains("error: test failed, to rerun pass")
}

/// The block behind `---- name stdout ----`.
fn parse_failure(doc: &CommandOutput<'_>, at: usize, name: &str) -> Problem {
    let block: &[&str] = doc.lines.get(at + 1..).unwrap_or_default();
    let end = block
        .iter()
        .position(|l| l.starts_with("---- ") || *l == "failures:" || l.starts_with("test result:"))
        .unwrap_or(block.len());
    let block = &block[..end];
    if let Some(panic) = trace_frames::rust_panic(block) {
        let problem = Problem::new(panic.message).with_subject(name);
        // A documentation test runs from a file of its own; its name tells the place.
        return match panic.place {
            Some((file, line)) if !name.contains(" (line ") => problem.with_location(&file, line),
            _ => with_name_location(problem, name),
        };
    }
    let said = block
        .iter()
        .find(|l| l.starts_with("Error: ") || l.starts_with("error"))
        .or_else(|| {
            block
                .iter()
                .find(|l| !l.trim().is_empty() && !l.starts_with("note: "))
        });
    let mut problem = Problem::new(said.copied().unwrap_or_default()).with_subject(name);
    if let Some((code, message)) = said
        .and_then(|m| m.strip_prefix("error["))
        .and_then(|m| m.split_once("]: "))
    {
        problem.code = Some(code.to_owned());
        message.clone_into(&mut problem.message);
    }
    with_name_location(problem, name)
}

/// `src/lib.rs - add (line 12)`: the name holds the place.
fn with_name_location(problem: Problem, name: &str) -> Problem {
    let Some((file, rest)) = name.split_once(" - ") else {
        return problem;
    };
    let line = text::find_labelled_number(rest, "(line ");
    if text::is_path(file) {
        problem.with_location(file, line)
    } else {
        problem
    }
}

/// The indented names behind the last `failures:`.
fn failures_list<'a>(doc: &'a CommandOutput<'_>) -> Vec<(usize, &'a str)> {
    let Some(from) = doc.lines.iter().rposition(|l| *l == "failures:") else {
        return Vec::new();
    };
    doc.lines
        .iter()
        .enumerate()
        .skip(from + 1)
        .take_while(|(_, l)| l.starts_with("    ") && !l.trim().is_empty())
        .map(|(at, l)| (at, l.trim()))
        .collect()
}
