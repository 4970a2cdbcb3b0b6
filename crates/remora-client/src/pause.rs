//! Pauses: marks in `run/off/` that make every hook answer empty and
//! capture nothing, or capture but inject nothing. The folder is there
//! only while something is paused, so that a hook pays one failed look for
//! both.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use remora_core::hash::stable_hash;
use remora_files::{DraftName, Durability, ReadError, ReplaceOptions, read_file, replace_file};
use serde::{Deserialize, Serialize};

use crate::DataPaths;

/// A mark holds a name and two points in time; more of a file is not read.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// Ids up to this length are in the file's name as they are.
const MAX_PLAIN_ID_BYTES: usize = 64;
const PARTIAL_SUFFIX: &str = ".tmp";
/// How the names of marks begin that stop recall alone.
const RECALL_PREFIX: &str = "recall-";

/// What is paused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "scope", content = "key")]
pub enum PauseScope {
    /// Every project and every session.
    All,
    /// The project with this key.
    Project(String),
    /// The session with this id.
    Session(String),
}

/// What a pause stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PauseEffect {
    /// Nothing is captured, and nothing is injected.
    #[default]
    Everything,
    /// Nothing is injected; capture goes on.
    Recall,
}

/// What a hook has to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseState {
    /// Nothing stops.
    No,
    /// It captures, and answers nothing from memory.
    Recall,
    /// Capture and recall both stop.
    Everything,
}

impl PauseScope {
    fn file_name(&self, stops: PauseEffect) -> String {
        let name = match self {
            Self::All => "all".to_owned(),
            Self::Project(key) => format!("project-{:016x}", stable_hash(key.as_bytes())),
            Self::Session(id) => format!("session-{}", file_name_part(id)),
        };
        match stops {
            PauseEffect::Everything => name,
            PauseEffect::Recall => format!("{RECALL_PREFIX}{name}"),
        }
    }
}

/// One pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseEntry {
    /// What is paused.
    #[serde(flatten)]
    pub what: PauseScope,
    /// Whether capture stops as well, or recall alone.
    #[serde(default)]
    pub stops: PauseEffect,
    /// Since when, in milliseconds since 1970.
    pub since: i64,
    /// Until when; without it, until it is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

impl PauseEntry {
    fn is_over(&self, now: i64) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

/// The pauses of one data directory.
#[derive(Debug)]
pub struct Pause {
    folder: PathBuf,
}

impl Pause {
    /// The pauses of this data directory.
    pub fn for_data_dir(paths: &DataPaths) -> Self {
        Self {
            folder: paths.run_dir().join("off"),
        }
    }

    /// Whether nothing may be captured for this project and session.
    pub fn is_off(&self, project: Option<&str>, session: &str, now: i64) -> bool {
        self.pause_state(project.as_slice(), session, now) == PauseState::Everything
    }

    /// What a hook of these projects and this session has to leave. A mark that
    /// cannot be understood counts: a user wanted quiet.
    pub fn pause_state(&self, projects: &[&str], session: &str, now: i64) -> PauseState {
        // The one look that every hook pays when nothing is paused.
        if !self.folder.exists() {
            return PauseState::No;
        }
        let projects = projects
            .iter()
            .map(|key| PauseScope::Project((*key).to_owned()));
        let session = (!session.is_empty()).then(|| PauseScope::Session(session.to_owned()));
        let all: Vec<PauseScope> = [PauseScope::All]
            .into_iter()
            .chain(projects)
            .chain(session)
            .collect();
        let stopped = |stops| all.iter().any(|what| self.is_paused(what, stops, now));
        // The stronger pause first: it also stops recall.
        if stopped(PauseEffect::Everything) {
            PauseState::Everything
        } else if stopped(PauseEffect::Recall) {
            PauseState::Recall
        } else {
            PauseState::No
        }
    }

    fn is_paused(&self, what: &PauseScope, stops: PauseEffect, now: i64) -> bool {
        match read_entry(&self.folder.join(what.file_name(stops))) {
            Ok(Some(mark)) => !mark.is_over(now),
            // An unreadable mark still pauses: capturing what the user wanted
            // left out cannot be undone.
            Ok(None) => true,
            Err(e) => e.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Begins a pause, or changes when it ends.
    pub fn set_pause(&self, mark: &PauseEntry) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)?;
        let file = self.folder.join(mark.what.file_name(mark.stops));
        let written = replace_entry(&file, mark);
        if written.is_err() {
            let _ = fs::remove_dir(&self.folder);
        }
        written
    }

    /// Takes the name of a project out of its marks. The pauses go on: a user
    /// who deletes a memory does not ask for a new one.
    pub fn forget_name(&self, key: &str) -> io::Result<()> {
        let project = PauseScope::Project(key.to_owned());
        for stops in [PauseEffect::Everything, PauseEffect::Recall] {
            let file = self.folder.join(project.file_name(stops));
            let mark = match read_entry(&file) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            if let Some(mark) = mark {
                let what = PauseScope::Project(format!("{:016x}", stable_hash(key.as_bytes())));
                replace_entry(&file, &PauseEntry { what, ..mark })?;
            }
        }
        Ok(())
    }

    /// Ends a pause. Returns whether there was one.
    pub fn clear(&self, what: &PauseScope, stops: PauseEffect) -> io::Result<bool> {
        let there = match fs::remove_file(self.folder.join(what.file_name(stops))) {
            Ok(()) => true,
            Err(e) if e.kind() == io::ErrorKind::NotFound => false,
            Err(e) => return Err(e),
        };
        self.remove_empty_dir();
        Ok(there)
    }

    /// Every pause, the widest first. Those that are over are removed.
    pub fn list_pauses(&self, now: i64) -> io::Result<Vec<PauseEntry>> {
        let folder = match fs::read_dir(&self.folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut marks = Vec::new();
        for entry in folder {
            let file = entry?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(PARTIAL_SUFFIX) {
                continue;
            }
            let mark = match read_entry(&file) {
                Ok(mark) => mark.or_else(|| from_name(&name)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => None,
                Err(_) => from_name(&name),
            };
            match mark {
                Some(mark) if mark.is_over(now) => {
                    // Somebody else may have removed it just now.
                    let _ = fs::remove_file(&file);
                }
                Some(mark) => marks.push(mark),
                None => {}
            }
        }
        marks.sort_by(|a, b| (a.stops, &a.what).cmp(&(b.stops, &b.what)));
        if marks.is_empty() {
            self.remove_empty_dir();
        }
        Ok(marks)
    }

    /// The folder goes with the last mark: removing it fails as long as there
    /// is one.
    fn remove_empty_dir(&self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// What a damaged mark pauses, as far as its name shows.
fn from_name(name: &str) -> Option<PauseEntry> {
    let (stops, name) = match name.strip_prefix(RECALL_PREFIX) {
        Some(name) => (PauseEffect::Recall, name),
        None => (PauseEffect::Everything, name),
    };
    let what = if name == "all" {
        PauseScope::All
    } else if let Some(id) = name.strip_prefix("session-") {
        PauseScope::Session(id.to_owned())
    } else {
        PauseScope::Project(name.strip_prefix("project-")?.to_owned())
    };
    Some(PauseEntry {
        what,
        stops,
        // Its times were in the part that is damaged, so it holds until the
        // user ends it.
        since: 0,
        until: None,
    })
}

/// The mark in a file; `None` if it is not one.
fn read_entry(file: &Path) -> io::Result<Option<PauseEntry>> {
    match read_file(file, MAX_FILE_BYTES) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(ReadError::TooLarge { .. } | ReadError::Special) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Replaces the mark as a whole: half a mark would say nothing.
fn replace_entry(file: &Path, mark: &PauseEntry) -> io::Result<()> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(PARTIAL_SUFFIX);
    let bytes = serde_json::to_vec(mark)?;
    let options = ReplaceOptions {
        draft: DraftName::Overwrite(Path::new(&partial)),
        ..ReplaceOptions::private(Durability::None)
    };
    replace_file(file, &bytes, &options)
}

/// An id as part of a file's name. Ids come from a client: they may hold
/// slashes, or differ only in what a file system does not distinguish.
fn file_name_part(id: &str) -> String {
    let fits = id.len() <= MAX_PLAIN_ID_BYTES
        && id
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if fits {
        id.to_owned()
    } else {
        format!("_{:016x}", stable_hash(id.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
