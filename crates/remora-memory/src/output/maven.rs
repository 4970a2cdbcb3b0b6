//! Maven: surefire's test results and the compiler's errors.

use std::collections::HashSet;

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::trace_frames;
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let total = doc
        .lines
        .iter()
        .rposition(|l| strip_level(l).starts_with("Tests run: ") && !l.contains("Time elapsed"));
    let partial = doc
        .lines
        .iter()
        .rposition(|l| strip_level(l).starts_with("Tests run: "));
    let failure = doc
        .lines
        .iter()
        .rposition(|l| strip_level(l) == "BUILD FAILURE");
    let success = doc
        .lines
        .iter()
        .rposition(|l| strip_level(l) == "BUILD SUCCESS");
    let is_maven = doc
        .lines
        .iter()
        .any(|l| l.starts_with("[INFO]") || l.starts_with("[ERROR]"));
    if !is_maven && partial.is_none() {
        return None;
    }
    let mut draft = CommandDraft::new("maven");
    // First: without a build there are no tests of this run, whatever older
    // reports say.
    let compiled = compile_errors(doc, &mut draft);
    if compiled > 0 {
        draft.add_concept("compile error");
        draft.apply_diagnostics(compiled, 0);
        return Some(draft);
    }
    add_failures(doc, &mut draft);
    if let Some(at) = total.or(partial) {
        let line = doc.lines[at];
        let failed = text::find_labelled_number(line, "Failures: ").unwrap_or(0)
            + text::find_labelled_number(line, "Errors: ").unwrap_or(0);
        let skipped = text::find_labelled_number(line, "Skipped: ").unwrap_or(0);
        let run = text::find_labelled_number(line, "Tests run: ").unwrap_or(0);
        draft.keep_lines(at, at + 1);
        draft.apply_test_counts(TestCounts {
            passed: run.saturating_sub(failed).saturating_sub(skipped),
            failed,
            skipped,
        });
        if failure.is_some() {
            draft.verdict = Some(CommandOutcome::Failed);
        }
        return Some(draft);
    }
    draft.add_concept("build");
    if let Some(at) = failure {
        let goal = doc
            .lines
            .iter()
            .position(|l| strip_level(l).starts_with("Failed to execute goal "));
        let said = goal.map_or("the build failed", |g| strip_level(doc.lines[g]));
        let said = said.split(" -> [Help").next().unwrap_or(said);
        draft.add_problem(goal.unwrap_or(at), Problem::new(said));
        draft.verdict = Some(CommandOutcome::Failed);
        draft.title = format!(
            "maven: {}",
            said.split_once(": ").map_or(said, |(_, why)| why)
        );
        return Some(draft);
    }
    success?;
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = String::from("maven: build succeeded");
    if let Some(time) = doc
        .lines
        .iter()
        .find_map(|l| strip_level(l).strip_prefix("Total time: "))
    {
        draft.add_fact(format!("total time {}", time.trim()));
    }
    Some(draft)
}

fn strip_level(line: &str) -> &str {
    for level in ["[ERROR] ", "[INFO] ", "[WARNING] "] {
        if let Some(rest) = line.strip_prefix(level) {
            return rest.trim();
        }
    }
    line.trim()
}

/// `/src/Store.java:[12,9] cannot find symbol`.
fn compile_errors(doc: &CommandOutput<'_>, draft: &mut CommandDraft) -> u32 {
    let mut places: HashSet<(&str, u32)> = HashSet::new();
    for (at, line) in doc.lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("[ERROR] ") else {
            continue;
        };
        let Some((file, rest)) = rest.split_once(":[") else {
            continue;
        };
        let Some((place, message)) = rest.split_once("] ") else {
            continue;
        };
        let Some((line, _)) = text::parse_number(place) else {
            continue;
        };
        // Maven says everything a second time under its summary.
        if !text::is_path(file) || !places.insert((file, line)) {
            continue;
        }
        let mut problem = Problem::new(message).with_location(file, line);
        let symbol = doc
            .lines
            .iter()
            .skip(at + 1)
            .take(3)
            .find_map(|l| strip_level(l).strip_prefix("symbol:"));
        problem.subject = symbol.map(text::collapse_whitespace);
        draft.add_problem(at, problem);
    }
    text::to_count(places.len())
}

fn add_failures(doc: &CommandOutput<'_>, draft: &mut CommandDraft) {
    for (at, line) in doc.lines.iter().enumerate() {
        // The report of one test, with its trace below.
        if let Some((name, _)) = strip_level(line)
            .split_once(" -- Time elapsed: ")
            .or_else(|| strip_level(line).split_once("  Time elapsed: "))
            && (line.ends_with("<<< FAILURE!") || line.ends_with("<<< ERROR!"))
            && !name.starts_with("Tests run")
        {
            let short = short_name(name);
            let message = doc.line_at(at + 1).trim();
            let message = message
                .split_once(": ")
                .filter(|(k, _)| k.contains('.') && !k.contains(' '))
                .map_or(message, |(_, m)| m);
            let mut problem = Problem::new(message).with_subject(&short);
            let lines = doc.lines.get(at + 2..).unwrap_or_default();
            let end = lines
                .iter()
                .position(|l| l.is_empty() || l.starts_with('['))
                .unwrap_or(lines.len());
            if let Some(frame) = trace_frames::own_java_frame(&lines[..end]) {
                problem = problem.with_location(&frame.file, frame.line);
            }
            draft.add_problem(at, problem);
        }
    }
    if !draft.problems.is_empty() {
        return;
    }
    // Cut outputs keep only the list at the end: `StoreTest.reopen:31 expected..`.
    for (at, line) in doc.lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("[ERROR]   ") else {
            continue;
        };
        let (name, message) = rest.split_once(' ').unwrap_or((rest, ""));
        let Some((test, number)) = name.split_once(':') else {
            continue;
        };
        let number = number
            .split("->")
            .next()
            .and_then(text::parse_number)
            .map(|(n, _)| n);
        let class = test.split('.').next().unwrap_or(test);
        let problem = Problem::new(message.trim_start_matches("» "))
            .with_subject(test)
            .with_location(&format!("{class}.java"), number);
        draft.add_problem(at, problem);
    }
}

/// Class and method; older versions write `method(com.example.Class)`.
fn short_name(name: &str) -> String {
    if let Some((method, class)) = name.split_once('(') {
        let class = class.trim_end_matches(')');
        return format!("{}.{method}", class.rsplit('.').next().unwrap_or(class));
    }
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        [.., class, method] => format!("{class}.{method}"),
        _ => name.to_owned(),
    }
}
