//! Edits that were reverted, by the reverse edit or by git. An edit that broke a
//! test and was reverted is neither a change nor a fix; that it was tried, and what
//! failed then, is worth remembering.

use remora_core::detail::{DetailList, DetailText};
use remora_core::record::{Item, Kind};

use crate::sentence::one_line;

/// The title of a reverted edit begins with this.
pub(crate) const REVERTED_PREFIX: &str = "Reverted: ";
/// The title of the edit that reverted it begins with this.
const REVERSAL_PREFIX: &str = "Took back: ";
/// Characters of such a title.
const MAX_TITLE_CHARS: usize = 140;
/// Edits of a session that are remembered until they are reverted.
const MAX_EDITS: usize = 64;

/// The edits of a session that have not been reverted.
#[derive(Debug, Default)]
pub(super) struct StandingEdits(Vec<StandingEdit>);

#[derive(Debug)]
struct StandingEdit {
    item: Item,
    /// The uid and title of the commit it went into; git prints the hash there.
    commit: Option<String>,
}

impl StandingEdits {
    /// Records an item of the session.
    pub(super) fn record_item(&mut self, item: &Item) {
        if item.kind == Kind::Failure || is_tried(item) {
            return;
        }
        let is_undone = |edit: &StandingEdit| {
            item.detail_list(DetailList::Reverts)
                .any(|uid| uid == edit.item.uid)
        };
        self.0.retain(|edit| !is_undone(edit));
        if let Some(command) = item.command() {
            let commits = parts_of(command).any(|words| words.starts_with(&["git", "commit"]));
            let open = self.0.iter_mut().filter(|edit| edit.commit.is_none());
            for edit in open.filter(|_| commits) {
                edit.commit = Some(format!("{} {}", item.uid, item.title));
            }
        } else if !item.files_modified.is_empty() && !is_reversal(item) {
            if self.0.len() == MAX_EDITS {
                self.0.remove(0);
            }
            let item = item.clone();
            self.0.push(StandingEdit { item, commit: None });
        }
    }

    /// The edits that this item reverts.
    pub(super) fn undone_by(&self, item: &Item) -> Vec<&Item> {
        if item.kind == Kind::Failure {
            return Vec::new();
        }
        // An edit reverts at most one other, the latest that it is the reverse of; a git
        // command may revert many.
        let Some(command) = item.command() else {
            let edit = self.0.iter().rfind(|edit| reverses_edit(item, &edit.item));
            return edit.map(|edit| &edit.item).into_iter().collect();
        };
        let mut undone = Vec::new();
        for words in parts_of(command) {
            let is_undone = |edit: &&StandingEdit| match words.as_slice() {
                ["git", "checkout" | "restore", rest @ ..] => restores_edit(rest, edit),
                ["git", "reset", rest @ ..] if rest.contains(&"--hard") => {
                    edit.commit.is_none()
                        || rest
                            .iter()
                            .any(|word| word.starts_with("HEAD~") || word.starts_with("HEAD^"))
                            && self.is_last_commit(edit)
                }
                ["git", "revert", rest @ ..] => rest.iter().any(|word| {
                    let is_hash = word.len() >= 7 && word.bytes().all(|b| b.is_ascii_hexdigit());
                    let named = || {
                        edit.commit
                            .as_ref()
                            .is_some_and(|commit| commit.contains(&word[..7]))
                    };
                    *word == "HEAD" && self.is_last_commit(edit) || is_hash && named()
                }),
                _ => false,
            };
            undone.extend(self.0.iter().filter(is_undone).map(|edit| &edit.item));
        }
        undone
    }

    fn is_last_commit(&self, edit: &StandingEdit) -> bool {
        let last = self.0.iter().rev().find_map(|edit| edit.commit.as_ref());
        edit.commit.is_some() && edit.commit.as_ref() == last
    }
}

/// Whether `git checkout` or `git restore` with these arguments reverts an edit. A
/// committed edit is reverted only from an older commit.
fn restores_edit(words: &[&str], edit: &StandingEdit) -> bool {
    let only_index = words.contains(&"--staged") && !words.contains(&"--worktree");
    let is_branch = words
        .iter()
        .any(|word| matches!(*word, "-b" | "-B" | "-c" | "--orphan"));
    let is_older = |word: &&str| {
        word.starts_with("--source") || word.starts_with("HEAD~") || word.starts_with("HEAD^")
    };
    if only_index || is_branch || edit.commit.is_some() && !words.iter().any(is_older) {
        return false;
    }
    let paths = words.iter().filter(|word| !word.starts_with('-'));
    let mut files = edit.item.files_modified.iter();
    files.any(|file| {
        let mut paths = paths.clone();
        paths.any(|path| is_path_of(path.trim_matches(['"', '\'']), file))
    })
}

/// Whether a path of a command line means this file or a directory above it. The
/// command may have run in a subdirectory, so suffixes count too.
fn is_path_of(path: &str, file: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let within = |inner: &str, outer: &str| {
        inner
            .strip_suffix(outer)
            .is_some_and(|rest| rest.ends_with('/'))
    };
    let folder = file
        .strip_prefix(path)
        .is_some_and(|rest| rest.starts_with('/'));
    path == "."
        || path.is_empty()
        || path == file
        || folder
        || within(file, path)
        || within(path, file)
}

/// The commands of a line, as words. What a row keeps of a command is its key
/// already, with one blank between words and without quotes.
fn parts_of(command: &str) -> impl Iterator<Item = Vec<&str>> {
    let parts = command.split(" && ").flat_map(|part| part.split("; "));
    parts.map(|part| part.split(' ').filter(|word| !word.is_empty()).collect())
}

/// Whether a command only stashes changes: what passes then passes without them.
pub(super) fn sets_aside(step: &Item) -> bool {
    let aside = |words: Vec<&str>| match words.as_slice() {
        ["git", "stash", rest @ ..] => {
            rest.iter().all(|word| word.starts_with('-'))
                || matches!(rest.first(), Some(&"push" | &"save"))
        }
        _ => false,
    };
    step.command()
        .is_some_and(|command| parts_of(command).any(aside))
}

/// Whether an edit was reverted.
pub(crate) fn is_tried(item: &Item) -> bool {
    item.detail_text(DetailText::Tried).is_some()
}

/// Whether an item reverts edits.
pub(crate) fn is_reversal(item: &Item) -> bool {
    item.has_listed(DetailList::Reverts)
}

/// The title of an edit before it was reverted.
pub(super) fn first_title(item: &Item) -> &str {
    item.detail_text(DetailText::Tried).unwrap_or(&item.title)
}

/// The item of a reverted edit, with the failure after which it was reverted.
pub(super) fn tell_tried(edit: &Item, failure: Option<&Item>) -> Item {
    let mut told = edit.clone();
    let why = failure.map_or_else(String::new, |failure| format!(": {}", failure.title));
    told.title = one_line(
        &format!("{REVERTED_PREFIX}{}{why}", edit.title),
        MAX_TITLE_CHARS,
    );
    // It fixed nothing, since it was reverted.
    if told.kind == Kind::Bugfix {
        told.kind = Kind::Change;
    }
    told.facts.retain(|fact| !fact.starts_with("after: "));
    told.facts
        .extend(failure.map(|failure| format!("reverted after: {}", failure.title)));
    told.detail
        .get_or_insert_default()
        .set_text(DetailText::Tried, &edit.title);
    told
}

/// The item that reverted these edits.
pub(crate) fn tell_reversal(mut row: Item, tried: &[Item]) -> Item {
    if row.command().is_none() {
        row.kind = Kind::Change;
        let titles: Vec<&str> = tried.iter().map(first_title).collect();
        row.title = one_line(
            &format!("{REVERSAL_PREFIX}{}", titles.join("; ")),
            MAX_TITLE_CHARS,
        );
        row.facts.retain(|fact| !fact.starts_with("after: "));
    }
    row.facts.extend(
        tried
            .iter()
            .map(|edit| format!("reverted: {}", first_title(edit))),
    );
    let uids: Vec<&str> = tried.iter().map(|edit| edit.uid.as_str()).collect();
    row.detail
        .get_or_insert_default()
        .set_list(DetailList::Reverts, uids);
    row
}

/// Whether an edit is the exact reverse of another one.
fn reverses_edit(edit: &Item, before: &Item) -> bool {
    let lines = |item: &Item, sign: char| -> Vec<String> {
        let lines = item.text.lines().filter_map(|line| line.strip_prefix(sign));
        let lines = lines.map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (gone, come) = (lines(edit, '-'), lines(edit, '+'));
    edit.files_modified == before.files_modified
        && !(gone.is_empty() && come.is_empty())
        && gone == lines(before, '+')
        && come == lines(before, '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::item;

    #[test]
    fn an_edit_of_two_files_is_reverted_by_either_of_them() {
        let edit = StandingEdit {
            item: Item {
                files_modified: vec!["src/old.rs".into(), "src/new.rs".into()],
                ..item("e", "Moved src/old.rs to src/new.rs")
            },
            commit: None,
        };
        for (line, reverts) in [
            ("-- src/old.rs", true),
            ("-- src/new.rs", true),
            ("-- src/other.rs", false),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(restores_edit(&words, &edit), reverts, "{line}");
        }
    }
}
