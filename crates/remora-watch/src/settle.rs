//! Many reports of the system become one change, once a file has settled. Pure:
//! time and what is on the disk come in as arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use remora_hooks::FileChangeKind;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// What happened to it.
    pub kind: FileChangeKind,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileStamp {
    /// Of what is in a folder the files themselves tell.
    Folder,
    File {
        modified: Option<SystemTime>,
        bytes: u64,
    },
}

/// Files that were touched and have not settled, and files that are known to be
/// there.
#[derive(Debug, Default)]
pub(crate) struct SettlingFiles {
    touched: BTreeMap<PathBuf, Instant>,
    there: BTreeMap<PathBuf, FileStamp>,
}

impl SettlingFiles {
    /// A file is there before anything happens to it.
    pub(crate) fn note_present(&mut self, path: PathBuf, stamp: FileStamp) {
        self.there.insert(path, stamp);
    }

    /// How many more files may be known.
    pub(crate) fn count_room(&self, limit: usize) -> usize {
        limit.saturating_sub(self.there.len())
    }

    /// Files that are there and were not known or were otherwise, and known ones that
    /// are not among those.
    pub(crate) fn list_different(&self, found: &BTreeMap<PathBuf, FileStamp>) -> Vec<PathBuf> {
        let changed = found
            .iter()
            .filter(|(path, stamp)| self.there.get(*path) != Some(*stamp))
            .map(|(path, _)| path);
        let gone = self.there.keys().filter(|path| !found.contains_key(*path));
        changed.chain(gone).cloned().collect()
    }

    /// Something happened to it.
    pub(crate) fn touch(&mut self, path: &Path, now: Instant) {
        self.touched.insert(path.to_owned(), now);
    }

    /// When the next file settles.
    pub(crate) fn next_due(&self, quiet: Duration) -> Option<Instant> {
        self.touched.values().min().map(|last| *last + quiet)
    }

    /// Files that nothing has happened to for so long, and what did happen.
    pub(crate) fn take_settled(
        &mut self,
        now: Instant,
        quiet: Duration,
        read_stamp: impl Fn(&Path) -> Option<FileStamp>,
    ) -> Vec<FileChange> {
        let settled: Vec<PathBuf> = self
            .touched
            .iter()
            .filter(|(_, last)| now.saturating_duration_since(**last) >= quiet)
            .map(|(path, _)| path.clone())
            .collect();
        let mut changes = Vec::new();
        for path in settled {
            self.touched.remove(&path);
            // A file that was replaced was gone for an instant; what counts is before and after.
            let after = read_stamp(&path);
            let kind = match (self.there.contains_key(&path), after.is_some()) {
                (true, true) => FileChangeKind::Change,
                (false, true) => FileChangeKind::Add,
                (true, false) => FileChangeKind::Unlink,
                (false, false) => continue,
            };
            match after {
                Some(stamp) => self.there.insert(path.clone(), stamp),
                None => self.there.remove(&path),
            };
            changes.push(FileChange { path, kind });
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(500);

    fn stamp(bytes: u64) -> FileStamp {
        FileStamp::File {
            modified: None,
            bytes,
        }
    }

    #[test]
    fn a_file_settles_once() {
        let mut files = SettlingFiles::default();
        let (path, start) = (Path::new("/a"), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        files.note_present(path.to_owned(), stamp(1));
        files.touch(path, at(0));
        files.touch(path, at(400));
        assert_eq!(files.next_due(QUIET), Some(at(900)));
        let there = |_: &Path| Some(stamp(1));
        assert_eq!(files.take_settled(at(800), QUIET, there), []);
        let change = FileChange {
            path: path.into(),
            kind: FileChangeKind::Change,
        };
        assert_eq!(files.take_settled(at(900), QUIET, there), [change]);
        assert_eq!(files.take_settled(at(9_000), QUIET, there), []);
    }

    #[test]
    fn before_and_after_say_what_happened() {
        let start = Instant::now();
        let mut files = SettlingFiles::default();
        let mut happen = |is_there: bool| {
            files.touch(Path::new("/a"), start);
            let changes = files.take_settled(start + QUIET, QUIET, |_| is_there.then(|| stamp(1)));
            changes.first().map(|change| change.kind)
        };
        assert_eq!(happen(false), None, "made and removed at once");
        assert_eq!(happen(true), Some(FileChangeKind::Add));
        assert_eq!(happen(true), Some(FileChangeKind::Change));
        assert_eq!(happen(false), Some(FileChangeKind::Unlink));
        assert_eq!(happen(true), Some(FileChangeKind::Add));
    }

    #[test]
    fn what_differs_from_what_is_known_is_listed() {
        let mut files = SettlingFiles::default();
        for (name, bytes) in [("/same", 1), ("/changed", 1), ("/gone", 1)] {
            files.note_present(name.into(), stamp(bytes));
        }
        let found = [("/same", 1), ("/changed", 2), ("/new", 1)]
            .map(|(name, bytes)| (PathBuf::from(name), stamp(bytes)));
        let mut different = files.list_different(&found.into());
        different.sort();
        assert_eq!(different, ["/changed", "/gone", "/new"].map(PathBuf::from));
        assert_eq!((files.count_room(4), files.count_room(2)), (1, 0));
    }
}
