//! git push, pull, fetch, clone and merge: what went where.

use super::draft::{CommandDraft, CommandOutput};
use super::git_commit::DiffStat;
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // The reader of conflicts names the files.
    if doc.lines.iter().any(|l| l.starts_with("CONFLICT (")) {
        return None;
    }
    parse_push(doc)
        .or_else(|| parse_merge(doc))
        .or_else(|| parse_fatal(doc))
}

/// One line of the table that push and fetch print.
struct RefUpdate<'a> {
    flag: char,
    what: &'a str,
    from: &'a str,
    to: &'a str,
    why: &'a str,
}

fn parse_ref_update(line: &str) -> Option<RefUpdate<'_>> {
    let mut chars = line.chars();
    let (' ', flag @ (' ' | '+' | '*' | '-' | '!' | '=' | 't')) = (chars.next()?, chars.next()?)
    else {
        return None;
    };
    let rest = line.get(2..)?.trim_start();
    let (what, rest) = if let Some(rest) = rest.strip_prefix('[') {
        rest.split_once(']')?
    } else {
        let (range, rest) = rest.split_once(' ')?;
        let (from, to) = range.split_once("..")?;
        if !text::is_hash(from) || !text::is_hash(to.trim_start_matches('.')) {
            return None;
        }
        (range, rest)
    };
    let (from, to) = rest.trim().split_once(" -> ").unwrap_or((rest.trim(), ""));
    let (to, why) = to
        .split_once(" (")
        .map_or((to, ""), |(t, w)| (t, w.trim_end_matches(')')));
    Some(RefUpdate {
        flag,
        what,
        from: from.trim(),
        to: to.trim(),
        why,
    })
}

fn parse_push(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let to = doc
        .lines
        .iter()
        // Advice begins with the same word; this line is the address alone.
        .position(|l| l.starts_with("To ") && !l.contains(". ") && l.split(' ').count() == 2);
    // Said even where the table of refs was cut off.
    let refused = doc
        .lines
        .iter()
        .position(|l| l.starts_with("error: failed to push some refs to "));
    if to.is_none() && refused.is_none() {
        if !doc.lines.contains(&"Everything up-to-date") {
            return None;
        }
        let mut draft = CommandDraft::new("git push");
        draft.verdict = Some(CommandOutcome::Passed);
        draft.add_concept("git");
        draft.title = String::from("git push: everything up to date");
        return Some(draft);
    }
    let mut draft = CommandDraft::new("git push");
    draft.add_concept("git");
    let remote = to
        .map(|at| &doc.lines[at]["To ".len()..])
        .or_else(|| refused.and_then(|at| text::find_quoted(doc.lines[at])))
        .map(bare_remote)
        .unwrap_or_default();
    let mut described = Vec::new();
    for (at, line) in doc.lines.iter().enumerate() {
        let Some(moved) = parse_ref_update(line) else {
            continue;
        };
        if moved.flag == '!' {
            let message = format!("{} {}: {}", moved.what, moved.from, moved.why);
            draft.add_problem(
                at,
                Problem::new(message)
                    .with_subject(moved.from)
                    .with_code(moved.what),
            );
            continue;
        }
        described.push(match moved.flag {
            '*' => format!("{} {}", moved.what, moved.to),
            '-' => format!("deleted {}", moved.from),
            '+' => format!("forced {} to {} ({})", moved.from, moved.to, moved.what),
            _ => format!("{} to {} ({})", moved.from, moved.to, moved.what),
        });
    }
    if refused.is_some() || !draft.problems.is_empty() {
        draft.verdict = Some(CommandOutcome::Failed);
        let why = draft
            .problems
            .first()
            .map_or_else(|| hook_reason(doc), |p| p.message.clone());
        draft.title = format!("git push refused by {remote}: {why}");
        draft.add_fact(&why);
        for line in doc
            .lines
            .iter()
            .filter_map(|l| l.strip_prefix("remote: error: "))
            .take(3)
        {
            draft.add_fact(line);
        }
        if let Some(at) = refused {
            draft.keep_lines(at, at + 1);
            if draft.problems.is_empty() {
                draft.add_problem(at, Problem::new(why));
            }
        }
        return Some(draft);
    }
    if described.is_empty() {
        return None;
    }
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = format!("git push to {remote}: {}", described.join(", "));
    for line in described {
        draft.add_fact(line);
    }
    Some(draft)
}

fn hook_reason(doc: &CommandOutput<'_>) -> String {
    let said = doc.lines.iter().find_map(|l| {
        l.strip_prefix("error: ")
            .or_else(|| l.strip_prefix("remote: error: "))
    });
    said.filter(|s| !s.starts_with("failed to push"))
        .unwrap_or("a hook or the remote said no")
        .to_owned()
}

/// Host and path, without credentials and ending.
fn bare_remote(remote: &str) -> String {
    let rest = remote.split_once("://").map_or(remote, |(_, r)| r);
    let host_end = rest.find(['/', ':']).unwrap_or(rest.len());
    let rest = match rest[..host_end].rfind('@') {
        Some(at) => &rest[at + 1..],
        None => match rest.find('@') {
            // `user:password@host`: the colon belongs to the credentials.
            Some(at) if !rest[..at].contains('/') => &rest[at + 1..],
            _ => rest,
        },
    };
    rest.trim_end_matches('/')
        .trim_end_matches(".git")
        .replacen(':', "/", 1)
}

fn parse_merge(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let fetched = doc
        .lines
        .iter()
        .position(|l| l.starts_with("From ") && l.split(' ').count() == 2);
    let forward = doc
        .lines
        .iter()
        .position(|l| *l == "Fast-forward" || l.starts_with("Fast-forwarded "));
    let merged = doc
        .lines
        .iter()
        .position(|l| l.starts_with("Merge made by the "));
    let current = doc.lines.contains(&"Already up to date.");
    let pull = doc.command.runs_program(&["git", "pull"])
        || fetched.is_some() && (forward.is_some() || merged.is_some());
    let tool = if pull {
        "git pull"
    } else if fetched.is_some() && !current {
        "git fetch"
    } else {
        "git merge"
    };
    let mut draft = CommandDraft::new(tool);
    draft.add_concept("git");
    draft.verdict = Some(CommandOutcome::Passed);
    let stat = doc
        .lines
        .iter()
        .find_map(|l| DiffStat::parse(l))
        .map(|s| format!(" ({})", s.to_text()))
        .unwrap_or_default();
    if let Some(at) = forward {
        let range = doc.lines[..at]
            .iter()
            .rev()
            .take(3)
            .find_map(|l| l.strip_prefix("Updating "));
        let range = range.map(|r| format!(" {r}")).unwrap_or_default();
        draft.title = format!("{tool}: fast-forward{range}{stat}");
    } else if let Some(at) = merged {
        let strategy = text::find_quoted(doc.lines[at]).unwrap_or("ort");
        draft.title = format!("{tool}: merged by {strategy}{stat}");
    } else if current {
        draft.title = format!("{tool}: already up to date");
        return Some(draft);
    } else if fetched.is_none() {
        return None;
    }
    let mut described = Vec::new();
    for line in &doc.lines {
        if let Some(moved) = parse_ref_update(line) {
            described.push(match moved.flag {
                '*' => format!("{} {}", moved.what, moved.to),
                _ => format!("{} {}", moved.to, moved.what),
            });
        } else if let Some((file, change)) =
            line.strip_prefix(' ').and_then(|l| l.split_once(" | "))
            && !draft.title.is_empty()
        {
            draft.add_fact(format!("{} | {}", file.trim(), change.trim()));
        }
    }
    if draft.title.is_empty() {
        if described.is_empty() {
            return None;
        }
        draft.title = format!("{tool}: {}", described.join(", "));
    }
    for line in described {
        draft.add_fact(line);
    }
    Some(draft)
}

/// `fatal: ...` of any git command.
fn parse_fatal(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let is_git = doc.command.parts.iter().find(|p| p.program() == "git")?;
    let at = doc.lines.iter().position(|l| l.starts_with("fatal: "))?;
    let message = &doc.lines[at]["fatal: ".len()..];
    let mut draft = CommandDraft::new("git");
    draft.add_concept("git");
    draft.verdict = Some(CommandOutcome::Failed);
    let verb = is_git
        .verb_words()
        .next()
        .filter(|w| w.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
    draft.title = match verb {
        Some(verb) => format!("git {verb}: {message}"),
        None => format!("git: {message}"),
    };
    let mut problem = Problem::new(message);
    problem.subject = text::find_quoted(message).map(str::to_owned);
    draft.add_problem(at, problem);
    Some(draft)
}
