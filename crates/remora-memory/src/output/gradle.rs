//! Gradle: tests, compilers of Java and Kotlin, failed tasks.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let failed = doc
        .lines
        .iter()
        .rposition(|l| l.starts_with("BUILD FAILED"));
    let success = doc
        .lines
        .iter()
        .rposition(|l| l.starts_with("BUILD SUCCESSFUL"));
    let completed = doc
        .lines
        .iter()
        .rposition(|l| l.contains(" completed, ") && text::parse_number(l).is_some());
    if failed.is_none() && success.is_none() && completed.is_none() {
        return None;
    }
    let mut draft = CommandDraft::new("gradle");
    if let Some(at) = failed.or(success) {
        draft.keep_lines(at, at + 2);
    }
    failed_tests(doc, &mut draft);
    if let Some(at) = completed {
        let line = doc.lines[at];
        let total = text::parse_number(line).map_or(0, |(n, _)| n);
        let lost = text::count_of(line, "failed").unwrap_or(0);
        let skipped = text::count_of(line, "skipped").unwrap_or(0);
        draft.apply_test_counts(TestCounts {
            passed: total.saturating_sub(lost).saturating_sub(skipped),
            failed: lost,
            skipped,
        });
        return Some(draft);
    }
    // Tests failed, but the line with their counts was cut off.
    if !draft.problems.is_empty() {
        draft.apply_test_counts(TestCounts::default());
        return Some(draft);
    }
    draft.add_concept("build");
    if failed.is_some() {
        let errors = compile_errors(doc, &mut draft);
        if errors > 0 {
            draft.add_concept("compile error");
            draft.apply_diagnostics(errors, 0);
            return Some(draft);
        }
        let wrong = doc
            .lines
            .iter()
            .position(|l| l.starts_with("* What went wrong:"));
        let task = wrong.map_or("", |at| doc.line_at(at + 1).trim());
        let why = wrong.map_or("", |at| innermost_cause(doc, at + 2));
        let subject = text::find_quoted(task).unwrap_or_default();
        let message = if why.is_empty() || why.starts_with("* Try") {
            task
        } else {
            why
        };
        draft.add_problem(
            wrong.unwrap_or(0),
            Problem::new(message).with_subject(subject),
        );
        draft.verdict = Some(CommandOutcome::Failed);
        draft.title = match (subject.is_empty(), message.is_empty()) {
            (false, _) => format!("gradle: {subject} failed: {message}"),
            (true, false) => format!("gradle: build failed: {message}"),
            (true, true) => "gradle: build failed".to_owned(),
        };
        return Some(draft);
    }
    draft.verdict = Some(CommandOutcome::Passed);
    let at = success?;
    let time = doc.lines[at].trim_start_matches("BUILD SUCCESSFUL").trim();
    draft.title = match time {
        "" => String::from("gradle: build succeeded"),
        time => format!("gradle: build succeeded {time}"),
    };
    draft.add_fact(
        doc.lines
            .iter()
            .skip(at + 1)
            .find(|l| l.contains("actionable task"))
            .copied()
            .unwrap_or_default(),
    );
    Some(draft)
}

/// Causes stand below one another, each further in: the last one tells most.
fn innermost_cause<'a>(doc: &CommandOutput<'a>, from: usize) -> &'a str {
    let lines = doc.lines.get(from..).unwrap_or_default();
    let block = lines.iter().take_while(|line| !line.starts_with("* "));
    let causes = block
        .clone()
        .filter(|line| line.trim_start().starts_with('>'));
    let cause = causes
        .last()
        .map(|line| line.trim_start_matches(['>', ' ']));
    // A script that does not compile points at the fault.
    let mut faults = block.filter_map(|line| line.trim_start().strip_prefix("^ "));
    cause.or_else(|| faults.next()).unwrap_or_default()
}

fn failed_tests(doc: &CommandOutput<'_>, draft: &mut CommandDraft) {
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some((class, test)) = line
            .strip_suffix(" FAILED")
            .and_then(|l| l.split_once(" > "))
        {
            // `> Task :test FAILED` is the task, not a test.
            if class.starts_with('>') || line.starts_with("> ") {
                continue;
            }
            let said = doc.line_at(at + 1).trim();
            let (message, place) = said.rsplit_once(" at ").unwrap_or((said, ""));
            let test = test.trim_end_matches("()");
            let class = class.rsplit('.').next().unwrap_or(class);
            let mut problem = Problem::new(message).with_subject(&format!("{class}.{test}"));
            if let Some(found) = text::parse_location(place) {
                problem = problem.with_location(found.file, found.line);
            } else if let Some(frame) = doc
                .lines
                .get(at + 2..)
                .and_then(super::trace_frames::own_java_frame)
            {
                problem = problem.with_location(&frame.file, frame.line);
            }
            draft.add_problem(at, problem);
        }
    }
}

fn compile_errors(doc: &CommandOutput<'_>, draft: &mut CommandDraft) -> u32 {
    let mut errors = 0;
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("e: ")
            && let Some(found) = text::parse_location(rest.strip_prefix("file://").unwrap_or(rest))
        {
            draft.add_problem(
                at,
                Problem::new(found.rest.trim()).with_location(found.file, found.line),
            );
            errors += 1;
        } else if let Some(found) = text::parse_location(line)
            && let Some(message) = found.rest.trim_start().strip_prefix("error: ")
        {
            draft.add_problem(
                at,
                Problem::new(message).with_location(found.file, found.line),
            );
            errors += 1;
        }
    }
    errors
}
