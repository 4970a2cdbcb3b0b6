//! What Codex wrote to our stdin, as JSON that can be spooled.

use crate::event_json::parse_event;
use crate::spec::{DecodeError, DecodedEvent};

/// Reads a payload. Nothing has to be removed from it or renamed.
pub(super) fn parse_payload(bytes: &[u8]) -> Result<DecodedEvent, DecodeError> {
    parse_event(bytes)
}
