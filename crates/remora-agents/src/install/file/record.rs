//! The note of what we wrote into which settings file, and the lock that keeps
//! two of us from writing at once. It holds fingerprints, never settings.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use remora_files::{MAX_CLIENT_STATE_BYTES, read_file};
use serde::{Deserialize, Serialize};

use super::{FileError, replace};
use crate::install::PriorState;

/// All settings files that we wrote to.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InstallRecord {
    files: Vec<RecordedFile>,
}

/// What is kept of one installation.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedFile {
    file: String,
    /// The bytes that we wrote.
    pub(super) after: SettingsFileHash,
    /// The bytes in the backup; `None` when there was no file.
    pub(super) before: Option<SettingsFileHash>,
    /// Folders that we made for it, outermost first.
    #[serde(default)]
    pub(super) folders: Vec<String>,
    #[serde(default)]
    pub(super) kept: PriorState,
}

impl RecordedFile {
    pub(super) fn new(file: &Path, after: &[u8]) -> Self {
        Self {
            file: file.to_string_lossy().into_owned(),
            after: SettingsFileHash::from_bytes(after),
            before: None,
            folders: Vec::new(),
            kept: PriorState::default(),
        }
    }
}

/// Tells bytes from other bytes; guards against accidents, not against malice.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SettingsFileHash {
    length: u64,
    hash: String,
}

impl SettingsFileHash {
    /// FNV-1a of 128 bits: stable, short, and no library needed.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
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
        *self == Self::from_bytes(bytes)
    }

    pub(super) fn is_of_file(&self, file: &Path) -> bool {
        matches!(replace::read_optional(file), Ok(Some(bytes)) if self.is_of(&bytes))
    }
}

impl InstallRecord {
    /// A record that is missing or unreadable is an empty one: entries are then
    /// cut out instead of bytes being restored.
    pub(super) fn read(file: &Path) -> Self {
        let bytes = read_file(file, MAX_CLIENT_STATE_BYTES).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn remove_entry(&mut self, file: &Path) -> Option<RecordedFile> {
        let name = file.to_string_lossy();
        let at = self.files.iter().position(|written| written.file == name)?;
        Some(self.files.remove(at))
    }

    pub(super) fn add_entry(&mut self, written: RecordedFile) {
        self.files.push(written);
    }

    /// Notes a folder of ours with a file that is still in it. Called with the
    /// innermost first.
    pub(super) fn hand_over_folder(&mut self, folder: &str) {
        let is_inside = |written: &&mut RecordedFile| Path::new(&written.file).starts_with(folder);
        if let Some(written) = self.files.iter_mut().find(is_inside) {
            written.folders.insert(0, folder.to_owned());
        }
    }

    pub(super) fn write(&self, file: &Path) -> Result<(), FileError> {
        if self.files.is_empty() {
            // Without entries nothing is left of an installation, not even the
            // record.
            return replace::delete_if_exists(file).map_err(FileError::io_error("remove", file));
        }
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| FileError::io_error("write", file)(error.into()))?;
        bytes.push(b'\n');
        replace::write_file(file, &bytes, None).map_err(FileError::io_error("write", file))
    }
}

/// Waits until no other process edits settings with this record.
pub(super) fn lock_record(record: &Path) -> Result<File, FileError> {
    let mut name = record.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    if let Some(folder) = name.parent() {
        fs::create_dir_all(folder).map_err(FileError::io_error("create", folder))?;
    }
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&name)
        .map_err(FileError::io_error("open", &name))?;
    // Waits without a limit: the other process edits a few files and ends.
    file.lock().map_err(FileError::io_error("lock", &name))?;
    Ok(file)
}
