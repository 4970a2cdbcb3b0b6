//! Which folders may have a file of ours: those that git knows files in, or
//! outside git those that are there; never hidden or vendored ones, and none
//! that a link leads out of the project.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use remora_git::{CancelToken, CheckoutSearch, Git, GitCommand, GitOutcome, RecordFormat};

/// How long git may take to list files.
pub(super) const GIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Entries of a folder that are read outside git.
const MAX_SCANNED_ENTRIES: usize = 1_000;

/// Folders of other people's code.
const VENDORED_DIRS: &[&str] = &[
    "bower_components",
    "node_modules",
    "Pods",
    "site-packages",
    "third_party",
    "vendor",
];
/// Folders that programs fill; in a repository git knows better.
const GENERATED_DIRS: &[&str] = &[
    "__pycache__",
    "build",
    "coverage",
    "dist",
    "out",
    "target",
    "tmp",
    "venv",
];
/// Whether a folder's name alone speaks against it.
pub(super) fn is_plain(folder: &str) -> bool {
    let odd = |c: char| "*?[]\\:".contains(c) || c.is_control();
    !folder.contains(odd)
        && folder
            .split('/')
            .all(|part| !part.starts_with('.') && !VENDORED_DIRS.contains(&part))
}

/// The folders of the list in which there is something to speak of.
pub(super) fn find_tracked_folders<'a>(
    root: &Path,
    folders: &[&'a str],
    git: &Git,
) -> HashSet<&'a str> {
    let by_git = root
        .join(".git")
        .exists()
        .then(|| ask_git(root, folders, git));
    let named: HashSet<&str> = match by_git.flatten() {
        Some(known) => {
            let known = folders.iter().filter(|folder| known.contains(**folder));
            known.copied().collect()
        }
        // No repository, or no git program: what is there counts.
        None => folders
            .iter()
            .filter(|folder| {
                folder
                    .split('/')
                    .all(|part| !GENERATED_DIRS.contains(&part))
            })
            .filter(|folder| has_files(&root.join(folder)))
            .copied()
            .collect(),
    };
    let Ok(real_root) = root.canonicalize() else {
        return HashSet::new();
    };
    named
        .into_iter()
        .filter(|folder| {
            let real = root.join(folder).canonicalize();
            real.is_ok_and(|real| real == real_root.join(folder) && real.is_dir())
        })
        .collect()
}

fn has_files(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|list| {
        list.take(MAX_SCANNED_ENTRIES)
            .flatten()
            .any(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
    })
}

/// The folders that git knows files in; `None` without a repository or a git
/// program.
fn ask_git(root: &Path, folders: &[&str], git: &Git) -> Option<HashSet<String>> {
    if folders.is_empty() {
        return Some(HashSet::new());
    }
    // A damaged repository must not be answered for by one above it.
    let checkout = match git.open(root, CheckoutSearch::Here, &CancelToken::default()) {
        Ok(checkout) => checkout,
        Err(GitOutcome::Failed) => return None,
        Err(_) => return Some(HashSet::new()),
    };
    let globs: Vec<String> = folders.iter().map(|f| format!(":(glob){f}/*")).collect();
    let arguments = ["-z", "--"].into_iter();
    let arguments: Vec<&str> = arguments.chain(globs.iter().map(String::as_str)).collect();
    let mut known = HashSet::new();
    let end = checkout.ask_git(
        GitCommand::ListFiles,
        &arguments,
        RecordFormat::Zero,
        |file| {
            let file = std::str::from_utf8(file).unwrap_or_default();
            let folder = file.rsplit_once('/').map(|(folder, _)| folder);
            if let Some(folder) = folder.filter(|folder| !known.contains(*folder)) {
                known.insert(folder.to_owned());
            }
            ControlFlow::Continue(())
        },
    );
    match end {
        GitOutcome::Complete | GitOutcome::Enough => Some(known),
        GitOutcome::Failed => None,
        // Late is not the same as absent: then nothing is known to be tracked.
        GitOutcome::Cut | GitOutcome::Cancelled => Some(HashSet::new()),
    }
}
