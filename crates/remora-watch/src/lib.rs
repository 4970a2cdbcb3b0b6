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
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, MetadataKind, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use remora_core::Event;
use remora_hooks::Session;

pub use settle::FileChange;
use settle::SettlingFiles;

/// How long nothing must happen to a file before its change counts. As long as
/// the client waits.
pub const QUIET_TIME: Duration = Duration::from_millis(500);
/// How many reports are taken at once, so that a storm of them cannot keep the
/// caller from its changes.
const MAX_REPORTS_AT_ONCE: usize = 10_000;

/// Why files cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("files cannot be watched: {0}")]
pub struct WatchError(#[from] notify::Error);

/// Watches files and folders, also such that do not exist yet.
pub struct FileWatcher {
    watcher: RecommendedWatcher,
    reports: Receiver<PathBuf>,
    quiet: Duration,
    /// What the caller asked for; folders with all that is below them.
    wanted: BTreeSet<PathBuf>,
    /// What the system watches.
    watched: BTreeMap<PathBuf, RecursiveMode>,
    files: SettlingFiles,
}

impl FileWatcher {
    /// Watches nothing yet. A change counts once nothing has happened to its file
    /// for `quiet`.
    pub fn new(quiet: Duration) -> Result<Self, WatchError> {
        let (report, reports) = channel();
        let watcher = notify::recommended_watcher(move |event| forward_report(&report, event))?;
        Ok(Self {
            watcher,
            reports,
            quiet,
            wanted: BTreeSet::new(),
            watched: BTreeMap::new(),
            files: SettlingFiles::default(),
        })
    }

    /// What to watch from now on. Paths that cannot be watched are left out: a
    /// session goes on without being told of them.
    pub fn set_paths(&mut self, paths: Vec<PathBuf>) {
        let paths: BTreeSet<PathBuf> = paths.into_iter().collect();
        let fresh = paths.iter().filter(|path| !self.wanted.contains(*path));
        for path in fresh.filter(|path| path.exists()) {
            self.files.note_present(path);
            note_children(&mut self.files, path);
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
                Ok(path) => self.note_report(&path, Instant::now()),
                Err(RecvTimeoutError::Timeout) => {}
                // The system's side is gone: nothing will be reported any more.
                Err(RecvTimeoutError::Disconnected) => return Vec::new(),
            }
        }
    }

    /// The same for a session: watches what it watches now, and returns the events
    /// to fire.
    pub fn wait_for_events(&mut self, session: &Session, limit: Duration) -> Vec<Event> {
        self.set_paths(session.list_watched_paths());
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
            self.note_report(&path, now);
        }
        self.files.take_settled(now, self.quiet, Path::exists)
    }

    fn note_report(&mut self, path: &Path, now: Instant) {
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

/// Files of a watched folder, so that a later write is no new file.
fn note_children(files: &mut SettlingFiles, folder: &Path) {
    let Ok(list) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in list.flatten() {
        let path = entry.path();
        files.note_present(&path);
        // Not through links, which may lead anywhere.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            note_children(files, &path);
        }
    }
}

fn forward_report(report: &Sender<PathBuf>, event: notify::Result<notify::Event>) {
    // An error of the system says nothing of a file.
    let Ok(event) = event else {
        return;
    };
    let writes = match event.kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Metadata(metadata)) => metadata == MetadataKind::WriteTime,
        _ => true,
    };
    for path in event.paths.into_iter().filter(|_| writes) {
        // The watcher that listens is gone, and this one with it in an instant.
        let _ = report.send(path);
    }
}
