//! cargo add, remove, update and install.

use super::draft::{Doc, Draft};
use super::{Outcome, Problem, text};

pub(super) fn read(doc: &Doc<'_>) -> Option<Draft> {
    failed(doc).or_else(|| done(doc))
}

fn failed(doc: &Doc<'_>) -> Option<Draft> {
    let (at, message) = doc
        .lines
        .iter()
        .enumerate()
        .find_map(|(at, l)| error(l).map(|m| (at, m)))?;
    let mut draft = Draft::new("cargo");
    draft.concept("dependency");
    draft.verdict = Some(Outcome::Failed);
    draft.title = format!("cargo: {message}");
    let mut problem = Problem::new(message);
    problem.subject = text::quoted(message).map(str::to_owned);
    draft.problem(at, problem);
    for line in doc
        .lines
        .iter()
        .skip(at + 1)
        .take(6)
        .filter(|l| !l.trim().is_empty())
    {
        draft.fact(line);
    }
    Some(draft)
}

fn done(doc: &Doc<'_>) -> Option<Draft> {
    let mut added: Vec<String> = Vec::new();
    let mut changed: Vec<String> = Vec::new();
    let mut installed: Vec<&str> = Vec::new();
    let mut locked = None;
    for line in &doc.lines {
        let t = line.trim_start();
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
        } else if let Some((n, rest)) = t.strip_prefix("Locking ").and_then(text::number)
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
    } else if doc.command.runs(&["cargo", "remove"]) && !changed.is_empty() {
        (
            "cargo remove",
            format!("cargo remove: {}", changed.join(", ")),
        )
    } else if doc.command.runs(&["cargo", "update"])
        || locked.is_some() && !changed.is_empty() && !doc.text.contains("Compiling ")
    {
        let n = locked.unwrap_or(text::len(changed.len()));
        (
            "cargo update",
            format!(
                "cargo update: {} changed{}",
                text::many(n, "package"),
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
    let mut draft = Draft::new(tool);
    draft.concept("dependency");
    draft.verdict = Some(Outcome::Passed);
    draft.title = title;
    for line in added.iter().chain(&changed) {
        draft.fact(line);
    }
    Some(draft)
}

fn error(line: &str) -> Option<&str> {
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
