//! ruff check, full and concise, and flake8, which prints the concise form.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let found = doc
        .lines
        .iter()
        .rposition(|l| l.starts_with("Found ") && l.contains(" error"));
    let clean = doc.lines.contains(&"All checks passed!");
    let mut problems: Vec<(usize, Problem)> = Vec::new();
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(problem) = parse_concise_line(line).or_else(|| parse_full_block(doc, at, line))
        {
            problems.push((at, problem));
        }
    }
    let fixed = found.and_then(|at| {
        text::find_labelled_number(doc.lines[at].split_once('(').map_or("", |(_, r)| r), "")
            .filter(|_| doc.lines[at].contains(" fixed"))
    });
    if problems.is_empty() {
        if !clean && fixed.is_none() {
            return None;
        }
        let mut draft = CommandDraft::new("ruff");
        draft.verdict = Some(CommandOutcome::Passed);
        draft.add_concept("lint");
        draft.title = match fixed {
            Some(n) => format!(
                "ruff: fixed {}, none left",
                text::format_count_u32(n, "problem")
            ),
            None => "ruff: all checks passed".to_owned(),
        };
        return Some(draft);
    }
    let flake8 = doc.command.runs_program(&["flake8"]);
    // One concise line alone could be another tool's.
    let known = found.is_some()
        || flake8
        || doc.command.working_parts().any(|p| {
            p.words
                .iter()
                .any(|w| w.contains("ruff") || w.contains("lint"))
        });
    if !known {
        return None;
    }
    let mut draft = CommandDraft::new(if flake8 { "flake8" } else { "ruff" });
    draft.add_concept("lint");
    let said = found
        .and_then(|at| text::parse_number(&doc.lines[at]["Found ".len()..]))
        .map_or(0, |(n, _)| n);
    let count = said.max(text::to_count(problems.len()));
    for (at, problem) in problems {
        if matches!(problem.code.as_deref(), Some("F821")) {
            draft.add_concept("missing name");
        }
        draft.add_problem(at, problem);
    }
    draft.apply_diagnostics(count, 0);
    if let Some(n) = doc.lines.iter().find_map(|l| {
        l.strip_prefix("[*] ")
            .and_then(text::parse_number)
            .map(|(n, _)| n)
    }) {
        draft.add_fact(format!("{n} fixable with --fix"));
    }
    if let Some(n) = fixed {
        draft.add_fact(format!("{n} fixed"));
    }
    Some(draft)
}

/// Letters, then digits: `F401`, `PLR2004`; `invalid-syntax` has no number.
fn is_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = word.len() - letters;
    (1..=4).contains(&letters)
        && (1..=4).contains(&digits)
        && word.as_bytes()[letters..].iter().all(u8::is_ascii_digit)
}

fn parse_coded_text(text: &str) -> Option<Problem> {
    let (code, message) = text.trim_start().split_once(' ')?;
    let code = code.trim_end_matches(':');
    if !is_code(code) && code != "SyntaxError" && code != "invalid-syntax" {
        return None;
    }
    let message = message.trim_start();
    let message = message.strip_prefix("[*] ").unwrap_or(message);
    let mut problem = Problem::new(message).with_code(code);
    problem.subject = text::find_quoted(message).map(str::to_owned);
    Some(problem)
}

fn parse_concise_line(line: &str) -> Option<Problem> {
    let found = text::parse_location(line)?;
    let python = [".py", ".pyi", ".ipynb"]
        .iter()
        .any(|e| found.file.ends_with(e));
    python
        .then(|| parse_coded_text(found.rest))
        .flatten()
        .map(|p| p.with_location(found.file, found.line))
}

fn parse_full_block(doc: &CommandOutput<'_>, at: usize, line: &str) -> Option<Problem> {
    if !line.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let place = doc.line_at(at + 1).trim_start().strip_prefix("--> ")?;
    let found = text::parse_location(place)?;
    parse_coded_text(line).map(|p| p.with_location(found.file, found.line))
}
