//! What the client's events say, in our own words. Any JSON is accepted: what is of
//! another type than the client's is as good as missing, because an archived
//! event must always decode. Nothing is shortened here and nothing made good:
//! an archived event was normalised when it came in.

mod agents;
mod call;
mod edit;
mod files;
mod label;
mod outcome;
mod raw_call;
mod text;
mod web;

use remora_core::agent_event::{
    AgentEvent, EventHeader, EventKind, Prompt, PromptOrigin, StartSource, Subagent, WatchedChange,
};
use remora_core::ids::{AgentId, SessionId, Timestamp, TurnId};
use remora_core::{Event, EventName};
use serde_json::Value;

use self::raw_call::RawCall;

/// Fields of a tool's input that name the file it is about.
const INPUT_PATH_FIELDS: &[&str] = &["file_path", "notebook_path", "path"];
/// How the client announces that a background task is done.
const TASK_NOTIFICATION_TAG: &str = "<task-notification>";

pub(super) fn read_header(event: &Event) -> EventHeader<'_> {
    let input = event.fields.get("tool_input");
    let of_input = |field: &&str| input?.get(*field)?.as_str();
    EventHeader {
        name: event.name,
        session: event.str_field("session_id"),
        cwd: event.str_field("cwd").unwrap_or_default(),
        turn: event.str_field("prompt_id"),
        call: event.str_field("tool_use_id"),
        subagent: event.str_field("agent_id"),
        paths: INPUT_PATH_FIELDS
            .iter()
            .filter_map(of_input)
            // Events about files name them at the top level; all of them decide
            // what is ignored and how texts are redacted.
            .chain(event.str_field("file_path"))
            .collect(),
    }
}

pub(super) fn decode_event(event: &Event, agent: AgentId, at: Timestamp) -> AgentEvent {
    AgentEvent {
        agent,
        session: SessionId::from(
            non_empty_field(event, "session_id").unwrap_or(SessionId::UNKNOWN),
        ),
        at,
        cwd: owned_field(event, "cwd"),
        turn: non_empty_field(event, "prompt_id").map(TurnId::from),
        subagent: decode_subagent(event),
        name: event.name,
        label: label::decode_label(event),
        kind: decode_kind(event),
    }
}

fn decode_subagent(event: &Event) -> Option<Subagent> {
    let id = owned_field(event, "agent_id");
    let kind = non_empty_field(event, "agent_type").map(str::to_owned);
    (!id.is_empty() || kind.is_some()).then_some(Subagent { id, kind })
}

fn decode_kind(event: &Event) -> EventKind {
    let last_message = || owned_field(event, "last_assistant_message");
    match event.name {
        EventName::SessionStart => EventKind::SessionStarted(decode_source(event)),
        EventName::SessionEnd => EventKind::SessionEnded {
            reason: owned_field(event, "reason"),
        },
        EventName::UserPromptSubmit => EventKind::PromptSubmitted(decode_prompt(event)),
        EventName::PreToolUse | EventName::PermissionRequest | EventName::PermissionDenied => {
            EventKind::ToolAnnounced(call::decode_tool_use(event, &RawCall::from_event(event)))
        }
        EventName::PostToolUse | EventName::PostToolUseFailure => {
            let raw = RawCall::from_event(event);
            let tool_use = call::decode_tool_use(event, &raw);
            let outcome = outcome::decode_outcome(&raw, &tool_use.call);
            EventKind::ToolFinished(tool_use, outcome)
        }
        EventName::Stop => EventKind::TurnEnded {
            last_message: last_message(),
            continued: event.fields.get("stop_hook_active") == Some(&Value::Bool(true)),
        },
        EventName::StopFailure => EventKind::TurnFailed {
            error: owned_field(event, "error"),
            last_message: last_message(),
        },
        EventName::SubagentStart => EventKind::SubagentStarted,
        EventName::SubagentStop => EventKind::SubagentEnded {
            last_message: last_message(),
        },
        EventName::PreCompact => EventKind::CompactionStarting {
            trigger: owned_field(event, "trigger"),
        },
        EventName::PostCompact => EventKind::CompactionFinished {
            summary: owned_field(event, "compact_summary"),
        },
        EventName::FileChanged => EventKind::FileChanged {
            path: owned_field(event, "file_path"),
            change: match event.str_field("event") {
                Some("add") => WatchedChange::Added,
                Some("unlink") => WatchedChange::Removed,
                _ => WatchedChange::Changed,
            },
        },
        _ => EventKind::Other,
    }
}

fn decode_source(event: &Event) -> StartSource {
    match event.str_field("source") {
        Some("startup") => StartSource::Startup,
        Some("resume") => StartSource::Resumed,
        Some("fork") => StartSource::Forked,
        Some("clear") => StartSource::Cleared,
        Some("compact") => StartSource::Compacted,
        _ => StartSource::Other,
    }
}

fn decode_prompt(event: &Event) -> Prompt {
    let text = owned_field(event, "prompt");
    let origin = if text.trim_start().starts_with(TASK_NOTIFICATION_TAG) {
        // The client submits such notices as prompts; they are not the user's
        // word.
        PromptOrigin::Client
    } else {
        PromptOrigin::User
    };
    Prompt { text, origin }
}

/// A text field; empty when it is missing or something else.
fn owned_field(event: &Event, field: &str) -> String {
    event.str_field(field).unwrap_or_default().to_owned()
}

/// A text field that says something.
fn non_empty_field<'a>(event: &'a Event, field: &str) -> Option<&'a str> {
    event.str_field(field).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
