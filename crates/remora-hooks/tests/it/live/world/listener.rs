//! Hears what verifiers fire in their own name: the host's callback on their events.

use std::sync::Arc;

use remora_hooks::{CallbackCall, CallbackHandler, Callbacks};
use serde_json::Value;

use super::super::model::Seen;
use super::Dispatch;
use super::titles::title_of;

/// What verifiers fire.
pub(super) const VERIFIER_EVENTS: [&str; 6] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStop",
    "StopFailure",
];

pub(super) fn listen_to(event: &str) -> CallbackHandler {
    CallbackHandler {
        id: format!("listener of {event}"),
        event: event.to_owned(),
        matcher: None,
        timeout_seconds: None,
        failure_blocks: false,
    }
}

pub(super) struct Listener(pub(super) Arc<Seen>);

impl Callbacks for Listener {
    fn call(&self, call: CallbackCall) -> Result<Option<Value>, String> {
        let event = call.event;
        let agent = event.str_field("agent_id").unwrap_or_default();
        if agent.starts_with("hook-agent-") {
            let id = event.str_field("tool_use_id").unwrap_or_default();
            if event.name.as_str().starts_with("PostToolUse") {
                let mut ended = self.0.ended.lock().unwrap();
                ended.insert(id.to_owned(), event.name.as_str());
            }
            self.0.dispatches.lock().unwrap().push(Dispatch {
                event: event.name,
                title: title_of(&event),
                ran: Vec::new(),
                requests: self.0.copy_requests(),
                of_verifier: Some(Value::Object(event.fields)),
            });
        }
        Ok(None)
    }
}
