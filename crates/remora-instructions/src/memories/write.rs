//! Writing into a folder of memories: one writer at a time, every file whole
//! or as it was, and never through a link that leads elsewhere.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::MemoryError;

/// Holds a folder against other writers of ours until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _folder: File,
}

impl Lock {
    /// Waits for the folder. The folder itself is locked: a lock file would be
    /// one more thing for a repository to carry.
    pub(super) fn take(folder: &Path) -> Result<Self, MemoryError> {
        let file = File::open(folder).map_err(MemoryError::io(folder))?;
        match file.lock() {
            // Some network disks know no locks; a single writer still works.
            Err(error) if error.kind() != io::ErrorKind::Unsupported => {
                Err(MemoryError::io(folder)(error))
            }
            _ => Ok(Self { _folder: file }),
        }
    }
}

/// The real place of a file in a folder: itself, or what it links to. A link
/// that leads out of the folder, or nowhere, is refused.
pub(super) fn place(folder: &Path, file: &str) -> Result<PathBuf, MemoryError> {
    let path = folder.join(file);
    let outside = || MemoryError::Outside { path: path.clone() };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
        Err(error) => Err(MemoryError::io(&path)(error)),
        Ok(about) if about.is_symlink() => {
            let real = fs::canonicalize(&path).map_err(|_| outside())?;
            let home = fs::canonicalize(folder).map_err(MemoryError::io(folder))?;
            if real.starts_with(&home) {
                Ok(real)
            } else {
                Err(outside())
            }
        }
        Ok(about) if about.is_file() => Ok(path),
        Ok(_) => Err(MemoryError::File {
            path,
            why: "is not a file".to_owned(),
        }),
    }
}

/// Puts a text into a file, whole or not at all. The caller holds the lock of
/// the file's folder, and has made sure of the place.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), MemoryError> {
    let beside = beside(path);
    let failed = MemoryError::io(path);
    // What a writer left who was killed; the lock says nobody else is here.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let written = fill(&beside, path, text).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        // Nothing more can be done about a file that will not go.
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

fn fill(beside: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(beside)?;
    if let Ok(about) = fs::metadata(path) {
        file.set_permissions(about.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A name that no list of memories shows.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.remora-tmp"))
}
