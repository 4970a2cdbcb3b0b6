//! Which project a directory belongs to, from files alone: a repository is
//! known by its remote, else by the root of its main checkout; worktrees and
//! subfolders belong to it, folders that only share a name do not.
//!
//! Nothing in a checkout is proof of what it is: its `.git` may have come out
//! of an archive. So a key that a remote names is used only by roots that
//! [`ProjectRoots`] lists, and a worktree belongs to a repository only when that
//! repository points back at it.

mod checkout;

use std::fs;
use std::path::{Component, Path, PathBuf};

use remora_core::ids::ProjectKey;
use remora_core::record::Project;

use crate::roots::{is_holdable, is_line};
use crate::{DataPaths, ProjectRoots};
use checkout::{Checkout, find_checkout};

/// A project, and what is checked out in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectLocation {
    /// The project.
    pub project: Project,
    /// The branch.
    pub branch: Option<String>,
    /// The root of the main checkout, or the folder outside a repository.
    pub main: String,
    /// What the remote says, and whether it counts.
    pub claim: RootClaim,
}

/// Whether a checkout may use the key that its remote names.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum RootClaim {
    /// It names none: its folder is its key.
    #[default]
    None,
    /// Its root is one of those that share the key.
    Accepted,
    /// No root has the key yet.
    Free,
    /// Other roots have the key: this one has a memory of its own until the
    /// user joins them.
    Waiting {
        /// What its remote says.
        key: ProjectKey,
        /// The roots that share it.
        holders: Vec<String>,
    },
}

impl ProjectLocation {
    /// The same checkout with a memory of its own.
    #[must_use]
    pub fn kept_apart(self, holders: Vec<String>) -> Self {
        Self {
            project: Project {
                root: self.project.root,
                ..project_from_key(self.main.clone(), Path::new(&self.main))
            },
            claim: RootClaim::Waiting {
                key: self.project.key,
                holders,
            },
            ..self
        }
    }

    /// The key that its remote names while others hold it.
    pub fn awaited_key(&self) -> Option<&str> {
        match &self.claim {
            RootClaim::Waiting { key, .. } => Some(key),
            RootClaim::None | RootClaim::Accepted | RootClaim::Free => None,
        }
    }
}

/// The project of `cwd`. Outside a repository it is the directory the session
/// began in, if that is known, else `cwd` itself. Nothing is written: a key
/// that no root has yet is for the caller to claim.
pub fn locate_project(
    paths: &DataPaths,
    cwd: &Path,
    session_root: Option<&Path>,
) -> ProjectLocation {
    // The session's root is the second choice: an agent that changes into
    // another repository works on that one.
    let found = find_checkout(cwd).or_else(|| session_root.and_then(find_checkout));
    if let Some(checkout) = found {
        return locate_checkout(&ProjectRoots::for_data_dir(paths), checkout);
    }
    // Outside git a session keeps one project, however often it changes its
    // directory.
    let root = normalise_path(session_root.unwrap_or(cwd));
    let main = canonical_path(&root);
    ProjectLocation {
        project: Project {
            root: root.display().to_string(),
            ..project_from_key(main.clone(), Path::new(&main))
        },
        branch: None,
        main,
        claim: RootClaim::None,
    }
}

/// The main checkout of what lies at `root`, as [`ProjectRoots`] lists it: with links
/// resolved. A folder that is gone is itself.
pub fn main_root(root: &Path) -> String {
    match find_checkout(root) {
        Some(checkout) if checkout.root == normalise_path(root) => canonical_path(&checkout.main),
        _ => canonical_path(root),
    }
}

fn locate_checkout(roots: &ProjectRoots, checkout: Checkout) -> ProjectLocation {
    let Checkout {
        root,
        main,
        remote,
        branch,
    } = checkout;
    let written = main.display().to_string();
    let location = |key: String, main: String, claim: RootClaim| ProjectLocation {
        project: Project {
            root: root.display().to_string(),
            ..project_from_key(key, Path::new(&main))
        },
        branch: branch.clone(),
        main,
        claim,
    };
    let Some(key) = remote.filter(|key| is_holdable(key)) else {
        let main = canonical_path(&main);
        return location(main.clone(), main, RootClaim::None);
    };
    let holders = roots.find_roots(&key);
    // The usual case first: links are resolved only when the path itself is
    // not in the list.
    if let Ok(Some(holders)) = &holders
        && holders.contains(&written)
    {
        return location(key, written, RootClaim::Accepted);
    }
    let main = canonical_path(&main);
    let here = location(key, main.clone(), RootClaim::Free);
    match holders {
        Ok(Some(holders)) if holders.contains(&main) => ProjectLocation {
            claim: RootClaim::Accepted,
            ..here
        },
        // A root with a control character could forge a line of the list, so it
        // never holds a key.
        Ok(None) if is_line(&main) => here,
        // A list that cannot be read lets no root in.
        held => here.kept_apart(held.ok().flatten().unwrap_or_default()),
    }
}

fn project_from_key(key: String, root: &Path) -> Project {
    let name = match key.rsplit('/').next() {
        Some(last) if !last.is_empty() => last.to_owned(),
        _ => key.clone(),
    };
    Project {
        key: key.into(),
        name,
        root: root.display().to_string(),
    }
}

/// A path without links, so that one folder has one name; as it is when it is
/// not there.
fn canonical_path(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| normalise_path(path));
    path.display().to_string()
}

/// Takes `.` and `..` out of a path without asking the disk.
pub fn normalise_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
