//! A database that is made beside the old one and takes its place whole. Until
//! the last step the old one is untouched, whatever happens in between.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_client::DataPaths;
use remora_memory::store::StoreError;
use remora_store::{Access, SqliteStore};

use super::with_suffix;
use crate::{ServerError, io_error_at};

/// Readers ask and leave; none reads for longer.
const READER_TIMEOUT: Duration = Duration::from_secs(5);
/// A database, its journal, and the index of the journal.
const DATABASE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// A new database in the making. Dropped early, it leaves nothing.
#[derive(Debug)]
pub(super) struct Replacement {
    database: PathBuf,
    fresh: PathBuf,
}

impl Replacement {
    /// Begins one. What an earlier one left behind is cleared away first: a
    /// journal beside another database than its own would spoil that one.
    pub(super) fn begin(paths: &DataPaths) -> Result<Self, ServerError> {
        let new = Self {
            database: paths.database_file(),
            fresh: paths.home().join("remora.db.rebuild"),
        };
        new.clear()?;
        Ok(new)
    }

    /// Opens it for writing.
    pub(super) fn open_store(&self) -> Result<SqliteStore, ServerError> {
        Ok(crate::open_database(&self.fresh, Access::Write)?)
    }

    /// Where it is.
    pub(super) fn file(&self) -> &Path {
        &self.fresh
    }

    /// Puts it in place of the old one. Its store is closed, and the caller
    /// holds the worker's lock.
    pub(super) fn put_in_place(self) -> Result<(), ServerError> {
        File::open(&self.fresh)
            .and_then(|file| file.sync_all())
            .map_err(io_error_at(&self.fresh))?;
        self.settle_old()?;
        // Nothing is in the old journal any more, so nothing is lost if this
        // is as far as we get.
        for end in ["-wal", "-shm"] {
            delete_file(&with_suffix(&self.database, end))?;
        }
        fs::rename(&self.fresh, &self.database).map_err(io_error_at(&self.fresh))?;
        if let Some(folder) = self.database.parent()
            && let Ok(folder) = File::open(folder)
        {
            // The new name outlives a power cut, where the system can do that.
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Brings everything out of the old journal into the old database: the
    /// last writer that leaves does that. A damaged one has nothing to bring.
    fn settle_old(&self) -> Result<(), ServerError> {
        let journal = with_suffix(&self.database, "-wal");
        let end = Instant::now() + READER_TIMEOUT;
        loop {
            if fs::metadata(&journal).map_or(0, |m| m.len()) == 0 {
                return Ok(());
            }
            match crate::open_database(&self.database, Access::Write) {
                Ok(store) => drop(store),
                Err(StoreError::Again(_)) => {}
                Err(_) => return Ok(()),
            }
            if Instant::now() > end {
                let busy = "another process has the database open; try again when it is done";
                return Err(StoreError::Again(busy.to_owned()).into());
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn clear(&self) -> Result<(), ServerError> {
        for end in DATABASE_SUFFIXES {
            delete_file(&with_suffix(&self.fresh, end))?;
        }
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next one.
        let _ = self.clear();
    }
}

fn delete_file(file: &Path) -> Result<(), ServerError> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io_error_at(file)(e)),
        _ => Ok(()),
    }
}
