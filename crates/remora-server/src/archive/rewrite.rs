//! Archive files with events changed or taken out: each is written anew beside
//! itself and renamed, so that it is the old one or the new one, never half.

use std::fs;
use std::io;
use std::path::Path;

use remora_client::{Folder, append_our_file, open_our_file, remove_file};

use super::{Archive, Archived, read};
use crate::{ServerError, at};

/// What folders for new files begin with; no archive file does.
const ASIDE: &str = ".rewrite-";
/// Text of one frame.
const FRAME: usize = 1024 * 1024;

/// What becomes of an event.
#[derive(Debug)]
pub enum Verdict {
    /// It stays, as it is or changed.
    Keep(Box<Archived>),
    /// It goes.
    Drop,
}

/// What became of a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Rewritten {
    /// Events that stayed.
    pub kept: u64,
    /// Events that went.
    pub dropped: u64,
    /// Parts that could not be read; they are not in the new file.
    pub unreadable: u64,
}

/// Clears away what a rewriting that was killed left behind.
pub fn clear(archive: &Path) -> Result<(), ServerError> {
    match Folder::open(archive) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(at(archive))?,
    };
    let entries = fs::read_dir(archive).map_err(at(archive))?;
    for entry in entries {
        let entry = entry.map_err(at(archive))?;
        if entry.file_name().to_string_lossy().starts_with(ASIDE) {
            fs::remove_dir_all(entry.path()).map_err(at(&entry.path()))?;
        }
    }
    Ok(())
}

/// Writes a file anew with what `judge` leaves; an empty one goes.
pub fn rewrite(
    file: &Path,
    judge: &mut dyn FnMut(Archived) -> Verdict,
) -> Result<Rewritten, ServerError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let aside = tempfile::Builder::new()
        .prefix(ASIDE)
        .tempdir_in(folder)
        .map_err(at(folder))?;
    let mut archive = Archive::new(aside.path());
    let mut result = Rewritten::default();
    let mut lines = Vec::new();
    let mut failed: Option<io::Error> = None;
    result.unreadable = read(file, |event| {
        let Verdict::Keep(event) = judge(event) else {
            result.dropped += 1;
            return;
        };
        result.kept += 1;
        let mut put = || -> io::Result<()> {
            serde_json::to_writer(&mut lines, &event)?;
            lines.push(b'\n');
            if lines.len() >= FRAME {
                archive.append(&std::mem::take(&mut lines), 0)?;
            }
            Ok(())
        };
        if failed.is_none() {
            failed = put().err();
        }
    })
    .map_err(at(file))?;
    let written = match failed {
        Some(e) => Err(e),
        None => archive.append(&lines, 0),
    };
    written.map_err(at(aside.path()))?;
    if result.kept == 0 {
        remove_file(file).map_err(at(file))?;
        return Ok(result);
    }
    // Frames stay frames when files are put one after the other.
    let mut parts = archive.files().map_err(at(aside.path()))?.into_iter();
    if let Some(first) = parts.next() {
        for part in parts {
            append(&first, &part).map_err(at(&part))?;
        }
        fs::rename(&first, file).map_err(at(file))?;
    }
    Ok(result)
}

/// A link that took the place of either is refused.
fn append(whole: &Path, part: &Path) -> io::Result<()> {
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
        append(&file("link"), &file("part")).unwrap_err();
        append(&file("own"), &file("link")).unwrap_err();
        append(&file("own"), &file("part")).unwrap();
        let text = |name: &str| fs::read_to_string(file(name)).unwrap();
        assert_eq!((&*text("theirs"), &*text("own")), ("theirs", "ownpart"));
    }

    #[test]
    fn nothing_is_cleared_away_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs/.rewrite-x");
        fs::create_dir_all(&theirs).unwrap();
        symlink(dir.path().join("theirs"), dir.path().join("archive")).unwrap();
        clear(&dir.path().join("archive")).unwrap_err();
        assert!(theirs.is_dir());
        clear(&dir.path().join("theirs")).unwrap();
        assert!(!theirs.exists());
        clear(&dir.path().join("none")).unwrap();
    }
}
