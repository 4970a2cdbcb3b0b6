//! Rewriting archive files with events changed or removed: each new file is
//! written in a temporary directory and renamed, so that a reader finds the old
//! one or the new one, never half.

use std::fs;
use std::io;
use std::path::Path;

use remora_client::{Folder, append_our_file, open_our_file, remove_file};

use super::{Archive, ArchivedEvent, read_events};
use crate::{ServerError, io_error_at};

/// The prefix of the temporary directories; no archive file has it.
const TEMP_DIR_PREFIX: &str = ".rewrite-";
/// Text of one frame.
const FRAME_TEXT_BYTES: usize = 1024 * 1024;

/// What becomes of an event.
#[derive(Debug)]
pub enum RewriteAction {
    /// It stays, unchanged or changed.
    Keep(Box<ArchivedEvent>),
    /// It is removed.
    Drop,
}

/// What became of a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RewriteStats {
    /// Events that stayed.
    pub kept: u64,
    /// Events that went.
    pub dropped: u64,
    /// Parts that could not be read; they are not in the new file.
    pub unreadable: u64,
}

/// Removes what an interrupted rewrite left behind. The directory is opened first
/// because that refuses a symbolic link: nothing may be deleted through one.
pub fn clear_leftovers(archive: &Path) -> Result<(), ServerError> {
    match Folder::open(archive) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(io_error_at(archive))?,
    };
    let entries = fs::read_dir(archive).map_err(io_error_at(archive))?;
    for entry in entries {
        let entry = entry.map_err(io_error_at(archive))?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(TEMP_DIR_PREFIX)
        {
            fs::remove_dir_all(entry.path()).map_err(io_error_at(&entry.path()))?;
        }
    }
    Ok(())
}

/// Rewrites a file with what `judge` keeps; a file without events is removed.
pub fn rewrite_file(
    file: &Path,
    judge: &mut dyn FnMut(ArchivedEvent) -> RewriteAction,
) -> Result<RewriteStats, ServerError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    // In the same directory, so that the rename stays on one file system.
    let aside = tempfile::Builder::new()
        .prefix(TEMP_DIR_PREFIX)
        .tempdir_in(folder)
        .map_err(io_error_at(folder))?;
    let mut archive = Archive::new(aside.path());
    let mut result = RewriteStats::default();
    let mut lines = Vec::new();
    let mut failed: Option<io::Error> = None;
    result.unreadable = read_events(file, |event| {
        let RewriteAction::Keep(event) = judge(event) else {
            result.dropped += 1;
            return;
        };
        result.kept += 1;
        let mut put = || -> io::Result<()> {
            serde_json::to_writer(&mut lines, &event)?;
            lines.push(b'\n');
            if lines.len() >= FRAME_TEXT_BYTES {
                archive.append(&std::mem::take(&mut lines), 0)?;
            }
            Ok(())
        };
        if failed.is_none() {
            failed = put().err();
        }
    })
    .map_err(io_error_at(file))?;
    let written = match failed {
        Some(e) => Err(e),
        None => archive.append(&lines, 0),
    };
    written.map_err(io_error_at(aside.path()))?;
    if result.kept == 0 {
        remove_file(file).map_err(io_error_at(file))?;
        return Ok(result);
    }
    // A file is a sequence of frames, so parts can simply be concatenated.
    let mut parts = archive
        .list_files()
        .map_err(io_error_at(aside.path()))?
        .into_iter();
    if let Some(first) = parts.next() {
        for part in parts {
            append_part(&first, &part).map_err(io_error_at(&part))?;
        }
        fs::rename(&first, file).map_err(io_error_at(file))?;
    }
    Ok(result)
}

/// Appends one file to another; a symbolic link in place of either is refused.
fn append_part(whole: &Path, part: &Path) -> io::Result<()> {
    let mut whole = append_our_file(whole)?;
    io::copy(&mut open_our_file(part)?, &mut whole)?;
    whole.sync_data()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_part_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        for name in ["own", "part", "theirs"] {
            fs::write(file(name), name).unwrap();
        }
        symlink(file("theirs"), file("link")).unwrap();
        append_part(&file("link"), &file("part")).unwrap_err();
        append_part(&file("own"), &file("link")).unwrap_err();
        append_part(&file("own"), &file("part")).unwrap();
        let text = |name: &str| fs::read_to_string(file(name)).unwrap();
        assert_eq!((&*text("theirs"), &*text("own")), ("theirs", "ownpart"));
    }

    #[test]
    fn nothing_is_cleared_away_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs/.rewrite-x");
        fs::create_dir_all(&theirs).unwrap();
        symlink(dir.path().join("theirs"), dir.path().join("archive")).unwrap();
        clear_leftovers(&dir.path().join("archive")).unwrap_err();
        assert!(theirs.is_dir());
        clear_leftovers(&dir.path().join("theirs")).unwrap();
        assert!(!theirs.exists());
        clear_leftovers(&dir.path().join("none")).unwrap();
    }
}
