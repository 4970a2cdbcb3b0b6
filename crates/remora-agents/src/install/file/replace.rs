//! Whole files: found behind links, read, and replaced by a rename so that a
//! reader sees the old bytes or the new ones and nothing between.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use remora_files::{MAX_SETTINGS_BYTES, ReadError, read_file};

/// As many symbolic links as the system itself follows.
const MAX_SYMLINKS: usize = 40;

/// Names to try for a file of our own.
const MAX_NAME_ATTEMPTS: u32 = 1_000;

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

/// Replaces `file` if it still holds `old`.
pub(super) fn swap_file(file: &Path, old: Option<&[u8]>, new: &[u8]) -> io::Result<SwapOutcome> {
    let like = old.is_some().then_some(file);
    let draft = StagedFile::stage_bytes(file, new, like)?;
    if read_optional(file)?.as_deref() != old {
        return Ok(SwapOutcome::Raced);
    }
    draft.become_file(file)?;
    Ok(SwapOutcome::Done)
}

/// Writes `file`, whatever it held, with mode and owner of `like`; without one
/// it is a file of our own, for its owner only.
pub(super) fn write_file(file: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
    let draft = StagedFile::stage_bytes(file, bytes, like)?;
    if like.is_none() {
        private(&draft.path)?;
    }
    draft.become_file(file)
}

/// A file beside the one that it will replace; removed if it does not come to it.
struct StagedFile {
    path: PathBuf,
    pending: bool,
}

impl StagedFile {
    fn stage_bytes(beside: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<Self> {
        let like = like.map(fs::metadata).transpose()?;
        let (path, mut file) = create_staged(beside, like.as_ref())?;
        let draft = Self {
            path,
            pending: true,
        };
        file.write_all(bytes)?;
        if let Some(like) = &like {
            keep_owner(&file, like)?;
            file.set_permissions(like.permissions())?;
        }
        file.sync_all()?;
        Ok(draft)
    }

    fn become_file(mut self, file: &Path) -> io::Result<()> {
        fs::rename(&self.path, file)?;
        self.pending = false;
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if self.pending {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn create_staged(beside: &Path, like: Option<&Metadata>) -> io::Result<(PathBuf, File)> {
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Closed to others until it has the mode of the file that it replaces.
    if like.is_some() {
        close_to_others(&mut options);
    }
    for number in 0..MAX_NAME_ATTEMPTS {
        let path = beside.with_file_name(format!(".{name}.remora-{}-{number}", std::process::id()));
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|file| (path, file)),
        }
    }
    Err(io::Error::other("too many files left behind beside it"))
}

#[cfg(unix)]
fn close_to_others(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn close_to_others(_: &mut OpenOptions) {}

#[cfg(unix)]
fn private(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A file must not change hands; its group is kept where we may give it.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let own = file.metadata()?;
    if own.uid() != like.uid() {
        fchown(file, Some(like.uid()), None)?;
    }
    if own.gid() != like.gid() {
        let _ = fchown(file, None, Some(like.gid()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}
