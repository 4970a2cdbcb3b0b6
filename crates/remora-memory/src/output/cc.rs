//! gcc and clang for C, C++ and Objective-C, and the linker behind them.

use super::draft::{CommandDraft, CommandOutput};
use super::{Problem, text};

const SOURCE_ENDINGS: &[&str] = &[
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".mm", ".cu", ".inl", ".ipp",
    ".C", ".s", ".S",
];

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut errors: Vec<(usize, Problem)> = Vec::new();
    let mut warnings: Vec<(usize, Problem)> = Vec::new();
    let mut function: Option<&str> = None;
    let mut clang = false;
    let mut linked = false;
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(rest) = line
            .split_once(": In function ")
            .map(|(_, r)| r)
            .or_else(|| line.split_once(": In member function ").map(|(_, r)| r))
        {
            function = text::find_quoted(rest);
            continue;
        }
        clang |= text::parse_number(line)
            .is_some_and(|(_, r)| r.starts_with(" error") && r.trim_end().ends_with("generated."));
        if let Some((place, symbol)) = line.split_once("undefined reference to ") {
            linked = true;
            let symbol = symbol.trim_matches(['`', '\'', '\"', ' ', '‘', '’']);
            let file = place
                .rsplit("/ld: ")
                .next()
                .unwrap_or(place)
                .split(':')
                .next()
                .unwrap_or_default()
                .trim();
            let mut problem =
                Problem::new(format!("undefined reference to {symbol}")).with_subject(symbol);
            if text::is_path(file) {
                problem = problem.with_location(file, None);
            }
            errors.push((at, problem));
            continue;
        }
        // By the file's ending: mypy and javac print errors in the same form.
        let Some(found) = text::parse_location(line)
            .filter(|p| SOURCE_ENDINGS.iter().any(|e| p.file.ends_with(e)))
        else {
            continue;
        };
        let rest = found.rest.trim_start();
        let (list, message) = if let Some(m) = rest
            .strip_prefix("error: ")
            .or_else(|| rest.strip_prefix("fatal error: "))
        {
            (&mut errors, m)
        } else if let Some(m) = rest.strip_prefix("warning: ") {
            (&mut warnings, m)
        } else {
            continue;
        };
        let (message, flag) = match message.strip_suffix(']').and_then(|m| m.rsplit_once(" [")) {
            Some((message, flag)) if flag.starts_with("-W") => (message, flag),
            _ => (message, ""),
        };
        let mut problem = Problem::new(message)
            .with_location(found.file, found.line)
            .with_code(flag);
        problem.subject = text::find_quoted(message).or(function).map(str::to_owned);
        list.push((at, problem));
    }
    if errors.is_empty() && warnings.is_empty() {
        return None;
    }
    let clang =
        clang || doc.command.runs_program(&["clang"]) || doc.command.runs_program(&["clang++"]);
    let mut draft = CommandDraft::new(if clang { "clang" } else { "gcc" });
    let counts = (text::to_count(errors.len()), text::to_count(warnings.len()));
    draft.add_concept(if counts.0 > 0 {
        "compile error"
    } else {
        "warning"
    });
    if linked {
        draft.add_concept("linker");
    }
    let shown = if errors.is_empty() { warnings } else { errors };
    for (at, problem) in shown {
        if problem.message.ends_with("No such file or directory")
            || problem.message.ends_with("file not found")
        {
            draft.add_concept("missing header");
        }
        draft.add_problem(at, problem);
    }
    draft.apply_diagnostics(counts.0, counts.1);
    Some(draft)
}
