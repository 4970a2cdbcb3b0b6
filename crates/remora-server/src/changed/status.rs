//! What differs from the last commit, as git says. Bounded in time and in what
//! is read.

use std::ops::ControlFlow;
use std::path::Path;

use remora_client::GitStatusCache;
use remora_git::{
    CancelToken, Checkout, CheckoutSearch, Git, GitCommand, GitOutcome, RecordFormat,
};

/// Files that are named at most.
const MAX_FILES: usize = 500;
/// Bytes of all names, so that the file stays below what is read of it.
const MAX_NAME_BYTES: usize = 40 * 1024;

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GitStatus {
    State(GitStatusCache),
    /// Git does not know this place.
    Nothing,
}

/// Asks; `None` when the time was over, or the worker ends.
pub(super) fn query_status(root: &Path, git: &Git, cancel: &CancelToken) -> Option<GitStatus> {
    // A damaged repository must not be answered for by one above it.
    let checkout = match git.open(root, CheckoutSearch::Here, cancel) {
        Ok(checkout) => checkout,
        Err(GitOutcome::Failed) => return Some(GitStatus::Nothing),
        Err(_) => return None,
    };
    let mut names = ChangedFiles::default();
    let diff = ["--name-only", "-z", "--no-renames", checkout.diff_base()];
    let mut end = names.read_names(&checkout, GitCommand::Diff, &diff);
    if end == GitOutcome::Complete {
        let exclude = checkout.exclude_file();
        let exclude = exclude.and_then(|file| Some(format!("--exclude-from={}", file.to_str()?)));
        let others = ["--others", "--exclude-standard", "-z"];
        let others: Vec<&str> = others.into_iter().chain(exclude.as_deref()).collect();
        end = names.read_names(&checkout, GitCommand::ListFiles, &others);
    }
    match end {
        GitOutcome::Complete | GitOutcome::Enough => Some(GitStatus::State(GitStatusCache {
            head: checkout.head().map(str::to_owned),
            branch: checkout.branch().map(str::to_owned),
            changed: names.changed,
            ..GitStatusCache::default()
        })),
        GitOutcome::Failed => Some(GitStatus::Nothing),
        GitOutcome::Cut | GitOutcome::Cancelled => None,
    }
}

/// Names of changed files, up to the limits.
#[derive(Debug, Default)]
struct ChangedFiles {
    changed: Vec<String>,
    bytes: usize,
}

impl ChangedFiles {
    fn read_names(
        &mut self,
        checkout: &Checkout<'_>,
        command: GitCommand,
        arguments: &[&str],
    ) -> GitOutcome {
        checkout.ask_git(command, arguments, RecordFormat::Zero, |name| {
            self.add_name(name)
        })
    }

    fn add_name(&mut self, name: &[u8]) -> ControlFlow<()> {
        // A name that is not text is in no item.
        let Ok(name) = std::str::from_utf8(name) else {
            return ControlFlow::Continue(());
        };
        let twice = self.changed.last().is_some_and(|last| last == name);
        if name.is_empty() || twice || name.contains(char::is_control) {
            return ControlFlow::Continue(());
        }
        self.bytes += name.len();
        if self.changed.len() == MAX_FILES || self.bytes > MAX_NAME_BYTES {
            return ControlFlow::Break(());
        }
        self.changed.push(name.to_owned());
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Vec<String> {
        let mut read = ChangedFiles::default();
        for name in names {
            if read.add_name(name.as_bytes()).is_break() {
                break;
            }
        }
        read.changed
    }

    #[test]
    fn odd_names_are_left_out_and_conflicts_are_named_once() {
        let names = ["a b.rs", "", "bad\nname", "both.rs", "both.rs", "é.rs"];
        assert_eq!(of(&names), ["a b.rs", "both.rs", "é.rs"]);
    }

    #[test]
    fn there_is_an_end_to_names() {
        let many: Vec<String> = (0..900).map(|n| format!("f{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&many).len(), MAX_FILES);
        let long = "x".repeat(15_000);
        let other = "y".repeat(15_000);
        assert_eq!(of(&[&long, &other, &long, &other]).len(), 2);
    }
}
