//! The mark that capture has failed, so that the next session can tell the
//! person once.
//!
//! The usual cause is a full disk, where a new file cannot be written. So the
//! file is made in good times with its full size, and a failing hook writes
//! into the blocks that it already has.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::Paths;

const SIZE: usize = 512;

/// The mark of one data directory.
#[derive(Debug)]
pub struct Failure {
    file: PathBuf,
}

impl Failure {
    /// The mark of this data directory.
    pub fn of(paths: &Paths) -> Self {
        Self {
            file: paths.run().join("capture-failed"),
        }
    }

    /// Takes the room that a failing hook will need.
    pub fn prepare(&self) -> io::Result<()> {
        match owner_options().create_new(true).open(&self.file) {
            Ok(file) => fill(file, ""),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Notes what went wrong.
    pub fn note(&self, reason: &str) -> io::Result<()> {
        let file = owner_options()
            .create(true)
            .truncate(false)
            .open(&self.file)?;
        fill(file, reason)
    }

    /// What went wrong and has not been told yet.
    pub fn look(&self) -> Option<String> {
        let text = fs::read(&self.file).ok()?;
        let text = String::from_utf8_lossy(&text);
        let reason = text.trim();
        (!reason.is_empty()).then(|| reason.to_owned())
    }

    /// As [`Self::look`], and it counts as told from now on.
    pub fn take(&self) -> Option<String> {
        let reason = self.look()?;
        let file = OpenOptions::new().write(true).open(&self.file).ok()?;
        fill(file, "").ok()?;
        Some(reason)
    }
}

/// For the owner alone: a reason may name a path.
fn owner_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn fill(mut file: File, text: &str) -> io::Result<()> {
    let mut bytes = vec![b' '; SIZE];
    let end = text.floor_char_boundary(SIZE);
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::new(dir.path());
        paths.prepare().unwrap();
        let mark = Failure::of(&paths);
        mark.prepare().unwrap();
        assert_eq!(mark.take(), None);
        mark.note("no space left").unwrap();
        mark.note("gone").unwrap();
        assert_eq!(mark.look().as_deref(), Some("gone"));
        assert_eq!(mark.take().as_deref(), Some("gone"));
        assert_eq!(mark.take(), None);
        mark.note(&"é".repeat(400)).unwrap();
        assert_eq!(mark.take(), Some("é".repeat(256)));
        assert_eq!(fs::metadata(&mark.file).unwrap().len(), 512);
    }
}
