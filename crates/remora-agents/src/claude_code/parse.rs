//! What Claude Code wrote to our stdin, as JSON: repaired where it was cut, and
//! without what must not be kept.

use remora_core::{Event, EventName};
use serde_json::Value;

use super::prompt::own_words;
use super::wire::field;
use crate::event_json::parse_event;
use crate::spec::{DecodeError, DecodedEvent};

pub(super) fn parse_payload(bytes: &[u8]) -> Result<DecodedEvent, DecodeError> {
    let mut decoded = parse_event(bytes)?;
    normalize_event(&mut decoded.event);
    Ok(decoded)
}

fn normalize_event(event: &mut Event) {
    let fields = &mut event.fields;
    // Written so by some clients.
    if !fields.contains_key(field::TOOL_RESPONSE)
        && let Some(output) = fields.shift_remove(field::TOOL_OUTPUT)
    {
        fields.insert(field::TOOL_RESPONSE.to_owned(), output);
    }
    // What an editor inserts is not the user's word, and nothing to search for.
    if event.name == EventName::UserPromptSubmit
        && let Some(Value::String(prompt)) = fields.get_mut(field::PROMPT)
    {
        let before = prompt.len() - own_words(prompt).len();
        prompt.drain(..before);
    }
    // What a user types into a form may be a password, and nothing needs it.
    if event.name == EventName::ElicitationResult {
        fields.shift_remove("content");
    }
}
