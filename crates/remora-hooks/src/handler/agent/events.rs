//! The events of a verifier's own calls, as the client fires them.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::PoisonError;
use std::time::Instant;

use remora_core::model::{ModelError, ModelErrorKind, ModelToolCall};
use remora_core::{Event, EventName, Outcome, Permission};
use serde_json::{Map, Value, json};

use super::super::HandlerCall;
use crate::deliver::{Delivery, DeliveryPlace};
use crate::host::Host;
use crate::names::{VERDICT_TOOL, VERIFIER_PREFIX};
use crate::plan::SessionHandler;
use crate::run::{self, SessionHandlers};

/// Fires events in the name of one verifier.
pub(super) struct VerifierEvents<'a> {
    call: &'a HandlerCall<'a>,
    id: String,
    /// The session's host, without a model: what a verifier does is not verified.
    host: Host<'a>,
}

/// What hooks said before a call.
pub(super) struct BeforeCall {
    /// The verifier ends.
    pub(super) ends: bool,
    /// A hook refused the call.
    pub(super) denied: Option<String>,
    /// Whether hooks and rules together let it through.
    pub(super) is_allowed: bool,
    /// Why they do or do not.
    pub(super) why: String,
    /// The input to use instead.
    pub(super) updated_input: Option<Value>,
    /// Texts for the model.
    pub(super) notes: Vec<String>,
}

/// What hooks said after a call or a batch.
pub(super) struct AfterCall {
    /// The verifier ends.
    pub(super) ends: bool,
    /// Texts for the model.
    pub(super) notes: Vec<String>,
}

impl<'a> VerifierEvents<'a> {
    pub(super) fn new(call: &'a HandlerCall<'a>, deadline: Instant) -> Self {
        Self {
            call,
            id: format!("{VERIFIER_PREFIX}{}", random_uuid()),
            host: Host {
                deadline: Some(deadline),
                model: None,
                conversation: &[],
                ..call.host.clone()
            },
        }
    }

    pub(super) fn fire_before(&self, call: &ModelToolCall) -> BeforeCall {
        let HookTexts {
            outcome,
            refusal,
            notes,
        } = self.fire(
            EventName::PreToolUse,
            None,
            json!({
                "tool_name": call.name,
                "tool_input": call.input,
                "tool_use_id": call.id,
            }),
        );
        let is_allowed = outcome.final_decision == Some(Permission::Allow);
        BeforeCall {
            ends: !outcome.go_on,
            denied: outcome.blocked.then_some(refusal),
            // The verdict is no use of a tool that a rule could speak of.
            is_allowed: is_allowed || call.name == VERDICT_TOOL,
            why: outcome.final_why.unwrap_or_default(),
            updated_input: outcome.updated_input.map(Value::Object),
            notes,
        }
    }

    pub(super) fn fire_after(
        &self,
        call: &ModelToolCall,
        input: &Value,
        told: Result<Value, String>,
    ) -> AfterCall {
        let mut fields = json!({"tool_name": call.name, "tool_input": input});
        let name = match told {
            Ok(response) => {
                fields["tool_response"] = response;
                fields["tool_use_id"] = json!(call.id);
                EventName::PostToolUse
            }
            Err(error) => {
                fields["tool_use_id"] = json!(call.id);
                fields["error"] = json!(error);
                fields["is_interrupt"] = json!(false);
                EventName::PostToolUseFailure
            }
        };
        fields["duration_ms"] = json!(0);
        after_call(self.fire(name, None, fields))
    }

    pub(super) fn fire_batch(&self, calls: &[Value]) -> AfterCall {
        after_call(self.fire(
            EventName::PostToolBatch,
            None,
            json!({ "tool_calls": calls }),
        ))
    }

    /// A text in place of a verdict; what hooks say against stopping there.
    pub(super) fn fire_stop(&self, text: &str, is_repeated: bool) -> String {
        let mut fields = json!({ "stop_hook_active": is_repeated });
        if let Some(path) = self.transcript_path() {
            fields["agent_transcript_path"] = json!(path);
        }
        if !text.is_empty() {
            fields["last_assistant_message"] = json!(text);
        }
        fields["background_tasks"] = json!([]);
        fields["session_crons"] = json!([]);
        let said = self.fire(EventName::SubagentStop, Some(""), fields);
        said.notes.join("\n")
    }

    pub(super) fn fire_failure(&self, error: &ModelError) {
        let kind = match error.kind {
            ModelErrorKind::Auth => "authentication_failed",
            ModelErrorKind::RateLimited => "rate_limit",
            ModelErrorKind::Server => "server_error",
            _ => "unknown",
        };
        self.fire(
            EventName::StopFailure,
            None,
            json!({
                "error": kind,
                "last_assistant_message": format!("API Error: {}", error.message),
            }),
        );
    }

    /// Where the client would keep the verifier's conversation. There is no such
    /// file here; hooks find the field all the same.
    fn transcript_path(&self) -> Option<String> {
        let session = self.call.event.str_field("transcript_path")?;
        let folder = session.strip_suffix(".jsonl")?;
        Some(format!("{folder}/subagents/agent-{}.jsonl", self.id))
    }

    fn fire(&self, name: EventName, agent_type: Option<&str>, own: Value) -> HookTexts {
        let session = &self.call.event.fields;
        let mut fields = Map::new();
        let copy = |fields: &mut Map<String, Value>, key: &str| {
            if let Some(value) = session.get(key) {
                fields.insert(key.into(), value.clone());
            }
        };
        for key in ["session_id", "transcript_path", "cwd", "prompt_id"] {
            copy(&mut fields, key);
        }
        if name != EventName::StopFailure {
            fields.insert("permission_mode".into(), "dontAsk".into());
        }
        fields.insert("agent_id".into(), self.id.clone().into());
        if let Some(agent_type) = agent_type {
            fields.insert("agent_type".into(), agent_type.into());
        }
        copy(&mut fields, "effort");
        fields.insert("hook_event_name".into(), name.as_str().into());
        if let Value::Object(own) = own {
            fields.extend(own);
        }
        let event = Event { name, fields };
        // The hooks of skills and other agents are not for a verifier.
        let here: Vec<&SessionHandler> = (self.call.everywhere.iter().copied())
            .filter(|handler| handler.entry.event == name)
            .collect();
        let handlers = SessionHandlers {
            here: &here,
            everywhere: &[],
        };
        let run = run::run_event(self.call.engine, &event, &self.host, handlers);
        // As of a subagent: what these say later is for the session.
        let mut late = (self.call.of_verifiers.lock()).unwrap_or_else(PoisonError::into_inner);
        late.extend(run.background.into_iter().map(|handler| {
            let id = run.report.handlers[handler.handler].info.id.clone();
            (id, handler)
        }));
        drop(late);
        let (refused, notes) = (run.deliveries.into_iter())
            .partition::<Vec<_>, _>(|delivery| delivery.place == DeliveryPlace::ToolResult);
        let join = |list: Vec<Delivery>| list.into_iter().map(|delivery| delivery.text);
        HookTexts {
            outcome: run.report.outcome,
            refusal: join(refused).collect::<Vec<_>>().join("\n"),
            notes: join(notes).collect(),
        }
    }
}

/// What hooks said of an event, as the verifier's model reads it.
struct HookTexts {
    outcome: Outcome,
    /// In the place of a call's result.
    refusal: String,
    notes: Vec<String>,
}

fn after_call(said: HookTexts) -> AfterCall {
    AfterCall {
        ends: !said.outcome.go_on,
        notes: said.notes,
    }
}

/// Version 4 in form. It distinguishes verifiers of one session and guards nothing.
fn random_uuid() -> String {
    let half = || RandomState::new().hash_one(Instant::now());
    let (high, low) = (half(), half());
    let text = format!("{high:016x}{low:016x}");
    format!(
        "{}-{}-4{}-a{}-{}",
        &text[..8],
        &text[8..12],
        &text[13..16],
        &text[17..20],
        &text[20..]
    )
}
