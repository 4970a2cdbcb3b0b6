//! What was written where, so that it can be removed again: one JSON file in
//! the data directory. And the writing itself: beside, then renamed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use remora_client::DataPaths;
use remora_files::{DraftName, Durability, FileAccess, ReplaceOptions};
use serde::{Deserialize, Serialize};

use super::block::BlockSurroundings;
use crate::error::CliError;

/// A larger record is not ours.
const MAX_RECORD_BYTES: u64 = 16 * 1024 * 1024;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenFile {
    /// The root of its project.
    pub(super) root: PathBuf,
    /// Whether the file was made by us.
    pub(super) created: bool,
    /// What was put between the user's text and ours.
    pub(super) before: String,
}

impl WrittenFile {
    pub(super) fn new(root: &Path, around: &BlockSurroundings) -> Self {
        Self {
            root: root.to_path_buf(),
            created: around.created,
            before: around.before.clone(),
        }
    }

    pub(super) fn to_surroundings(&self) -> BlockSurroundings {
        BlockSurroundings {
            created: self.created,
            before: self.before.clone(),
        }
    }
}

/// The record, held by this process alone until it is dropped.
#[derive(Debug)]
pub(super) struct FolderRecord {
    file: PathBuf,
    pub(super) files: BTreeMap<PathBuf, WrittenFile>,
    _lock: Option<File>,
}

impl FolderRecord {
    /// The record for looking only.
    pub(super) fn load_readonly(paths: &DataPaths) -> Result<Self, CliError> {
        let file = paths.home().join("folders.json");
        let files = read_record(&file)?;
        Ok(Self {
            file,
            files,
            _lock: None,
        })
    }

    /// The record for writing; another process that writes is waited for.
    pub(super) fn load_locked(paths: &DataPaths) -> Result<Self, CliError> {
        let of = |path: &Path| {
            let path = path.to_path_buf();
            move |source| CliError::File { path, source }
        };
        paths.prepare_data_dir().map_err(of(paths.home()))?;
        let lock = paths.run_dir().join("folders.lock");
        let held = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(of(&lock))?;
        let record = Self::load_readonly(paths)?;
        Ok(Self {
            _lock: Some(held),
            ..record
        })
    }

    /// Writes it down; an empty record needs no file.
    pub(super) fn save(&self) -> Result<(), CliError> {
        let done = if self.files.is_empty() {
            match fs::remove_file(&self.file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            }
        } else {
            let list: Vec<(&PathBuf, &WrittenFile)> = self.files.iter().collect();
            let bytes = serde_json::to_vec_pretty(&list)?;
            replace_file(&self.file, &bytes)
        };
        done.map_err(|source| CliError::File {
            path: self.file.clone(),
            source,
        })
    }
}

fn read_record(file: &Path) -> Result<BTreeMap<PathBuf, WrittenFile>, CliError> {
    let bytes = match fs::metadata(file) {
        Ok(known) if known.len() > MAX_RECORD_BYTES => {
            Err(io::Error::other("too large to be the record"))
        }
        Ok(_) => fs::read(file),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(e) => Err(e),
    };
    let bytes = bytes.map_err(|source| CliError::File {
        path: file.to_path_buf(),
        source,
    })?;
    let list: Vec<(PathBuf, WrittenFile)> = serde_json::from_slice(&bytes).map_err(|e| {
        CliError::Usage(format!(
            "{}: is not a record of `remora folders` ({e}); move it aside, then remove the \
             <remora-activity> parts by hand",
            file.display()
        ))
    })?;
    Ok(list.into_iter().collect())
}

/// Replaces a file so that a reader sees the old bytes or the new ones; an old
/// file's mode is kept.
pub(super) fn replace_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let there = fs::metadata(file).ok();
    let options = ReplaceOptions {
        draft: DraftName::Unique,
        access: there
            .as_ref()
            .map_or(FileAccess::Umask, FileAccess::SameMode),
        durability: Durability::File,
    };
    remora_files::replace_file(file, bytes, &options)
}
