//! apt and Homebrew.

use super::draft::{CommandDraft, CommandOutput};
use super::text;

const CONCEPT: &str = "system package";

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    parse_apt(doc).or_else(|| parse_brew(doc))
}

fn parse_apt(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // apt's own wordings: other tools begin lines with `E: ` as well.
    let known = [
        "Unable to ",
        "Could not ",
        "Package ",
        "Failed to ",
        "Sub-process ",
        "Version ",
        "Broken ",
        "The repository",
        "Some index",
    ];
    if let Some((at, message)) = doc.lines.iter().enumerate().find_map(|(at, l)| {
        let message = l.strip_prefix("E: ")?;
        known
            .iter()
            .any(|k| message.starts_with(k))
            .then_some((at, message))
    }) {
        let subject = message
            .strip_prefix("Unable to locate package ")
            .or_else(|| text::find_quoted(message));
        return Some(CommandDraft::failed("apt", CONCEPT, at, message, subject));
    }
    let summary = doc
        .lines
        .iter()
        .find(|l| l.contains(" upgraded, ") && l.contains(" newly installed, "))?;
    let new = text::count_of(summary, "newly installed").unwrap_or(0);
    let upgraded = text::count_of(summary, "upgraded").unwrap_or(0);
    let mut segments = Vec::new();
    for (n, verb) in [(new, "installed"), (upgraded, "upgraded")] {
        if n > 0 {
            segments.push(format!("{verb} {}", text::format_count_u32(n, "package")));
        }
    }
    if segments.is_empty() {
        segments.push("nothing to do".to_owned());
    }
    let mut draft = CommandDraft::passed("apt", CONCEPT, format!("apt: {}", segments.join(", ")));
    draft.add_fact(summary);
    for line in &doc.lines {
        if let Some(rest) = line.strip_prefix("Setting up ") {
            draft.add_fact(format!("set up {}", rest.trim_end_matches([' ', '.'])));
        }
    }
    Some(draft)
}

fn parse_brew(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let is_brew = doc.command.parts.iter().any(|p| p.program() == "brew")
        || doc
            .lines
            .iter()
            .any(|l| l.starts_with("==> Pouring ") || l.starts_with("==> Fetching "));
    if !is_brew {
        return None;
    }
    if let Some((at, message)) = doc
        .lines
        .iter()
        .enumerate()
        .find_map(|(at, l)| l.strip_prefix("Error: ").map(|m| (at, m)))
    {
        return Some(CommandDraft::failed(
            "brew",
            CONCEPT,
            at,
            message,
            text::find_quoted(message),
        ));
    }
    let poured: Vec<String> = doc
        .lines
        .iter()
        .filter_map(|l| {
            let (_, path) = l.split_once("/Cellar/")?;
            let path = path.split(':').next()?;
            let (name, version) = path.split_once('/')?;
            l.contains(" files, ").then(|| format!("{name} {version}"))
        })
        .collect();
    if !poured.is_empty() {
        let mut draft = CommandDraft::passed(
            "brew",
            CONCEPT,
            format!("brew: installed {}", poured.join(", ")),
        );
        for name in &poured {
            draft.add_fact(name);
        }
        return Some(draft);
    }
    let current = doc.lines.iter().find_map(|l| {
        l.strip_prefix("Warning: ")
            .filter(|m| m.contains("already installed"))
    })?;
    Some(CommandDraft::passed(
        "brew",
        CONCEPT,
        format!("brew: {}", current.trim_end_matches('.')),
    ))
}
