//! A number that changes whenever files do, by names, sizes and times alone.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Entries of a folder that are read.
const MAX_SCANNED_ENTRIES: usize = 5000;

/// Parts are added up: a folder lists its files in any order.
#[derive(Debug, Default)]
pub(super) struct ChangeStamp(u64);

impl ChangeStamp {
    fn add_part(&mut self, part: impl FnOnce(&mut DefaultHasher)) {
        let mut hash = DefaultHasher::new();
        part(&mut hash);
        self.0 = self.0.wrapping_add(hash.finish());
    }

    pub(super) fn add_word(&mut self, word: &str) {
        self.add_part(|hash| word.hash(hash));
    }

    pub(super) fn add_file(&mut self, path: &Path) {
        let meta = fs::metadata(path).ok();
        // Inode and change time as well: a restored file may have its old size
        // and time.
        let state = meta.map(|m| (m.len(), m.mtime(), m.mtime_nsec(), m.ino(), m.ctime_nsec()));
        self.add_part(|hash| (path, state).hash(hash));
    }

    /// The Markdown files of a folder, the index among them.
    pub(super) fn add_folder(&mut self, folder: &Path) {
        self.add_part(|hash| folder.hash(hash));
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.take(MAX_SCANNED_ENTRIES) {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "md") {
                self.add_file(&path);
            }
        }
    }

    pub(super) fn finish(self) -> u64 {
        self.0
    }
}
