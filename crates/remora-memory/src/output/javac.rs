//! javac, and kotlinc and scalac as far as they print the same.

use super::draft::{CommandDraft, CommandOutput};
use super::{Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // Build tools tell these errors themselves.
    if doc
        .lines
        .iter()
        .any(|l| l.starts_with("BUILD FAILED") || l.starts_with("[ERROR] "))
    {
        return None;
    }
    let mut draft = CommandDraft::new("javac");
    let mut errors = 0;
    let mut warnings = 0;
    for (at, line) in doc.lines.iter().enumerate() {
        let Some(found) = text::parse_location(line).filter(|p| {
            [".java", ".kt", ".scala"]
                .iter()
                .any(|e| p.file.ends_with(e))
        }) else {
            continue;
        };
        let rest = found.rest.trim_start();
        if rest.starts_with("warning: ") {
            warnings += 1;
        }
        let Some(message) = rest.strip_prefix("error: ") else {
            continue;
        };
        errors += 1;
        let mut problem = Problem::new(message).with_location(found.file, found.line);
        let symbol = doc
            .lines
            .iter()
            .skip(at + 1)
            .take(5)
            .find_map(|l| l.trim_start().strip_prefix("symbol:"));
        problem.subject = symbol
            .map(text::collapse_whitespace)
            .or_else(|| text::find_quoted(message).map(str::to_owned));
        if let (Some(symbol), "cannot find symbol") = (&problem.subject, message) {
            problem.message = format!("cannot find symbol: {symbol}");
            draft.add_concept("missing name");
        }
        if message.starts_with("incompatible types") {
            draft.add_concept("type error");
        }
        draft.add_problem(at, problem);
    }
    if errors == 0 {
        return None;
    }
    draft.add_concept("compile error");
    let said = doc
        .lines
        .iter()
        .rev()
        .find_map(|l| text::parse_number(l).filter(|(_, r)| matches!(*r, " error" | " errors")))
        .map_or(0, |(n, _)| n);
    // The closing line also counts errors that a cut output no longer shows.
    draft.apply_diagnostics(said.max(errors), warnings);
    Some(draft)
}
