//! An event as it was captured, and the name of the call it tells of.

use std::borrow::Cow;

use remora_core::hash::stable_hash;
use remora_core::request::Envelope;
use remora_core::{Event, EventName};
use serde_json::Value;

use crate::store::EventKey;

/// Whether anything of an event may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaptureDecision {
    /// It may.
    #[default]
    Keep,
    /// The person has excluded the file it is about.
    Ignored,
}

/// One captured event, already redacted.
#[derive(Debug, Clone)]
pub struct CapturedEvent {
    /// How it was captured.
    pub envelope: Envelope,
    /// What the client sent.
    pub event: Event,
    /// The call it tells of; see [`call_key`].
    pub call: Option<String>,
    /// Whether anything of it may be kept.
    pub worth: CaptureDecision,
    /// Estimated tokens of the payload as it came.
    pub raw_tokens: u32,
}

impl CapturedEvent {
    /// What names it in the ledger.
    pub fn key(&self) -> EventKey<'_> {
        EventKey {
            id: &self.envelope.id,
            call: self.call.as_deref(),
        }
    }

    /// A text field, empty when it is missing or something else.
    pub(crate) fn text_field(&self, field: &str) -> &str {
        self.event
            .fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// A text field that says something.
    pub(crate) fn non_empty_field(&self, field: &str) -> Option<String> {
        let text = self.text_field(field);
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(crate) fn json_field(&self, field: &str) -> Option<&Value> {
        self.event.fields.get(field)
    }

    /// The session; events of a client that names none share one.
    pub fn session(&self) -> Cow<'_, str> {
        match self.text_field("session_id") {
            "" => "unknown".into(),
            id => id.into(),
        }
    }

    /// The project's key.
    pub fn project(&self) -> &str {
        match &self.envelope.project {
            Some(project) => &project.key,
            None => self.text_field("cwd"),
        }
    }

    /// The root of the project, as text.
    pub fn root(&self) -> &str {
        match &self.envelope.project {
            Some(project) => &project.root,
            None => self.text_field("cwd"),
        }
    }
}

/// The same call told twice, by two installations for example, has the same
/// key. Computed before redaction; it holds no text of the event.
pub fn call_key(event: &Event) -> Option<String> {
    let text = |field: &str| event.fields.get(field).and_then(Value::as_str);
    let session = text("session_id")?;
    if let Some(id) = text("tool_use_id") {
        // A call succeeds or fails; before it there may be an announcement.
        let name = match event.name {
            EventName::PostToolUseFailure => EventName::PostToolUse,
            other => other,
        };
        return Some(format!("{session} {} {id}", name.as_str()));
    }
    // The same may be asked and told again within a prompt.
    if matches!(
        event.name,
        EventName::PermissionRequest | EventName::Notification
    ) {
        return None;
    }
    let prompt = text("prompt_id")?;
    let fields = serde_json::to_vec(&event.fields).ok()?;
    let print = stable_hash(&fields);
    Some(format!(
        "{session} {} {prompt} {print:016x}",
        event.name.as_str()
    ))
}
