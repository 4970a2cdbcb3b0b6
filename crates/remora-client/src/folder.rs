//! A folder of the data directory, held open. What is created, renamed or
//! removed goes through the handle, so it happens in the folder that was
//! checked, whatever takes the folder's name meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

/// A directory that is not a link.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder; a link in its place is refused, wherever it leads.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        // Remora deletes in these folders: a link in place of `spool/` once
        // emptied the folder it led to.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(CWD, &path, flags, Mode::empty()) {
            Ok(handle) => Ok(Self { handle, path }),
            Err(e) => Err(explain_refusal(&path, e.into())),
        }
    }

    /// The folder of a file, and the file's name in it.
    pub fn of_file(file: &Path) -> io::Result<(Self, &OsStr)> {
        match (file.parent(), file.file_name()) {
            (Some(folder), Some(name)) => Ok((Self::open(folder)?, name)),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{}: names no file", file.display()),
            )),
        }
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of its regular files; links, folders, pipes and devices are
    /// left out.
    pub fn list_files(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        self.visit_entries(|name, kind| {
            if kind == FileType::RegularFile {
                names.push(name.to_owned());
            }
        })?;
        Ok(names)
    }

    /// Hands every entry and its kind to `take`.
    pub fn visit_entries(&self, mut take: impl FnMut(&OsStr, FileType)) -> io::Result<()> {
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say it in the listing.
                FileType::Unknown => match self.stat_entry(name) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                    Err(e) => return Err(e),
                },
                kind => kind,
            };
            take(name, kind);
        }
        Ok(())
    }

    /// What the system says of an entry itself, not of what it may link to.
    pub(crate) fn stat_entry(&self, name: &OsStr) -> io::Result<rustix::fs::Stat> {
        Ok(rustix::fs::statat(
            &self.handle,
            name,
            AtFlags::SYMLINK_NOFOLLOW,
        )?)
    }

    /// Creates a file that was not there, for the owner alone.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        // EXCL also refuses a link, even one that leads nowhere.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(rustix::fs::openat(&self.handle, name, flags, mode)?.into())
    }

    /// Opens a file to add to its end, and creates one that is missing; a link
    /// in its place is refused.
    pub fn append_file(&self, name: &OsStr) -> io::Result<File> {
        self.open_for_writing(name, OFlags::WRONLY | OFlags::APPEND)
    }

    fn open_for_writing(&self, name: &OsStr, how: OFlags) -> io::Result<File> {
        // NONBLOCK: opening a pipe for writing would wait for a reader.
        let always = OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(rustix::fs::openat(&self.handle, name, how | always, mode)?.into())
    }

    /// Puts `bytes` under a name, whole or not at all, and waits for the disk.
    /// `partial` is the name it has until then.
    pub fn replace_file(&self, partial: &OsStr, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        // A process killed at this point may have left one, and `create_file`
        // refuses a name that exists.
        match self.remove_file(partial) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut file = self.create_file(partial)?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_data())
            .and_then(|()| self.rename_file(partial, name));
        if written.is_err() {
            let _ = self.remove_file(partial);
        }
        written
    }

    /// Opens a regular file for reading. A pipe in its place does not block.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let not_a_file = || io::Error::new(io::ErrorKind::InvalidData, "not a file");
        let file = match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => File::from(handle),
            // What NOFOLLOW answers for a link.
            Err(rustix::io::Errno::LOOP) => return Err(not_a_file()),
            Err(e) => return Err(e.into()),
        };
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(not_a_file())
        }
    }

    /// Gives a file another name in the same folder.
    pub fn rename_file(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Removes a file; of a link the link itself. Never a folder.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Takes the folder from everyone but its owner.
    pub(crate) fn make_private(&self) -> io::Result<()> {
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&self.handle)?.st_mode);
        if mode.intersects(Mode::RWXG | Mode::RWXO) {
            rustix::fs::fchmod(&self.handle, Mode::RWXU)?;
        }
        Ok(())
    }
}

/// Opens a file in one of our folders for reading. Neither the folder nor the
/// file may be a link, here and below: what is put in their place while a
/// process runs leads nowhere.
pub fn open_our_file(file: &Path) -> io::Result<File> {
    let (folder, name) = Folder::of_file(file)?;
    folder.open_file(name)
}

/// Opens one for reading and for adding to its end; it is created if it is
/// missing, for the owner alone.
pub fn append_our_file(file: &Path) -> io::Result<File> {
    open_for_writing(file, OFlags::RDWR | OFlags::APPEND)
}

/// Opens one that is empty, or is empty now.
pub fn create_our_file(file: &Path) -> io::Result<File> {
    open_for_writing(file, OFlags::WRONLY | OFlags::TRUNC)
}

/// Puts `bytes` in the place of what one holds.
pub fn write_our_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    create_our_file(file)?.write_all(bytes)
}

/// Puts `bytes` in the place of what one holds, whole or not at all. `draft` is
/// the name in the same folder that it has until then; what a process that was
/// killed left there is overwritten. Nothing waits for the disk.
pub fn replace_our_file(draft: &OsStr, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = Folder::of_file(file)?;
    folder
        .open_for_writing(draft, OFlags::WRONLY | OFlags::TRUNC)?
        .write_all(bytes)?;
    folder.rename_file(draft, name)
}

fn open_for_writing(file: &Path, how: OFlags) -> io::Result<File> {
    let (folder, name) = Folder::of_file(file)?;
    folder.open_for_writing(name, how)
}

/// Makes a folder of ours, and those above it that are missing, for the owner
/// alone.
pub fn make_our_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Removes a file from one of our folders; one that is gone already is no fault.
pub fn remove_file(file: &Path) -> io::Result<()> {
    let (folder, name) = Folder::of_file(file)?;
    match folder.remove_file(name) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// The system says only that a link is no directory.
fn explain_refusal(path: &Path, error: io::Error) -> io::Error {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => io::Error::other(describe_link(path)),
        _ => error,
    }
}

/// Why a link is refused, and what to do about it.
pub(crate) fn describe_link(path: &Path) -> String {
    format!(
        "{}: is a link; Remora deletes files in this folder and follows no link there: \
         put a real folder in its place, or link the whole data directory",
        path.display()
    )
}

#[cfg(test)]
mod tests;
