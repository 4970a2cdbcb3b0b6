//! Raw events, redacted and compressed: one zstd frame per batch, appended to one
//! file per day, one JSON line per event. `zstd -dc` reads it too.
//!
//! A frame that was being written when the process died is cut off before the
//! next one is appended; a damaged frame is skipped when reading.

pub mod rewrite;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use remora_client::{append_our_file, create_our_file, open_our_file};
use remora_core::time::format_date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zstd::zstd_safe;

use remora_core::request::Envelope;

/// A file that has grown beyond this is complete, and the next one is started:
/// files are read whole.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Files with fewer frames are not worth compacting.
const MIN_COMPACTION_FRAMES: usize = 16;
/// Text of one frame in a compacted file.
const DENSE_FRAME_BYTES: usize = 4 * 1024 * 1024;
const QUICK_LEVEL: i32 = 3;
const DENSE_LEVEL: i32 = 9;
const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// No frame of ours is larger once decompressed; a damaged one may claim to be.
const MAX_FRAME_BYTES: u64 = 512 * 1024 * 1024;

/// An event in the archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchivedEvent {
    /// How it was captured.
    pub envelope: Envelope,
    /// What the client sent, redacted.
    pub event: Map<String, Value>,
}

/// An event to be archived, borrowed; it reads back as [`ArchivedEvent`].
#[derive(Debug, Serialize)]
pub(crate) struct ArchivedEventRef<'a> {
    pub(crate) envelope: &'a Envelope,
    pub(crate) event: &'a Map<String, Value>,
}

/// The archive of one data directory.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    open: Option<PathBuf>,
}

impl Archive {
    /// The archive in this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            open: None,
        }
    }

    /// Appends lines as one frame and waits until they are on the disk: only then
    /// may the spool files go.
    pub fn append(&mut self, lines: &[u8], now: i64) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let frame = compress_frame(lines, QUICK_LEVEL)?;
        let path = self.current_file(now)?;
        let before = fs::metadata(&path).map_or(0, |m| m.len());
        let written = append_to(&path, &frame);
        if written.is_err() {
            // Half a frame on a full disk is removed, so that the next one follows a
            // whole one.
            let _ = append_our_file(&path).and_then(|file| file.set_len(before));
        }
        written
    }

    /// The file to append to. The first time a worker uses one its end is checked,
    /// because the worker before may have been killed in the middle of a frame.
    fn current_file(&mut self, now: i64) -> io::Result<PathBuf> {
        let day = format_date(now);
        if let Some(path) = &self.open
            && path.file_name().is_some_and(|name| {
                name.to_string_lossy()
                    .strip_prefix("events-")
                    .is_some_and(|rest| rest.starts_with(&day))
            })
            && fs::metadata(path).map_or(0, |m| m.len()) < MAX_FILE_BYTES
        {
            return Ok(path.clone());
        }
        let mut part = 0;
        let path = loop {
            let path = self.folder.join(format!("events-{day}.{part:03}.zst"));
            if fs::metadata(&path).map_or(0, |m| m.len()) < MAX_FILE_BYTES {
                break path;
            }
            part += 1;
        };
        if path.exists() {
            cut_broken_end(&path)?;
        }
        self.open = Some(path.clone());
        Ok(path)
    }

    /// The files, oldest first.
    pub fn list_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let entries = match fs::read_dir(&self.folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(files),
            other => other?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ext| ext == "zst") {
                files.push(path);
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        let files = self.list_files().unwrap_or_default();
        files
            .iter()
            .filter_map(|f| fs::metadata(f).ok())
            .map(|m| m.len())
            .sum()
    }

    /// Removes the oldest files until no more than `cap` bytes are left; the
    /// newest file always stays. Returns how many bytes were freed.
    pub fn trim_to_bytes(&self, cap: u64) -> io::Result<u64> {
        let mut files = self.list_files()?;
        // The newest may be the one that is appended to.
        files.pop();
        let mut bytes = self.disk_bytes();
        let mut gone = 0;
        for file in files {
            if bytes <= cap {
                break;
            }
            let size = fs::metadata(&file)?.len();
            fs::remove_file(&file)?;
            bytes -= size;
            gone += size;
        }
        Ok(gone)
    }

    /// Rewrites files of many small frames as few large ones, which compress
    /// better. Idle work; a file is replaced whole or not at all. One with a damaged
    /// frame stays as it is: a better reader may get more out of it.
    pub fn compact_files(&mut self) -> io::Result<()> {
        for path in self.list_files()? {
            let bytes = read_whole(&path)?;
            if split_frames(&bytes).count() < MIN_COMPACTION_FRAMES {
                continue;
            }
            if !split_frames(&bytes).all(|frame| decompress_frame(frame).is_ok()) {
                continue;
            }
            let fresh = path.with_extension("tmp");
            let mut out = create_file(&fresh)?;
            let mut text = Vec::new();
            for frame in split_frames(&bytes) {
                text.extend(decompress_frame(frame)?);
                if text.len() >= DENSE_FRAME_BYTES {
                    out.write_all(&compress_frame(&text, DENSE_LEVEL)?)?;
                    text.clear();
                }
            }
            out.write_all(&compress_frame(&text, DENSE_LEVEL)?)?;
            out.sync_all()?;
            fs::rename(&fresh, &path)?;
        }
        Ok(())
    }
}

/// Calls `take` with every event of a file, and returns how many frames and lines
/// could not be read.
pub fn read_events(path: &Path, mut take: impl FnMut(ArchivedEvent)) -> io::Result<u64> {
    let bytes = read_whole(path)?;
    let mut bad = 0;
    for frame in split_frames(&bytes) {
        let Ok(text) = decompress_frame(frame) else {
            bad += 1;
            continue;
        };
        for line in text.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(event) => take(event),
                Err(_) => bad += 1,
            }
        }
    }
    Ok(bad)
}

fn compress_frame(text: &[u8], level: i32) -> io::Result<Vec<u8>> {
    let mut packer = zstd::bulk::Compressor::new(level)?;
    // Off by default; without it a flipped bit could pass as another event.
    packer.include_checksum(true)?;
    packer.compress(text)
}

fn decompress_frame(frame: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // A damaged frame may claim to unpack to any size.
    zstd::Decoder::new(frame)?
        .take(MAX_FRAME_BYTES)
        .read_to_end(&mut text)?;
    Ok(text)
}

/// The whole frames of a file. From a damaged place on, the next frame is searched
/// for by its magic number.
fn split_frames(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            match zstd_safe::find_frame_compressed_size(rest) {
                Ok(size) if size > 0 && size <= rest.len() => {
                    let (frame, after) = rest.split_at(size);
                    rest = after;
                    return Some(frame);
                }
                _ => {
                    let next = rest[1..].windows(4).position(|w| w == FRAME_MAGIC);
                    rest = next.map_or(&[], |at| &rest[at + 1..]);
                }
            }
        }
    })
}

fn cut_broken_end(path: &Path) -> io::Result<()> {
    let bytes = read_whole(path)?;
    // The frame is a slice of `bytes`, so its address shows where it ends.
    let end = split_frames(&bytes).last().map_or(0, |last| {
        last.as_ptr().addr() - bytes.as_ptr().addr() + last.len()
    });
    if end < bytes.len() {
        append_our_file(path)?.set_len(end as u64)?;
    }
    Ok(())
}

fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_our_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn append_to(path: &Path, frame: &[u8]) -> io::Result<()> {
    let mut file = append_our_file(path)?;
    file.write_all(frame)?;
    file.sync_data()
}

fn create_file(path: &Path) -> io::Result<File> {
    create_our_file(path)
}

#[cfg(test)]
mod tests;
