//! The database rebuilt from the archive: after damage, or because extraction
//! has become better. What was there before is carried over: the numbers that
//! items are quoted by, items that no event made, and the log of skipped events.

mod building;
mod replacement;

use std::fs;
use std::path::{Path, PathBuf};

use remora_client::DataPaths;
use remora_memory::CapturePolicy;
use remora_memory::store::{IndexState, Store, StoreError, StoreStats};
use remora_store::{Access, SqliteStore};

use crate::archive::{self, Archive};
use crate::ingest::FailedEvent;
use crate::{ServerError, io_error_at};
use building::DatabaseBuilder;
use replacement::Replacement;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildProgress {
    /// Archive bytes read.
    pub done: u64,
    /// Archive bytes in all.
    pub all: u64,
    /// Events stored.
    pub events: u64,
}

/// What came of it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RebuildStats {
    /// Events read from the archive and stored.
    pub events: u64,
    /// Items carried over because no event made them.
    pub carried: u64,
    /// Parts of the archive that could not be read.
    pub unreadable: u64,
    /// Events that handling panicked on; what was known of them is carried over.
    pub left_out: Vec<FailedEvent>,
    /// What was there; nothing if it could not be read.
    pub before: StoreStats,
    /// What is there now.
    pub after: StoreStats,
}

/// Whether there is no database, or nothing was ever stored in it, although the
/// archive holds events. Opening it for writing would begin an empty memory;
/// [`rebuild_database`] brings everything back.
pub fn is_gone(paths: &DataPaths) -> bool {
    let database = paths.database_file();
    let empty = || match crate::open_database(&database, Access::Read) {
        Err(StoreError::Empty) => true,
        _ => !database.exists(),
    };
    Archive::new(paths.archive_dir()).disk_bytes() > 0 && empty()
}

/// Moves the database out of the way and returns its new name.
pub fn move_aside(paths: &DataPaths, now: i64) -> Result<PathBuf, ServerError> {
    let database = paths.database_file();
    let aside = paths.home().join(format!("remora.db.damaged-{now}"));
    for end in ["", "-wal", "-shm"] {
        let from = with_suffix(&database, end);
        if from.exists() {
            fs::rename(&from, with_suffix(&aside, end)).map_err(io_error_at(&from))?;
        }
    }
    Ok(aside)
}

/// Builds the database from the archive and puts it in place of the old one.
/// Killed at any time it leaves the old one as it was, and what it leaves
/// besides is cleared away the next time. The caller holds the worker's lock,
/// or knows that no worker runs.
pub fn rebuild_database(
    paths: &DataPaths,
    policy: &CapturePolicy,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<RebuildStats, ServerError> {
    let replacement = Replacement::begin(paths)?;
    let result = replay_archive(paths, policy, &replacement, progress)?;
    replacement.put_in_place()?;
    // A deletion that had to wait for a sound database; also what a repair has
    // put aside goes with it.
    crate::forget::resume_deletion(paths)?;
    Ok(result)
}

impl RebuildStats {
    /// What [`rebuild_database`] would come to; the old database stays.
    pub fn preview_rebuild(
        paths: &DataPaths,
        policy: &CapturePolicy,
        progress: &mut dyn FnMut(RebuildProgress),
    ) -> Result<Self, ServerError> {
        let replacement = Replacement::begin(paths)?;
        replay_archive(paths, policy, &replacement, progress)
    }

    /// Makes the database again from the old one alone: `fill` gets the old
    /// store and the new one, which then takes its place. Nothing of what
    /// `fill` leaves out stays on the disk. The same holds for the lock and for
    /// being killed as for [`rebuild_database`].
    pub fn renew_database<E: From<ServerError>>(
        paths: &DataPaths,
        fill: impl FnOnce(&dyn Store, &dyn Store) -> Result<(), E>,
    ) -> Result<Self, E> {
        let replacement = Replacement::begin(paths)?;
        let old = crate::open_database(&paths.database_file(), Access::Read)
            .map_err(ServerError::from)?;
        let store = replacement.open_store()?;
        fill(&old, &store)?;
        let result = Self {
            before: old.count_contents().map_err(ServerError::from)?,
            after: optimize_and_count(&replacement, store)?,
            ..Self::default()
        };
        drop(old);
        replacement.put_in_place()?;
        Ok(result)
    }
}

fn replay_archive(
    paths: &DataPaths,
    policy: &CapturePolicy,
    replacement: &Replacement,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<RebuildStats, ServerError> {
    // A database that cannot be read has nothing to carry over.
    let old = crate::open_database(&paths.database_file(), Access::Read).ok();
    let store = replacement.open_store()?;
    let old_port = old.as_ref().map(|old| old as &dyn Store);
    let mut building = DatabaseBuilder::new(old_port, &store, policy, paths)?;
    let folder = paths.archive_dir();
    let archive = Archive::new(&folder);
    let all = archive.disk_bytes();
    let mut done = 0;
    for file in archive.list_files().map_err(io_error_at(&folder))? {
        let mut failed = None;
        let unreadable = archive::read_events(&file, |event| {
            if failed.is_none() {
                failed = building.add_event(event).err();
            }
            let events = building.result.events;
            progress(RebuildProgress { done, all, events });
        });
        if let Some(e) = failed {
            return Err(e);
        }
        building.result.unreadable += unreadable.map_err(io_error_at(&file))?;
        done += fs::metadata(&file).map_or(0, |m| m.len());
    }
    let mut result = building.finish_build()?;
    if let Some(old) = &old {
        result.before = old.count_contents()?;
    }
    result.after = optimize_and_count(replacement, store)?;
    Ok(result)
}

/// Brings together what the new store holds and says what that is. Closing
/// writes everything into the one file; only then its size is known.
fn optimize_and_count(
    replacement: &Replacement,
    store: SqliteStore,
) -> Result<StoreStats, ServerError> {
    while store.optimize_index()? == IndexState::Partly {}
    let mut counts = store.count_contents()?;
    drop(store);
    counts.bytes = fs::metadata(replacement.file()).map_or(0, |m| m.len());
    Ok(counts)
}

/// The file with this ending in the same folder.
fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
