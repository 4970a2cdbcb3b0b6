//! JSON schemas of what hooks read and write: generated from the table of events
//! and committed in `docs/schemas`, so that editors and other engines can use
//! them without this program.

mod answer;
mod settings;

use remora_core::{EVENTS, EventDef, Subject};
use remora_hooks::{HandlerKind, LayerSource};
use serde_json::{Map, Value, json};

use crate::cases;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schemas by name.
pub const SCHEMA_NAMES: [&str; 6] = [
    "event",
    "answer",
    "settings",
    "cases",
    "report",
    "explanation",
];

/// The schema of that name.
pub fn build_schema(name: &str) -> Option<Value> {
    let (title, mut schema) = match name {
        "event" => ("What a hook reads on stdin", event_schema()),
        "answer" => ("What a hook may print", answer::answer_schema()),
        "settings" => ("Hooks in a settings file", settings::settings_schema()),
        "cases" => ("Test cases of hooks", cases_schema()),
        "report" => ("The result of `remora hooks run --json`", report_schema()),
        "explanation" => (
            "The result of `remora hooks explain --json`",
            explanation_schema(),
        ),
        _ => return None,
    };
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), DIALECT.into());
    whole.insert("title".to_owned(), title.into());
    whole.extend(schema.as_object_mut().map(std::mem::take)?);
    Some(Value::Object(whole))
}

/// A schema for each event, told apart by the name.
fn event_schema() -> Value {
    let events: Vec<Value> = EVENTS.iter().map(one_event_schema).collect();
    json!({ "oneOf": events })
}

fn one_event_schema(event: &EventDef) -> Value {
    let mut properties = Map::new();
    let mut put = |key: &str, schema: Value| properties.insert(key.to_owned(), schema);
    put("session_id", text("The session"));
    put(
        "transcript_path",
        text("The transcript, which may lag behind"),
    );
    put("cwd", text("The current directory; follows `cd`"));
    put("hook_event_name", json!({ "const": event.text }));
    put("prompt_id", text("The prompt, from the first one on"));
    put("permission_mode", text("The permission mode"));
    put("agent_id", text("Inside a subagent: its id"));
    put("agent_type", text("Inside a subagent: its kind"));
    let sample: Map<String, Value> = serde_json::from_str(event.sample).unwrap_or_default();
    for (key, value) in &sample {
        put(key, schema_of_sample(value));
    }
    let mut required = vec!["session_id", "transcript_path", "cwd", "hook_event_name"];
    if let Subject::Field(field) | Subject::FileName(field) = event.subject {
        required.push(field);
    }
    json!({
        "title": event.text,
        "description": event.doc.trim(),
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// The type of a sample. Inputs and answers of tools are the tool's own, and
/// `null` stands for what may be missing.
fn schema_of_sample(value: &Value) -> Value {
    match value {
        Value::String(_) => json!({ "type": "string" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(_) => json!({ "type": "number" }),
        Value::Array(_) => json!({ "type": "array" }),
        Value::Object(_) | Value::Null => json!({}),
    }
}

/// A file of test cases.
fn cases_schema() -> Value {
    let mut properties = Map::new();
    properties.insert("name".to_owned(), json!({ "type": "string" }));
    let names: Vec<&str> = EVENTS.iter().map(|event| event.text).collect();
    properties.insert(
        "event".to_owned(),
        json!({ "anyOf": [{ "enum": names }, { "type": "object" }] }),
    );
    for key in cases::EVENT_KEYS {
        let schema = match *key {
            "tool_response" => json!({}),
            "tool_input" => json!({ "type": "object" }),
            "stop_hook_active" => json!({ "type": "boolean" }),
            _ => json!({ "type": "string" }),
        };
        properties.insert((*key).to_owned(), schema);
    }
    for key in ["fields", "env"] {
        properties.insert(key.to_owned(), json!({ "type": "object" }));
    }
    let texts = json!({ "type": ["string", "array", "null"], "items": { "type": "string" } });
    let mut expect = Map::new();
    for key in cases::EXPECT_KEYS {
        let schema = match *key {
            "blocked" | "allowed" | "stopped" | "failed" => json!({ "type": "boolean" }),
            "permission" | "final" => json!({ "enum": cases::PERMISSIONS }),
            "ran" => json!({ "type": ["integer", "string", "array"] }),
            "not_ran" => json!({ "type": ["string", "array"] }),
            "updated_input" => json!({ "type": ["object", "null"] }),
            "env" | "files" | "outcome" => json!({ "type": "object" }),
            _ => texts.clone(),
        };
        expect.insert((*key).to_owned(), schema);
    }
    properties.insert(
        "expect".to_owned(),
        json!({ "type": "object", "properties": expect, "additionalProperties": false, "minProperties": 1 }),
    );
    let case = json!({
        "type": "object",
        "properties": properties,
        "required": ["name", "event", "expect"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "$schema": { "type": "string" },
            "cases": { "type": "array", "minItems": 1, "items": case },
        },
        "required": ["cases"],
        "additionalProperties": false,
    })
}

/// What is known of a handler in every report.
fn handler_properties() -> Map<String, Value> {
    let optional = json!({ "type": ["string", "null"] });
    let properties = json!({
        "id": text("Stable: layer, event and position"),
        "source": { "enum": LayerSource::ALL.map(LayerSource::as_str) },
        "file": optional,
        "plugin": optional,
        "matcher": optional,
        "if": optional,
        "type": { "enum": HandlerKind::NAMES },
        "label": text("The status message, else what the handler does"),
        "timeout": { "type": "number", "description": "In seconds" },
    });
    properties.as_object().cloned().unwrap_or_default()
}

fn object_of(properties: &Map<String, Value>, optional: &[&str]) -> Value {
    let required: Vec<String> = properties
        .keys()
        .filter(|key| !optional.contains(&key.as_str()))
        .cloned()
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn with_event(handlers: &Value, more: Value) -> Value {
    let mut properties = Map::new();
    let names: Vec<&str> = EVENTS.iter().map(|event| event.text).collect();
    properties.insert("event".to_owned(), json!({ "enum": names }));
    properties.insert("query".to_owned(), json!({ "type": ["string", "null"] }));
    properties.insert(
        "warnings".to_owned(),
        json!({ "type": "array", "items": { "type": "string" } }),
    );
    properties.insert(
        "handlers".to_owned(),
        json!({ "type": "array", "items": handlers }),
    );
    if let Value::Object(more) = more {
        properties.extend(more);
    }
    object_of(&properties, &[])
}

fn report_schema() -> Value {
    let mut handler = handler_properties();
    handler.extend(
        json!({
            "status": { "enum": ["ok", "blocked", "error", "timeout", "background", "cancelled", "skipped"] },
            "why": { "type": "string" },
            "exit_code": { "type": ["integer", "null"] },
            "duration_ms": { "type": "integer" },
            "stdout": { "type": "string" },
            "stderr": { "type": "string" },
            "answer": {},
        })
        .as_object()
        .cloned()
        .unwrap_or_default(),
    );
    with_event(
        &object_of(&handler, &[]),
        json!({ "outcome": answer::outcome_schema() }),
    )
}

fn explanation_schema() -> Value {
    let mut handler = handler_properties();
    handler.insert("matches".to_owned(), json!({ "type": "boolean" }));
    handler.insert("why".to_owned(), json!({ "type": "string" }));
    handler.insert("never".to_owned(), text("Why it can never run"));
    with_event(&object_of(&handler, &["never"]), Value::Null)
}

#[cfg(test)]
mod tests;
