//! The SQLite backend of Remora's memory: one file in WAL mode that one process
//! writes and many read. Owns the schema and the ranking; knows nothing of
//! events, digests or where the file lives.

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
    /// Writing and reading; the file is made if it is not there, and brought to
    /// the newest schema.
    Write,
    /// Reading only; the file must be there.
    Read,
    /// Reading only, and every question stops with `StoreError::Again` once this
    /// instant has passed. All questions are answered as of the first.
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
