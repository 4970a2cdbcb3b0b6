//! Which transcripts there are, and from where on each is to be read: those of
//! a session and its subagents together, the oldest session first.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use remora_agents::transcript::{TranscriptEnd, TranscriptKind, TranscriptSpec};
use remora_files::open_regular;

use super::state::{ImportState, ReadPosition};
use crate::error::CliError;

/// After this long without a word a session is over, in milliseconds.
const SESSION_END_GAP_MS: i64 = 86_400_000;
/// How deep folders below folders are read.
const MAX_DEPTH: usize = 8;
/// More of a file's first line is not read to learn whose it is.
const MAX_FIRST_LINE_BYTES: u64 = 1024 * 1024;
/// Files of a session that are read at the same time.
const MAX_OPEN_FILES: usize = 200;

/// One file.
#[derive(Debug)]
pub(super) struct TranscriptFile {
    pub(super) path: PathBuf,
    pub(super) kind: TranscriptKind,
    pub(super) session: PathBuf,
    pub(super) size: u64,
    pub(super) modified: i64,
    /// What was read before.
    pub(super) from: ReadPosition,
    pub(super) ending: TranscriptEnd,
}

impl TranscriptFile {
    fn from_path(path: PathBuf, format: &TranscriptSpec, now: i64) -> Option<Self> {
        let (kind, session) = (format.classify_file)(&path, &|| read_first_line(&path))?;
        let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let modified = i64::try_from(modified.as_millis()).ok()?;
        Some(Self {
            path,
            kind,
            session,
            size: meta.len(),
            modified,
            from: ReadPosition::default(),
            // Transcripts do not say that a session is over; a day without a
            // line does.
            ending: if now - modified > SESSION_END_GAP_MS {
                TranscriptEnd::Closed
            } else {
                TranscriptEnd::Open
            },
        })
    }
}

pub(super) fn read_first_line(path: &Path) -> Option<Vec<u8>> {
    let file = open_regular(path).ok()?;
    let mut line = Vec::new();
    let mut head = BufReader::new(file).take(MAX_FIRST_LINE_BYTES);
    head.read_until(b'\n', &mut line).ok()?;
    Some(line)
}

/// What there is to read.
#[derive(Debug)]
pub(super) struct TranscriptScan {
    pub(super) format: &'static TranscriptSpec,
    pub(super) groups: Vec<Vec<TranscriptFile>>,
    /// Files that hold nothing new.
    pub(super) unchanged: u64,
}

impl TranscriptScan {
    /// Bytes that are to be read.
    pub(super) fn count_unread_bytes(&self) -> u64 {
        let files = self.groups.iter().flatten();
        files
            .map(|file| file.size.saturating_sub(file.from.offset))
            .sum()
    }

    pub(super) fn count_files(&self) -> u64 {
        self.groups.iter().map(|group| group.len() as u64).sum()
    }
}

/// The transcripts under these paths.
pub(super) fn find_transcripts(
    format: &'static TranscriptSpec,
    paths: &[PathBuf],
    state: &ImportState,
    since: Option<i64>,
    now: i64,
) -> Result<TranscriptScan, CliError> {
    let mut sessions: BTreeMap<PathBuf, Vec<TranscriptFile>> = BTreeMap::new();
    let mut found = TranscriptScan {
        format,
        groups: Vec::new(),
        unchanged: 0,
    };
    for path in paths {
        let meta = fs::metadata(path).map_err(|source| CliError::File {
            path: path.clone(),
            source,
        })?;
        let mut files = Vec::new();
        if meta.is_dir() {
            collect_files(path, format, MAX_DEPTH, &mut files);
        } else {
            files.push(path.clone());
            // The subagents of a session belong to it.
            if let Some(own) = (format.subagents_dir)(path).filter(|own| own.is_dir()) {
                collect_files(&own, format, MAX_DEPTH, &mut files);
            }
        }
        files.sort();
        for file in files {
            let Some(mut file) = TranscriptFile::from_path(file, format, now) else {
                continue;
            };
            if since.is_some_and(|since| file.modified < since) {
                continue;
            }
            file.from = state.from(&file.path, file.size, file.modified, file.ending);
            let group = sessions.entry(file.session.clone()).or_default();
            if group.iter().any(|other| other.path == file.path) {
                continue;
            }
            // Nothing was ever written into it.
            if file.size == 0 {
                continue;
            }
            if file.from.offset >= file.size {
                found.unchanged += 1;
            } else {
                group.push(file);
            }
        }
    }
    let mut groups: Vec<Vec<TranscriptFile>> = Vec::new();
    for mut files in sessions.into_values() {
        // The session itself first: it knows where it began.
        files.sort_by_key(|file| (file.kind == TranscriptKind::Subagent, file.modified));
        // A session may have thousands of subagents, a process about a thousand
        // open files.
        while files.len() > MAX_OPEN_FILES {
            let rest = files.split_off(MAX_OPEN_FILES);
            groups.push(std::mem::replace(&mut files, rest));
        }
        if !files.is_empty() {
            groups.push(files);
        }
    }
    // Oldest first: what a turn amends is worked out when it is stored, from
    // the turns before it.
    groups.sort_by_key(|group| group.iter().map(|file| file.modified).min());
    found.groups = groups;
    Ok(found)
}

/// Folders that cannot be read hold nothing for us.
fn collect_files(folder: &Path, format: &TranscriptSpec, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // Links may lead in circles.
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && depth > 0 {
            collect_files(&path, format, depth - 1, files);
        } else if kind.is_file() && (format.is_transcript)(&path) {
            files.push(path);
        }
    }
}
