//! The injections of sessions: the hooks' logs are copied into the store, and
//! later calls say which of it was of use. A file that cannot be read costs its
//! lines, never the events.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use remora_client::{DataPaths, TASKS_EXTENSION, injection_log_file, read_injections};
use remora_core::ids::SessionId;
use remora_core::record::Injection;
use remora_memory::CapturedEvent;
use remora_memory::injection_use::UseDetector;
use remora_memory::store::{Batch, Filter, Store};

use crate::ServerError;

const FULL_SCAN_INTERVAL: Duration = Duration::from_hours(24);
/// A hook may still be writing this long after its event was stored, and a
/// session starts again this long after its summary at the latest.
const MAX_ACTIVE_AGE: Duration = Duration::from_mins(10);
/// Files that are read when nothing is known of them yet.
const MAX_UNKNOWN_FILE_AGE: Duration = Duration::from_hours(14 * 24);
/// Files that are removed when they lay still for so long.
const MAX_FILE_AGE: Duration = Duration::from_hours(30 * 24);
/// A folder that changed less than this ago may change again unseen: the
/// clocks of file systems are coarse.
const CLOCK_GRANULARITY: Duration = Duration::from_secs(1);
/// Injections in one transaction.
const MAX_BATCH_INJECTIONS: usize = 4_096;
/// A file's name is cut there.
const MAX_FILE_NAME_BYTES: usize = 128;

/// What the worker knows of the files.
#[derive(Debug, Default)]
pub(crate) struct InjectionIngest {
    uses: UseDetector,
    known: HashMap<PathBuf, FileStamp>,
    /// Which line of its session the first line of a file is.
    bases: HashMap<PathBuf, u32>,
    /// Summaries that wait for the next start of their session, and tasks that
    /// wait for their subagent.
    waiting: HashSet<PathBuf>,
    /// Files of sessions that spoke of late, and when.
    spoke: HashMap<PathBuf, SystemTime>,
    /// The folder's time when it was listed last.
    listed: Option<SystemTime>,
    /// When all files were read last.
    cleared: Option<SystemTime>,
}

/// A file as it was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    size: u64,
    modified: SystemTime,
}

impl InjectionIngest {
    /// Forgets what it thinks the store holds. To be called when a batch could
    /// not be stored.
    pub(crate) fn reset_cache(&mut self) {
        *self = Self::default();
    }

    /// Adds to a batch what was injected into its sessions by now, and what its events
    /// made use of.
    pub(crate) fn join(
        &mut self,
        paths: &DataPaths,
        store: &dyn Store,
        events: &[&CapturedEvent],
        batch: &mut Batch,
        now: i64,
    ) -> Result<(), ServerError> {
        let mut sessions: HashMap<_, Vec<&CapturedEvent>> = HashMap::new();
        for event in events {
            sessions.entry(event.session()).or_default().push(event);
        }
        for (session, events) in sessions {
            let Some(first) = events.first() else {
                continue;
            };
            let file = injection_log_file(paths, session);
            let mut rows = Vec::new();
            if let Some(stamp) =
                read_stamp(&file).filter(|stamp| self.known.get(&file) != Some(stamp))
            {
                rows = self.read_log(store, &file, session)?;
                self.known.insert(file.clone(), stamp);
            }
            self.spoke.insert(file, to_system_time(now));
            batch
                .injections
                .extend(self.uses.add_injections(store, first, rows)?);
            for event in events {
                batch.uses.extend(self.uses.detect_uses(event));
            }
        }
        Ok(())
    }

    /// Stores what was injected meanwhile into any session; removes logs of
    /// sessions that are over.
    pub(crate) fn store_injections(
        &mut self,
        paths: &DataPaths,
        store: &dyn Store,
        now: i64,
    ) -> Result<(), ServerError> {
        let now = to_system_time(now);
        let mut batch = Batch::default();
        let mut seen: Vec<(PathBuf, FileStamp)> = Vec::new();
        let mut old = Vec::new();
        let files = self.list_changed_files(&paths.injection_log_dir(), now);
        self.clear_waiting(now);
        for file in files {
            let Some(stamp) = read_stamp(&file) else {
                self.known.remove(&file);
                self.bases.remove(&file);
                continue;
            };
            let age = elapsed_since(stamp.modified, now);
            let is_new = self.known.get(&file) != Some(&stamp);
            if is_new && (age > MAX_FILE_AGE || age <= MAX_UNKNOWN_FILE_AGE) {
                let Some(session) = session_of(paths, store, &file)? else {
                    continue;
                };
                batch
                    .injections
                    .extend(self.read_log(store, &file, &session)?);
                self.uses.forget_session(&session);
            }
            if age > MAX_FILE_AGE {
                old.push(file);
            } else if is_new {
                seen.push((file, stamp));
            }
            if batch.injections.len() >= MAX_BATCH_INJECTIONS {
                store.apply(&std::mem::take(&mut batch))?;
            }
        }
        if !batch.injections.is_empty() {
            store.apply(&batch)?;
        }
        self.known.extend(seen);
        for file in old {
            self.known.remove(&file);
            self.bases.remove(&file);
            // One that will not go is tried again in a day.
            let _ = fs::remove_file(&file);
        }
        Ok(())
    }

    /// What a file says, under the session's own id: the file's name has only
    /// what one may hold. One that cannot be read says nothing until it
    /// changes.
    fn read_log(
        &mut self,
        store: &dyn Store,
        file: &Path,
        session: &SessionId,
    ) -> Result<Vec<Injection>, ServerError> {
        let mut rows = read_injections(file).unwrap_or_default();
        if rows.is_empty() {
            return Ok(rows);
        }
        let base = match self.bases.get(file) {
            Some(base) => *base,
            None => find_base_line(store, session, &rows)?,
        };
        self.bases.insert(file.to_path_buf(), base);
        for row in &mut rows {
            session.clone_into(&mut row.session);
            row.line = row.line.saturating_add(base);
        }
        Ok(rows)
    }

    /// Removes summaries whose start never came, and tasks whose subagent never
    /// began: a later one would read what is long past.
    fn clear_waiting(&mut self, now: SystemTime) {
        self.waiting.retain(|file| {
            let Some(stamp) = read_stamp(file) else {
                return false;
            };
            let stale = elapsed_since(stamp.modified, now) > MAX_ACTIVE_AGE;
            // One that will not go is found again by the next look at all.
            stale.then(|| fs::remove_file(file)).is_none()
        });
    }

    /// The files that may have something new: those of sessions that spoke of
    /// late and, when the folder has changed, those that are not known; all of
    /// them at the start and once a day.
    fn list_changed_files(&mut self, folder: &Path, now: SystemTime) -> Vec<PathBuf> {
        self.spoke
            .retain(|_, then| elapsed_since(*then, now) <= MAX_ACTIVE_AGE);
        let mut files: HashSet<PathBuf> = self.spoke.keys().cloned().collect();
        // Nothing was injected yet, or the folder cannot be read.
        let Ok(changed) = fs::metadata(folder).and_then(|meta| meta.modified()) else {
            return Vec::new();
        };
        let all = self
            .cleared
            .is_none_or(|then| elapsed_since(then, now) > FULL_SCAN_INTERVAL);
        if all || self.listed != Some(changed) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let file = entry.path();
                let is = |end: &str| file.extension().is_some_and(|found| found == end);
                if is("summary") || is(TASKS_EXTENSION) {
                    self.waiting.insert(file);
                } else if is("given") && (all || !self.known.contains_key(&file)) {
                    files.insert(file);
                }
            }
            self.listed =
                Some(changed).filter(|then| elapsed_since(*then, now) > CLOCK_GRANULARITY);
        }
        if all {
            self.cleared = Some(now);
        }
        files.into_iter().collect()
    }
}

fn to_system_time(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// Nothing, when it lies ahead.
fn elapsed_since(then: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(then).unwrap_or_default()
}

fn read_stamp(file: &Path) -> Option<FileStamp> {
    let meta = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    Some(FileStamp {
        size: meta.len(),
        modified: meta.modified().ok()?,
    })
}

/// Which line of the ledger the first line of a file is. A session that is taken
/// up again after its file went has a new one, whose lines follow those that
/// are stored.
fn find_base_line(
    store: &dyn Store,
    session: &SessionId,
    rows: &[Injection],
) -> Result<u32, ServerError> {
    let of_session = Filter {
        session: Some(session.clone()),
        ..Filter::default()
    };
    let stored = store.list_injections(&of_session, usize::MAX)?;
    let print = |row: &Injection| {
        let texts = [&row.item, &row.trigger].map(String::clone);
        (row.time, texts, row.subagent.clone())
    };
    let lines: HashMap<_, u32> = stored.iter().map(|row| (print(row), row.line)).collect();
    let same = rows
        .iter()
        .find_map(|row| lines.get(&print(row))?.checked_sub(row.line));
    let next = stored.iter().map(|row| row.line + 1).max();
    Ok(same.or(next).unwrap_or(0))
}

/// The session that a file belongs to. A name that may have been changed waits
/// until its session is known.
fn session_of(
    paths: &DataPaths,
    store: &dyn Store,
    file: &Path,
) -> Result<Option<SessionId>, ServerError> {
    let Some(name) = file.file_stem().and_then(|name| name.to_str()) else {
        return Ok(None);
    };
    if !name.contains('_') && name.len() < MAX_FILE_NAME_BYTES {
        return Ok(Some(name.into()));
    }
    let sessions = store.list_sessions(&Filter::default(), usize::MAX)?;
    let mut ids = sessions.into_iter().map(|session| session.id);
    Ok(ids.find(|id| injection_log_file(paths, id) == file))
}

#[cfg(test)]
mod tests;
