//! Dead letters: events that could not be understood, kept with the reason,
//! redacted like everything else, until a person looks or a newer version
//! tries again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use remora_client::Paths;
use remora_protocol::request::{ENVELOPE, Envelope};
use serde::{Deserialize, Serialize};

use crate::{ServerError, at};

/// An event that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The event's id, or the name of its file.
    pub id: String,
    /// The agent that sent it, if that much was readable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it was captured, in milliseconds since 1970.
    pub at: i64,
    /// Why it is here.
    pub reason: String,
    /// What the client sent, redacted.
    pub payload: String,
}

/// Writes a dead letter; the event leaves the spool only after that.
pub(crate) fn bury(paths: &Paths, letter: &DeadLetter) -> io::Result<()> {
    let folder = paths.dead();
    let name: String = letter
        .id
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(100)
        .collect();
    let partial = folder.join(format!("{name}.tmp"));
    write_private(&partial, &serde_json::to_vec_pretty(letter)?)?;
    fs::rename(partial, folder.join(format!("{name}.json")))
}

/// All dead letters, oldest first, with their files.
pub fn dead_letters(paths: &Paths) -> Result<Vec<(PathBuf, DeadLetter)>, ServerError> {
    let folder = paths.dead();
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(at(&folder))?,
    };
    let mut letters = Vec::new();
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        if path.extension().is_none_or(|ext| ext != "json") {
            continue;
        }
        let bytes = fs::read(&path).map_err(at(&path))?;
        if let Ok(letter) = serde_json::from_slice(&bytes) {
            letters.push((path, letter));
        }
    }
    letters.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(letters)
}

/// Puts every dead letter back into the spool, and returns how many.
pub fn retry(paths: &Paths) -> Result<usize, ServerError> {
    let letters = dead_letters(paths)?;
    for (file, letter) in &letters {
        let envelope = Envelope {
            v: ENVELOPE,
            id: letter.id.clone(),
            agent: letter.agent.clone().unwrap_or_default(),
            at: letter.at,
            len: letter.payload.len() as u64,
            cut: false,
            project: None,
            branch: None,
        };
        let name = file.file_stem().unwrap_or_default().to_owned();
        let partial = paths.spool().join(&name).with_extension("tmp");
        let mut bytes = serde_json::to_vec(&envelope).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(letter.payload.as_bytes());
        write_private(&partial, &bytes)
            .and_then(|()| fs::rename(&partial, partial.with_extension("json")))
            .map_err(at(&partial))?;
        fs::remove_file(file).map_err(at(file))?;
    }
    Ok(letters.len())
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    io::Write::write_all(&mut file, bytes)?;
    file.sync_data()
}
