//! Which files a session watches, and what a change of one of them is called.
//! Pure: the host, or the watcher behind it, looks at the disk.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// It was written.
    Change,
    /// It is new.
    Add,
    /// It is gone.
    Unlink,
}

impl FileChangeKind {
    /// The word in `FileChanged`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Add => "add",
            Self::Unlink => "unlink",
        }
    }
}

/// The lists of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WatchLists {
    /// File names from matchers, fixed when the session begins.
    static_names: Vec<String>,
    /// Paths as handlers wrote them.
    dynamic: Vec<String>,
}

impl WatchLists {
    /// The names in the matchers of `FileChanged` handlers.
    pub(crate) fn from_matchers<'a>(matchers: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut static_names: Vec<String> = Vec::new();
        // Whatever the matcher means as an expression: each piece is a file name, `*` too.
        for name in matchers.flatten().flat_map(|m| m.split('|')).map(str::trim) {
            if !name.is_empty() && !static_names.iter().any(|n| n == name) {
                static_names.push(name.to_owned());
            }
        }
        Self {
            static_names,
            dynamic: Vec::new(),
        }
    }

    /// The session begins, or a watched file changed: a list replaces the dynamic
    /// one, an empty list leaves it.
    pub(crate) fn take_paths(&mut self, paths: &[String]) {
        if !paths.is_empty() {
            self.dynamic = paths.to_vec();
        }
    }

    /// After a `cd` only what the handlers of that event name is left.
    pub(crate) fn change_directory(&mut self, paths: &[String]) {
        self.dynamic = paths.to_vec();
    }

    /// What to watch, from that directory.
    pub(crate) fn list_paths(&self, cwd: &Path) -> Vec<PathBuf> {
        let all = self.static_names.iter().chain(&self.dynamic);
        let mut paths: Vec<PathBuf> = all.map(|name| resolve_path(cwd, name)).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// The path under which a change is reported; `None` if it is not watched.
    pub(crate) fn name_change(&self, cwd: &Path, changed: &Path) -> Option<String> {
        let changed = resolve_path(cwd, &changed.to_string_lossy());
        let shown = changed.to_string_lossy().into_owned();
        if self
            .static_names
            .iter()
            .any(|name| resolve_path(cwd, name) == changed)
        {
            return Some(shown);
        }
        self.dynamic.iter().find_map(|written| {
            let watched = resolve_path(cwd, written);
            let below = changed.strip_prefix(&watched).ok()?;
            // A path is reported as the handler wrote it, so a relative one stays relative.
            Some(if below.as_os_str().is_empty() {
                written.clone()
            } else {
                Path::new(written)
                    .join(below)
                    .to_string_lossy()
                    .into_owned()
            })
        })
    }
}

/// An absolute path without `.` and `..`. Links are not followed: a watched name
/// may be one that does not exist yet.
fn resolve_path(cwd: &Path, written: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in cwd.join(written).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|&s| s.to_owned()).collect()
    }

    #[test]
    fn matchers_are_lists_of_file_names() {
        let matchers = [Some("w.txt|v.txt"), None, Some(" g.txt |"), Some("w.txt|*")];
        let lists = WatchLists::from_matchers(matchers.into_iter());
        assert_eq!(lists.static_names, ["w.txt", "v.txt", "g.txt", "*"]);
    }

    #[test]
    fn names_follow_the_directory_and_paths_do_not() {
        let mut lists = WatchLists::from_matchers([Some("w.txt")].into_iter());
        lists.take_paths(&strings(&["/p/src", "rel.txt"]));
        let (p, q) = (Path::new("/p"), Path::new("/q"));
        let name = |lists: &WatchLists, cwd, path: &str| lists.name_change(cwd, Path::new(path));
        assert_eq!(name(&lists, p, "/p/w.txt").as_deref(), Some("/p/w.txt"));
        assert_eq!(name(&lists, q, "/p/w.txt"), None);
        assert_eq!(
            name(&lists, p, "/p/src/a.py").as_deref(),
            Some("/p/src/a.py")
        );
        assert_eq!(name(&lists, p, "/p/rel.txt").as_deref(), Some("rel.txt"));
        assert_eq!(name(&lists, p, "/p/other.txt"), None);
        lists.change_directory(&[]);
        assert_eq!(name(&lists, q, "/p/src/a.py"), None);
        assert_eq!(lists.list_paths(q), [PathBuf::from("/q/w.txt")]);
    }

    #[test]
    fn an_empty_list_clears_nothing() {
        let mut lists = WatchLists::default();
        lists.take_paths(&strings(&["/a"]));
        lists.take_paths(&[]);
        assert_eq!(lists.list_paths(Path::new("/")), [PathBuf::from("/a")]);
        lists.take_paths(&strings(&["/b"]));
        assert_eq!(lists.list_paths(Path::new("/")), [PathBuf::from("/b")]);
    }
}
