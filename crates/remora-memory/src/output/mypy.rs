//! Type checkers of Python: mypy and pyright.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut problems: Vec<(usize, Problem)> = Vec::new();
    let mut pyright = false;
    let mut warnings = 0;
    for (at, line) in doc.lines.iter().enumerate() {
        let t = line.trim_start();
        let Some(found) = text::parse_location(t).filter(|p| text::is_kind(p.file, &["py", "pyi"]))
        else {
            continue;
        };
        let rest = found.rest.trim_start();
        if let Some(rest) = rest.strip_prefix("error: ") {
            let (message, code) = split_code(rest, "  [", ']');
            problems.push((
                at,
                build_problem(message, code).with_location(found.file, found.line),
            ));
        } else if let Some(rest) = rest.strip_prefix("- error: ") {
            pyright = true;
            let (message, code) = split_code(rest, " (", ')');
            problems.push((
                at,
                build_problem(message, code).with_location(found.file, found.line),
            ));
        } else if rest.starts_with("- warning: ") || rest.starts_with("warning: ") {
            warnings += 1;
        }
    }
    let success = doc
        .lines
        .iter()
        .find(|l| l.starts_with("Success: no issues found in "));
    let found = doc.lines.iter().rev().find_map(|l| {
        let (count, rest) = text::parse_number(l.strip_prefix("Found ")?)?;
        (rest.starts_with(" error") && rest.contains(" file")).then_some((count, rest))
    });
    let clean = doc.lines.iter().any(|l| l.starts_with("0 errors, "));
    if problems.is_empty() {
        if success.is_none() && !clean {
            return None;
        }
        let mut draft = CommandDraft::new(if success.is_some() { "mypy" } else { "pyright" });
        draft.verdict = Some(CommandOutcome::Passed);
        draft.add_concept("type check");
        draft.title = match success {
            Some(line) => format!(
                "mypy: no issues in {}",
                &line["Success: no issues found in ".len()..]
            ),
            None => "pyright: no errors".to_owned(),
        };
        return Some(draft);
    }
    let mut draft = CommandDraft::new(if pyright { "pyright" } else { "mypy" });
    draft.add_concept("type error");
    let count = found
        .map_or(0, |(n, _)| n)
        .max(text::to_count(problems.len()));
    for (at, problem) in problems {
        if matches!(
            problem.code.as_deref(),
            Some("import-not-found" | "import-untyped" | "reportMissingImports")
        ) {
            draft.add_concept("missing module");
        }
        draft.add_problem(at, problem);
    }
    draft.apply_diagnostics(count, warnings);
    Some(draft)
}

fn build_problem(message: &str, code: &str) -> Problem {
    let mut problem = Problem::new(message).with_code(code);
    // Elsewhere the first quotes hold a type, which names nothing.
    if [
        "named \"",
        "Name \"",
        "attribute \"",
        "Import \"",
        "module \"",
        "\" is not defined",
        "\" is not accessed",
    ]
    .iter()
    .any(|w| message.contains(w))
    {
        problem.subject = message
            .split_once("named ")
            .or_else(|| message.split_once("attribute "))
            .map_or(message, |(_, m)| m)
            .split_once('"')
            .and_then(|(_, m)| m.split('"').next())
            .map(str::to_owned);
    }
    problem
}

/// The code is in brackets at the end.
fn split_code<'a>(rest: &'a str, open: &str, close: char) -> (&'a str, &'a str) {
    match rest
        .trim_end()
        .strip_suffix(close)
        .and_then(|r| r.rsplit_once(open))
    {
        Some((message, code)) if !code.contains(' ') => (message, code),
        _ => (rest, ""),
    }
}
