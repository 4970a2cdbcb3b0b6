//! git status, long and short.

use super::CommandOutcome;
use super::draft::{CommandDraft, CommandOutput};

#[derive(Default)]
struct StatusFiles<'a> {
    staged: Vec<&'a str>,
    changed: Vec<&'a str>,
    untracked: Vec<&'a str>,
    unmerged: Vec<&'a str>,
}

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let branch = doc.lines.iter().find_map(|l| {
        l.strip_prefix("On branch ")
            .filter(|b| !b.contains(' '))
            .or_else(|| l.strip_prefix("HEAD detached ").map(|_| "a detached HEAD"))
    });
    let asked = doc.command.runs_program(&["git", "status"]);
    let (branch, files, clean) = match branch {
        // A commit that found nothing prints the whole status; so does a stash.
        Some(branch) => (
            Some(branch),
            parse_long_status(doc),
            doc.text.contains("nothing to commit"),
        ),
        None if asked => parse_short_status(doc)?,
        None => return None,
    };
    let committing = doc.command.runs_program(&["git", "commit"]) && !asked;
    let stashing = doc.command.runs_program(&["git", "stash"]) && !asked;
    if stashing
        || doc
            .lines
            .iter()
            .any(|l| l.starts_with('[') && l.contains("] "))
            && committing
    {
        return None;
    }
    let mut draft = CommandDraft::new(if committing {
        "git commit"
    } else {
        "git status"
    });
    draft.add_concept("git");
    // git exits with 1 when there is nothing to commit.
    draft.verdict = committing
        .then_some(CommandOutcome::Failed)
        .or(Some(CommandOutcome::Passed));
    let groups = [
        ("staged", &files.staged),
        ("changed", &files.changed),
        ("untracked", &files.untracked),
        ("unmerged", &files.unmerged),
    ];
    let parts: Vec<String> = groups
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| format!("{} {name}", list.len()))
        .collect();
    let on = branch.map(|b| format!(" on {b}")).unwrap_or_default();
    draft.title = match (committing, parts.is_empty()) {
        (true, true) => format!("git commit{on}: nothing to commit"),
        (true, false) => format!("git commit{on}: nothing staged ({})", parts.join(", ")),
        (false, true) if clean || branch.is_some() => format!("git status{on}: clean"),
        (false, true) => return None,
        (false, false) => format!("git status{on}: {}", parts.join(", ")),
    };
    if !files.unmerged.is_empty() {
        draft.add_concept("merge conflict");
    }
    for line in doc.lines.iter().filter(|l| l.starts_with("Your branch ")) {
        draft.add_fact(line.trim_end_matches(['.', ',']));
    }
    for (name, list) in groups {
        if !list.is_empty() {
            let shown: Vec<&str> = list.iter().take(6).copied().collect();
            let more = if list.len() > 6 {
                format!(" and {} more", list.len() - 6)
            } else {
                String::new()
            };
            draft.add_fact(format!("{name}: {}{more}", shown.join(", ")));
        }
    }
    Some(draft)
}

fn parse_long_status<'a>(doc: &'a CommandOutput<'_>) -> StatusFiles<'a> {
    let mut files = StatusFiles::default();
    let mut group: Option<u8> = None;
    for line in &doc.lines {
        if let Some(name) = line.strip_prefix('\t') {
            // `modified:   src/a.rs`; untracked files have no word in front.
            let name = name
                .split_once(":   ")
                .or_else(|| name.split_once(": "))
                .map_or(name, |(_, n)| n)
                .trim();
            match group {
                Some(0) => files.staged.push(name),
                Some(1) => files.changed.push(name),
                Some(2) => files.untracked.push(name),
                Some(_) => files.unmerged.push(name),
                None => {}
            }
            continue;
        }
        group = match *line {
            "Changes to be committed:" => Some(0),
            "Changes not staged for commit:" => Some(1),
            "Untracked files:" => Some(2),
            "Unmerged paths:" => Some(3),
            l if l.starts_with("  (") => group,
            _ => None,
        };
    }
    files
}

type ShortStatus<'a> = (Option<&'a str>, StatusFiles<'a>, bool);

/// `XY path` lines of `--short` and `--porcelain`.
fn parse_short_status<'a>(doc: &'a CommandOutput<'_>) -> Option<ShortStatus<'a>> {
    let mut files = StatusFiles::default();
    let mut branch = None;
    for line in &doc.lines {
        if let Some(rest) = line.strip_prefix("## ") {
            branch = Some(
                rest.split("...")
                    .next()
                    .unwrap_or(rest)
                    .split(' ')
                    .next()
                    .unwrap_or(rest),
            );
            continue;
        }
        let bytes = line.as_bytes();
        if bytes.len() < 4
            || bytes[2] != b' '
            || !bytes[..2].iter().all(|b| b" MADRCUT?!".contains(b))
        {
            continue;
        }
        let name = line[3..].trim();
        match (bytes[0], bytes[1]) {
            (b'?', b'?') => files.untracked.push(name),
            (b'!', _) => {}
            (b'U', _) | (_, b'U') | (b'A', b'A') | (b'D', b'D') => files.unmerged.push(name),
            (b' ', _) => files.changed.push(name),
            (_, _) => files.staged.push(name),
        }
    }
    let any =
        files.staged.len() + files.changed.len() + files.untracked.len() + files.unmerged.len() > 0;
    (any || branch.is_some()).then_some((branch, files, !any))
}
