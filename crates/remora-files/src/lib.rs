//! Bounded reads of files that others wrote, a repository's and a user's; and
//! the one way to replace a file as a whole ([`replace_file`]).
//!
//! A name in a repository may lead to a pipe that never answers, to a device
//! that never ends, or to a file of a hundred gigabytes. Everything here reads
//! regular files only, never waits, and never holds more than the caller
//! allows. It is a crate of its own because all others read such files and
//! none of them may depend on another for it.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

mod replace;

pub use replace::{DraftName, Durability, FileAccess, ReplaceOptions, StagedFile, replace_file};

/// What a settings file, or another small file of the user's, may hold.
pub const MAX_SETTINGS_BYTES: u64 = 4 * 1024 * 1024;

/// What a client's own book of projects and servers may hold: it grows with
/// use.
pub const MAX_CLIENT_STATE_BYTES: u64 = 64 * 1024 * 1024;

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// There is none of that name.
    Missing,
    /// It is a directory.
    Directory,
    /// It is a pipe, a device or a socket.
    Special,
    /// It holds more than was allowed.
    TooLarge {
        /// What it holds, as far as known.
        bytes: u64,
        /// The limit that the caller set.
        max_bytes: u64,
    },
    /// It is not valid UTF-8.
    NotText,
    /// The system said no.
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such file"),
            Self::Directory => f.write_str("is a directory"),
            Self::Special => f.write_str("is a pipe or a device, not a file"),
            Self::TooLarge { bytes, max_bytes } => {
                write!(f, "holds {bytes} bytes; at most {max_bytes} are read")
            }
            Self::NotText => f.write_str("is not valid UTF-8"),
            Self::Io(error) => write!(f, "cannot be read ({error})"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl ReadError {
    /// Whether there was simply no file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::IsADirectory => Self::Directory,
            _ => Self::Io(error),
        }
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        let kind = match error {
            ReadError::Io(error) => return error,
            ReadError::Missing => io::ErrorKind::NotFound,
            ReadError::Directory => io::ErrorKind::IsADirectory,
            ReadError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            ReadError::Special | ReadError::NotText => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error.to_string())
    }
}

/// The bytes of a regular file of at most `max_bytes`; links are followed.
pub fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let (file, size) = open_sized(path)?;
    if size > max_bytes {
        return Err(ReadError::TooLarge {
            bytes: size,
            max_bytes,
        });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // A file may grow while it is read, and some report a size of zero.
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        bytes if bytes > max_bytes => Err(ReadError::TooLarge { bytes, max_bytes }),
        _ => Ok(bytes),
    }
}

/// The same as text.
pub fn read_text(path: &Path, max_bytes: u64) -> Result<String, ReadError> {
    String::from_utf8(read_file(path, max_bytes)?).map_err(|_| ReadError::NotText)
}

/// The last bytes of a regular file, at most `max_bytes`, for files that grow
/// without bound. Unless the file is shorter, the first line is likely cut.
pub fn read_file_end(path: &Path, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let (mut file, size) = open_sized(path)?;
    file.seek(SeekFrom::Start(size.saturating_sub(max_bytes)))?;
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(max_bytes)).unwrap_or(0));
    // What is written from now on is left for the next reading.
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file for reading, for callers that stream or that look at
/// its metadata. What they read of it is theirs to bound.
pub fn open_regular(path: &Path) -> Result<File, ReadError> {
    open_sized(path).map(|(file, _)| file)
}

fn open_sized(path: &Path) -> Result<(File, u64), ReadError> {
    // Asked before it is opened, because opening some devices does something;
    // and after, because the name may have come to mean something else.
    check_kind(&fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | libc::O_NOCTTY,
    );
    let file = options.open(path)?;
    let about = file.metadata()?;
    check_kind(&about)?;
    Ok((file, about.len()))
}

fn check_kind(about: &fs::Metadata) -> Result<(), ReadError> {
    if about.is_dir() {
        return Err(ReadError::Directory);
    }
    if about.is_file() {
        Ok(())
    } else {
        Err(ReadError::Special)
    }
}

/// A directory's entries, as many as were allowed.
#[derive(Debug, Default)]
pub struct DirListing {
    /// In the order in which the system gave them.
    pub entries: Vec<DirEntry>,
    /// Whether there were more.
    pub is_cut: bool,
}

impl DirListing {
    /// Sorted by name, so that the same directory has the same list everywhere.
    pub fn sort(&mut self) {
        let name = |entry: &DirEntry| -> OsString { entry.file_name() };
        self.entries.sort_by_key(name);
    }
}

/// At most `max_entries` of a directory; entries that cannot be read count and
/// are left out.
pub fn list_directory(path: &Path, max_entries: usize) -> io::Result<DirListing> {
    let mut list = fs::read_dir(path)?;
    let entries = list.by_ref().take(max_entries).flatten().collect();
    let is_cut = list.next().is_some();
    Ok(DirListing { entries, is_cut })
}

#[cfg(test)]
mod tests;
