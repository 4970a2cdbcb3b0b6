//! What became of a path: there, elsewhere, or gone. First by the listing and the
//! disk, then by the history.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::files::{FileNameIndex, TreeFile, TreeListing, ends_in, file_stem, last_part};
use super::git::{HistoryCoverage, PathEvent, PathHistory};
use super::known;
use remora_instructions::walk::can_enter;

/// Folders that tools fill; what is in them comes and goes.
const GENERATED_FOLDERS: &[&str] = &[
    ".git",
    ".next",
    ".venv",
    "__pycache__",
    "build",
    "coverage",
    "dist",
    "node_modules",
    "out",
    "target",
    "tmp",
    "vendor",
    "venv",
];

/// What became of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStatus {
    There(String),
    /// Renamed, by the history.
    Moved {
        to: String,
        why: String,
    },
    /// Something of the same name is elsewhere; only a guess.
    Likely {
        to: String,
        why: String,
    },
    /// It was here, by the history.
    Gone(String),
    /// Never known, but the folder it should be in is here.
    Absent(String),
    /// Nothing can be said.
    Unknown(String),
    /// Not a path of this tree.
    Outside,
}

/// A path without its decoration, as asked of the history; `None` when it
/// cannot be below the root.
pub(super) fn normalise_claimed_path(root: &Path, text: &str) -> Option<String> {
    let mut path = text.trim_end_matches('/');
    if path.starts_with('/') {
        path = path.strip_prefix(root.to_str()?)?.strip_prefix('/')?;
    }
    let fits = !path.is_empty()
        && path
            .split('/')
            .all(|p| !p.is_empty() && p != "." && p != "..");
    fits.then(|| path.to_owned())
}

pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '{'])
}

/// Answers about paths with what the listing and the disk hold.
pub(super) struct PathIndex<'a> {
    files: &'a TreeListing,
    index: &'a FileNameIndex<'a>,
    ignores: HashMap<String, Option<Gitignore>>,
}

impl<'a> PathIndex<'a> {
    pub(super) fn new(files: &'a TreeListing, index: &'a FileNameIndex<'a>) -> Self {
        Self {
            files,
            index,
            ignores: HashMap::new(),
        }
    }

    /// What can be said without the history.
    pub(super) fn find_local_status(&self, text: &str) -> Option<PathStatus> {
        let root = self.files.root();
        let Some(path) = normalise_claimed_path(root, text) else {
            return Some(PathStatus::Outside);
        };
        if is_pattern(&path) {
            return Some(self.find_pattern_status(&path));
        }
        // A path may begin with the repository's own name: `shop/src/a.rs` in `shop`.
        let below = root.file_name().and_then(|n| n.to_str());
        let inner = below.and_then(|name| path.strip_prefix(name)?.strip_prefix('/'));
        [Some(path.as_str()), inner]
            .into_iter()
            .flatten()
            .find_map(|p| self.find_existing(p))
            .map(PathStatus::There)
    }

    fn find_existing(&self, path: &str) -> Option<String> {
        let index = self.index;
        if index.files.contains(path) || index.folders.contains(path) {
            return Some(path.to_owned());
        }
        // Ignored files count as well. Git leaves an empty folder behind when its files move,
        // so an empty one does not.
        let full = self.files.root().join(path);
        let empty = |p: &Path| fs::read_dir(p).is_ok_and(|mut list| list.next().is_none());
        if full
            .symlink_metadata()
            .is_ok_and(|d| !d.is_dir() || !empty(&full))
        {
            return Some(path.to_owned());
        }
        let name = last_part(path);
        let dotless = |file: &&&str| {
            let cut = file.len() - last_part(file).len() + file_stem(last_part(file)).len();
            ends_in(&file[..cut], path)
        };
        let tailed: Vec<&str> = index
            .files_named(name)
            .iter()
            .filter(|f| ends_in(f, path))
            .copied()
            .collect();
        let folders: Vec<&str> = index
            .folders_named(name)
            .iter()
            .filter(|f| ends_in(f, path))
            .copied()
            .collect();
        let stems: Vec<&str> = if path.contains('/') {
            index
                .files_with_stem(name)
                .iter()
                .filter(dotless)
                .copied()
                .collect()
        } else {
            Vec::new()
        };
        [tailed, folders, stems]
            .into_iter()
            .find(|list| !list.is_empty())
            .map(|list| format_paths(&list))
    }

    fn find_pattern_status(&self, path: &str) -> PathStatus {
        let fixed = path.find(['*', '?', '{', '[']).unwrap_or(path.len());
        let base = path[..fixed].rsplit_once('/').map_or("", |(head, _)| head);
        let entries = self.files.entries();
        let (from, to) = if base.is_empty() {
            (0, entries.len())
        } else {
            let below = format!("{base}/");
            let from = entries.partition_point(|e| e.path < below);
            let count = entries[from..].partition_point(|e| e.path.starts_with(&below));
            (from, from + count)
        };
        let anchored = if path.contains('/') {
            format!("/{path}")
        } else {
            path.to_owned()
        };
        // First where the memory says, then at any depth: writers leave leading folders out.
        let anywhere = format!("**/{path}");
        let found = self
            .find_matching_file(&anchored, &entries[from..to])
            .or_else(|| self.find_matching_file(&anywhere, entries));
        match found {
            Some(file) => PathStatus::There(file),
            None if base.is_empty() || self.index.folders.contains(base) => {
                PathStatus::Unknown("nothing matches now".to_owned())
            }
            None => PathStatus::Unknown(format!("there is no {base}/")),
        }
    }

    fn find_matching_file(&self, pattern: &str, entries: &[TreeFile]) -> Option<String> {
        let mut builder = GitignoreBuilder::new(self.files.root());
        builder.add_line(None, pattern).ok()?;
        let glob = builder.build().ok()?;
        let hit = entries
            .iter()
            .find(|e| glob.matched_path_or_any_parents(&e.path, false).is_ignore());
        hit.map(|e| e.path.clone())
    }

    /// What the history adds about a path that is not there.
    pub(super) fn find_history_status(&mut self, text: &str, history: &PathHistory) -> PathStatus {
        let Some(path) = normalise_claimed_path(self.files.root(), text) else {
            return PathStatus::Outside;
        };
        // `mod.rs` alone may mean any of many, also one that never was.
        if !path.contains('/') && known::is_common_file(&path) {
            return PathStatus::Unknown("not found".to_owned());
        }
        let there = |p: &str| self.index.files.contains(p);
        let event = history.find_event(&path);
        if let Some(PathEvent::Renamed { from, to, at }) = event {
            if there(to) {
                return build_moved(to, at.as_str());
            }
            if let Some((to, at)) = history.follow_renames(from, there) {
                return build_moved(&to, at.as_str());
            }
        }
        if let Some(to) = history
            .find_arrival(&path)
            .filter(|to| self.index.folders.contains(to))
        {
            return PathStatus::Moved {
                to: format!("{to}/"),
                why: format!("its files were renamed to {to}/"),
            };
        }
        // Before a deletion is believed: git may have missed the rename.
        if let Some(to) = self.find_namesake(&path) {
            return PathStatus::Likely {
                why: format!("not found; {to} has the same name"),
                to,
            };
        }
        match event {
            Some(PathEvent::Deleted(at)) => {
                return PathStatus::Gone(format!("deleted in {}", at.as_str()));
            }
            Some(PathEvent::Renamed { to, at, .. }) => {
                return PathStatus::Gone(format!(
                    "renamed to {to} in {}, and not there either",
                    at.as_str()
                ));
            }
            // Added and not here: it is on another branch, so it is not gone.
            Some(PathEvent::Added(at)) => {
                return PathStatus::Unknown(format!("added in {}, on another branch", at.as_str()));
            }
            None => {}
        }
        if path.split('/').any(|p| GENERATED_FOLDERS.contains(&p)) || self.is_ignored(&path) {
            return PathStatus::Unknown("not there now, and ignored by git".to_owned());
        }
        let evidence = match history.reach {
            HistoryCoverage::Whole => "git has never had it",
            HistoryCoverage::Cut => "git took too long to ask for all of its history",
            HistoryCoverage::Nothing => "no history to ask",
        };
        match path.rsplit_once('/') {
            Some((folder, name))
                if self.index.folders.contains(folder) && known::is_file_name(name) =>
            {
                PathStatus::Absent(format!("not in {folder}/; {evidence}"))
            }
            _ => PathStatus::Unknown(format!("not found; {evidence}")),
        }
    }

    /// The only file with this name, or with this stem in the same folder.
    fn find_namesake(&self, path: &str) -> Option<String> {
        let (folder, name) = path.rsplit_once('/')?;
        if !known::is_file_name(name) {
            return None;
        }
        if let [only] = self.index.files_named(name)
            && !known::is_common_file(name)
        {
            return Some((*only).to_owned());
        }
        let in_same_folder = |file: &&&str| file.rsplit_once('/').is_some_and(|(f, _)| f == folder);
        let mut near = self
            .index
            .files_with_stem(file_stem(name))
            .iter()
            .filter(in_same_folder);
        match (near.next(), near.next()) {
            (Some(only), None) => Some((*only).to_owned()),
            _ => None,
        }
    }

    fn is_ignored(&mut self, path: &str) -> bool {
        let root = self.files.root().to_path_buf();
        let ends = path.match_indices('/').map(|(at, _)| at);
        let folders: Vec<&str> = std::iter::once("")
            .chain(ends.map(|at| &path[..at]))
            .collect();
        folders.into_iter().any(|folder| {
            let list = self.ignores.entry(folder.to_owned()).or_insert_with(|| {
                // A list that is no small file is not read; see `can_enter`.
                let folder = root.join(folder);
                let file = folder.join(".gitignore");
                (can_enter(&folder) && file.is_file()).then(|| Gitignore::new(file).0)
            });
            let full = root.join(path);
            list.as_ref().is_some_and(|l| {
                full.starts_with(l.path())
                    && l.matched_path_or_any_parents(&full, false).is_ignore()
            })
        })
    }
}

fn build_moved(to: &str, at: &str) -> PathStatus {
    PathStatus::Moved {
        to: to.to_owned(),
        why: format!("renamed to {to} in {at}"),
    }
}

fn format_paths(list: &[&str]) -> String {
    match list {
        [one] => (*one).to_owned(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    }
}
