//! cargo add, remove, update and install.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    parse_failure(doc).or_else(|| parse_success(doc))
}

fn parse_failure(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let (at, message) = doc
        .lines
        .iter()
        .enumerate()
        .find_map(|(at, l)| find_error_message(l).map(|m| (at, m)))?;
    let mut draft = CommandDraft::new("cargo");
    draft.add_concept("dependency");
    draft.verdict = Some(CommandOutcome::Failed);
    draft.title = format!("cargo: {message}");
    let mut problem = Problem::new(message);
    problem.subject = text::find_quoted(message).map(str::to_owned);
    draft.add_problem(at, problem);
    for line in doc
        .lines
        .iter()
        .skip(at + 1)
        .take(6)
        .filter(|l| !l.trim().is_empty())
    {
        draft.add_fact(line);
    }
    Some(draft)
}

fn parse_success(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut added: Vec<String> = Vec::new();
    let mut changed: Vec<String> = Vec::new();
    let mut installed: Vec<&str> = Vec::new();
    let mut locked = None;
    for line in &doc.lines {
        let t = line.trim_start();
        // cargo indents its status lines; text at the margin comes from
        // something else.
        if t.len() == line.len() {
            continue;
        }
        if let Some(rest) = t
            .strip_prefix("Adding ")
            .and_then(|r| r.split_once(" to "))
            .filter(|(n, to)| n.contains(" v") || to.contains("dependencies"))
        {
            added.push(rest.0.to_owned());
        } else if let Some(rest) = t
            .strip_prefix("Adding ")
            .or_else(|| t.strip_prefix("Updating "))
            .or_else(|| t.strip_prefix("Downgrading "))
            .filter(|r| r.contains(" v") && !r.contains("index"))
        {
            changed.push(rest.to_owned());
        } else if let Some(rest) = t.strip_prefix("Removing ") {
            changed.push(format!(
                "removed {}",
                rest.split(" from ").next().unwrap_or(rest)
            ));
        } else if let Some(rest) = t
            .strip_prefix("Installed package `")
            .or_else(|| t.strip_prefix("Replaced package `"))
        {
            installed.push(rest.split('`').next().unwrap_or(rest));
        } else if let Some(rest) = t.strip_prefix("Ignored package `") {
            installed.push(rest.split('`').next().unwrap_or(rest));
        } else if let Some((n, rest)) = t.strip_prefix("Locking ").and_then(text::parse_number)
            && rest.starts_with(" package")
        {
            locked = Some(n);
        }
    }
    let (tool, title) = if !installed.is_empty() {
        (
            "cargo install",
            format!("cargo install: {}", installed.join(", ")),
        )
    } else if !added.is_empty() {
        ("cargo add", format!("cargo add: {}", added.join(", ")))
    } else if doc.command.runs_program(&["cargo", "remove"]) && !changed.is_empty() {
        (
            "cargo remove",
            format!("cargo remove: {}", changed.join(", ")),
        )
    } else if doc.command.runs_program(&["cargo", "update"])
        // A build that changes the lock file on the way is still a build.
        || locked.is_some() && !changed.is_empty() && !doc.text.contains("Compiling ")
    {
        let n = locked.unwrap_or(text::to_count(changed.len()));
        (
            "cargo update",
            format!(
                "cargo update: {} changed{}",
                text::format_count_u32(n, "package"),
                changed
                    .first()
                    .map(|c| format!(" ({c})"))
                    .filter(|_| changed.len() == 1)
                    .unwrap_or_default()
            ),
        )
    } else {
        return None;
    };
    let mut draft = CommandDraft::new(tool);
    draft.add_concept("dependency");
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = title;
    for line in added.iter().chain(&changed) {
        draft.add_fact(line);
    }
    Some(draft)
}

fn find_error_message(line: &str) -> Option<&str> {
    let message = line.strip_prefix("error: ")?;
    let known = [
        "could not be found in registry",
        "no matching package",
        "failed to select a version",
        "is ambiguous",
        "could not find `",
        "binary `",
        "failed to compile `",
        "could not find Cargo",
    ]
    .iter()
    .any(|k| message.contains(k));
    known.then_some(message.trim_end_matches('.'))
}
