//! npm.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut draft = CommandDraft::new("npm install");
    draft.add_concept("dependency");
    if let Some(problem) = parse_error(doc, &mut draft) {
        return Some(problem);
    }
    let summary = doc.lines.iter().rposition(|l| is_summary(l))?;
    let line = doc.lines[summary];
    let mut segments = Vec::new();
    for verb in ["added", "removed", "changed"] {
        if let Some(at) = line.find(&format!("{verb} "))
            && let Some((n, _)) = text::parse_number(&line[at + verb.len() + 1..])
        {
            segments.push(format!("{verb} {}", text::format_count_u32(n, "package")));
        }
    }
    if segments.is_empty() {
        segments.push("up to date".to_owned());
    }
    if let Some(found) = doc
        .lines
        .iter()
        .find(|l| l.contains("vulnerabilit") && text::parse_number(l).is_some_and(|(n, _)| n > 0))
    {
        segments.push(format_vulnerabilities(found));
        draft.add_concept("vulnerability");
    }
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = format!("npm install: {}", segments.join(", "));
    draft.add_fact(line);
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(rest) = line
            .strip_prefix("npm WARN deprecated ")
            .or_else(|| line.strip_prefix("npm warn deprecated "))
        {
            draft.add_fact(format!(
                "deprecated: {}",
                rest.split(": ").next().unwrap_or(rest)
            ));
        } else if line.contains("severity vulnerabilit") || line.contains("vulnerabilities (") {
            draft.add_fact(line);
            draft.keep_lines(at, at + 1);
        }
    }
    draft.keep_lines(summary, summary + 1);
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
fn format_vulnerabilities(line: &str) -> String {
    match line.split_once('(') {
        Some((_, kinds)) => format!(
            "{} vulnerabilities",
            kinds.split(')').next().unwrap_or(kinds)
        ),
        None => line.trim().replace(" severity", ""),
    }
}

fn parse_error(doc: &CommandOutput<'_>, draft: &mut CommandDraft) -> Option<CommandDraft> {
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
        // The lines in front of the reason are codes, paths and advice.
        .or(said.first())
        .copied()
        .unwrap_or(code);
    // The title names the code once.
    let reason = reason.strip_prefix(code).map_or(reason, str::trim_start);
    let reason = reason.strip_prefix("404 ").unwrap_or(reason);
    let reason = &match reason.strip_prefix("peer ") {
        Some(peer) => format!("could not resolve peer {peer}"),
        None => reason.to_owned(),
    };
    let reason = reason.as_str();
    let mut problem = Problem::new(reason).with_code(code);
    // Of `peer react@"17.0.2"` the quotes hold the version, not the name.
    let peer = reason
        .strip_prefix("could not resolve peer ")
        .and_then(|p| p.rsplit_once("@\""));
    problem.subject = match peer {
        Some((name, _)) => Some(name.to_owned()),
        None => text::find_quoted(reason).map(str::to_owned),
    };
    let mut draft = std::mem::replace(draft, CommandDraft::new("npm"));
    if reason.starts_with("Missing script") || code == "ELIFECYCLE" {
        draft.tool = "npm run";
        draft.concepts.clear();
        draft.add_concept("script");
    } else if doc.command.parts.iter().any(|p| {
        p.program() == "npm" && matches!(p.arguments().next(), Some("run" | "test" | "start" | "t"))
    }) {
        draft.tool = "npm run";
    }
    draft.verdict = Some(CommandOutcome::Failed);
    draft.title = match code {
        "" => format!("{}: {reason}", draft.tool),
        code => format!("{}: {code}: {reason}", draft.tool),
    };
    for line in said
        .iter()
        .filter(|l| !l.starts_with("404  ") && **l != "404")
        .take(5)
    {
        draft.add_fact(line);
    }
    draft.add_problem(at, problem);
    Some(draft)
}
