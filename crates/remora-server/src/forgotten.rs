//! The ledger of deletions: what kind, when and how many, and hashes of the ids
//! that went, so that no rebuild, import or late hook brings them back. It holds
//! no content, and outlives the database.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};

use remora_agents::read_origin;
use remora_client::DataPaths;
use remora_core::hash::stable_hash;
use remora_core::record::{FileRecord, Item, LoggedEvent, Override, Session};
use remora_memory::CapturedEvent;
use serde::{Deserialize, Serialize};

use crate::archive::ArchivedEvent;
use crate::{ServerError, io_error_at};

/// A hook and a transcript report the same event within this time, in milliseconds.
const ECHO_WINDOW_MS: i64 = 10_000;

/// One deletion, as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionReceipt {
    /// Its name.
    pub receipt: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What was asked for: `item`, `session`, `project` or `matching`.
    pub what: String,
    /// Items that went.
    pub items: u64,
    /// Events that went, from the ledger and the archive.
    pub events: u64,
    /// Hashes of names that must not come back.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Hashes of session and event name, with the time, of events without an id
    /// that a transcript shares.
    #[serde(default, rename = "moments")]
    pub timed_events: Vec<(String, i64)>,
    /// Hashes of sessions and projects of which everything up to `at` went.
    #[serde(default)]
    pub whole: Vec<String>,
}

fn hash_parts(kind: &str, parts: &[&str]) -> String {
    let text = format!("{kind}\0{}", parts.join("\0"));
    format!("{:016x}", stable_hash(text.as_bytes()))
}

impl DeletionReceipt {
    /// Notes an event by its id alone.
    pub(crate) fn note_id(&mut self, id: &str) {
        self.keys.push(hash_parts("event", &[id]));
    }

    /// Notes an event of the ledger by every name that another teller of it
    /// would use.
    pub(crate) fn note_event(&mut self, row: &LoggedEvent) {
        let Some(call) = &row.call else {
            let hash = hash_parts("moment", &[&row.session, &row.name]);
            self.timed_events.push((hash, row.time));
            return;
        };
        self.keys.push(hash_parts("call", &[call]));
        // Session, event, prompt and a print of the words.
        let parts: Vec<&str> = call.split(' ').collect();
        if let [session, name, prompt, _] = parts[..] {
            self.keys
                .push(hash_parts("prompt", &[session, name, prompt]));
        }
    }

    /// Notes an item that an export may hold though its event stays.
    pub(crate) fn note_item(&mut self, uid: &str) {
        self.keys.push(hash_parts("item", &[uid]));
    }

    /// Notes what was known of a file.
    pub(crate) fn note_file(&mut self, project: &str, folder: &str, name: &str) {
        self.keys.push(hash_parts("file", &[project, folder, name]));
    }

    /// Notes that a session lost its title.
    pub(crate) fn note_title(&mut self, session: &str) {
        self.keys.push(hash_parts("title", &[session]));
    }

    /// Notes that everything of a session went.
    pub(crate) fn note_session(&mut self, id: &str) {
        self.whole.push(hash_parts("session", &[id]));
    }

    /// Notes that everything of a project went.
    pub(crate) fn note_project(&mut self, key: &str) {
        self.whole.push(hash_parts("project", &[key]));
    }
}

/// All deletions of a data directory, ready to be asked about events.
#[derive(Debug, Clone, Default)]
pub struct DeletionLog {
    receipts: Vec<DeletionReceipt>,
    keys: HashSet<String>,
}

impl DeletionLog {
    /// Reads the ledger.
    pub fn load(paths: &DataPaths) -> Result<Self, ServerError> {
        let file = paths.deletion_log_file();
        let text = match fs::read_to_string(&file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            other => other.map_err(io_error_at(&file))?,
        };
        // A line that was cut short was never acted on.
        let lines = text.lines();
        let receipts: Vec<DeletionReceipt> = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let keys = receipts.iter().flat_map(|one| one.keys.iter().cloned());
        Ok(Self {
            keys: keys.collect(),
            receipts,
        })
    }

    /// The deletions, oldest first.
    pub fn receipts(&self) -> &[DeletionReceipt] {
        &self.receipts
    }

    /// Writes a deletion down, once, and waits for the disk.
    pub(crate) fn append(paths: &DataPaths, receipt: &DeletionReceipt) -> Result<(), ServerError> {
        let known = Self::load(paths)?;
        if known
            .receipts
            .iter()
            .any(|one| one.receipt == receipt.receipt)
        {
            return Ok(());
        }
        let file = paths.deletion_log_file();
        let write = || -> io::Result<()> {
            // A cut line before it must not swallow this one.
            let mut line = b"\n".to_vec();
            serde_json::to_writer(&mut line, receipt)?;
            line.push(b'\n');
            let mut options = OpenOptions::new();
            options.append(true).create(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut open = options.open(&file)?;
            open.write_all(&line)?;
            open.sync_all()
        };
        write().map_err(io_error_at(&file))
    }

    /// Whether this event was deleted, whatever reports it now.
    pub fn contains_event(&self, event: &CapturedEvent) -> bool {
        if self.receipts.is_empty() {
            return false;
        }
        let session = event.session();
        let name = event.event.name.as_str();
        let prompt = event.event.turn.as_deref().unwrap_or_default();
        self.contains_parts("event", &[&event.envelope.id])
            || event
                .call
                .as_deref()
                .is_some_and(|call| self.contains_parts("call", &[call]))
            || !prompt.is_empty() && self.contains_parts("prompt", &[session, name, prompt])
            || self.is_near(session, name, event.envelope.at)
            || self.is_within(session, event.project(), event.envelope.at)
    }

    /// Whether the event that made this item was deleted, or all of its session
    /// or project.
    pub fn covers_item(&self, item: &Item) -> bool {
        let event = item.uid.split_once('/').map_or(&*item.uid, |(id, _)| id);
        self.contains_parts("event", &[event])
            || self.contains_parts("item", &[&item.uid])
            || self.is_within(&item.session, &item.project, item.time)
    }

    /// Whether the item that a user said this of was deleted.
    pub fn covers_override(&self, said: &Override) -> bool {
        let event = said.uid.split_once('/').map_or(&*said.uid, |(id, _)| id);
        let times = [
            said.pinned,
            said.rejected.as_ref().map(|rejection| rejection.time),
            said.edit.as_ref().map(|edit| edit.time),
        ];
        let time = times.into_iter().flatten().max().unwrap_or_default();
        self.contains_parts("event", &[event])
            || self.contains_parts("item", &[&said.uid])
            || self.is_within("", &said.project, time)
    }

    /// Whether this archived event was deleted.
    pub fn covers_archived(&self, archived: &ArchivedEvent) -> bool {
        let origin = read_origin(&archived.event);
        let session = origin.session.unwrap_or_default();
        let project = archived.envelope.project.as_ref();
        let project = project.map_or(origin.cwd, |p| &p.key);
        self.contains_parts("event", &[&archived.envelope.id])
            || self.is_within(session, project, archived.envelope.at)
    }

    /// Whether what is known of this file was deleted; what was learned of it
    /// later counts.
    pub fn covers_file(&self, file: &FileRecord) -> bool {
        let key = hash_parts("file", &[&file.project, &file.folder, &file.name]);
        let mut receipts = self.receipts.iter().filter(|one| file.time <= one.at);
        receipts.any(|one| one.keys.contains(&key))
            || self.is_within(&file.session, &file.project, file.time)
    }

    /// Whether the title of this session was deleted.
    pub fn covers_title(&self, session: &str) -> bool {
        self.contains_parts("title", &[session])
    }

    /// Whether this entry of the event log was deleted.
    pub fn covers_event(&self, row: &LoggedEvent) -> bool {
        self.contains_parts("event", &[&row.id]) || self.is_within(&row.session, "", row.time)
    }

    /// Whether all of this session was deleted.
    pub fn covers_session(&self, session: &Session) -> bool {
        self.is_within(&session.id, &session.project, session.last)
    }

    fn contains_parts(&self, kind: &str, parts: &[&str]) -> bool {
        self.keys.contains(&hash_parts(kind, parts))
    }

    fn is_near(&self, session: &str, name: &str, time: i64) -> bool {
        let key = hash_parts("moment", &[session, name]);
        let mut events = self.receipts.iter().flat_map(|one| &one.timed_events);
        events.any(|(known, then)| *known == key && (then - time).abs() < ECHO_WINDOW_MS)
    }

    fn is_within(&self, session: &str, project: &str, time: i64) -> bool {
        let mut wholes = self.receipts.iter().filter(|one| time <= one.at);
        wholes.any(|one| {
            !one.whole.is_empty()
                && (one.whole.contains(&hash_parts("session", &[session]))
                    || one.whole.contains(&hash_parts("project", &[project])))
        })
    }
}
