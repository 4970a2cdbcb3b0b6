//! pnpm, yarn (both kinds) and bun.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // pnpm's codes are unmistakable; the others share words such as `Done in`.
    parse_pnpm(doc)
        .or_else(|| parse_yarn(doc))
        .or_else(|| parse_berry(doc))
        .or_else(|| parse_bun(doc))
}

fn new_success_draft(tool: &'static str, title: String, added: &[String]) -> CommandDraft {
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Passed);
    draft.add_concept("dependency");
    draft.title = title;
    for name in added {
        draft.add_fact(name);
    }
    draft
}

fn new_failure_draft(tool: &'static str, at: usize, problem: Problem) -> CommandDraft {
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Failed);
    draft.add_concept("dependency");
    draft.title = match &problem.code {
        Some(code) => format!("{tool}: {code}: {}", problem.message),
        None => format!("{tool}: {}", problem.message),
    };
    draft.add_problem(at, problem);
    draft
}

fn parse_pnpm(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(from) = line.find("ERR_PNPM_") {
            let (code, message) = line[from..].split_once(' ').unwrap_or((&line[from..], ""));
            let message = text::collapse_whitespace(message);
            let mut problem = Problem::new(message.as_str()).with_code(code);
            problem.subject = text::find_quoted(&message).map(str::to_owned);
            return Some(new_failure_draft("pnpm install", at, problem));
        }
    }
    let packages = doc.lines.iter().find_map(|l| l.strip_prefix("Packages: "));
    let current = doc
        .lines
        .iter()
        .any(|l| l.starts_with("Lockfile is up to date") || *l == "Already up to date");
    let finished = doc.lines.iter().any(|l| {
        l.starts_with("Done in ") && (l.contains("pnpm") || packages.is_some() || current)
    });
    if packages.is_none() && !(current && finished) {
        return None;
    }
    let title = match packages {
        Some(counts) => {
            let parts: Vec<String> = counts
                .split_whitespace()
                .filter_map(|w| match w.split_at_checked(1)? {
                    ("+", n) => Some(format!(
                        "added {}",
                        text::format_count_u32(n.parse().ok()?, "package")
                    )),
                    ("-", n) => Some(format!(
                        "removed {}",
                        text::format_count_u32(n.parse().ok()?, "package")
                    )),
                    _ => None,
                })
                .collect();
            format!("pnpm install: {}", parts.join(", "))
        }
        None => "pnpm install: already up to date".to_owned(),
    };
    Some(new_success_draft(
        "pnpm install",
        title,
        &list_dependencies(doc),
    ))
}

/// `+ react 18.2.0` below `dependencies:`.
fn list_dependencies(doc: &CommandOutput<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in &doc.lines {
        if line.ends_with("ependencies:") {
            inside = true;
        } else if line.is_empty() {
            inside = false;
        } else if inside && (line.starts_with("+ ") || line.starts_with("- ")) {
            names.push((*line).to_owned());
        }
    }
    names
}

fn parse_yarn(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let verb = doc.lines.iter().find_map(|l| {
        let (verb, version) = l.strip_prefix("yarn ")?.split_once(' ')?;
        // Later versions print codes instead; they have a reader of their own.
        version.starts_with("v1.").then_some(verb)
    })?;
    if !matches!(verb, "install" | "add" | "remove" | "upgrade") {
        return None;
    }
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(message) = line.strip_prefix("error ") {
            let message = message
                .strip_prefix("An unexpected error occurred: ")
                .unwrap_or(message)
                .trim_matches(['"', '.']);
            let mut problem = Problem::new(message);
            problem.subject = text::find_quoted(message).map(str::to_owned);
            return Some(new_failure_draft("yarn install", at, problem));
        }
    }
    let saved = doc.lines.iter().find_map(|l| {
        l.strip_prefix("success Saved ")
            .and_then(text::parse_number)
            .filter(|(_, r)| r.contains("dependenc"))
    });
    let finished = doc.lines.iter().any(|l| l.starts_with("Done in "));
    let title = match (saved, finished) {
        (Some((n, _)), _) => format!(
            "yarn {verb}: saved {}",
            text::format_count_u32(n, "new package")
        ),
        (None, _) if doc.text.contains("Already up-to-date") => {
            format!("yarn {verb}: already up to date")
        }
        (None, true) => format!("yarn {verb}: done"),
        (None, false) => return None,
    };
    let names: Vec<String> = doc
        .lines
        .iter()
        .filter_map(|l| l.strip_prefix("├─ ").or_else(|| l.strip_prefix("└─ ")))
        .map(str::to_owned)
        .collect();
    Some(new_success_draft("yarn install", title, &names))
}

fn parse_berry(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    if !doc.text.contains("➤ YN0") {
        return None;
    }
    let failed = doc.lines.iter().any(|l| l.contains("Failed with errors"));
    if failed {
        // The codes below are progress and warnings; the first other one is the
        // cause.
        let known = |l: &&str| {
            l.contains("YN0")
                && ![
                    "YN0000", "YN0013", "YN0019", "YN0060", "YN0002", "YN0086", "YN0085",
                ]
                .iter()
                .any(|c| l.contains(c))
        };
        let (at, line) = doc
            .lines
            .iter()
            .enumerate()
            .find(|(_, l)| known(l))
            .or_else(|| {
                doc.lines
                    .iter()
                    .enumerate()
                    .rfind(|(_, l)| l.contains("Failed"))
            })?;
        let rest = line.trim_start_matches(['➤', ' ']);
        let (code, message) = rest.split_once(": ").unwrap_or(("", rest));
        return Some(new_failure_draft(
            "yarn install",
            at,
            Problem::new(message.trim_start_matches(['│', '└', '┌', '·', ' '])).with_code(code),
        ));
    }
    let finished = doc
        .lines
        .iter()
        .any(|l| l.contains("YN0000: · Done") || l.contains("YN0000: Done"));
    let added = doc.lines.iter().find_map(|l| {
        let (_, rest) = l
            .split_once("➤ YN0085: ")
            .or_else(|| l.split_once("➤ YN0013: "))?;
        rest.contains("package")
            .then(|| rest.trim_start_matches(['│', ' ']))
    });
    if !finished {
        return None;
    }
    let title = match added {
        Some(added) => format!("yarn install: {}", text::truncate_chars(added, 90)),
        None => "yarn install: done".to_owned(),
    };
    Some(new_success_draft("yarn install", title, &[]))
}

fn parse_bun(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let verb = doc.lines.iter().find_map(|l| {
        let (verb, version) = l.strip_prefix("bun ")?.split_once(' ')?;
        version.starts_with('v').then_some(verb)
    })?;
    if !matches!(verb, "install" | "add" | "remove" | "update") {
        return None;
    }
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(message) = line.strip_prefix("error: ") {
            let mut problem = Problem::new(message);
            problem.subject = text::find_quoted(message).map(str::to_owned).or_else(|| {
                message
                    .split(' ')
                    .next()
                    .filter(|w| w.contains('@'))
                    .map(str::to_owned)
            });
            return Some(new_failure_draft("bun install", at, problem));
        }
    }
    let count = doc.lines.iter().find_map(|l| {
        text::parse_number(l.trim_start()).filter(|(_, r)| r.contains(" installed ["))
    });
    let checked = doc
        .lines
        .iter()
        .any(|l| l.starts_with("Checked ") && l.contains("(no changes)"));
    let names: Vec<String> = doc
        .lines
        .iter()
        .filter_map(|l| {
            l.strip_prefix("+ ")
                .or_else(|| l.strip_prefix("installed "))
        })
        .map(str::to_owned)
        .collect();
    let title = match count {
        Some((n, _)) => format!(
            "bun {verb}: installed {}",
            text::format_count_u32(n, "package")
        ),
        None if checked => format!("bun {verb}: no changes"),
        None if !names.is_empty() => format!("bun {verb}: {}", names[0]),
        None => return None,
    };
    Some(new_success_draft("bun install", title, &names))
}
