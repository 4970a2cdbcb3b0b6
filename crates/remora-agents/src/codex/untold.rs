//! What hooks are not told of a turn: that a patch or the call of a server has
//! failed, of which they hear nothing, and with what code a command ended, which
//! is missing from what they hear.
//!
//! When a turn ends its whole work stands in the session file, so the lines
//! since the end of the last turn tell it. Pure: the caller reads the file.

use remora_core::{Event, EventName};

use super::transcript::RolloutReader;
use super::wire::{field, tool};
use crate::transcript::{ReadTranscript, TranscriptEvent};

/// The path of the file that tells of the turn which this event ends; `None`
/// for other events, and for sessions that are not kept.
pub fn find_untold_source(event: &Event) -> Option<&str> {
    let name = match event.name {
        EventName::Stop => field::TRANSCRIPT,
        EventName::SubagentStop => field::AGENT_TRANSCRIPT,
        _ => return None,
    };
    event.str_field(name).filter(|path| !path.is_empty())
}

/// A failed call that hooks did not tell of, or not so.
#[derive(Debug, Clone, PartialEq)]
pub struct UntoldCall {
    /// The failure, in the form of hooks, with a name that is always the same.
    pub told: TranscriptEvent,
    /// A hook has told of the call as if it had succeeded.
    pub was_told: bool,
}

/// The failed calls in lines of a session file that follow those of earlier
/// turns. `event` is what ended the turn. A last line that is not whole is left
/// out; with the calls comes the number of bytes that were read.
pub fn list_untold_calls(event: &Event, lines: &[u8]) -> (Vec<UntoldCall>, usize) {
    let mut reader = RolloutReader::following(event);
    let mut calls = Vec::new();
    let mut read = 0;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        read += line.len();
        // A line that cannot be read tells nothing; the others still do.
        let _ = reader.read_line(line.trim_ascii(), &mut |told| {
            if told.event.name == EventName::PostToolUseFailure {
                let was_told = told.event.str_field(field::TOOL_NAME) == Some(tool::SHELL);
                calls.push(UntoldCall { told, was_told });
            }
        });
    }
    (calls, read)
}

#[cfg(test)]
mod tests;
