//! The shapes of messages: which fields they have, and the schema of each. One
//! table that requests are checked with and the published schema is made of.

use remora_core::EVENTS;
use remora_hooks::{HandlerKind, PermissionMode};
use serde_json::{Value, json};

/// One field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// Whether it may be absent.
    pub(crate) is_optional: bool,
    /// The JSON schema of its value.
    pub(crate) schema: fn() -> Value,
}

/// A field that is always there.
pub(crate) const fn needed(name: &'static str, schema: fn() -> Value) -> Field {
    Field {
        name,
        is_optional: false,
        schema,
    }
}

/// A field that may be absent.
pub(crate) const fn optional(name: &'static str, schema: fn() -> Value) -> Field {
    Field {
        name,
        is_optional: true,
        schema,
    }
}

/// A message that the server sends by itself.
pub(crate) struct Notification {
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) doc: &'static str,
    pub(crate) params: &'static [Field],
}

/// Every notification.
pub(crate) const NOTIFICATIONS: &[Notification] = &[
    Notification {
        name: "handler_started",
        doc: "A handler begins. Only with `observe_handlers`.",
        params: &[
            needed("session", text),
            needed("request", request_id),
            needed("event", event_name),
            needed("handler", text),
            needed("type", handler_kind),
            needed("label", text),
        ],
    },
    Notification {
        name: "handler_progress",
        doc: "A command says something while it runs. Only with `observe_handlers`.",
        params: &[
            needed("session", text),
            needed("request", request_id),
            needed("event", event_name),
            needed("handler", text),
            needed("stdout", text),
            needed("stderr", text),
        ],
    },
    Notification {
        name: "handler_finished",
        doc: "A handler ended, or goes on in the background. Only with `observe_handlers`.",
        params: &[
            needed("session", text),
            needed("request", request_id),
            needed("event", event_name),
            needed("handler", text),
            needed("status", handler_status),
            needed("why", text),
            needed("exit_code", optional_integer),
            needed("duration_ms", integer),
        ],
    },
    Notification {
        name: "background_ended",
        doc: "A handler in the background ended.",
        params: &[
            needed("session", text),
            needed("handler", text),
            needed("event", event_name),
            needed("late", late_answer),
        ],
    },
    Notification {
        name: "wake_up",
        doc: "Begin a turn, and fire `UserPromptSubmit` with the prompt.",
        params: &[
            needed("session", text),
            needed("text", text),
            needed("prompt", text),
        ],
    },
    Notification {
        name: "changed",
        doc: "A file changed: fire the event. Only with `watch`.",
        params: &[needed("session", text), needed("event", event)],
    },
];

/// What the server asks the host: to run a callback.
pub(crate) const CALLBACK_PARAMS: &[Field] = &[
    needed("session", text),
    needed("callback", text),
    needed("event", event),
    needed("timeout_ms", integer),
];

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn texts() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

pub(crate) fn flag() -> Value {
    json!({ "type": "boolean" })
}

pub(crate) fn integer() -> Value {
    json!({ "type": "integer" })
}

fn optional_integer() -> Value {
    json!({ "type": ["integer", "null"] })
}

pub(crate) fn seconds() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0 })
}

pub(crate) fn object() -> Value {
    json!({ "type": "object" })
}

pub(crate) fn anything() -> Value {
    json!({})
}

fn request_id() -> Value {
    json!({
        "type": ["string", "integer", "null"],
        "description": "The id of the `fire`",
    })
}

/// An event on its way to the engine, which fills in what it knows better.
pub(crate) fn event() -> Value {
    json!({
        "type": "object",
        "properties": { "hook_event_name": event_name() },
        "required": ["hook_event_name"],
    })
}

pub(crate) fn events() -> Value {
    json!({ "type": "array", "items": event() })
}

pub(crate) fn event_name() -> Value {
    let names: Vec<&str> = EVENTS.iter().map(|event| event.text).collect();
    json!({ "enum": names })
}

pub(crate) fn event_names() -> Value {
    json!({ "type": "array", "items": event_name() })
}

fn handler_kind() -> Value {
    json!({ "enum": HandlerKind::NAMES })
}

fn handler_status() -> Value {
    json!({ "enum": [
        "ok", "blocked", "error", "timeout", "background", "cancelled", "skipped",
    ] })
}

pub(crate) fn permission_mode() -> Value {
    let names = PermissionMode::WIRE_NAMES.map(|(name, _)| name);
    json!({ "enum": names })
}

pub(crate) fn attendance() -> Value {
    json!({ "enum": ["unattended", "streaming", "interactive"] })
}

pub(crate) fn engine_mode() -> Value {
    json!({ "enum": ["full", "bare", "safe"] })
}

pub(crate) fn setting_sources() -> Value {
    json!({ "type": "array", "items": { "enum": ["user", "project", "local"] } })
}

pub(crate) fn file_or_object() -> Value {
    json!({ "type": ["string", "object"] })
}

pub(crate) fn files_or_objects() -> Value {
    json!({ "type": "array", "items": file_or_object() })
}

pub(crate) fn environment() -> Value {
    json!({
        "type": "object",
        "additionalProperties": { "type": ["string", "null"] },
    })
}

pub(crate) fn conversation() -> Value {
    json!({ "type": "array", "items": {
        "type": "object",
        "properties": {
            "role": { "enum": ["user", "assistant"] },
            "text": { "type": "string" },
        },
        "required": ["role", "text"],
        "additionalProperties": false,
    }})
}

pub(crate) fn report() -> Value {
    json!({ "$ref": "report.json" })
}

pub(crate) fn handlers() -> Value {
    json!({ "$ref": "explanation.json#/properties/handlers" })
}

pub(crate) fn query() -> Value {
    json!({ "type": ["string", "null"] })
}

pub(crate) fn deliveries() -> Value {
    json!({ "type": "array", "items": {
        "type": "object",
        "properties": {
            "agent": { "type": ["string", "null"] },
            "place": { "anyOf": [
                { "enum": ["aside", "tool_result", "user_message"] },
                {
                    "type": "object",
                    "properties": { "notification": {
                        "type": "object",
                        "properties": { "prompt": { "type": "string" } },
                        "required": ["prompt"],
                        "additionalProperties": false,
                    }},
                    "required": ["notification"],
                    "additionalProperties": false,
                },
            ]},
            "text": { "type": "string" },
        },
        "required": ["agent", "place", "text"],
        "additionalProperties": false,
    }})
}

pub(crate) fn stop_decision() -> Value {
    json!({ "anyOf": [
        { "enum": ["ends", "continues", null] },
        {
            "type": "object",
            "properties": { "overridden": {
                "type": "object",
                "properties": { "blocks": { "type": "integer" } },
                "required": ["blocks"],
                "additionalProperties": false,
            }},
            "required": ["overridden"],
            "additionalProperties": false,
        },
    ]})
}

pub(crate) fn reload_result() -> Value {
    json!({ "anyOf": [
        { "enum": ["accepted", "refused", null] },
        {
            "type": "object",
            "properties": { "failed": { "type": "string" } },
            "required": ["failed"],
            "additionalProperties": false,
        },
    ]})
}

pub(crate) fn request_point() -> Value {
    json!({ "enum": ["next_prompt", "next_request"] })
}

pub(crate) fn phase() -> Value {
    json!({ "enum": ["idle", "waking", "busy"] })
}

pub(crate) fn running_handlers() -> Value {
    json!({ "type": "array", "items": {
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "event": event_name(),
            "pid": { "type": "integer" },
            "wakes": { "type": "boolean" },
        },
        "required": ["id", "event", "pid", "wakes"],
        "additionalProperties": false,
    }})
}

pub(crate) fn change_kind() -> Value {
    json!({ "enum": ["change", "add", "unlink"] })
}

/// Where a skill or an agent was found.
pub(crate) fn origin() -> Value {
    json!({ "anyOf": [
        { "enum": ["project", "user", "session"] },
        {
            "type": "object",
            "properties": { "plugin": {
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "root": { "type": "string" },
                    "data": { "type": "string" },
                },
                "required": ["name", "root", "data"],
            }},
            "required": ["plugin"],
            "additionalProperties": false,
        },
    ]})
}

fn late_answer() -> Value {
    let wake = json!({
        "type": ["object", "null"],
        "properties": { "text": { "type": "string" }, "prompt": { "type": "string" } },
        "required": ["text", "prompt"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "status": handler_status(),
            "why": { "type": "string" },
            "exit_code": { "type": ["integer", "null"] },
            "duration_ms": { "type": "integer" },
            "stdout": { "type": "string" },
            "stderr": { "type": "string" },
            "answer": { "type": ["object", "null"] },
            "context": texts(),
            "wake": wake,
        },
        "required": [
            "status", "why", "exit_code", "duration_ms", "stdout", "stderr", "answer", "context",
            "wake",
        ],
        "additionalProperties": false,
    })
}
