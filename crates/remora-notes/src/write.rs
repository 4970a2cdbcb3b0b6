//! Writing into a folder of memories: one writer at a time, every file whole or
//! unchanged, and never through a link that leads elsewhere.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use remora_files::{DraftName, Durability, FileAccess, ReplaceOptions};

use super::MemoryError;

/// Holds a folder against other writers of ours until it is dropped.
#[derive(Debug)]
pub(super) struct FolderLock {
    _folder: File,
}

impl FolderLock {
    /// Waits for the folder. The folder itself is locked: a lock file would be
    /// one more thing for a repository to carry.
    pub(super) fn lock_folder(folder: &Path) -> Result<Self, MemoryError> {
        let file = File::open(folder).map_err(MemoryError::io_at_path(folder))?;
        match file.lock() {
            // Some network file systems have no locks; a single writer still works.
            Err(error) if error.kind() != io::ErrorKind::Unsupported => {
                Err(MemoryError::io_at_path(folder)(error))
            }
            _ => Ok(Self { _folder: file }),
        }
    }
}

/// The real place of a file in a folder: itself, or what it links to. A link
/// that leads out of the folder, or nowhere, is refused.
pub(super) fn resolve_file(folder: &Path, file: &str) -> Result<PathBuf, MemoryError> {
    let path = folder.join(file);
    let outside = || MemoryError::Outside { path: path.clone() };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
        Err(error) => Err(MemoryError::io_at_path(&path)(error)),
        Ok(about) if about.is_symlink() => {
            let real = fs::canonicalize(&path).map_err(|_| outside())?;
            let home = fs::canonicalize(folder).map_err(MemoryError::io_at_path(folder))?;
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

/// Who may read what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadAccess {
    /// The owner alone, and a group that the user gave the file to: a user's own
    /// memories.
    Owner,
    /// As the file allowed before, else as the umask says: what a repository
    /// shares, and instruction files, which are not ours.
    Unchanged,
}

/// Makes a folder and those above it.
pub(super) fn make_folders(folder: &Path, readers: ReadAccess) -> Result<(), MemoryError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if readers == ReadAccess::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    builder
        .create(folder)
        .map_err(MemoryError::io_at_path(folder))
}

/// Writes a file, whole or not at all. The caller holds the lock of the file's
/// folder, and has checked the path with `resolve_file`.
pub(super) fn replace_file(
    path: &Path,
    text: &str,
    readers: ReadAccess,
) -> Result<(), MemoryError> {
    let there = fs::metadata(path).ok();
    let kept = there
        .as_ref()
        .filter(|about| readers == ReadAccess::Unchanged || !is_open_to_all(about));
    let access = match (kept, readers) {
        (Some(about), _) => FileAccess::SameMode(about),
        (None, ReadAccess::Owner) => FileAccess::OwnerOnly,
        (None, ReadAccess::Unchanged) => FileAccess::Umask,
    };
    let options = ReplaceOptions {
        // The lock keeps other writers out, so one name does, and what a writer
        // left who was killed goes.
        draft: DraftName::Recreate(&temporary_path(path)),
        access,
        durability: Durability::File,
    };
    remora_files::replace_file(path, text.as_bytes(), &options)
        .map_err(MemoryError::io_at_path(path))
}

/// Earlier versions wrote memories with the umask's permissions. Rewriting such a
/// file closes it.
#[cfg(unix)]
fn is_open_to_all(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.permissions().mode() & 0o007 != 0
}

#[cfg(not(unix))]
fn is_open_to_all(_: &fs::Metadata) -> bool {
    false
}

/// A hidden name, which no listing of memories shows. In the same folder, because
/// a rename does not cross file systems.
fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.remora-tmp"))
}
