//! The SQLite backend of Remora's memory: one file in WAL mode that one process
//! writes and many read. Owns the schema and how candidates are found; knows
//! nothing of agents, extraction or where the file lives.

pub mod foreign;
mod migrate;
mod sqlite;

use std::path::Path;
use std::time::Instant;

pub use remora_memory::store::{LookTools, StoreError};
pub use sqlite::SqliteStore;

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Writing and reading; a missing file is created, and an older one is
    /// migrated to the newest schema.
    Write,
    /// Reading only; the file must be there.
    Read,
    /// Reading only, for a caller with a deadline such as a hook: every query
    /// stops with `StoreError::Again` once this instant has passed. All queries
    /// see the database as it was at the first.
    ReadUntil(Instant),
}

/// Opens the store in this file. `looks` are the tools whose rows do not count
/// where looks are left out.
pub fn open_store(
    path: &Path,
    access: Access,
    looks: LookTools,
) -> Result<SqliteStore, StoreError> {
    sqlite::open_store(path, access, looks)
}
