//! Walks over foreign trees that respect their `.gitignore` files, without
//! reading one that never ends.
//!
//! The walker opens these files by itself, whatever they are, so a folder is
//! entered only if they can be read.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ignore::{WalkBuilder, WalkState};

/// A list of patterns that is larger is not read: making it ready costs far
/// more than reading it.
const MAX_IGNORE_BYTES: u64 = 64 * 1024;
/// The longest `.git` pointer file that the walker may read.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// Which files a walk lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkFilter {
    /// Those that no list of patterns ignores.
    NotIgnored,
    /// All.
    All,
}

/// A walk from `root` without `.git`. Lists of patterns that cannot be read
/// safely do not count; below `root`, folders that hold one must be left out
/// with [`can_enter`]. Only [`WalkBuilder::build_parallel`] leaves them
/// unread.
pub fn build_walker(root: &Path, files: WalkFilter) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    // The walker reads the lists above the root whenever any list counts, so all of those
    // must be safe as well.
    let own = files == WalkFilter::NotIgnored && root.ancestors().all(can_enter);
    walk.hidden(false)
        // The user's own ignore list is no property of the tree; results must not depend on it.
        .git_global(false)
        .ignore(own)
        .git_ignore(own)
        .git_exclude(own)
        .parents(own);
    walk
}

/// Hands over files below `root` until the caller has enough.
pub fn walk_files(
    root: &Path,
    files: WalkFilter,
    mut on_file: impl FnMut(&Path) -> ControlFlow<()> + Send,
) {
    let walk = build_walker(root, files)
        // One thread, so that the same tree always yields the same list. The parallel walker is
        // used all the same: only it leaves the lists of filtered folders unread.
        .threads(1)
        .filter_entry(move |entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let enter = || files == WalkFilter::All || can_enter(entry.path());
            entry.file_name() != ".git" && (!folder || enter())
        })
        .build_parallel();
    let on_file = Mutex::new(&mut on_file);
    walk.run(|| {
        Box::new(|entry| {
            let Some(entry) = entry
                .ok()
                .filter(|e| e.file_type().is_some_and(|k| !k.is_dir()))
            else {
                return WalkState::Continue;
            };
            let mut on_file = on_file.lock().unwrap_or_else(PoisonError::into_inner);
            match on_file(entry.path()) {
                ControlFlow::Continue(()) => WalkState::Continue,
                ControlFlow::Break(()) => WalkState::Quit,
            }
        })
    });
}

/// Whether everything that the walker would read in a folder is small and a
/// regular file.
pub fn can_enter(folder: &Path) -> bool {
    let is_small = |name: &str, max_bytes: u64| match fs::metadata(folder.join(name)) {
        Ok(about) if about.is_dir() => true,
        Ok(about) => about.is_file() && about.len() <= max_bytes,
        Err(_) => true,
    };
    is_small(".gitignore", MAX_IGNORE_BYTES)
        && is_small(".ignore", MAX_IGNORE_BYTES)
        && is_small(".git", MAX_POINTER_BYTES)
        && is_small(".git/info/exclude", MAX_IGNORE_BYTES)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn lists_that_never_end_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for name in ["plain", "zero", "large", "pointer"] {
            fs::create_dir(root.join(name)).unwrap();
            fs::write(root.join(name).join("a.rs"), "").unwrap();
        }
        fs::write(root.join("plain/.gitignore"), "*.log\n").unwrap();
        symlink("/dev/zero", root.join("zero/.gitignore")).unwrap();
        let sparse = |name: &str| {
            let file = fs::File::create(root.join(name)).unwrap();
            file.set_len(1 << 40).unwrap();
        };
        sparse("large/.ignore");
        sparse("pointer/.git");
        let list = |root: &Path, files| {
            let mut found = Vec::new();
            walk_files(root, files, |path| {
                if path.ends_with("a.rs") {
                    found.push(path.strip_prefix(dir.path()).unwrap().to_owned());
                }
                ControlFlow::Continue(())
            });
            found.sort();
            found
        };
        assert_eq!(
            list(root, WalkFilter::NotIgnored),
            [Path::new("plain/a.rs")]
        );
        assert_eq!(list(root, WalkFilter::All).len(), 4);
        // At the root and above it the list does not count.
        symlink("/dev/zero", root.join(".ignore")).unwrap();
        assert_eq!(
            list(root, WalkFilter::NotIgnored),
            [Path::new("plain/a.rs")]
        );
        let plain = list(&root.join("plain"), WalkFilter::NotIgnored);
        assert_eq!(plain, [Path::new("plain/a.rs")]);
    }
}
