//! Reads one file without ever hanging on it or swallowing too much: regular
//! files only, up to the size that is still loaded.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The largest file that is loaded.
pub(crate) const LARGEST: u64 = 4 * 1024 * 1024;

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is none of that name.
    Missing,
    /// It is a directory.
    Directory,
    /// It is a pipe, a device or a socket.
    Special,
    /// It holds more than [`LARGEST`] bytes.
    TooLarge(u64),
    /// The system said no.
    Unreadable(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such file"),
            Self::Directory => f.write_str("is a directory"),
            Self::Special => f.write_str("is a pipe or a device, not a file"),
            Self::TooLarge(bytes) => write!(
                f,
                "holds {bytes} bytes; files above {LARGEST} are not loaded"
            ),
            Self::Unreadable(why) => write!(f, "cannot be read ({why})"),
        }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::IsADirectory => Self::Directory,
            _ => Self::Unreadable(error.to_string()),
        }
    }
}

/// The file's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Refused> {
    let file = open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(Refused::Directory);
    }
    if !about.is_file() {
        return Err(Refused::Special);
    }
    if about.len() > LARGEST {
        return Err(Refused::TooLarge(about.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0) + 1);
    // A file that grows while it is read is cut at the limit, not followed.
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        len if len > LARGEST => Err(Refused::TooLarge(len)),
        _ => Ok(bytes),
    }
}

/// Opens without waiting for the other end of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}
