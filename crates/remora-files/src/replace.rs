//! A file replaced as a whole: written beside, then renamed, so that a reader
//! sees the old bytes or the new ones and nothing between.
//!
//! Callers differ in three things, and each says its own: what the draft is
//! called until then, who may read the result, and what must survive a power
//! cut. The target itself is never opened; a symbolic link in its place is
//! replaced, so a caller that wants to keep one resolves it first.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Names to try for a draft of our own.
const MAX_NAME_ATTEMPTS: u32 = 1_000;

/// How a file is replaced.
#[derive(Debug, Clone, Copy)]
pub struct ReplaceOptions<'a> {
    /// What the file is called until it is whole.
    pub draft: DraftName<'a>,
    /// Who may read and write it.
    pub access: FileAccess<'a>,
    /// What must have reached the disk.
    pub durability: Durability,
}

impl ReplaceOptions<'_> {
    /// A file of our own, for its owner alone.
    pub const fn private(durability: Durability) -> Self {
        Self {
            draft: DraftName::Unique,
            access: FileAccess::OwnerOnly,
            durability,
        }
    }
}

/// What a file is called until it is whole. A draft is always in the folder of
/// the file that it becomes.
#[derive(Debug, Clone, Copy)]
pub enum DraftName<'a> {
    /// A hidden name that no other writer uses: several at once do not
    /// meet.
    Unique,
    /// This one. What a killed writer left there is overwritten.
    Overwrite(&'a Path),
    /// This one. What is there is removed first, so that a link is never
    /// followed.
    Recreate(&'a Path),
}

/// Who may read and write a file.
#[derive(Debug, Clone, Copy)]
pub enum FileAccess<'a> {
    /// Its owner alone.
    OwnerOnly,
    /// As the umask says.
    Umask,
    /// Whoever may with this file.
    SameMode(&'a Metadata),
    /// The same, and it stays in the hands it was in. The group is kept where
    /// we may give it.
    SameOwner(&'a Metadata),
}

/// What must have reached the disk when a file is in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing: it can be made again.
    None,
    /// What it holds.
    File,
    /// That, and its name, where the system can do that.
    FileAndName,
}

/// Puts `bytes` under a name, whole or not at all.
pub fn replace_file(path: &Path, bytes: &[u8], options: &ReplaceOptions<'_>) -> io::Result<()> {
    StagedFile::stage_bytes(path, bytes, options)?.commit()
}

/// A file beside the one that it will replace; removed if it does not come to
/// it.
#[derive(Debug)]
pub struct StagedFile {
    target: PathBuf,
    draft: PathBuf,
    durability: Durability,
    /// Whether the draft has still to become the file, or to go.
    pending: bool,
}

impl StagedFile {
    /// Writes a draft, with all that the file is to have but its name.
    pub fn stage_bytes(
        target: &Path,
        bytes: &[u8],
        options: &ReplaceOptions<'_>,
    ) -> io::Result<Self> {
        let (draft, mut file) = open_draft(target, options)?;
        let staged = Self {
            target: target.to_owned(),
            draft,
            durability: options.durability,
            pending: true,
        };
        file.write_all(bytes)?;
        match options.access {
            FileAccess::OwnerOnly | FileAccess::Umask => {}
            FileAccess::SameMode(like) => file.set_permissions(like.permissions())?,
            FileAccess::SameOwner(like) => {
                keep_owner(&file, like)?;
                // After the owner: giving a file away may clear bits of its mode.
                file.set_permissions(like.permissions())?;
            }
        }
        if options.durability != Durability::None {
            file.sync_all()?;
        }
        Ok(staged)
    }

    /// Where the draft is.
    pub fn draft_path(&self) -> &Path {
        &self.draft
    }

    /// Gives the draft its name.
    pub fn commit(mut self) -> io::Result<()> {
        fs::rename(&self.draft, &self.target)?;
        self.pending = false;
        if self.durability == Durability::FileAndName
            && let Some(folder) = self.target.parent()
        {
            // Best effort: some file systems cannot sync a folder, and the file is in its
            // place.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if self.pending {
            // Nothing more can be done about a file that will not go.
            let _ = fs::remove_file(&self.draft);
        }
    }
}

fn open_draft(target: &Path, how: &ReplaceOptions<'_>) -> io::Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    options.write(true);
    // A draft of a file that others may not read is never open to them.
    #[cfg(unix)]
    if !matches!(how.access, FileAccess::Umask) {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    match how.draft {
        DraftName::Unique => open_unique(target, options.create_new(true)),
        DraftName::Overwrite(draft) => {
            let file = options.create(true).truncate(true).open(draft)?;
            Ok((draft.to_owned(), file))
        }
        DraftName::Recreate(draft) => {
            match fs::remove_file(draft) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let file = options.create_new(true).open(draft)?;
            Ok((draft.to_owned(), file))
        }
    }
}

/// The name does not hold the target's: that one may be as long as names can
/// be.
fn open_unique(target: &Path, options: &OpenOptions) -> io::Result<(PathBuf, File)> {
    for number in 0..MAX_NAME_ATTEMPTS {
        let draft = target.with_file_name(format!(".remora-{}-{number}", std::process::id()));
        match options.open(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|file| (draft, file)),
        }
    }
    Err(io::Error::other("too many files left behind next to it"))
}

#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let own = file.metadata()?;
    if own.uid() != like.uid() {
        fchown(file, Some(like.uid()), None)?;
    }
    if own.gid() != like.gid() {
        // Giving a file to a group that the user is not in is refused, which is no reason
        // to fail.
        let _ = fchown(file, None, Some(like.gid()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
