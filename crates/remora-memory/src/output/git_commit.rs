//! git commit, and what prints the same: cherry-pick and revert.

use super::draft::{CommandDraft, CommandOutput};
use super::{CommandOutcome, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let (at, made) = doc
        .lines
        .iter()
        .enumerate()
        .find_map(|(at, l)| parse_commit_line(l).map(|m| (at, m)))?;
    let picked = doc.command.runs_program(&["git", "cherry-pick"]);
    let reverted = doc.command.runs_program(&["git", "revert"]);
    let mut draft = CommandDraft::new(if picked {
        "git cherry-pick"
    } else if reverted {
        "git revert"
    } else {
        "git commit"
    });
    draft.verdict = Some(CommandOutcome::Passed);
    draft.add_concept("git");
    let stat = doc
        .lines
        .iter()
        .skip(at + 1)
        .take(12)
        .find_map(|l| DiffStat::parse(l));
    let size = stat
        .map(|s| format!(" ({})", s.to_text()))
        .unwrap_or_default();
    draft.title = format!(
        "{} {} on {}: {}",
        draft.tool, made.hash, made.branch, made.message
    );
    // The size of a commit must survive a long subject.
    let room = 120_usize.saturating_sub(size.chars().count());
    draft.title = format!("{}{size}", text::truncate_chars(&draft.title, room));
    draft.add_fact(format!(
        "commit {} on {}: {}",
        made.hash, made.branch, made.message
    ));
    if let Some(stat) = stat {
        draft.add_fact(stat.to_text());
    }
    // A first commit lists thousands of files.
    for line in doc.lines.iter().skip(at + 1).take(60) {
        let t = line.trim_start();
        if let Some(name) = t
            .strip_prefix("create mode ")
            .or_else(|| t.strip_prefix("delete mode "))
        {
            let verb = if t.starts_with("create") {
                "added"
            } else {
                "deleted"
            };
            draft.add_fact(format!(
                "{verb} {}",
                name.split_once(' ').map_or(name, |(_, n)| n)
            ));
        } else if t.starts_with("rename ") && line.starts_with(' ') {
            draft.add_fact(t);
        }
    }
    // Every further commit of the same command line.
    for other in doc
        .lines
        .iter()
        .skip(at + 1)
        .filter_map(|l| self::parse_commit_line(l))
    {
        draft.add_fact(format!(
            "commit {} on {}: {}",
            other.hash, other.branch, other.message
        ));
    }
    draft.keep_lines(at, at + 4);
    Some(draft)
}

struct CommitLine<'a> {
    branch: &'a str,
    hash: &'a str,
    message: &'a str,
}

/// `[main 4f2a91c] message`, `[main (root-commit) 4f2a91c] message`.
fn parse_commit_line(line: &str) -> Option<CommitLine<'_>> {
    let (head, message) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let branch = branch.strip_suffix(" (root-commit)").unwrap_or(branch);
    let plain = branch == "detached HEAD" || !branch.contains(' ') && !branch.is_empty();
    (text::is_hash(hash) && plain).then_some(CommitLine {
        branch,
        hash,
        message,
    })
}

/// `3 files changed, 41 insertions(+), 7 deletions(-)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiffStat {
    pub(super) files: u32,
    pub(super) added: u32,
    pub(super) removed: u32,
}

impl DiffStat {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (files, rest) = text::parse_number(line.trim_start())?;
        if !rest.starts_with(" file") || !rest.contains(" changed") {
            return None;
        }
        Some(Self {
            files,
            added: text::count_of(rest, "insertion").unwrap_or(0),
            removed: text::count_of(rest, "deletion").unwrap_or(0),
        })
    }

    pub(super) fn to_text(self) -> String {
        format!(
            "{}, +{} -{}",
            text::format_count_u32(self.files, "file"),
            self.added,
            self.removed
        )
    }
}
