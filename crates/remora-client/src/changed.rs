//! What git says of a checkout, as the worker wrote it down. A hook must not
//! run git itself; a file that is missing or broken means that nothing is known.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use remora_core::hash::stable_hash;
use serde::{Deserialize, Serialize};

use crate::{DataPaths, open_our_file};

/// A larger file is not read.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The state of a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitStatusCache {
    /// The root of the checkout.
    pub root: String,
    /// The branch, unless a commit is checked out by itself.
    #[serde(default)]
    pub branch: Option<String>,
    /// The commit, unless there is none yet.
    #[serde(default)]
    pub head: Option<String>,
    /// Files that differ from it, also new ones, relative to the root.
    #[serde(default)]
    pub changed: Vec<String>,
    /// When git was asked, in milliseconds since 1970.
    #[serde(default)]
    pub time: i64,
}

impl GitStatusCache {
    /// The folder of all such files.
    pub fn cache_dir(paths: &DataPaths) -> PathBuf {
        paths.run_dir().join("git")
    }

    /// The file of one checkout.
    pub fn cache_file(paths: &DataPaths, root: &Path) -> PathBuf {
        let name = stable_hash(root.as_os_str().as_encoded_bytes());
        Self::cache_dir(paths).join(format!("{name:016x}.json"))
    }

    /// What was written down of a checkout, if anything was.
    pub fn read(paths: &DataPaths, root: &Path) -> Option<Self> {
        let mut text = String::new();
        let file = open_our_file(&Self::cache_file(paths, root)).ok()?;
        let size = file
            .take(MAX_FILE_BYTES + 1)
            .read_to_string(&mut text)
            .ok()?;
        if size as u64 > MAX_FILE_BYTES {
            return None;
        }
        let changes: Self = serde_json::from_str(&text).ok()?;
        // Two roots may have the same name here.
        // The name is a hash of 64 bits, so the file itself says whose it is.
        (Path::new(&changes.root) == root).then_some(changes)
    }
}

/// The files that differ from the last commit of the checkout at `root`, as far
/// as the worker has seen it.
pub fn changed_files(paths: &DataPaths, root: &Path) -> Vec<String> {
    GitStatusCache::read(paths, root).map_or_else(Vec::new, |changes| changes.changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, DataPaths) {
        let home = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(home.path());
        std::fs::create_dir_all(GitStatusCache::cache_dir(&paths)).unwrap();
        (home, paths)
    }

    #[test]
    fn what_was_written_down_is_read() {
        let (_home, paths) = place();
        let root = Path::new("/src/app");
        let text = r#"{"root":"/src/app","branch":"main","changed":["a.rs","b/c.rs"],"time":7}"#;
        std::fs::write(GitStatusCache::cache_file(&paths, root), text).unwrap();
        assert_eq!(changed_files(&paths, root), ["a.rs", "b/c.rs"]);
        assert_eq!(
            GitStatusCache::read(&paths, root)
                .unwrap()
                .branch
                .as_deref(),
            Some("main")
        );
        assert!(changed_files(&paths, Path::new("/src/other")).is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        let (_home, paths) = place();
        let root = Path::new("/src/app");
        let file = GitStatusCache::cache_file(&paths, root);
        let long = format!(
            r#"{{"root":"/src/app","changed":["{}"]}}"#,
            "x".repeat(70_000)
        );
        for text in [
            "",
            "{\"root\":\"/src/app\",\"changed\":[",
            "[1]",
            r#"{"root":"/src/elsewhere","changed":["a.rs"]}"#,
            &long,
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(changed_files(&paths, root), Vec::<String>::new());
        }
        std::fs::write(&file, b"\xff\xfe{}").unwrap();
        assert!(changed_files(&paths, root).is_empty());
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(changed_files(&paths, root).is_empty());
    }
}
