//! Many reports of the system become one change, once a file has settled. Pure:
//! time and what is on the disk come in as arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_hooks::FileChangeKind;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// What happened to it.
    pub kind: FileChangeKind,
}

/// Files that were touched and have not settled, and files that are known to be
/// there.
#[derive(Debug, Default)]
pub(crate) struct SettlingFiles {
    touched: BTreeMap<PathBuf, Instant>,
    there: BTreeSet<PathBuf>,
}

impl SettlingFiles {
    /// A file is there before anything happens to it.
    pub(crate) fn note_present(&mut self, path: &Path) {
        self.there.insert(path.to_owned());
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
        is_there: impl Fn(&Path) -> bool,
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
            let kind = match (self.there.contains(&path), is_there(&path)) {
                (true, true) => FileChangeKind::Change,
                (false, true) => FileChangeKind::Add,
                (true, false) => FileChangeKind::Unlink,
                (false, false) => continue,
            };
            if kind == FileChangeKind::Unlink {
                self.there.remove(&path);
            } else {
                self.there.insert(path.clone());
            }
            changes.push(FileChange { path, kind });
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(500);

    #[test]
    fn a_file_settles_once() {
        let mut files = SettlingFiles::default();
        let (path, start) = (Path::new("/a"), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        files.note_present(path);
        files.touch(path, at(0));
        files.touch(path, at(400));
        assert_eq!(files.next_due(QUIET), Some(at(900)));
        assert_eq!(files.take_settled(at(800), QUIET, |_| true), []);
        let change = FileChange {
            path: path.into(),
            kind: FileChangeKind::Change,
        };
        assert_eq!(files.take_settled(at(900), QUIET, |_| true), [change]);
        assert_eq!(files.take_settled(at(9_000), QUIET, |_| true), []);
    }

    #[test]
    fn before_and_after_say_what_happened() {
        let start = Instant::now();
        let mut files = SettlingFiles::default();
        let mut happen = |is_there: bool| {
            files.touch(Path::new("/a"), start);
            let changes = files.take_settled(start + QUIET, QUIET, |_| is_there);
            changes.first().map(|change| change.kind)
        };
        assert_eq!(happen(false), None, "made and removed at once");
        assert_eq!(happen(true), Some(FileChangeKind::Add));
        assert_eq!(happen(true), Some(FileChangeKind::Change));
        assert_eq!(happen(false), Some(FileChangeKind::Unlink));
        assert_eq!(happen(true), Some(FileChangeKind::Add));
    }
}
