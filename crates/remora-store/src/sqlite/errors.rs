//! SQLite's errors as errors of the port: mapped by code, never by message.

use remora_memory::store::StoreError;
use rusqlite::ErrorCode;

/// Turns an error of SQLite into one of the port.
pub(crate) trait StoreResultExt<T> {
    /// The same result with the port's error type.
    fn store_err(self) -> Result<T, StoreError>;
}

impl<T> StoreResultExt<T> for rusqlite::Result<T> {
    fn store_err(self) -> Result<T, StoreError> {
        self.map_err(|error| to_store_error(&error))
    }
}

/// The port's error for an error of SQLite.
pub(crate) fn to_store_error(error: &rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        // Only the deadline of a reader interrupts a statement.
        Some(ErrorCode::OperationInterrupted) => {
            StoreError::Again("the time for this question is over".to_owned())
        }
        // What may succeed later with the same file. `Damaged` makes the worker move
        // the file aside and rebuild it, so a code belongs there only if it says so.
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::SchemaChanged,
        ) => StoreError::Again(text),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
        _ => StoreError::Failed(text),
    }
}
