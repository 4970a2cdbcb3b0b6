//! Reads one file without blocking and without reading too much: regular files
//! only, up to the size that is still loaded.

use std::fmt;
use std::path::Path;

use remora_files::{ReadError, read_file};

/// The largest file that is loaded, to the byte the client's limit.
pub const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileReadError {
    /// There is none of that name.
    Missing,
    /// It is a directory.
    Directory,
    /// It is a pipe, a device or a socket.
    Special,
    /// It holds more than [`MAX_FILE_BYTES`] bytes.
    TooLarge(u64),
    /// The system refused.
    Unreadable(String),
}

impl fmt::Display for FileReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such file"),
            Self::Directory => f.write_str("is a directory"),
            Self::Special => f.write_str("is a pipe or a device, not a file"),
            Self::TooLarge(bytes) => write!(
                f,
                "holds {bytes} bytes; files above {MAX_FILE_BYTES} are not loaded"
            ),
            Self::Unreadable(why) => write!(f, "cannot be read ({why})"),
        }
    }
}

impl From<ReadError> for FileReadError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Missing => Self::Missing,
            ReadError::Directory => Self::Directory,
            ReadError::Special => Self::Special,
            ReadError::TooLarge { bytes, .. } => Self::TooLarge(bytes),
            ReadError::Io(error) => Self::Unreadable(error.to_string()),
            error @ ReadError::NotText => Self::Unreadable(error.to_string()),
        }
    }
}

/// The file's bytes.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileReadError> {
    Ok(read_file(path, MAX_FILE_BYTES)?)
}
