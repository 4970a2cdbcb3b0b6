//! What git lists: log, diff and its statistics.

use super::draft::{CommandDraft, CommandOutput};
use super::git_commit::DiffStat;
use super::{CommandOutcome, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    parse_log(doc)
        .or_else(|| parse_diff(doc))
        .or_else(|| parse_diff_stat(doc))
}

fn new_list_draft(tool: &'static str, title: String) -> CommandDraft {
    let mut draft = CommandDraft::new(tool);
    draft.add_concept("git");
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = title;
    draft
}

fn parse_log(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let asked = doc.command.runs_program(&["git", "log"]);
    let shown = doc.command.runs_program(&["git", "show"]);
    if !asked && !shown {
        return None;
    }
    let mut commits: Vec<(&str, &str)> = Vec::new();
    for (at, line) in doc.lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("commit ") {
            let hash = rest.split(' ').next().unwrap_or(rest);
            if text::is_hash(hash) {
                let subject = doc
                    .lines
                    .iter()
                    .skip(at + 1)
                    .take(8)
                    .find_map(|l| l.strip_prefix("    ").filter(|s| !s.trim().is_empty()));
                commits.push((&hash[..hash.len().min(7)], subject.unwrap_or_default()));
            }
        } else if let Some((hash, subject)) = line
            .trim_start_matches(['*', '|', ' ', '/', '\\'])
            .split_once(' ')
            && text::is_hash(hash)
            // Longer ones are full hashes, which `git log` prints behind
            // `commit`.
            && hash.len() < 13
            && asked
        {
            commits.push((hash, subject.trim()));
        }
    }
    let (hash, subject) = commits.first()?;
    let tool = if asked { "git log" } else { "git show" };
    let mut draft = match commits.len() {
        1 => new_list_draft(tool, format!("{tool}: {hash} {subject}")),
        n => new_list_draft(tool, format!("{tool}: {n} commits, last {hash} {subject}")),
    };
    for (hash, subject) in &commits {
        draft.add_fact(format!("{hash} {subject}"));
    }
    Some(draft)
}

fn parse_diff(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut files: Vec<(&str, u32, u32)> = Vec::new();
    let mut inside = false;
    for line in &doc.lines {
        if let Some(rest) = line.strip_prefix("diff --git a/") {
            files.push((rest.split(" b/").next().unwrap_or(rest), 0, 0));
            inside = false;
        } else if line.starts_with("@@ ") {
            // Only inside a hunk do signs count: headers begin with `+++` and
            // `---`.
            inside = true;
        } else if inside && let Some(last) = files.last_mut() {
            last.1 += u32::from(line.starts_with('+'));
            last.2 += u32::from(line.starts_with('-'));
        }
    }
    let first = files.first()?;
    let (added, removed) = files.iter().fold((0, 0), |(a, r), f| (a + f.1, r + f.2));
    let what = if files.len() == 1 {
        first.0.to_owned()
    } else {
        text::format_count(files.len(), "file")
    };
    let mut draft = new_list_draft("git diff", format!("git diff: {what}, +{added} -{removed}"));
    for (file, added, removed) in &files {
        draft.add_fact(format!("{file} +{added} -{removed}"));
    }
    Some(draft)
}

fn parse_diff_stat(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // Under a commit or a merge the numbers belong to that.
    if !doc.command.runs_program(&["git", "diff"]) {
        return None;
    }
    let total = doc.lines.iter().rev().find_map(|l| DiffStat::parse(l))?;
    let rows: Vec<String> = doc
        .lines
        .iter()
        .filter_map(|l| l.strip_prefix(' ')?.split_once(" | "))
        .map(|(file, change)| format!("{} | {}", file.trim(), change.trim()))
        .collect();
    let mut draft = new_list_draft("git diff", format!("git diff: {}", total.to_text()));
    for row in rows {
        draft.add_fact(row);
    }
    Some(draft)
}
