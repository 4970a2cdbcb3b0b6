//! The mark that capture has failed, so that the next session can inform the user
//! once.
//!
//! The usual cause is a full disk, where a new file cannot be written. So the
//! file is made in good times with its full size, and a failing hook writes
//! into the blocks that it already has.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::DataPaths;

const MARK_BYTES: usize = 512;

/// The mark of one data directory.
#[derive(Debug)]
pub struct CaptureFailureMark {
    file: PathBuf,
}

impl CaptureFailureMark {
    /// The mark of this data directory.
    pub fn for_data_dir(paths: &DataPaths) -> Self {
        Self {
            file: paths.run_dir().join("capture-failed"),
        }
    }

    /// Takes the room that a failing hook will need.
    pub fn reserve_space(&self) -> io::Result<()> {
        match owner_options().create_new(true).open(&self.file) {
            Ok(file) => write_padded(file, ""),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Notes what went wrong.
    pub fn record_failure(&self, reason: &str) -> io::Result<()> {
        let file = owner_options()
            .create(true)
            // Truncating would give back the block that a full disk cannot hand
            // out again.
            .truncate(false)
            .open(&self.file)?;
        write_padded(file, reason)
    }

    /// The failure that has not been reported yet.
    pub fn peek_failure(&self) -> Option<String> {
        let text = fs::read(&self.file).ok()?;
        let text = String::from_utf8_lossy(&text);
        let reason = text.trim();
        (!reason.is_empty()).then(|| reason.to_owned())
    }

    /// As [`Self::peek_failure`], and marks it as reported.
    pub fn take_failure(&self) -> Option<String> {
        let reason = self.peek_failure()?;
        let file = OpenOptions::new().write(true).open(&self.file).ok()?;
        write_padded(file, "").ok()?;
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

fn write_padded(mut file: File, text: &str) -> io::Result<()> {
    // Always the full size and never truncated: the file must keep the blocks
    // it has.
    let mut bytes = vec![b' '; MARK_BYTES];
    let end = text.floor_char_boundary(MARK_BYTES);
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path());
        paths.prepare_data_dir().unwrap();
        let mark = CaptureFailureMark::for_data_dir(&paths);
        mark.reserve_space().unwrap();
        assert_eq!(mark.take_failure(), None);
        mark.record_failure("no space left").unwrap();
        mark.record_failure("gone").unwrap();
        assert_eq!(mark.peek_failure().as_deref(), Some("gone"));
        assert_eq!(mark.take_failure().as_deref(), Some("gone"));
        assert_eq!(mark.take_failure(), None);
        mark.record_failure(&"é".repeat(400)).unwrap();
        assert_eq!(mark.take_failure(), Some("é".repeat(256)));
        assert_eq!(fs::metadata(&mark.file).unwrap().len(), 512);
    }
}
