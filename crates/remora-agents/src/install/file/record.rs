//! The note of what we wrote into which settings file, and the lock that keeps
//! two of us from writing at once. It holds fingerprints, never settings.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use remora_files::{MAX_BOOK_BYTES, read_file};
use serde::{Deserialize, Serialize};

use super::{FileError, replace};
use crate::install::Kept;

/// All settings files that we wrote to.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    files: Vec<Written>,
}

/// One of them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Written {
    file: String,
    /// The bytes that we wrote.
    pub(super) after: Fingerprint,
    /// The bytes in the backup; `None` when there was no file.
    pub(super) before: Option<Fingerprint>,
    /// Folders that we made for it, outermost first.
    #[serde(default)]
    pub(super) folders: Vec<String>,
    #[serde(default)]
    pub(super) kept: Kept,
}

impl Written {
    pub(super) fn new(file: &Path, after: &[u8]) -> Self {
        Self {
            file: file.to_string_lossy().into_owned(),
            after: Fingerprint::of(after),
            before: None,
            folders: Vec::new(),
            kept: Kept::default(),
        }
    }
}

/// Tells bytes from other bytes; guards against accidents, not against malice.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    length: u64,
    hash: String,
}

impl Fingerprint {
    /// FNV-1a of 128 bits: stable, short, and no library needed.
    pub(super) fn of(bytes: &[u8]) -> Self {
        const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0100_0000_0000_0000_013b;
        let hash = bytes.iter().fold(BASIS, |hash, byte| {
            (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
        });
        Self {
            length: bytes.len() as u64,
            hash: format!("{hash:032x}"),
        }
    }

    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        *self == Self::of(bytes)
    }

    pub(super) fn is_of_file(&self, file: &Path) -> bool {
        matches!(replace::read(file), Ok(Some(bytes)) if self.is_of(&bytes))
    }
}

impl Record {
    /// A record that is missing or unreadable is an empty one: entries are then
    /// cut out instead of bytes being restored.
    pub(super) fn read(file: &Path) -> Self {
        let bytes = read_file(file, MAX_BOOK_BYTES).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn take(&mut self, file: &Path) -> Option<Written> {
        let name = file.to_string_lossy();
        let at = self.files.iter().position(|written| written.file == name)?;
        Some(self.files.remove(at))
    }

    pub(super) fn add(&mut self, written: Written) {
        self.files.push(written);
    }

    pub(super) fn write(&self, file: &Path) -> Result<(), FileError> {
        if self.files.is_empty() {
            return replace::forget(file).map_err(FileError::io("remove", file));
        }
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| FileError::io("write", file)(error.into()))?;
        bytes.push(b'\n');
        replace::put(file, &bytes, None).map_err(FileError::io("write", file))
    }
}

/// Waits until no other process edits settings with this record.
pub(super) fn lock(record: &Path) -> Result<File, FileError> {
    let mut name = record.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    if let Some(folder) = name.parent() {
        fs::create_dir_all(folder).map_err(FileError::io("create", folder))?;
    }
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&name)
        .map_err(FileError::io("open", &name))?;
    file.lock().map_err(FileError::io("lock", &name))?;
    Ok(file)
}
