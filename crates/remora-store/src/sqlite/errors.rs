//! What SQLite says, as errors of the port: by its codes, never by its words.

use remora_memory::store::StoreError;
use rusqlite::ErrorCode;

/// Turns an error of SQLite into one of the port.
pub(crate) trait StoreResultExt<T> {
    /// The same outcome, told as the port tells it.
    fn store_err(self) -> Result<T, StoreError>;
}

impl<T> StoreResultExt<T> for rusqlite::Result<T> {
    fn store_err(self) -> Result<T, StoreError> {
        self.map_err(|error| to_store_error(&error))
    }
}

/// The error of the port that this error means.
pub(crate) fn to_store_error(error: &rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            StoreError::Again("the time for this question is over".to_owned())
        }
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
