//! What Codex's events say, in our own words. Any JSON is accepted: what is of
//! another type than the client's is as good as missing, because an archived
//! event must always decode.
//!
//! Events that were read from a session file have the same form, and two fields
//! that hooks lack: the error of a failed call and the text of a summary.

mod call;
mod outcome;

use remora_core::agent_event::{
    AgentEvent, EventHeader, EventKind, EventLabel, LabelPart, Prompt, PromptOrigin, StartSource,
    Subagent,
};
use remora_core::ids::{AgentId, SessionId, Timestamp, TurnId};
use remora_core::{Event, EventName};
use serde_json::Value;

use super::patch::list_patch_paths;
use super::wire::field;

/// Fields of a tool's input that name the file it is about.
const INPUT_PATH_FIELDS: &[&str] = &["file_path", "path"];

/// What is needed of an event before redaction. All files of a patch are
/// listed, also within a command.
pub(super) fn read_header(event: &Event) -> EventHeader<'_> {
    let input = |name: &str| event.fields.get(field::TOOL_INPUT)?.get(name)?.as_str();
    let mut paths = list_patch_paths(input(field::COMMAND).unwrap_or_default());
    paths.extend(INPUT_PATH_FIELDS.iter().filter_map(|name| input(name)));
    EventHeader {
        name: event.name,
        session: event.str_field(field::SESSION),
        cwd: event.str_field(field::CWD).unwrap_or_default(),
        turn: event.str_field(field::TURN),
        call: event.str_field(field::CALL),
        subagent: event.str_field(field::AGENT_ID),
        paths,
    }
}

/// What an event says.
pub(super) fn decode_event(event: &Event, agent: AgentId, at: Timestamp) -> AgentEvent {
    let session = non_empty_field(event, field::SESSION).unwrap_or(SessionId::UNKNOWN);
    AgentEvent {
        agent,
        session: SessionId::from(session),
        at,
        cwd: owned_field(event, field::CWD),
        turn: non_empty_field(event, field::TURN).map(TurnId::from),
        subagent: decode_subagent(event),
        name: event.name,
        label: decode_label(event),
        kind: decode_kind(event),
    }
}

fn decode_subagent(event: &Event) -> Option<Subagent> {
    let id = owned_field(event, field::AGENT_ID);
    let kind = non_empty_field(event, field::AGENT_TYPE).map(str::to_owned);
    (!id.is_empty() || kind.is_some()).then_some(Subagent { id, kind })
}

fn decode_kind(event: &Event) -> EventKind {
    let last_message = || owned_field(event, field::LAST_MESSAGE);
    match event.name {
        EventName::SessionStart => EventKind::SessionStarted(decode_source(event)),
        EventName::SessionEnd => EventKind::SessionEnded {
            reason: owned_field(event, field::REASON),
        },
        EventName::UserPromptSubmit => EventKind::PromptSubmitted(Prompt {
            text: owned_field(event, field::PROMPT),
            // The task of a subagent comes as a prompt to it.
            origin: match non_empty_field(event, field::AGENT_ID) {
                Some(_) => PromptOrigin::SubagentTask,
                None => PromptOrigin::User,
            },
        }),
        EventName::PreToolUse | EventName::PermissionRequest | EventName::PermissionDenied => {
            EventKind::ToolAnnounced(call::decode_tool_use(event))
        }
        EventName::PostToolUse | EventName::PostToolUseFailure => {
            let tool_use = call::decode_tool_use(event);
            let outcome = outcome::decode_outcome(event, &tool_use.call);
            EventKind::ToolFinished(tool_use, outcome)
        }
        EventName::Stop => EventKind::TurnEnded {
            last_message: last_message(),
            continued: event.fields.get(field::STOP_HOOK_ACTIVE) == Some(&Value::Bool(true)),
        },
        EventName::StopFailure => EventKind::TurnFailed {
            error: owned_field(event, field::ERROR),
            last_message: last_message(),
        },
        EventName::SubagentStart => EventKind::SubagentStarted,
        EventName::SubagentStop => EventKind::SubagentEnded {
            last_message: last_message(),
        },
        EventName::PreCompact => EventKind::CompactionStarting {
            trigger: owned_field(event, field::TRIGGER),
        },
        EventName::PostCompact => EventKind::CompactionFinished {
            summary: owned_field(event, field::SUMMARY),
        },
        _ => EventKind::Other,
    }
}

fn decode_source(event: &Event) -> StartSource {
    match event.str_field(field::SOURCE) {
        Some("startup") => StartSource::Startup,
        Some("resume") => StartSource::Resumed,
        Some("fork") => StartSource::Forked,
        Some("clear") => StartSource::Cleared,
        Some("compact") => StartSource::Compacted,
        _ => StartSource::Other,
    }
}

fn decode_label(event: &Event) -> EventLabel {
    let call_and = |name: &str| {
        EventLabel::Parts(vec![
            LabelPart::Call,
            LabelPart::Text(owned_field(event, name)),
        ])
    };
    match event.name {
        EventName::PreToolUse | EventName::PostToolUse | EventName::PermissionRequest => {
            EventLabel::Parts(vec![LabelPart::Call])
        }
        EventName::PostToolUseFailure => call_and(field::ERROR),
        EventName::PermissionDenied => call_and(field::REASON),
        _ => {
            let fields = [
                field::ERROR,
                field::REASON,
                field::AGENT_TYPE,
                field::SOURCE,
                field::TRIGGER,
            ];
            let text = fields.iter().find_map(|name| non_empty_field(event, name));
            EventLabel::Line(text.unwrap_or_default().to_owned())
        }
    }
}

/// A text field; empty when it is missing or something else.
fn owned_field(event: &Event, name: &str) -> String {
    event.str_field(name).unwrap_or_default().to_owned()
}

/// A text field that says something.
fn non_empty_field<'a>(event: &'a Event, name: &str) -> Option<&'a str> {
    event.str_field(name).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
