//! Gradle: tests, compilers of Java and Kotlin, failed tasks.

use super::draft::{Counts, Doc, Draft};
use super::{Outcome, Problem, text};

pub(super) fn read(doc: &Doc<'_>) -> Option<Draft> {
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
        .rposition(|l| l.contains(" completed, ") && text::number(l).is_some());
    if failed.is_none() && success.is_none() && completed.is_none() {
        return None;
    }
    let mut draft = Draft::new("gradle");
    if let Some(at) = failed.or(success) {
        draft.keep(at, at + 2);
    }
    failed_tests(doc, &mut draft);
    if let Some(at) = completed {
        let line = doc.lines[at];
        let total = text::number(line).map_or(0, |(n, _)| n);
        let lost = text::count_of(line, "failed").unwrap_or(0);
        let skipped = text::count_of(line, "skipped").unwrap_or(0);
        draft.tests(Counts {
            passed: total.saturating_sub(lost).saturating_sub(skipped),
            failed: lost,
            skipped,
        });
        return Some(draft);
    }
    if !draft.problems.is_empty() {
        draft.tests(Counts::default());
        return Some(draft);
    }
    draft.concept("build");
    if failed.is_some() {
        let errors = compile_errors(doc, &mut draft);
        if errors > 0 {
            draft.concept("compile error");
            draft.diagnosed(errors, 0);
            return Some(draft);
        }
        let wrong = doc
            .lines
            .iter()
            .position(|l| l.starts_with("* What went wrong:"));
        let task = wrong.map_or("", |at| doc.line(at + 1).trim());
        let why = wrong.map_or("", |at| innermost_cause(doc, at + 2));
        let subject = text::quoted(task).unwrap_or_default();
        let message = if why.is_empty() || why.starts_with("* Try") {
            task
        } else {
            why
        };
        draft.problem(wrong.unwrap_or(0), Problem::new(message).subject(subject));
        draft.verdict = Some(Outcome::Failed);
        draft.title = match (subject.is_empty(), message.is_empty()) {
            (false, _) => format!("gradle: {subject} failed: {message}"),
            (true, false) => format!("gradle: build failed: {message}"),
            (true, true) => "gradle: build failed".to_owned(),
        };
        return Some(draft);
    }
    draft.verdict = Some(Outcome::Passed);
    let at = success?;
    let time = doc.lines[at].trim_start_matches("BUILD SUCCESSFUL").trim();
    draft.title = match time {
        "" => String::from("gradle: build succeeded"),
        time => format!("gradle: build succeeded {time}"),
    };
    draft.fact(
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
fn innermost_cause<'a>(doc: &Doc<'a>, from: usize) -> &'a str {
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

fn failed_tests(doc: &Doc<'_>, draft: &mut Draft) {
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some((class, test)) = line
            .strip_suffix(" FAILED")
            .and_then(|l| l.split_once(" > "))
        {
            if class.starts_with('>') || line.starts_with("> ") {
                continue;
            }
            let said = doc.line(at + 1).trim();
            let (message, place) = said.rsplit_once(" at ").unwrap_or((said, ""));
            let test = test.trim_end_matches("()");
            let class = class.rsplit('.').next().unwrap_or(class);
            let mut problem = Problem::new(message).subject(&format!("{class}.{test}"));
            if let Some(found) = text::place(place) {
                problem = problem.at(found.file, found.line);
            } else if let Some(frame) = doc
                .lines
                .get(at + 2..)
                .and_then(super::trace_frames::own_java_frame)
            {
                problem = problem.at(&frame.file, frame.line);
            }
            draft.problem(at, problem);
        }
    }
}

fn compile_errors(doc: &Doc<'_>, draft: &mut Draft) -> u32 {
    let mut errors = 0;
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("e: ")
            && let Some(found) = text::place(rest.strip_prefix("file://").unwrap_or(rest))
        {
            draft.problem(
                at,
                Problem::new(found.rest.trim()).at(found.file, found.line),
            );
            errors += 1;
        } else if let Some(found) = text::place(line)
            && let Some(message) = found.rest.trim_start().strip_prefix("error: ")
        {
            draft.problem(at, Problem::new(message).at(found.file, found.line));
            errors += 1;
        }
    }
    errors
}
