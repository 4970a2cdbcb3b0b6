//! What Claude Code wrote to our stdin, as JSON that can be spooled: made good
//! where it was cut, and without what must not be kept.

use remora_core::{Event, EventName};
use serde_json::{Map, Value};

use super::prompt::own_words;
use super::wire::field;
use crate::repair_json::{TRUNCATION_MARK, repair_json};
use crate::spec::{DecodeError, DecodedEvent, Truncation};

pub(super) fn parse_payload(bytes: &[u8]) -> Result<DecodedEvent, DecodeError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if text.trim().is_empty() {
        return Err(DecodeError::Empty);
    }
    let (value, cut) = parse_json(&text)?;
    let fields = match value {
        Value::Object(fields) => fields,
        other => return Err(DecodeError::NotAnObject(json_type_name(&other))),
    };
    Ok(DecodedEvent {
        event: build_event(fields, cut)?,
        cut,
    })
}

fn parse_json(text: &str) -> Result<(Value, Truncation), DecodeError> {
    let first = match serde_json::from_str(text) {
        Ok(value) => return Ok((value, Truncation::Whole)),
        Err(error) => error,
    };
    // Only an object can be made good: any other beginning says nothing.
    if text.trim_start().starts_with('{') {
        let (mended, cut) = repair_json(text);
        if let Ok(value) = serde_json::from_str(&mended) {
            return Ok((value, cut));
        }
    }
    Err(DecodeError::Json {
        line: first.line(),
        column: first.column(),
    })
}

fn build_event(mut fields: Map<String, Value>, cut: Truncation) -> Result<Event, DecodeError> {
    let name = match (fields.get(field::EVENT_NAME), cut) {
        (Some(Value::String(text)), _) => match (EventName::parse(text), cut) {
            (Some(name), _) => name,
            (None, Truncation::Cut) if text.ends_with(TRUNCATION_MARK) => {
                return Err(DecodeError::CutBeforeName);
            }
            (None, _) => return Err(DecodeError::UnknownName(quotable_name(text))),
        },
        (Some(_), _) => return Err(DecodeError::NameNotAString),
        (None, Truncation::Cut) => return Err(DecodeError::CutBeforeName),
        (None, Truncation::Whole) => return Err(DecodeError::NoName),
    };
    // Written so by some clients.
    if !fields.contains_key(field::TOOL_RESPONSE)
        && let Some(output) = fields.shift_remove(field::TOOL_OUTPUT)
    {
        fields.insert(field::TOOL_RESPONSE.to_owned(), output);
    }
    // What an editor says of itself is nobody's wish, and nothing to search for.
    if name == EventName::UserPromptSubmit
        && let Some(Value::String(prompt)) = fields.get_mut(field::PROMPT)
    {
        let before = prompt.len() - own_words(prompt).len();
        prompt.drain(..before);
    }
    // What a person types into a form may be a password, and nothing needs it.
    if name == EventName::ElicitationResult {
        fields.shift_remove("content");
    }
    Ok(Event { name, fields })
}

fn quotable_name(name: &str) -> Option<String> {
    let plain = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_alphabetic());
    plain.then(|| name.to_owned())
}

fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
