//! Dead letters: events that could not be decoded or stored, kept with the
//! reason, redacted like everything else, until a user looks or a newer version
//! tries again.

use std::io::{self, Read as _};
use std::path::PathBuf;

use remora_client::{DataPaths, Folder, is_event_name, new_event_id, remove_file};
use remora_core::ids::AgentId;
use remora_core::request::{ENVELOPE_VERSION, Envelope};
use serde::{Deserialize, Serialize};

use crate::{ServerError, io_error_at};

/// An event that could not be decoded or stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The event's id, or the name of its file.
    pub id: String,
    /// The agent that sent it, if that much was readable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// When it was captured, in milliseconds since 1970.
    pub at: i64,
    /// Its envelope, redacted: project and branch, so that a later attempt stores
    /// it where it belongs. Letters of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<Envelope>,
    /// Why it could not be stored.
    pub reason: String,
    /// What the client sent, redacted.
    pub payload: String,
}

/// Writes a dead letter; the event leaves the spool only after that.
pub(crate) fn store_dead_letter(paths: &DataPaths, letter: &DeadLetter) -> io::Result<()> {
    // The id comes from the event and may be anything, also a path.
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
    Folder::open(paths.dead_letter_dir())?.replace_file(
        format!("{name}.tmp").as_ref(),
        format!("{name}.json").as_ref(),
        &serde_json::to_vec_pretty(letter)?,
    )
}

/// All dead letters, oldest first, with their files.
pub fn dead_letters(paths: &DataPaths) -> Result<Vec<(PathBuf, DeadLetter)>, ServerError> {
    let folder = match Folder::open(paths.dead_letter_dir()) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(io_error_at(&paths.dead_letter_dir()))?,
    };
    let names = folder.list_files().map_err(io_error_at(folder.path()))?;
    let mut letters = Vec::new();
    for name in names {
        let path = folder.path().join(&name);
        if path.extension().is_none_or(|ext| ext != "json") {
            continue;
        }
        let mut bytes = Vec::new();
        folder
            .open_file(&name)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(io_error_at(&path))?;
        // One that cannot be read is left alone; it must not hide the others.
        if let Ok(letter) = serde_json::from_slice(&bytes) {
            letters.push((path, letter));
        }
    }
    letters.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(letters)
}

/// Puts every dead letter back into the spool, and returns how many.
pub fn retry_dead_letters(paths: &DataPaths) -> Result<usize, ServerError> {
    let letters = dead_letters(paths)?;
    let spool = Folder::open(paths.spool_dir()).map_err(io_error_at(&paths.spool_dir()))?;
    for (file, letter) in &letters {
        let envelope = letter.envelope.clone().unwrap_or_else(|| Envelope {
            v: ENVELOPE_VERSION,
            id: letter.id.clone(),
            agent: letter.agent.clone().unwrap_or_default(),
            at: letter.at,
            len: 0,
            cut: false,
            project: None,
            branch: None,
        });
        // Redaction has changed the length of the payload.
        let envelope = Envelope {
            len: letter.payload.len() as u64,
            ..envelope
        };
        // The worker ignores spool files whose name is no event id.
        let stem = match file.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) if is_event_name(format!("{stem}.json").as_ref()) => stem.to_owned(),
            _ => new_event_id(letter.at),
        };
        let mut bytes = serde_json::to_vec(&envelope).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(letter.payload.as_bytes());
        let (partial, whole) = (format!("{stem}.tmp"), format!("{stem}.json"));
        spool
            .replace_file(partial.as_ref(), whole.as_ref(), &bytes)
            .map_err(io_error_at(&spool.path().join(whole)))?;
        remove_file(file).map_err(io_error_at(file))?;
    }
    Ok(letters.len())
}
