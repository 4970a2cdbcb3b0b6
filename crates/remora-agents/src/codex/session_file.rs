//! What a session file of Codex holds and its hooks do not receive: the exit code
//! of a command and all that it printed, the summary of a compaction, that a patch
//! or the call of a server has failed, what was searched on the web, and that a
//! turn broke off.
//!
//! When a hook runs after a command, the file holds the command's item already;
//! when a turn ends, it holds the whole turn. A turn that broke off has no such
//! hook: the next prompt, or the end of the session, reads it. Pure: the caller
//! reads the file.

use std::path::Path;

use remora_core::{Event, EventName};
use serde_json::Value;

use super::sender::is_session_file;
use super::transcript::{RolloutReader, finish_item};
use super::wire::{field, tool};
use crate::session_file::SessionFileSpec;
use crate::transcript::{ReadTranscript, TranscriptEvent};

/// How the file is read.
pub(super) const SESSION_FILE_SPEC: SessionFileSpec = SessionFileSpec {
    find_source,
    complete_event,
    list_unreported_events,
};

/// What a line says that begins a turn.
const TURN_START: &str = "task_started";
/// What a line says that ends a turn.
const TURN_END: &str = "task_complete";

/// The file that says more about this event. A name that the client would not use
/// is not followed: payloads come from outside.
fn find_source(event: &Event) -> Option<&Path> {
    let name = match event.name {
        EventName::PostToolUse if event.str_field(field::TOOL_NAME) == Some(tool::SHELL) => {
            field::TRANSCRIPT
        }
        EventName::UserPromptSubmit
        | EventName::PostCompact
        | EventName::Stop
        | EventName::SessionEnd => field::TRANSCRIPT,
        EventName::SubagentStop => field::AGENT_TRANSCRIPT,
        _ => return None,
    };
    let path = Path::new(event.str_field(name)?);
    (path.is_absolute() && is_session_file(path)).then_some(path)
}

/// Adds what the lines say about the event. Returns whether they hold all that the
/// file says about it.
fn complete_event(event: &mut Event, lines: &[u8]) -> bool {
    match event.name {
        EventName::PostToolUse => complete_command(event, lines),
        EventName::PostCompact => complete_compaction(event, lines),
        _ => reaches_last_report(event, lines),
    }
}

/// Gives a finished command its exit code: one that failed becomes the event that
/// other clients send for it.
fn complete_command(event: &mut Event, lines: &[u8]) -> bool {
    let Some(id) = event.str_field(field::CALL) else {
        return false;
    };
    let lines = lines.rsplit(|byte| *byte == b'\n');
    let outcome = lines
        .filter(|line| holds_bytes(line, id.as_bytes()))
        .find_map(|line| find_command_outcome(line, id));
    match outcome {
        None => return false,
        Some(Ok(output)) => complete_output(event, output),
        Some(Err(error)) => {
            event.name = EventName::PostToolUseFailure;
            let name = event.name.as_str();
            event.fields.insert(field::EVENT_NAME.into(), name.into());
            event.fields.remove(field::TOOL_RESPONSE);
            event.fields.insert(field::ERROR.into(), error.into());
        }
    }
    true
}

/// Gives a compaction its summary: that of the last one in its turn. It comes after
/// the fields that the hook received, as in an import, which is recognised by that.
fn complete_compaction(event: &mut Event, lines: &[u8]) -> bool {
    let turn = event.str_field(field::TURN);
    let mut summary = None;
    for read in read_events(event, lines) {
        if read.event.name == EventName::PostCompact && read.event.str_field(field::TURN) == turn {
            summary = read.event.fields.get(field::SUMMARY).cloned();
        }
    }
    let is_found = summary.is_some();
    if let Some(summary) = summary {
        event.fields.insert(field::SUMMARY.into(), summary);
    }
    is_found
}

/// Whether the lines reach back to the end of a turn before this event's: at that
/// end a hook was called, and all that lies before it was read then.
fn reaches_last_report(event: &Event, lines: &[u8]) -> bool {
    let turn = event.str_field(field::TURN).unwrap_or_default();
    let before = whole_lines(lines)
        .take_while(|line| turn.is_empty() || !holds_bytes(line, turn.as_bytes()));
    let mut ends = before.filter(|line| holds_bytes(line, TURN_END.as_bytes()));
    ends.any(|line| {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        let payload = &line["payload"];
        payload["type"] == TURN_END && payload.get("error").is_none_or(Value::is_null)
    })
}

/// A command that was waited for several times sends its hook only what it printed
/// last.
fn complete_output(event: &mut Event, output: String) {
    let sent = event.str_field(field::TOOL_RESPONSE).unwrap_or_default();
    if output.len() > sent.len() && output.ends_with(sent) {
        let name = field::TOOL_RESPONSE.to_owned();
        event.fields.insert(name, output.into());
    }
}

/// What the command with this id printed, or its failure, if the line is its item.
fn find_command_outcome(line: &[u8], id: &str) -> Option<Result<String, String>> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let item = line.pointer("/payload/item")?;
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    if text("type") != Some("CommandExecution") || text("id") != Some(id) {
        return None;
    }
    match finish_item(item, None, "")?.outcome {
        Ok(Some(Value::String(output))) => Some(Ok(output)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    }
}

/// What happened until this event and no hook received: in its turn, and in those
/// before it that broke off. What earlier turns reported may be among it; its ids
/// are the same each time.
fn list_unreported_events(event: &Event, lines: &[u8]) -> Vec<TranscriptEvent> {
    if matches!(event.name, EventName::PostToolUse | EventName::PostCompact) {
        return Vec::new();
    }
    let mut events = read_events(event, lines);
    events.retain(|read| is_unreported(&read.event));
    events
}

/// Whether hooks do not report such an event, or less of it than the file.
fn is_unreported(event: &Event) -> bool {
    let tool = event.str_field(field::TOOL_NAME);
    match event.name {
        // Hooks call a command that failed a success; the file corrects that one.
        EventName::PostToolUseFailure => tool != Some(tool::SHELL),
        EventName::PostToolUse => tool == Some(tool::WEB_SEARCH),
        // The hook of a compaction may be one that the user has not trusted yet.
        name => matches!(name, EventName::StopFailure | EventName::PostCompact),
    }
}

/// All events of these lines until the event, as an import would read them: of a
/// prompt what is before its turn, else its turn too.
fn read_events(event: &Event, lines: &[u8]) -> Vec<TranscriptEvent> {
    let turn = event.str_field(field::TURN).unwrap_or_default();
    let is_of_turn = |line: &[u8], mark: &str| {
        holds_bytes(line, mark.as_bytes()) && holds_bytes(line, turn.as_bytes())
    };
    let mut reader = RolloutReader::follow_event(event);
    // Otherwise the lines begin within the turn.
    if turn.is_empty() || whole_lines(lines).any(|line| is_of_turn(line, TURN_START)) {
        reader.leave_turn();
    }
    let mut events = Vec::new();
    for line in whole_lines(lines) {
        // An event may be read late, when the file has gone on.
        if event.name == EventName::UserPromptSubmit && is_of_turn(line, TURN_START) {
            break;
        }
        // One unreadable line does not make the others worthless.
        let _ = reader.read_line(line.trim_ascii(), &mut |event| events.push(event));
        if !turn.is_empty() && is_of_turn(line, TURN_END) {
            break;
        }
    }
    events
}

/// The lines without one that the client is still writing.
fn whole_lines(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = lines.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| line.ends_with(b"\n"))
}

fn holds_bytes(line: &[u8], wanted: &[u8]) -> bool {
    line.windows(wanted.len().max(1)).any(|part| part == wanted)
}

#[cfg(test)]
mod tests;
