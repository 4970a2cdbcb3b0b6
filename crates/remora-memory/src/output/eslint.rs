//! eslint with its stylish form, and tools that print the same.

use super::draft::{CommandDraft, CommandOutput};
use super::{Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let closing = doc
        .lines
        .iter()
        .rposition(|l| l.trim_start().starts_with("✖ ") && l.contains(" problem"));
    let mut file: Option<&str> = None;
    let mut errors: Vec<(usize, Problem)> = Vec::new();
    let mut warnings: Vec<(usize, Problem)> = Vec::new();
    for (at, line) in doc.lines.iter().enumerate() {
        if !line.starts_with(' ') {
            file = Some(line.trim_end())
                .filter(|l| text::is_path(l) && !l.contains(':') || is_drive(l));
            continue;
        }
        let Some((number, rest)) = text::parse_number(line.trim_start()) else {
            continue;
        };
        let Some((_, rest)) = rest.strip_prefix(':').and_then(text::parse_number) else {
            continue;
        };
        let rest = rest.trim_start();
        let (list, rest) = if let Some(rest) = rest.strip_prefix("error ") {
            (&mut errors, rest)
        } else if let Some(rest) = rest.strip_prefix("warning ") {
            (&mut warnings, rest)
        } else {
            continue;
        };
        // The rule has a column of its own; a parsing error has none.
        let (message, rule) = rest.trim().rsplit_once("  ").unwrap_or((rest.trim(), ""));
        let mut problem = Problem::new(message).with_code(rule);
        problem.subject = text::find_quoted(message).map(str::to_owned);
        if let Some(file) = file {
            problem = problem.with_location(file, number);
        } else {
            problem.line = None;
        }
        list.push((at, problem));
    }
    if errors.is_empty() && warnings.is_empty() && closing.is_none() {
        return None;
    }
    // Other tools print `12:3  error` too; without the closing line the command
    // must say it.
    let known = closing.is_some()
        || doc.command.working_parts().any(|p| {
            p.words
                .iter()
                .any(|w| w.contains("eslint") || w.contains("lint"))
        });
    if !known {
        return None;
    }
    let mut draft = CommandDraft::new("eslint");
    draft.add_concept("lint");
    let mut counts = (text::to_count(errors.len()), text::to_count(warnings.len()));
    if let Some(at) = closing {
        let line = doc.lines[at];
        counts = (
            text::count_of(line, "error").unwrap_or(0).max(counts.0),
            text::count_of(line, "warning").unwrap_or(0).max(counts.1),
        );
        draft.keep_lines(at, at + 2);
    }
    let shown = if errors.is_empty() && counts.0 == 0 {
        warnings
    } else {
        errors
    };
    for (at, problem) in shown {
        draft.add_problem(at, problem);
    }
    draft.apply_diagnostics(counts.0, counts.1);
    if doc
        .lines
        .iter()
        .any(|l| l.contains("potentially fixable with the `--fix`"))
    {
        draft.add_fact("some are fixable with --fix");
    }
    Some(draft)
}

fn is_drive(line: &str) -> bool {
    line.len() > 3
        && line.as_bytes()[1] == b':'
        && line.as_bytes()[2] == b'\\'
        && !line.contains(' ')
}
