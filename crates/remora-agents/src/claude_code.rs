//! Claude Code: the payloads that its hooks get, the answers that it takes, and
//! the events that Remora registers with it.

mod answer;
mod decode;
mod field_roles;
mod mcp;
mod prompt;

use std::path::PathBuf;

use remora_core::{EVENTS, Event, EventName};
use serde_json::{Map, Value};

use crate::repair_json::{TRUNCATION_MARK, repair_json};
use crate::spec::{
    AgentPaths, AgentSpec, DecodeError, DecodedEvent, EventRegistration, InstallScope, Truncation,
};

pub(crate) use field_roles::FIELD_ROLES;
pub use prompt::own_words;

/// Tools that only look at something.
pub(crate) const LOOK_TOOLS: &[&str] = &["Read", "Grep", "Glob", "LS"];

/// The agent.
pub(crate) const SPEC: AgentSpec = AgentSpec {
    name: "claude-code",
    aliases: &["claude"],
    config_variable: "CLAUDE_CONFIG_DIR",
    shell_variables: &["CLAUDECODE"],
    registered: &REGISTRATIONS,
    parse_payload,
    encode_response: answer::encode_response,
    read_header: decode::read_header,
    decode_event: decode::decode_event,
    settings_file,
    mcp: mcp::MCP_SPEC,
};

/// Each event costs the person a process, so it must give something for it.
/// These are not registered:
const SKIPPED_EVENTS: &[EventName] = &[
    // A hook there replaces git.
    EventName::WorktreeCreate,
    EventName::WorktreeRemove,
    // They repeat what `Stop` and `PostToolUse` say, and fire far more often.
    EventName::MessageDisplay,
    EventName::PostToolBatch,
    // `UserPromptSubmit` came just before it, with the person's own words.
    EventName::UserPromptExpansion,
    // The person or another agent waits, and nothing is learned.
    EventName::PreModelSwitch,
    EventName::PostModelSwitch,
    EventName::TeammateIdle,
    // Watches nothing without a list of names.
    EventName::FileChanged,
    // Nothing is kept of them.
    EventName::DirectoryAdded,
    EventName::Setup,
];

const REGISTRATIONS: [EventRegistration; EVENTS.len() - SKIPPED_EVENTS.len()] = {
    let mut rows = [registration_for(EventName::SessionStart); EVENTS.len() - SKIPPED_EVENTS.len()];
    let mut next = 0;
    let mut at = 0;
    while at < EVENTS.len() {
        if !is_left_out(EVENTS[at].name) {
            rows[next] = registration_for(EVENTS[at].name);
            next += 1;
        }
        at += 1;
    }
    rows
};

const fn is_left_out(event: EventName) -> bool {
    let mut at = 0;
    while at < SKIPPED_EVENTS.len() {
        if SKIPPED_EVENTS[at] as usize == event as usize {
            return true;
        }
        at += 1;
    }
    false
}

const fn registration_for(event: EventName) -> EventRegistration {
    EventRegistration {
        event,
        timeout: match event {
            // Brings the memory in; opening the store for the first time may
            // take longer.
            EventName::SessionStart => 10,
            // Also lifts the client's 1.5 s for the end of a session.
            _ => 5,
        },
        matcher: match event {
            // What is known of a file is told before it is read, and the task of
            // a subagent stands in the call alone; other tools need nothing.
            // `Task` is what older clients call the tool `Agent`.
            EventName::PreToolUse => Some("Read|Agent|Task"),
            _ => None,
        },
    }
}

fn settings_file(places: &AgentPaths, scope: InstallScope) -> PathBuf {
    let (folder, name) = match scope {
        InstallScope::User => (places.config_dir.clone(), "settings.json"),
        InstallScope::Project => (Some(places.root.join(".claude")), "settings.json"),
        InstallScope::Local => (Some(places.root.join(".claude")), "settings.local.json"),
    };
    folder
        .unwrap_or_else(|| places.home.join(".claude"))
        .join(name)
}

fn parse_payload(bytes: &[u8]) -> Result<DecodedEvent, DecodeError> {
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
    let name = match (fields.get("hook_event_name"), cut) {
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
    if !fields.contains_key("tool_response")
        && let Some(output) = fields.shift_remove("tool_output")
    {
        fields.insert("tool_response".to_owned(), output);
    }
    // What an editor says of itself is nobody's wish, and nothing to search for.
    if name == EventName::UserPromptSubmit
        && let Some(Value::String(prompt)) = fields.get_mut("prompt")
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

#[cfg(test)]
mod tests;
