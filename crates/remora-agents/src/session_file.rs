//! What an agent writes into the file of a session and does not send to hooks.

use std::path::Path;

use remora_core::Event;

use crate::transcript::TranscriptEvent;

/// How the file of a running session completes what hooks receive. Pure: the caller
/// reads the end of the file.
#[derive(Debug)]
pub struct SessionFileSpec {
    /// The file that may say more about an event; `None` where it does not.
    pub find_source: fn(&Event) -> Option<&Path>,
    /// Adds to an event what the end of the file says about it; returns whether that
    /// end holds all that the file says about it. If not, more of the file is asked.
    pub complete_event: fn(&mut Event, &[u8]) -> bool,
    /// What happened until an event and no hook received. The ids are always the
    /// same, so that storing it twice does no harm.
    pub list_unreported_events: fn(&Event, &[u8]) -> Vec<TranscriptEvent>,
}
