//! Pauses as responses show them.

use remora_client::{DataPaths, Pause, PauseEffect, PauseEntry, PauseScope};
use remora_core::time::format_rfc3339;
use serde::Serialize;

/// A pause.
#[derive(Debug, Serialize)]
pub struct PauseView {
    scope: &'static str,
    key: Option<String>,
    stops: PauseEffect,
    since: String,
    until: Option<String>,
}

impl From<&PauseEntry> for PauseView {
    fn from(entry: &PauseEntry) -> Self {
        let (scope, key) = match &entry.what {
            PauseScope::All => ("all", None),
            PauseScope::Project(key) => ("project", Some(key.clone())),
            PauseScope::Session(id) => ("session", Some(id.clone())),
        };
        Self {
            scope,
            key,
            stops: entry.stops,
            since: format_rfc3339(entry.since),
            until: entry.until.map(format_rfc3339),
        }
    }
}

/// What is paused now. What cannot be read is not named.
pub(crate) fn list_pauses(paths: &DataPaths, now: i64) -> Vec<PauseEntry> {
    let pauses = Pause::for_data_dir(paths).list_pauses(now);
    pauses.unwrap_or_default()
}
