//! An event that cannot be stored becomes a dead letter, redacted like any other.

use std::fs;
use std::path::Path;

use remora_agents::field_roles;
use remora_client::SpooledEvent;
use remora_core::request::Envelope;
use remora_redact::RedactionCounts;
use remora_redact::private;
use serde_json::Value;

use super::{BatchStats, MAX_EVENT_FILE_BYTES, SpoolIngest, delete_file};
use crate::dead::{DeadLetter, store_dead_letter};
use crate::guard::name_of;
use crate::ingest::redact_envelope;
use crate::panics::catch_panic;
use crate::{ServerError, io_error_at};

impl SpoolIngest {
    /// Keeps what cannot be stored as a dead letter. What cannot even be redacted stays in the
    /// spool, for a later version of this program.
    pub(super) fn give_up(
        &mut self,
        file: &Path,
        spooled: Option<SpooledEvent>,
        reason: &str,
        now: i64,
        stats: &mut BatchStats,
    ) -> Result<(), ServerError> {
        let reason = self
            .redactor
            .redact_text(reason, &mut RedactionCounts::default());
        let letter = match catch_panic(|| self.build_dead_letter(file, spooled, &reason, now)) {
            Ok(letter) => letter,
            Err(panicked) => {
                let name = name_of(file);
                let line = format!("event file {name}: {reason}; not redacted ({panicked}), kept");
                self.log.write_line(now, &line);
                self.postponed.push(name);
                return Ok(());
            }
        };
        store_dead_letter(&self.paths, &letter)
            .map_err(io_error_at(&self.paths.dead_letter_dir()))?;
        delete_file(file)?;
        let line = format!("event {}: dead letter, {reason}", letter.id);
        self.log.write_line(now, &line);
        stats.removed += 1;
        stats.dead += 1;
        Ok(())
    }

    fn build_dead_letter(
        &self,
        file: &Path,
        spooled: Option<SpooledEvent>,
        reason: &str,
        now: i64,
    ) -> DeadLetter {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let (mut envelope, payload): (Option<Envelope>, Vec<u8>) = match spooled {
            Some(spooled) => (Some(spooled.envelope), spooled.payload),
            None => (None, read_regular_file(file)),
        };
        if let Some(envelope) = &mut envelope {
            redact_envelope(&self.redactor, envelope, &mut RedactionCounts::default());
        }
        DeadLetter {
            id: envelope
                .as_ref()
                .map_or_else(|| stem.into_owned(), |e| e.id.clone()),
            agent: envelope.as_ref().map(|e| e.agent.clone()),
            at: envelope.as_ref().map_or(now, |e| e.at),
            reason: reason.to_owned(),
            payload: self.redact_payload(envelope.as_ref().map_or("", |e| &e.agent), &payload),
            envelope,
        }
    }

    /// As an event is redacted, if it is one: a passage that is never closed
    /// must not take the closing brackets with it.
    fn redact_payload(&self, agent: &str, payload: &[u8]) -> String {
        let mut marks = RedactionCounts::default();
        if let Ok(mut value @ Value::Object(_)) = serde_json::from_slice(payload) {
            private::strip_value(&mut value);
            let roles = field_roles(agent);
            self.redactor.redact_json(&mut value, roles, &mut marks);
            return value.to_string();
        }
        let text = String::from_utf8_lossy(payload);
        let text = private::strip_private(&text);
        let text = private::strip_injected(&text);
        self.redactor.redact_text(&text, &mut marks).into_owned()
    }
}

/// What can be kept of a file that is no event.
fn read_regular_file(file: &Path) -> Vec<u8> {
    let small =
        fs::symlink_metadata(file).is_ok_and(|m| m.is_file() && m.len() <= MAX_EVENT_FILE_BYTES);
    if small {
        fs::read(file).unwrap_or_default()
    } else {
        Vec::new()
    }
}
