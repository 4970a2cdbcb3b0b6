//! The TypeScript compiler, plain and pretty.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut draft = CommandDraft::new("tsc");
    let mut errors = 0;
    for (at, line) in doc.lines.iter().enumerate() {
        let Some((place, rest)) = line.split_once("error TS") else {
            continue;
        };
        let Some((code, message)) = rest
            .split_once(": ")
            .filter(|(c, _)| c.bytes().all(|b| b.is_ascii_digit()))
        else {
            continue;
        };
        let mut problem = Problem::new(message).with_code(&format!("TS{code}"));
        // Elsewhere the first quotes hold a type, which names nothing.
        if ["Cannot find ", "Property '", "Module '", "Could not find "]
            .iter()
            .any(|w| message.starts_with(w))
            || message.contains(" is declared but ")
        {
            problem.subject = text::find_quoted(message).map(str::to_owned);
        }
        let place = place.trim_end();
        if let Some((file, numbers)) = place.strip_suffix("):").and_then(|p| p.rsplit_once('(')) {
            problem = problem.with_location(file, text::parse_number(numbers).map(|(n, _)| n));
        } else if let Some(found) = place.strip_suffix(" -").and_then(text::parse_location) {
            problem = problem.with_location(found.file, found.line);
        } else if !place.is_empty() {
            // Prose that quotes an error; one without a place is about the
            // project as a whole.
            continue;
        }
        match code {
            "2307" | "2305" | "7016" | "2792" => draft.add_concept("missing module"),
            "2304" | "2339" | "2551" | "2552" => draft.add_concept("missing name"),
            _ => {}
        }
        draft.add_problem(at, problem);
        errors += 1;
    }
    let found = doc.lines.iter().rev().find_map(|l| {
        l.trim_start()
            .strip_prefix("Found ")
            .and_then(text::parse_number)
            .filter(|(_, r)| r.starts_with(" error"))
    });
    // "Found 0 errors" is the watcher's; ruff and mypy print theirs with more words.
    if errors == 0 {
        let watched =
            found.is_some_and(|(n, rest)| n == 0 && rest.contains("Watching for file changes"));
        if !watched {
            return None;
        }
        draft.verdict = Some(CommandOutcome::Passed);
        draft.title = String::from("tsc: no errors");
        return Some(draft);
    }
    draft.add_concept("type error");
    draft.apply_diagnostics(found.map_or(0, |(n, _)| n).max(errors), 0);
    Some(draft)
}
