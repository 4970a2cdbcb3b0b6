//! What a session file of Codex holds and its hooks do not receive: the exit code
//! of a command and all that it printed, and that a patch or the call of a server
//! has failed.
//!
//! When a hook runs after a command, the file holds the command's item already;
//! when a turn ends, it holds the whole turn. Pure: the caller reads the file.

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
    list_unreported_calls,
};

/// The file that says more about this event. A name that the client would not use
/// is not followed: payloads come from outside.
fn find_source(event: &Event) -> Option<&Path> {
    let name = match event.name {
        EventName::PostToolUse if event.str_field(field::TOOL_NAME) == Some(tool::SHELL) => {
            field::TRANSCRIPT
        }
        EventName::Stop => field::TRANSCRIPT,
        EventName::SubagentStop => field::AGENT_TRANSCRIPT,
        _ => return None,
    };
    let path = Path::new(event.str_field(name)?);
    (path.is_absolute() && is_session_file(path)).then_some(path)
}

/// Gives a finished command its exit code: one that failed becomes the event that
/// other clients send for it. Returns whether the lines held the command.
fn complete_event(event: &mut Event, lines: &[u8]) -> bool {
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

/// The failed calls of the turn that this event ends, which no hook received. Those
/// of earlier turns may be among them; their ids are the same each time.
fn list_unreported_calls(event: &Event, lines: &[u8]) -> Vec<TranscriptEvent> {
    let mut calls = Vec::new();
    if event.name == EventName::PostToolUse {
        return calls;
    }
    let mut reader = RolloutReader::follow_event(event);
    let turn = event.str_field(field::TURN).unwrap_or_default();
    let of_turn = lines
        .split_inclusive(|byte| *byte == b'\n')
        // The client is still writing a line that is not whole.
        .filter(|line| line.ends_with(b"\n"))
        .skip_while(|line| !turn.is_empty() && !holds_bytes(line, turn.as_bytes()));
    for line in of_turn {
        // One unreadable line does not make the others worthless.
        let _ = reader.read_line(line.trim_ascii(), &mut |call| {
            let is_shell = call.event.str_field(field::TOOL_NAME) == Some(tool::SHELL);
            if call.event.name == EventName::PostToolUseFailure && !is_shell {
                calls.push(call);
            }
        });
    }
    calls
}

fn holds_bytes(line: &[u8], wanted: &[u8]) -> bool {
    line.windows(wanted.len().max(1)).any(|part| part == wanted)
}

#[cfg(test)]
mod tests;
