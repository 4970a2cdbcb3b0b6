//! Payloads of hooks in the form that several clients share: one JSON object
//! whose `hook_event_name` says which event it is.

use remora_core::{Event, EventName, json_type_name};
use serde_json::{Map, Value};

use crate::repair_json::{TRUNCATION_MARK, repair_json};
use crate::spec::{DecodeError, DecodedEvent, Truncation};

/// The field that names the event.
pub(crate) const EVENT_NAME_FIELD: &str = "hook_event_name";

/// Reads a payload, made good where it was cut. Nothing else is changed.
pub(crate) fn parse_event(bytes: &[u8]) -> Result<DecodedEvent, DecodeError> {
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
    let name = read_event_name(&fields, cut)?;
    let event = Event { name, fields };
    Ok(DecodedEvent { event, cut })
}

fn parse_json(text: &str) -> Result<(Value, Truncation), DecodeError> {
    let first = match serde_json::from_str(text) {
        Ok(value) => return Ok((value, Truncation::Whole)),
        Err(error) => error,
    };
    // Only an object can be made good: any other beginning says nothing.
    if text.trim_start().starts_with('{') {
        let (repaired, cut) = repair_json(text);
        if let Ok(value) = serde_json::from_str(&repaired) {
            return Ok((value, cut));
        }
    }
    Err(DecodeError::Json {
        line: first.line(),
        column: first.column(),
    })
}

fn read_event_name(fields: &Map<String, Value>, cut: Truncation) -> Result<EventName, DecodeError> {
    match (fields.get(EVENT_NAME_FIELD), cut) {
        (Some(Value::String(text)), _) => match (EventName::parse(text), cut) {
            (Some(name), _) => Ok(name),
            (None, Truncation::Cut) if text.ends_with(TRUNCATION_MARK) => {
                Err(DecodeError::CutBeforeName)
            }
            (None, _) => Err(DecodeError::UnknownName(quotable_name(text))),
        },
        (Some(_), _) => Err(DecodeError::NameNotAString),
        (None, Truncation::Cut) => Err(DecodeError::CutBeforeName),
        (None, Truncation::Whole) => Err(DecodeError::NoName),
    }
}

fn quotable_name(name: &str) -> Option<String> {
    let plain = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_alphabetic());
    plain.then(|| name.to_owned())
}
