//! Whole files: found behind links, read, and replaced unless another process
//! has changed them meanwhile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_files::{
    DraftName, Durability, FileAccess, MAX_SETTINGS_BYTES, ReadError, ReplaceOptions, StagedFile,
    read_file, replace_file,
};

/// As many symbolic links as the system itself follows.
const MAX_SYMLINKS: usize = 40;

/// How a replacement went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapOutcome {
    /// The new bytes are there.
    Done,
    /// Others changed the file first; nothing was done.
    Raced,
}

/// The file that a path means: symbolic links are followed, also to a file that
/// does not exist yet.
pub(super) fn resolve_symlinks(path: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(path)?;
    for _ in 0..MAX_SYMLINKS {
        let is_link = fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink());
        if !is_link {
            return Ok(canonicalise_parent(&path));
        }
        // Dotfiles are often links into a repository; the link must stay a
        // link.
        let target = fs::read_link(&path)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        path = folder.join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// One spelling for one place: the part that exists without links.
fn canonicalise_parent(path: &Path) -> PathBuf {
    for folder in path.ancestors().skip(1) {
        if let (Ok(real), Ok(rest)) = (folder.canonicalize(), path.strip_prefix(folder)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// `None` when there is no such file.
pub(super) fn read_optional(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_file(file, MAX_SETTINGS_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadError::Missing) => Ok(None),
        Err(ReadError::Special | ReadError::Directory) => {
            Err(io::Error::other("not a regular file"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes a file that may be gone already.
pub(super) fn delete_if_exists(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a folder and those above it; says which were made, outermost first.
pub(super) fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|f| !f.exists()).collect();
    let mut made = Vec::new();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => made.push(folder.to_owned()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(made)
}

/// Replaces `file` if it still holds `old`. A file that was there keeps its mode
/// and its owner.
pub(super) fn swap_file(file: &Path, old: Option<&[u8]>, new: &[u8]) -> io::Result<SwapOutcome> {
    let like = old.map(|_| fs::metadata(file)).transpose()?;
    let access = like
        .as_ref()
        // A new settings file is the user's, not ours, so their umask decides
        // who reads it.
        .map_or(FileAccess::Umask, FileAccess::SameOwner);
    let staged = StagedFile::stage_bytes(file, new, &durable(access))?;
    // As late as can be: between this look and the rename others may still write.
    if read_optional(file)?.as_deref() != old {
        return Ok(SwapOutcome::Raced);
    }
    staged.commit()?;
    Ok(SwapOutcome::Done)
}

/// Writes `file`, whatever it held, with mode and owner of `like`; without one
/// it is a file of our own, for its owner only.
pub(super) fn write_file(file: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
    let like = like.map(fs::metadata).transpose()?;
    let access = like
        .as_ref()
        .map_or(FileAccess::OwnerOnly, FileAccess::SameOwner);
    replace_file(file, bytes, &durable(access))
}

fn durable(access: FileAccess<'_>) -> ReplaceOptions<'_> {
    ReplaceOptions {
        draft: DraftName::Unique,
        access,
        durability: Durability::File,
    }
}
