//! npm.

use super::draft::{Doc, Draft};
use super::{Outcome, Problem, text};

pub(super) fn read(doc: &Doc<'_>) -> Option<Draft> {
    let mut draft = Draft::new("npm install");
    draft.concept("dependency");
    if let Some(problem) = error(doc, &mut draft) {
        return Some(problem);
    }
    let summary = doc.lines.iter().rposition(|l| is_summary(l))?;
    let line = doc.lines[summary];
    let mut told = Vec::new();
    for verb in ["added", "removed", "changed"] {
        if let Some(at) = line.find(&format!("{verb} "))
            && let Some((n, _)) = text::number(&line[at + verb.len() + 1..])
        {
            told.push(format!("{verb} {}", text::many(n, "package")));
        }
    }
    if told.is_empty() {
        told.push("up to date".to_owned());
    }
    if let Some(found) = doc
        .lines
        .iter()
        .find(|l| l.contains("vulnerabilit") && text::number(l).is_some_and(|(n, _)| n > 0))
    {
        told.push(vulnerabilities(found));
        draft.concept("vulnerability");
    }
    draft.verdict = Some(Outcome::Passed);
    draft.title = format!("npm install: {}", told.join(", "));
    draft.fact(line);
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(rest) = line
            .strip_prefix("npm WARN deprecated ")
            .or_else(|| line.strip_prefix("npm warn deprecated "))
        {
            draft.fact(format!(
                "deprecated: {}",
                rest.split(": ").next().unwrap_or(rest)
            ));
        } else if line.contains("severity vulnerabilit") || line.contains("vulnerabilities (") {
            draft.fact(line);
            draft.keep(at, at + 1);
        }
    }
    draft.keep(summary, summary + 1);
    Some(draft)
}

/// `added 12 packages, and audited 345 packages in 3s` and its shorter forms.
fn is_summary(line: &str) -> bool {
    let begins = ["added ", "removed ", "changed ", "up to date"]
        .iter()
        .any(|w| line.starts_with(w));
    begins
        && (line.contains(" package") || line.contains(" in "))
        && line
            .rsplit_once(" in ")
            .is_some_and(|(_, t)| t.ends_with('s') || t.ends_with('m'))
}

/// `2 high severity vulnerabilities`, `5 vulnerabilities (2 moderate, 3 high)`.
fn vulnerabilities(line: &str) -> String {
    match line.split_once('(') {
        Some((_, kinds)) => format!(
            "{} vulnerabilities",
            kinds.split(')').next().unwrap_or(kinds)
        ),
        None => line.trim().replace(" severity", ""),
    }
}

fn error(doc: &Doc<'_>, draft: &mut Draft) -> Option<Draft> {
    let mut code = "";
    let mut first: Option<(usize, &str)> = None;
    let mut said: Vec<&str> = Vec::new();
    for (at, line) in doc.lines.iter().enumerate() {
        let Some(rest) = line
            .strip_prefix("npm ERR!")
            .or_else(|| line.strip_prefix("npm error"))
        else {
            continue;
        };
        let rest = rest.trim();
        if let Some(name) = rest.strip_prefix("code ") {
            code = name.trim();
            first.get_or_insert((at, rest));
        } else if rest.is_empty()
            || rest.starts_with("A complete log")
            || rest.starts_with("errno")
            || rest.starts_with("syscall")
            || rest.starts_with("path ")
        {
            first.get_or_insert((at, rest));
        } else {
            first.get_or_insert((at, rest));
            said.push(rest);
        }
    }
    let (at, _) = first?;
    let reason = said
        .iter()
        .find(|l| {
            l.starts_with("404 ") && !l.starts_with("404  ")
                || l.starts_with("Missing script")
                || l.starts_with("notsup")
                || l.starts_with("peer ")
        })
        .or(said.first())
        .copied()
        .unwrap_or(code);
    let reason = reason.strip_prefix(code).map_or(reason, str::trim_start);
    let reason = reason.strip_prefix("404 ").unwrap_or(reason);
    let reason = &match reason.strip_prefix("peer ") {
        Some(peer) => format!("could not resolve peer {peer}"),
        None => reason.to_owned(),
    };
    let reason = reason.as_str();
    let mut problem = Problem::new(reason).code(code);
    // Of `peer react@"17.0.2"` the quotes hold the version, not the name.
    let peer = reason
        .strip_prefix("could not resolve peer ")
        .and_then(|p| p.rsplit_once("@\""));
    problem.subject = match peer {
        Some((name, _)) => Some(name.to_owned()),
        None => text::quoted(reason).map(str::to_owned),
    };
    let mut draft = std::mem::replace(draft, Draft::new("npm"));
    if reason.starts_with("Missing script") || code == "ELIFECYCLE" {
        draft.tool = "npm run";
        draft.concepts.clear();
        draft.concept("script");
    } else if doc.command.parts.iter().any(|p| {
        p.program() == "npm" && matches!(p.arguments().next(), Some("run" | "test" | "start" | "t"))
    }) {
        draft.tool = "npm run";
    }
    draft.verdict = Some(Outcome::Failed);
    draft.title = match code {
        "" => format!("{}: {reason}", draft.tool),
        code => format!("{}: {code}: {reason}", draft.tool),
    };
    for line in said
        .iter()
        .filter(|l| !l.starts_with("404  ") && **l != "404")
        .take(5)
    {
        draft.fact(line);
    }
    draft.problem(at, problem);
    Some(draft)
}
