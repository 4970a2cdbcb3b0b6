//! Memory made anew from the archive: after damage, or because digests have
//! become better. What was there before is carried over: the numbers people
//! know rows by, rows that no event made, and the ledger of what was skipped.

mod building;
mod replacement;

use std::fs;
use std::path::{Path, PathBuf};

use remora_client::Paths;
use remora_memory::Policy;
use remora_memory::store::{Counts, Settled, Store, StoreError};
use remora_store::{Access, SqliteStore};

use crate::archive::{self, Archive};
use crate::intake::LeftOut;
use crate::{ServerError, at};
use building::Building;
use replacement::Replacement;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Archive bytes read.
    pub done: u64,
    /// Archive bytes in all.
    pub all: u64,
    /// Events stored.
    pub events: u64,
}

/// What came of it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// Events read from the archive and stored.
    pub events: u64,
    /// Rows carried over because no event made them.
    pub carried: u64,
    /// Parts of the archive that could not be read.
    pub unreadable: u64,
    /// Events that handling panicked on; what was known of them is carried over.
    pub left_out: Vec<LeftOut>,
    /// What was there; nothing if it could not be read.
    pub before: Counts,
    /// What is there now.
    pub after: Counts,
}

/// Whether there is no database, or nothing was ever stored in it, although the
/// archive holds events. Opening it for writing would begin an empty memory;
/// [`rebuild`] brings everything back.
pub fn is_gone(paths: &Paths) -> bool {
    let database = paths.database();
    let empty = || match remora_store::open(&database, Access::Read) {
        Err(StoreError::Empty) => true,
        _ => !database.exists(),
    };
    Archive::new(paths.archive()).bytes() > 0 && empty()
}

/// Moves the database out of the way and returns its new name.
pub fn move_aside(paths: &Paths, now: i64) -> Result<PathBuf, ServerError> {
    let database = paths.database();
    let aside = paths.home().join(format!("remora.db.damaged-{now}"));
    for end in ["", "-wal", "-shm"] {
        let from = beside(&database, end);
        if from.exists() {
            fs::rename(&from, beside(&aside, end)).map_err(at(&from))?;
        }
    }
    Ok(aside)
}

/// Builds the database from the archive and puts it in place of the old one.
/// Killed at any moment it leaves the old one as it was, and what it leaves
/// besides is cleared away the next time. The caller holds the worker's lock,
/// or knows that no worker runs.
pub fn rebuild(
    paths: &Paths,
    policy: &Policy,
    progress: &mut dyn FnMut(Progress),
) -> Result<Rebuilt, ServerError> {
    let replacement = Replacement::begin(paths)?;
    let result = replay(paths, policy, &replacement, progress)?;
    replacement.put_in_place()?;
    // A deletion that had to wait for a sound database; also what a repair has
    // put aside goes with it.
    crate::forget::resume(paths)?;
    Ok(result)
}

impl Rebuilt {
    /// What [`rebuild`] would come to; the old database stays.
    pub fn preview(
        paths: &Paths,
        policy: &Policy,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, ServerError> {
        let replacement = Replacement::begin(paths)?;
        replay(paths, policy, &replacement, progress)
    }

    /// Makes the database anew from the old one alone: `fill` is given the old
    /// store and the new one, which then takes its place. Nothing of what
    /// `fill` leaves out stays on the disk. The same holds for the lock and for
    /// being killed as for [`rebuild`].
    pub fn renew<E: From<ServerError>>(
        paths: &Paths,
        fill: impl FnOnce(&dyn Store, &dyn Store) -> Result<(), E>,
    ) -> Result<Self, E> {
        let replacement = Replacement::begin(paths)?;
        let old = remora_store::open(&paths.database(), Access::Read).map_err(ServerError::from)?;
        let store = replacement.store()?;
        fill(&old, &store)?;
        let result = Self {
            before: old.counts().map_err(ServerError::from)?,
            after: settled(&replacement, store)?,
            ..Self::default()
        };
        drop(old);
        replacement.put_in_place()?;
        Ok(result)
    }
}

fn replay(
    paths: &Paths,
    policy: &Policy,
    replacement: &Replacement,
    progress: &mut dyn FnMut(Progress),
) -> Result<Rebuilt, ServerError> {
    // A database that cannot be read has nothing to carry over.
    let old = remora_store::open(&paths.database(), Access::Read).ok();
    let store = replacement.store()?;
    let old_port = old.as_ref().map(|old| old as &dyn Store);
    let mut building = Building::new(old_port, &store, policy, paths)?;
    let folder = paths.archive();
    let archive = Archive::new(&folder);
    let all = archive.bytes();
    let mut done = 0;
    for file in archive.files().map_err(at(&folder))? {
        let mut failed = None;
        let unreadable = archive::read(&file, |event| {
            if failed.is_none() {
                failed = building.take(event).err();
            }
            let events = building.result.events;
            progress(Progress { done, all, events });
        });
        if let Some(e) = failed {
            return Err(e);
        }
        building.result.unreadable += unreadable.map_err(at(&file))?;
        done += fs::metadata(&file).map_or(0, |m| m.len());
    }
    let mut result = building.finish()?;
    if let Some(old) = &old {
        result.before = old.counts()?;
    }
    result.after = settled(replacement, store)?;
    Ok(result)
}

/// Brings together what the new store holds and says what that is. Closing
/// writes everything into the one file; only then its size is known.
fn settled(replacement: &Replacement, store: SqliteStore) -> Result<Counts, ServerError> {
    while store.settle()? == Settled::Partly {}
    let mut counts = store.counts()?;
    drop(store);
    counts.bytes = fs::metadata(replacement.file()).map_or(0, |m| m.len());
    Ok(counts)
}

/// The file with this ending in the same folder.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
