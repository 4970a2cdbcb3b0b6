//! git checkout, switch, reset, rebase without conflict, stash, branch.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // The reader of conflicts names the files.
    if doc.lines.iter().any(|l| l.starts_with("CONFLICT (")) {
        return None;
    }
    parse_refusal(doc).or_else(|| {
        doc.lines
            .iter()
            .enumerate()
            .find_map(|(at, l)| parse_success(doc, at, l))
    })
}

fn find_tool_name(doc: &CommandOutput<'_>) -> &'static str {
    for (word, tool) in [
        ("switch", "git switch"),
        ("checkout", "git checkout"),
        ("merge", "git merge"),
        ("pull", "git pull"),
        ("rebase", "git rebase"),
        ("stash", "git stash"),
        ("restore", "git restore"),
        ("cherry-pick", "git cherry-pick"),
        ("add", "git add"),
    ] {
        if doc.command.runs_program(&["git", word]) {
            return tool;
        }
    }
    "git checkout"
}

fn parse_refusal(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let (at, line) = doc.lines.iter().enumerate().find(|(_, l)| {
        l.starts_with("error: ")
            && (l.contains("would be overwritten by ") || l.contains("did not match any file"))
            || l.starts_with("fatal: pathspec ")
            || l.starts_with("error: cannot rebase: ")
            || l.starts_with("error: cannot pull with rebase: ")
    })?;
    let tool = find_tool_name(doc);
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Failed);
    draft.add_concept("git");
    let message = line
        .split_once(": ")
        .map_or(*line, |(_, m)| m)
        .trim_end_matches(':');
    if line.contains("would be overwritten by") {
        let files: Vec<&str> = doc
            .lines
            .iter()
            .skip(at + 1)
            .take_while(|l| l.starts_with('\t'))
            .map(|l| l.trim())
            .collect();
        let untracked = line.contains("untracked");
        let what = if untracked {
            "untracked files"
        } else {
            "local changes"
        };
        draft.title = format!("{tool}: {what} would be overwritten ({})", files.join(", "));
        for file in &files {
            draft.add_problem(
                at,
                Problem::new(format!("{what} would be overwritten")).with_location(file, None),
            );
        }
        if files.is_empty() {
            draft.add_problem(at, Problem::new(message));
        }
    } else {
        draft.title = format!("{tool}: {message}");
        let mut problem = Problem::new(message);
        problem.subject = text::find_quoted(message).map(str::to_owned);
        draft.add_problem(at, problem);
    }
    Some(draft)
}

fn parse_success(doc: &CommandOutput<'_>, at: usize, line: &str) -> Option<CommandDraft> {
    let (tool, outcome): (&'static str, String) =
        if let Some(rest) = line.strip_prefix("Switched to a new branch ") {
            (
                find_switch_tool(doc),
                format!("new branch {}", trim_quotes(rest)),
            )
        } else if let Some(rest) = line
            .strip_prefix("Switched to branch ")
            .or_else(|| line.strip_prefix("Switched to and reset branch "))
        {
            (
                find_switch_tool(doc),
                format!("on branch {}", trim_quotes(rest)),
            )
        } else if let Some(rest) = line.strip_prefix("Already on ") {
            (
                find_switch_tool(doc),
                format!("already on {}", trim_quotes(rest)),
            )
        } else if let Some(rest) = line.strip_prefix("HEAD is now at ") {
            let (hash, _) = rest.split_once(' ').unwrap_or((rest, ""));
            if !text::is_hash(hash) {
                return None;
            }
            let tool = if doc.command.runs_program(&["git", "reset"]) {
                "git reset"
            } else if doc.command.runs_program(&["git", "rebase"]) {
                "git rebase"
            } else if doc.command.runs_program(&["git", "worktree"]) {
                "git worktree"
            } else {
                find_switch_tool(doc)
            };
            (tool, format!("now at {rest}"))
        } else if let Some(rest) = line.strip_prefix("Successfully rebased and updated ") {
            let branch = rest.trim_end_matches('.').trim_start_matches("refs/heads/");
            ("git rebase", format!("rebased {branch}"))
        } else if line.starts_with("Current branch ") && line.ends_with(" is up to date.") {
            ("git rebase", line.trim_end_matches('.').to_lowercase())
        } else if let Some(rest) = line.strip_prefix("Saved working directory and index state ") {
            ("git stash", format!("saved {rest}"))
        } else if line == "No local changes to save" {
            ("git stash", "no local changes to save".to_owned())
        } else if let Some(rest) = line
            .strip_prefix("Dropped ")
            .filter(|r| r.contains("stash@{"))
        {
            let name = rest
                .split(' ')
                .next()
                .unwrap_or(rest)
                .trim_start_matches("refs/");
            // `pop` prints the status first, `drop` does not.
            let popped = doc.lines[..at]
                .iter()
                .any(|l| l.starts_with("On branch ") || l.starts_with("Changes "));
            (
                "git stash",
                format!(
                    "{} {name}",
                    if popped {
                        "applied and dropped"
                    } else {
                        "dropped"
                    }
                ),
            )
        } else if line.starts_with("stash@{") && line.contains("}: ") {
            let count = doc
                .lines
                .iter()
                .filter(|l| l.starts_with("stash@{"))
                .count();
            (
                "git stash",
                format!(
                    "{} kept, last {}",
                    if count == 1 {
                        "1 entry".to_owned()
                    } else {
                        format!("{count} entries")
                    },
                    line.split_once(": ").map_or("", |(_, m)| m)
                ),
            )
        } else if let Some(rest) = line.strip_prefix("Deleted branch ") {
            (
                "git branch",
                format!("deleted {}", rest.trim_end_matches('.')),
            )
        } else {
            return None;
        };
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Passed);
    draft.add_concept("git");
    draft.title = format!("{tool}: {outcome}");
    if let Some(state) = doc.lines.iter().find(|l| l.starts_with("Your branch ")) {
        draft.add_fact(state.trim_end_matches(['.', ',']));
    }
    Some(draft)
}

fn find_switch_tool(doc: &CommandOutput<'_>) -> &'static str {
    if doc.command.runs_program(&["git", "switch"]) {
        "git switch"
    } else {
        "git checkout"
    }
}

fn trim_quotes(name: &str) -> &str {
    name.trim_matches(['\'', '"'])
}
