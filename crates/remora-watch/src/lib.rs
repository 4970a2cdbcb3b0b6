//! Files watched for a session of the hooks engine: what the system reports
//! becomes changes, each once it has settled, and changes become events.
//!
//! The session says which paths matter (`Session::list_watched_paths`) and what a
//! change is called (`Session::describe_change`); this crate looks at the disk.
//! It is a crate of its own so that a hook, which never watches anything, does
//! not carry it.

mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, MetadataKind, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use remora_core::Event;
use remora_hooks::Session;

pub use settle::FileChange;
use settle::{FileStamp, SettlingFiles};

/// How long nothing must happen to a file before its change counts. As long as
/// the client waits.
pub const QUIET_TIME: Duration = Duration::from_millis(500);
/// How many reports are taken at once, so that a storm of them cannot keep the
/// caller from its changes.
const MAX_REPORTS_AT_ONCE: usize = 10_000;
/// How many reports wait at most. What comes beyond is found by looking at the files.
const MAX_WAITING_REPORTS: usize = 100_000;
/// How many files below watched folders are known before anything happens to them.
/// The first change of any other is reported as a new file.
const MAX_KNOWN_FILES: usize = 50_000;

/// Why files cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("files cannot be watched: {0}")]
pub struct WatchError(#[from] notify::Error);

/// Watches files and folders, also such that do not exist yet.
pub struct FileWatcher {
    watcher: RecommendedWatcher,
    /// Paths that something happened to; `None` wakes the receiver.
    reports: Receiver<Option<PathBuf>>,
    /// Whether reports were lost.
    lost: Arc<AtomicBool>,
    quiet: Duration,
    /// What the caller asked for; folders with all that is below them.
    wanted: BTreeSet<PathBuf>,
    /// What the system watches.
    watched: BTreeMap<PathBuf, RecursiveMode>,
    files: SettlingFiles,
    /// The session's paths as they were when these were taken.
    revision: Option<u64>,
}

impl FileWatcher {
    /// Watches nothing yet. A change counts once nothing has happened to its file
    /// for `quiet`.
    pub fn new(quiet: Duration) -> Result<Self, WatchError> {
        let (report, reports) = sync_channel(MAX_WAITING_REPORTS);
        let lost = Arc::new(AtomicBool::new(false));
        let reporter = Reporter {
            report,
            lost: Arc::clone(&lost),
        };
        let watcher = notify::recommended_watcher(move |event| reporter.forward(event))?;
        Ok(Self {
            watcher,
            reports,
            lost,
            quiet,
            wanted: BTreeSet::new(),
            watched: BTreeMap::new(),
            files: SettlingFiles::default(),
            revision: None,
        })
    }

    /// What to watch from now on. Paths that cannot be watched are left out: a
    /// session goes on without being told of them.
    pub fn set_paths(&mut self, paths: Vec<PathBuf>) {
        let paths: BTreeSet<PathBuf> = paths.into_iter().collect();
        let fresh = paths.iter().filter(|path| !self.wanted.contains(*path));
        for path in fresh {
            for (path, stamp) in list_files(path, self.files.count_room(MAX_KNOWN_FILES)) {
                self.files.note_present(path, stamp);
            }
        }
        self.wanted = paths;
        self.follow_folders();
    }

    /// Waits for changes; returns as soon as there is one, or when the time is over.
    pub fn wait_for_changes(&mut self, limit: Duration) -> Vec<FileChange> {
        let end = Instant::now() + limit;
        loop {
            let now = Instant::now();
            let changes = self.take_changes(now);
            if !changes.is_empty() || now >= end {
                return changes;
            }
            let due = self
                .files
                .next_due(self.quiet)
                .map_or(end, |due| due.min(end));
            match self
                .reports
                .recv_timeout(due.saturating_duration_since(now))
            {
                Ok(path) => self.note_report(path.as_deref(), Instant::now()),
                Err(RecvTimeoutError::Timeout) => {}
                // The system's side is gone: nothing will be reported any more.
                Err(RecvTimeoutError::Disconnected) => return Vec::new(),
            }
        }
    }

    /// The same for a session: watches what it watches now, and returns the events
    /// to fire.
    pub fn wait_for_events(&mut self, session: &Session, limit: Duration) -> Vec<Event> {
        // Asked before the paths are: a change in between is seen the next time.
        let revision = session.watch_revision();
        if self.revision != Some(revision) {
            self.set_paths(session.list_watched_paths());
            self.revision = Some(revision);
        }
        let changes = self.wait_for_changes(limit).into_iter();
        changes
            .flat_map(|change| session.describe_change(&change.path, change.kind))
            .collect()
    }

    fn take_changes(&mut self, now: Instant) -> Vec<FileChange> {
        for _ in 0..MAX_REPORTS_AT_ONCE {
            let Ok(path) = self.reports.try_recv() else {
                break;
            };
            self.note_report(path.as_deref(), now);
        }
        if self.lost.swap(false, Ordering::Relaxed) {
            self.look_again(now);
        }
        self.files.take_settled(now, self.quiet, read_stamp)
    }

    /// Reports were lost: what differs from what is known has changed.
    fn look_again(&mut self, now: Instant) {
        self.follow_folders();
        let mut found: BTreeMap<PathBuf, FileStamp> = BTreeMap::new();
        for path in &self.wanted {
            found.extend(list_files(
                path,
                MAX_KNOWN_FILES.saturating_sub(found.len()),
            ));
        }
        for path in self.files.list_different(&found) {
            // A known file that was not listed may be beyond the limit.
            if found.contains_key(&path) || read_stamp(&path).is_none() {
                self.files.touch(&path, now);
            }
        }
    }

    fn note_report(&mut self, path: Option<&Path>, now: Instant) {
        let Some(path) = path else {
            return;
        };
        if self.is_wanted(path) {
            self.files.touch(path, now);
        }
        // A folder on the way to a file may have come or gone.
        if self.wanted.iter().any(|wanted| wanted.starts_with(path)) {
            self.follow_folders();
            let appeared: Vec<PathBuf> = self.wanted.iter().cloned().collect();
            for wanted in appeared {
                if wanted != path && wanted.starts_with(path) {
                    self.files.touch(&wanted, now);
                }
            }
        }
    }

    /// A wanted path, or one below a wanted folder.
    fn is_wanted(&self, path: &Path) -> bool {
        self.wanted.contains(path)
            || (path.ancestors().skip(1))
                .any(|folder| self.wanted.contains(folder) && folder.is_dir())
    }

    /// Has the system watch the folders in which the wanted paths are, or will be:
    /// a watched file that is replaced would be lost.
    fn follow_folders(&mut self) {
        let mut needed: BTreeMap<PathBuf, RecursiveMode> = BTreeMap::new();
        for path in &self.wanted {
            if path.is_dir() {
                needed.insert(path.clone(), RecursiveMode::Recursive);
            }
            if let Some(folder) = path.ancestors().skip(1).find(|folder| folder.is_dir()) {
                needed
                    .entry(folder.to_owned())
                    .or_insert(RecursiveMode::NonRecursive);
            }
        }
        let stale = self
            .watched
            .iter()
            .filter(|(path, mode)| needed.get(*path) != Some(*mode));
        for path in stale.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            // A folder that is gone is not watched any more in any case.
            let _ = self.watcher.unwatch(&path);
            self.watched.remove(&path);
        }
        for (path, mode) in needed {
            if !self.watched.contains_key(&path) && self.watcher.watch(&path, mode).is_ok() {
                self.watched.insert(path, mode);
            }
        }
    }
}

/// The path itself, if it is there, and what is below it; at most so many.
fn list_files(path: &Path, limit: usize) -> Vec<(PathBuf, FileStamp)> {
    let mut found = Vec::new();
    let Some(stamp) = read_stamp(path).filter(|_| limit > 0) else {
        return found;
    };
    found.push((path.to_owned(), stamp));
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(list) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in list.flatten() {
            if found.len() >= limit {
                return found;
            }
            let path = entry.path();
            // Not through links, which may lead anywhere.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path.clone());
            }
            found.extend(read_stamp(&path).map(|stamp| (path, stamp)));
        }
    }
    found
}

fn read_stamp(path: &Path) -> Option<FileStamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(if metadata.is_dir() {
        FileStamp::Folder
    } else {
        FileStamp::File {
            modified: metadata.modified().ok(),
            bytes: metadata.len(),
        }
    })
}

/// The system's side of the reports.
struct Reporter {
    report: SyncSender<Option<PathBuf>>,
    lost: Arc<AtomicBool>,
}

impl Reporter {
    fn forward(&self, event: notify::Result<notify::Event>) {
        // An error of the system says nothing of a file.
        let Ok(event) = event else {
            return;
        };
        // The system's own queue ran over. It names no path.
        if event.need_rescan() {
            self.lost.store(true, Ordering::Relaxed);
            self.send(None);
        }
        let writes = match event.kind {
            EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
            EventKind::Modify(ModifyKind::Metadata(metadata)) => {
                metadata == MetadataKind::WriteTime
            }
            _ => true,
        };
        for path in event.paths.into_iter().filter(|_| writes) {
            self.send(Some(path));
        }
    }

    fn send(&self, path: Option<PathBuf>) {
        // Full, or the watcher that listens is gone, and this one with it in an instant.
        if self.report.try_send(path).is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use notify::Event;
    use notify::event::Flag;

    use super::*;

    const QUIET: Duration = Duration::from_millis(20);
    /// Far above what any wait takes.
    const LIMIT: Duration = Duration::from_mins(1);

    #[test]
    fn what_was_lost_is_found_by_looking() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        for name in ["changed", "same", "gone", "folder/changed", "folder/same"] {
            fs::write(path(name), "before").unwrap();
        }
        let mut watcher = FileWatcher::new(QUIET).unwrap();
        let wanted = ["changed", "same", "gone", "new", "never", "folder"];
        watcher.set_paths(wanted.iter().map(|name| path(name)).collect());
        // From here on nothing is reported.
        for (folder, _) in std::mem::take(&mut watcher.watched) {
            watcher.watcher.unwatch(&folder).unwrap();
        }
        for name in ["changed", "new", "folder/changed", "folder/new"] {
            fs::write(path(name), "afterwards").unwrap();
        }
        fs::remove_file(path("gone")).unwrap();
        let (report, reports) = sync_channel(1);
        watcher.reports = reports;
        let reporter = Reporter {
            report,
            lost: Arc::clone(&watcher.lost),
        };
        reporter.forward(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        let mut found: Vec<(PathBuf, &str)> = Vec::new();
        while found.len() < 5 {
            let changes = watcher.wait_for_changes(LIMIT);
            assert!(!changes.is_empty(), "{found:?}");
            found.extend(changes.into_iter().map(|c| (c.path, c.kind.as_str())));
        }
        found.sort();
        assert_eq!(
            found,
            [
                (path("changed"), "change"),
                (path("folder/changed"), "change"),
                (path("folder/new"), "add"),
                (path("gone"), "unlink"),
                (path("new"), "add"),
            ]
        );
    }

    #[test]
    fn a_report_that_finds_no_room_is_not_forgotten() {
        let (report, reports) = sync_channel(1);
        let lost = Arc::new(AtomicBool::new(false));
        let reporter = Reporter {
            report,
            lost: Arc::clone(&lost),
        };
        let write = |name: &str| {
            let kind = EventKind::Access(AccessKind::Close(AccessMode::Write));
            reporter.forward(Ok(Event::new(kind).add_path(name.into())));
            lost.load(Ordering::Relaxed)
        };
        assert!(!write("/a"));
        assert!(write("/b"));
        assert_eq!(reports.try_recv(), Ok(Some("/a".into())));
    }

    #[test]
    fn a_walk_ends_at_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..9 {
            fs::create_dir_all(dir.path().join(format!("{number}/deep"))).unwrap();
        }
        assert_eq!(list_files(dir.path(), 100).len(), 19);
        for limit in [0, 1, 5] {
            assert_eq!(list_files(dir.path(), limit).len(), limit);
        }
    }
}
