//! rustc and clippy, alone or through cargo build, check, clippy and test.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut errors: Vec<(usize, Problem)> = Vec::new();
    let mut warnings: Vec<(usize, Problem)> = Vec::new();
    let mut closing = None;
    let mut crates_warned = 0_u32;
    let mut finished = None;
    let mut of_test = false;
    for (at, line) in doc.lines.iter().enumerate() {
        // What a documentation test printed is reported with the test.
        if line.starts_with("---- ") || *line == "failures:" {
            of_test = line.ends_with(" stdout ----");
        }
        if of_test {
            continue;
        }
        if let Some(rest) = line.strip_prefix("error: could not compile ") {
            closing.get_or_insert((at, rest));
        } else if let Some((problem, severity)) = parse_diagnostic(doc, at, line) {
            match severity {
                Severity::Error => errors.push((at, problem)),
                Severity::Warning => warnings.push((at, problem)),
            }
        } else if line.starts_with("warning: `") && line.contains(" generated ") {
            crates_warned += text::count_of(line, "warning").unwrap_or(0);
        } else if let Some(rest) = line.trim_start().strip_prefix("Finished ")
            && rest.contains(" target(s) in ")
        {
            finished.get_or_insert(rest);
        }
    }
    if errors.is_empty()
        && warnings.is_empty()
        && closing.is_none()
        && finished.is_none()
        && crates_warned == 0
    {
        return None;
    }
    let clippy = doc.command.runs_program(&["cargo", "clippy"])
        || errors
            .iter()
            .chain(&warnings)
            .any(|(_, p)| p.code.as_ref().is_some_and(|c| c.starts_with("clippy::")));
    // "Finished" in front of a test run or of a started program says nothing of its own.
    if errors.is_empty() && warnings.is_empty() && closing.is_none() && crates_warned == 0 {
        return parse_build(doc, finished?, clippy);
    }
    let mut draft = CommandDraft::new(if clippy { "clippy" } else { "rustc" });
    draft.add_concept("compile error");
    if clippy {
        draft.concepts.clear();
        draft.add_concept("lint");
    }
    let said = closing.map_or((0, 0), |(_, rest)| {
        (
            text::count_of(rest, "previous error").unwrap_or(0),
            text::count_of(rest, "warning").unwrap_or(0),
        )
    });
    let error_count = said
        .0
        .max(text::to_count(errors.len()))
        .max(u32::from(closing.is_some()));
    let warning_count = said
        .1
        .max(crates_warned)
        .max(text::to_count(warnings.len()));
    if error_count == 0 {
        draft.concepts.clear();
        draft.add_concept("lint");
    }
    // With errors the warnings are only counted: the first problem must be why
    // it failed.
    let shown = if errors.is_empty() && closing.is_none() {
        warnings
    } else {
        errors
    };
    for (at, problem) in shown {
        if let Some(concept) = find_concept(&problem) {
            draft.add_concept(concept);
        }
        draft.add_problem(at, problem);
    }
    draft.apply_diagnostics(error_count, warning_count);
    if let Some((at, rest)) = closing {
        draft.keep_lines(at, at + 1);
        if draft.problems.is_empty() {
            draft.title = format!("{}: could not compile {rest}", draft.tool);
        } else if let Some(name) = text::find_quoted(rest) {
            draft.add_fact(format!("could not compile {name}"));
        }
    }
    Some(draft)
}

fn parse_build(doc: &CommandOutput<'_>, finished: &str, clippy: bool) -> Option<CommandDraft> {
    let (tool, what): (&'static str, &str) = if clippy {
        ("clippy", "no warnings")
    } else if doc.command.runs_program(&["cargo", "check"]) {
        ("cargo check", "no errors")
    } else if doc.command.runs_program(&["cargo", "build"])
        || doc.command.runs_program(&["cargo", "b"])
    {
        ("cargo build", "built")
    } else {
        return None;
    };
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Passed);
    let profile = text::find_quoted(finished).unwrap_or("dev");
    let time = finished.rsplit_once(" in ").map_or("", |(_, t)| t);
    draft.title = format!("{tool}: {what} ({profile} profile, {time})");
    draft.add_concept("build");
    Some(draft)
}

enum Severity {
    Error,
    Warning,
}

fn parse_diagnostic(doc: &CommandOutput<'_>, at: usize, line: &str) -> Option<(Problem, Severity)> {
    let (head, place) = match text::parse_location(line) {
        // The short message format has the place in front.
        Some(found) if text::is_kind(found.file, &["rs"]) => {
            (found.rest.trim_start(), Some((found.file, found.line)))
        }
        _ => (line, None),
    };
    let (severity, rest) = if let Some(rest) = head.strip_prefix("error") {
        (Severity::Error, rest)
    } else {
        (Severity::Warning, head.strip_prefix("warning")?)
    };
    let (code, message) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (code, message) = rest.split_once("]: ")?;
            (Some(code), message)
        }
        None => (None, rest.strip_prefix(": ")?),
    };
    let mut problem = Problem::new(message);
    problem.subject = text::find_quoted(message).map(str::to_owned);
    problem.code = code.map(str::to_owned);
    if let Some((file, line)) = place {
        return Some((problem.with_location(file, line), severity));
    }
    // Without an arrow below it is cargo's own remark, or another tool's.
    let arrow = (at + 1..at + 4).find_map(|n| doc.line_at(n).trim_start().strip_prefix("--> "))?;
    let found = text::parse_location(arrow)?;
    if !is_source(found.file) {
        return None;
    }
    if problem.code.is_none() {
        problem.code = lint_name(doc, at);
    }
    Some((problem.with_location(found.file, found.line), severity))
}

fn is_source(file: &str) -> bool {
    [".rs", ".toml", ".md"]
        .iter()
        .any(|end| file.ends_with(end))
}

/// The lint's name from the notes below a diagnostic.
fn lint_name(doc: &CommandOutput<'_>, at: usize) -> Option<String> {
    for line in doc.lines.iter().skip(at + 1).take(40) {
        if line.is_empty() {
            return None;
        }
        let line = line.trim_start();
        let Some(note) = line
            .strip_prefix("= note: `")
            .or_else(|| line.strip_prefix("= help: "))
        else {
            continue;
        };
        for open in ["#[warn(", "#[deny(", "#[forbid("] {
            if let Some((name, _)) = note.strip_prefix(open).and_then(|r| r.split_once(')')) {
                return Some(name.to_owned());
            }
        }
        for open in ["-D ", "-W ", "-F "] {
            if let Some((name, _)) = note.strip_prefix(open).and_then(|r| r.split_once('`')) {
                return Some(name.replace('-', "_"));
            }
        }
        if let Some((_, name)) = note
            .split_once("index.html#")
            .filter(|_| note.contains("rust-clippy"))
        {
            return Some(format!("clippy::{}", name.trim()));
        }
    }
    None
}

fn find_concept(problem: &Problem) -> Option<&'static str> {
    Some(match problem.code.as_deref()? {
        "E0382" | "E0499" | "E0502" | "E0503" | "E0505" | "E0506" | "E0507" | "E0596" | "E0594"
        | "E0716" => "borrow checker",
        "E0106" | "E0373" | "E0495" | "E0515" | "E0597" | "E0621" | "E0700" => "lifetime",
        "E0308" | "E0277" | "E0271" | "E0369" | "E0599" | "E0282" | "E0283" => "type error",
        "E0412" | "E0425" | "E0432" | "E0433" | "E0405" | "E0463" => "missing name",
        _ => return None,
    })
}
