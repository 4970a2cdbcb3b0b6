//! pip, uv and poetry.

use super::draft::{CommandDraft, CommandOutput};
use super::text;

const CONCEPT: &str = "dependency";

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // pip last: `uv pip install` names pip as well, and its reader takes any
    // `ERROR: ` of such a command.
    parse_poetry(doc)
        .or_else(|| parse_uv(doc))
        .or_else(|| parse_pip(doc))
}

fn parse_pip(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let satisfied = doc
        .lines
        .iter()
        .filter(|l| l.starts_with("Requirement already satisfied: "))
        .count();
    let installed = doc
        .lines
        .iter()
        .rev()
        .find_map(|l| l.trim_start().strip_prefix("Successfully installed "));
    let mut errors = doc
        .lines
        .iter()
        .enumerate()
        .filter_map(|(at, l)| l.trim_start().strip_prefix("ERROR: ").map(|m| (at, m)));
    let is_pip = doc
        .lines
        .iter()
        .any(|l| l.starts_with("Collecting ") || l.starts_with("Processing "))
        || satisfied > 0
        || installed.is_some()
        || doc.command.parts.iter().any(|p| {
            p.words
                .iter()
                .any(|w| w == "pip" || w == "pip3" || w.ends_with("/pip"))
        });
    if let Some(at) = doc
        .lines
        .iter()
        .position(|l| *l == "error: externally-managed-environment")
    {
        return Some(CommandDraft::failed(
            "pip install",
            CONCEPT,
            at,
            "externally-managed-environment: use a virtual environment",
            None,
        ));
    }
    if let Some((at, message)) = errors.next() {
        let known = [
            "Could not find a version",
            "No matching distribution",
            "Could not install",
            "Could not open requirements",
            "Failed building",
            "Failed to build",
            "Cannot install",
            "ResolutionImpossible",
            "Invalid requirement",
            "Package ",
            "pip's dependency resolver",
            "Exception:",
            "Could not build",
        ]
        .iter()
        .any(|k| message.starts_with(k));
        // `ERROR: ` begins lines of many tools.
        if !(known || is_pip) {
            return None;
        }
        let subject = message
            .strip_prefix("Could not find a version that satisfies the requirement ")
            .and_then(|r| r.split(' ').next());
        let message = message.split(" (from versions: ").next().unwrap_or(message);
        // The resolver's warning leaves the installation in place.
        if installed.is_none() {
            let mut draft = CommandDraft::failed("pip install", CONCEPT, at, message, subject);
            draft.add_fact(message);
            for (_, more) in errors.take(3) {
                draft.add_fact(more);
            }
            return Some(draft);
        }
    }
    if let Some(names) = installed {
        let names: Vec<&str> = names.split_whitespace().collect();
        let mut draft = CommandDraft::passed(
            "pip install",
            CONCEPT,
            format!("pip install: installed {}", format_names(&names)),
        );
        draft.add_fact(names.join(", "));
        if let Some(conflict) = doc
            .lines
            .iter()
            .find(|l| l.contains("which is incompatible"))
        {
            draft.add_fact(conflict);
            draft.add_concept("version conflict");
        }
        return Some(draft);
    }
    (satisfied > 0).then(|| {
        let counted = text::format_count(satisfied, "requirement");
        let title = format!("pip install: {counted} already satisfied");
        CommandDraft::passed("pip install", CONCEPT, title)
    })
}

fn format_names(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => format!(
            "{} packages ({one}, {two} and {} more)",
            names.len(),
            rest.len()
        ),
    }
}

fn parse_uv(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let count = |verb: &str| {
        doc.lines.iter().find_map(|l| {
            let (n, rest) = text::parse_number(l.strip_prefix(verb)?)?;
            (rest.starts_with(" package") && rest.contains(" in ")).then_some(n)
        })
    };
    if let Some(at) = doc
        .lines
        .iter()
        .position(|l| l.trim_start().starts_with("× No solution found"))
    {
        let why: Vec<&str> = doc
            .lines
            .iter()
            .skip(at + 1)
            .take(4)
            .map(|l| l.trim_start_matches([' ', '╰', '─', '▶', '│']))
            .take_while(|l| !l.is_empty())
            .collect();
        let why = text::collapse_whitespace(&why.join(" "));
        let mut draft = CommandDraft::failed(
            "uv",
            CONCEPT,
            at,
            &format!("no solution found: {why}"),
            None,
        );
        draft.add_concept("version conflict");
        return Some(draft);
    }
    if let Some(at) = doc
        .lines
        .iter()
        .position(|l| l.trim_start().starts_with("× Failed to "))
    {
        return Some(CommandDraft::failed(
            "uv",
            CONCEPT,
            at,
            doc.lines[at].trim_start_matches([' ', '×']),
            text::find_quoted(doc.lines[at]),
        ));
    }
    let (resolved, installed, removed, audited) = (
        count("Resolved "),
        count("Installed "),
        count("Uninstalled "),
        count("Audited "),
    );
    if resolved.is_none() && installed.is_none() && removed.is_none() && audited.is_none() {
        return None;
    }
    let mut segments = Vec::new();
    for (verb, n) in [("installed", installed), ("removed", removed)] {
        if let Some(n) = n {
            segments.push(format!("{verb} {}", text::format_count_u32(n, "package")));
        }
    }
    if segments.is_empty() {
        segments.push(match (audited, resolved) {
            (Some(n), _) => format!("{} up to date", text::format_count_u32(n, "package")),
            (_, Some(n)) => format!("resolved {}", text::format_count_u32(n, "package")),
            _ => "done".to_owned(),
        });
    }
    let mut draft = CommandDraft::passed("uv", CONCEPT, format!("uv: {}", segments.join(", ")));
    for line in &doc.lines {
        if let Some(name) = line
            .strip_prefix(" + ")
            .or_else(|| line.strip_prefix(" - "))
            .filter(|n| n.contains("=="))
        {
            let sign = if line.starts_with(" +") { "+" } else { "-" };
            draft.add_fact(format!("{sign} {name}"));
        }
    }
    Some(draft)
}

fn parse_poetry(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    if let Some(at) = doc
        .lines
        .iter()
        .position(|l| l.contains("version solving failed"))
    {
        let from = doc.lines[..at]
            .iter()
            .rposition(|l| l.trim().is_empty())
            .map_or(0, |n| n + 1);
        let why = text::collapse_whitespace(&doc.lines[from..=at].join(" "));
        let subject = why
            .split_once("depends on ")
            .and_then(|(_, r)| r.split(' ').next());
        let mut draft = CommandDraft::failed("poetry", CONCEPT, at, &why, subject);
        draft.add_concept("version conflict");
        return Some(draft);
    }
    if let Some(counts) = doc
        .lines
        .iter()
        .find_map(|l| l.strip_prefix("Package operations: "))
    {
        let mut draft =
            CommandDraft::passed("poetry", CONCEPT, format!("poetry: {}", counts.trim()));
        for line in &doc.lines {
            let t = line.trim_start().trim_start_matches(['-', '•', ' ']);
            if ["Installing ", "Updating ", "Removing ", "Downgrading "]
                .iter()
                .any(|v| t.starts_with(v))
                && t.contains('(')
            {
                draft.add_fact(t.split("): ").next().map_or(t.to_owned(), |h| {
                    if h.ends_with(')') {
                        h.to_owned()
                    } else {
                        format!("{h})")
                    }
                }));
            }
        }
        return Some(draft);
    }
    doc.lines
        .iter()
        .any(|l| l.starts_with("No dependencies to install or update"))
        .then(|| {
            CommandDraft::passed(
                "poetry",
                CONCEPT,
                "poetry: nothing to install or update".to_owned(),
            )
        })
}
