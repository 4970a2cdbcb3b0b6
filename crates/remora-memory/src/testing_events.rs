//! Events for tests as a client sends them: decoded by the adapter, as the server
//! does it.

use remora_core::agent_event::{AgentEvent, EventKind};
use remora_core::request::Envelope;
use remora_core::tool_call::{ToolOutcome, ToolUse};
use remora_core::{Event, EventName};
use serde_json::{Map, Value};

use crate::capture::{CaptureDecision, CapturedEvent, call_key};

/// The event of this payload, captured in this envelope.
pub(crate) fn capture_event(envelope: Envelope, raw: Event) -> CapturedEvent {
    CapturedEvent {
        call: call_key(&remora_agents::read_header(&envelope.agent, &raw), &raw),
        event: remora_agents::decode_event(&envelope.agent, &raw, envelope.at.into()),
        envelope,
        raw,
        worth: CaptureDecision::Keep,
        raw_tokens: 0,
    }
}

/// A finished call of a tool, and how it ended.
pub(crate) fn decode_call(
    tool: &str,
    input: &Value,
    response: Option<&Value>,
    error: Option<&str>,
) -> (ToolUse, ToolOutcome) {
    let mut fields = Map::new();
    fields.insert("tool_name".into(), tool.into());
    fields.insert("tool_input".into(), input.clone());
    if let Some(response) = response {
        fields.insert("tool_response".into(), response.clone());
    }
    if let Some(error) = error {
        fields.insert("error".into(), error.into());
    }
    let name = match error {
        None => EventName::PostToolUse,
        Some(_) => EventName::PostToolUseFailure,
    };
    let raw = Event { name, fields };
    let AgentEvent { kind, .. } = remora_agents::decode_event("agent", &raw, 0.into());
    match kind {
        EventKind::ToolFinished(tool, outcome) => (tool, outcome),
        other => panic!("no call but {other:?}"),
    }
}
