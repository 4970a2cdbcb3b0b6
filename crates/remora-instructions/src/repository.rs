//! Which repository a directory belongs to, read from git's own files: a `git`
//! process costs milliseconds and could run programs that the repository names.

use std::fs;
use std::path::{Path, PathBuf};

use remora_core::git;
use remora_files::read_text;

use crate::names;

/// The longest pointer file that is read: one path fits many times over.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// A checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Where this checkout begins.
    pub(crate) root: PathBuf,
    /// Where the main checkout begins; the same unless this is a worktree.
    pub(crate) main: PathBuf,
}

impl Repository {
    /// The checkout around a (real) directory.
    pub(crate) fn find_containing(directory: &Path) -> Option<Self> {
        let root = directory.ancestors().find(|dir| is_root(dir))?;
        Some(Self {
            root: root.to_path_buf(),
            main: main_checkout(root).unwrap_or_else(|| root.to_path_buf()),
        })
    }

    /// Whether a directory of the walk belongs to the main checkout around
    /// this worktree, whose files the worktree holds itself.
    pub(crate) fn is_in_outer_checkout(&self, directory: &Path) -> bool {
        self.main != self.root
            && self.root.starts_with(&self.main)
            && directory.starts_with(&self.main)
            && !directory.starts_with(&self.root)
    }
}

fn is_root(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join(".git")).is_ok()
}

/// The main checkout of a worktree: its `.git` is a file that points into the
/// main one's `.git/worktrees`, and the entry there points back. A pointer alone
/// may come out of an archive, and would give one project access to the memory
/// of another. A submodule's points elsewhere.
fn main_checkout(root: &Path) -> Option<PathBuf> {
    let pointer = read_text(&root.join(".git"), MAX_POINTER_BYTES).ok()?;
    let folder = fs::canonicalize(root.join(git::parse_gitdir_pointer(&pointer)?)).ok()?;
    let common = read_text(&folder.join("commondir"), MAX_POINTER_BYTES).ok()?;
    let common = fs::canonicalize(folder.join(common.trim())).ok()?;
    let back = read_text(&folder.join("gitdir"), MAX_POINTER_BYTES).ok()?;
    let back = folder.join(back.trim());
    let back = back.parent().and_then(|back| fs::canonicalize(back).ok())?;
    let is_listed = folder.parent()? == common.join("worktrees");
    if common.file_name()? == ".git" && is_listed && back == fs::canonicalize(root).ok()? {
        return common.parent().map(Path::to_path_buf);
    }
    None
}

/// The directory whose path identifies the project: the main checkout, or the
/// directory itself outside git.
pub(crate) fn project_root(repository: Option<&Repository>, cwd: &Path) -> PathBuf {
    repository.map_or_else(|| cwd.to_path_buf(), |r| r.main.clone())
}

/// The folder of memories that a checkout shares.
pub(crate) fn team_folder(repository: Option<&Repository>, cwd: &Path) -> PathBuf {
    let root = repository.map_or(cwd, |r| r.root.as_path());
    root.join(names::SETTINGS_DIR).join(names::TEAM_MEMORY_DIR)
}

#[cfg(test)]
mod tests;
