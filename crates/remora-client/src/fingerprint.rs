//! What a file is like, and whether it still is: the worker takes anchors, a
//! hook compares them. Size and time are asked first; the contents are read
//! only when the time alone differs. Nothing here follows a pipe or a device.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use remora_core::record::FileFingerprint;

/// Larger files have no anchor: reading them costs more than knowing is worth.
const MAX_FINGERPRINTED_BYTES: u64 = 4 * 1024 * 1024;

/// What became of a file since its fingerprint was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// It holds what it held.
    Same,
    /// It holds something else, or cannot be read.
    Changed,
    /// There is no such file any more.
    Gone,
}

/// What the file is like now; `None` for what is no plain file, is too large,
/// or is being written at this moment.
pub fn anchor_of(path: &Path) -> io::Result<Option<FileFingerprint>> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() || meta.len() > MAX_FINGERPRINTED_BYTES {
        return Ok(None);
    }
    let Some((hash, meta)) = hash_contents(path)? else {
        return Ok(None);
    };
    Ok(modified_nanos(&meta).map(|modified| FileFingerprint {
        size: meta.len(),
        modified,
        hash,
        since: modified.div_euclid(1_000_000),
    }))
}

/// Whether the file is as it was.
pub fn is_as(path: &Path, anchor: &FileFingerprint) -> FileStatus {
    let meta = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => meta,
        Ok(_) => return FileStatus::Gone,
        Err(e) if is_missing(&e) => return FileStatus::Gone,
        // Unreadable is not gone: memory about a file that exists must not be
        // dropped for its mode.
        Err(_) => return FileStatus::Changed,
    };
    if meta.len() != anchor.size {
        return FileStatus::Changed;
    }
    // No fingerprint covers more; one that says so is not ours.
    if modified_nanos(&meta) == Some(anchor.modified) || anchor.size > MAX_FINGERPRINTED_BYTES {
        return FileStatus::Same;
    }
    match hash_contents(path) {
        Ok(Some((hash, _))) if hash == anchor.hash => FileStatus::Same,
        Err(e) if is_missing(&e) => FileStatus::Gone,
        _ => FileStatus::Changed,
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The hash of what it holds, with what the system says of just that; nothing
/// when it was written meanwhile.
fn hash_contents(path: &Path) -> io::Result<Option<(u64, Metadata)>> {
    let mut file = open_plain(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() > MAX_FINGERPRINTED_BYTES {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
    Read::by_ref(&mut file)
        .take(MAX_FINGERPRINTED_BYTES + 1)
        .read_to_end(&mut bytes)?;
    let after = file.metadata()?;
    // A file that an editor writes right now would get an anchor of half its
    // text.
    let still = bytes.len() as u64 == meta.len() && modified_nanos(&after) == modified_nanos(&meta);
    Ok(still.then(|| (hash_bytes(&bytes), meta)))
}

/// Opens a file for reading; a pipe in its place does not block.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}

/// In nanoseconds since 1970.
fn modified_nanos(meta: &Metadata) -> Option<i64> {
    let time: SystemTime = meta.modified().ok()?;
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos())
            .ok()
            .map(|nanos| -nanos),
    }
}

/// Odd, so that multiplying by it loses no bits, and with bits in every byte.
const HASH_FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

/// Four sums side by side, eight bytes at a time, then one of them all. Stored,
/// so it must not change with a release. Against chance, not against malice.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: [u8; 8]| {
        (sum ^ u64::from_le_bytes(word))
            .wrapping_mul(HASH_FACTOR)
            .rotate_left(29)
    };
    let mut sums = [1, 2, 3, 4].map(|lane: u64| lane.wrapping_mul(HASH_FACTOR));
    let (words, rest) = bytes.as_chunks::<8>();
    // Four independent sums keep the processor's multipliers busy; one chain
    // would wait for itself.
    let (blocks, words) = words.as_chunks::<4>();
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block) {
            *sum = step(*sum, *word);
        }
    }
    for (sum, word) in sums.iter_mut().zip(words) {
        *sum = step(*sum, *word);
    }
    let mut last = [0; 8];
    for (to, byte) in last.iter_mut().zip(rest) {
        *to = *byte;
    }
    // The length tells an end of zeros from none.
    let length = (bytes.len() as u64).to_le_bytes();
    let mut all = step(step(HASH_FACTOR, length), last);
    for sum in sums {
        all = step(all, sum.to_le_bytes());
    }
    all ^= all >> 32;
    all = all.wrapping_mul(HASH_FACTOR);
    all ^ (all >> 29)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn set_time(path: &Path, seconds: u64) {
        let time = UNIX_EPOCH + Duration::from_secs(seconds);
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }

    #[test]
    fn a_file_is_the_same_until_it_holds_something_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rs");
        fs::write(&path, "fn one() {}").unwrap();
        set_time(&path, 1_700_000_000);
        let anchor = anchor_of(&path).unwrap().unwrap();
        assert_eq!(
            (anchor.size, anchor.modified, anchor.since),
            (11, 1_700_000_000_000_000_000, 1_700_000_000_000)
        );
        assert_eq!(is_as(&path, &anchor), FileStatus::Same);
        // Written again with the same words.
        set_time(&path, 1_700_000_500);
        assert_eq!(is_as(&path, &anchor), FileStatus::Same);
        // As long as before.
        fs::write(&path, "fn two() {}").unwrap();
        assert_eq!(is_as(&path, &anchor), FileStatus::Changed);
        // With the old time the contents are not looked at.
        set_time(&path, 1_700_000_000);
        assert_eq!(is_as(&path, &anchor), FileStatus::Same);
        fs::write(&path, "fn three() {}").unwrap();
        set_time(&path, 1_700_000_000);
        assert_eq!(is_as(&path, &anchor), FileStatus::Changed);
        fs::remove_file(&path).unwrap();
        assert_eq!(is_as(&path, &anchor), FileStatus::Gone);
        assert_eq!(is_as(&path.join("below"), &anchor), FileStatus::Gone);
        assert!(anchor_of(&path).is_err());
    }

    #[test]
    fn what_is_no_plain_file_has_no_anchor_and_is_never_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(anchor_of(dir.path()).unwrap(), None);
        let pipe = dir.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            mode,
            rustix::fs::Dev::default(),
        )
        .unwrap();
        assert_eq!(anchor_of(&pipe).unwrap(), None);
        // Opened as if it had just been a file, it blocks no caller.
        assert!(hash_contents(&pipe).unwrap().is_none());
        let anchor = FileFingerprint {
            size: 0,
            modified: 0,
            hash: 0,
            since: 0,
        };
        assert_eq!(is_as(&pipe, &anchor), FileStatus::Gone);
        let large = dir.path().join("large");
        File::create(&large)
            .unwrap()
            .set_len(MAX_FINGERPRINTED_BYTES + 1)
            .unwrap();
        assert_eq!(anchor_of(&large).unwrap(), None);
        File::create(&large)
            .unwrap()
            .set_len(MAX_FINGERPRINTED_BYTES)
            .unwrap();
        assert!(anchor_of(&large).unwrap().is_some());
    }

    #[test]
    fn the_hash_sees_every_byte_the_order_and_the_length() {
        let text: Vec<u8> = (1..=77).collect();
        let mut seen = vec![
            hash_bytes(&text),
            hash_bytes(&[]),
            hash_bytes(&[0]),
            hash_bytes(&[0; 8]),
        ];
        seen.push(hash_bytes(&[0; 32]));
        for at in 0..text.len() {
            for bit in [1, 0x80] {
                let mut other = text.clone();
                other[at] ^= bit;
                seen.push(hash_bytes(&other));
            }
            seen.extend((at > 0).then(|| hash_bytes(&text[..at])));
        }
        let mut swapped = text.clone();
        swapped.rotate_left(8);
        seen.push(hash_bytes(&swapped));
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
        // What the disk holds was made by an older version.
        assert_eq!(hash_bytes(b"remora"), 0x7c37_5672_10e0_175f);
    }
}
