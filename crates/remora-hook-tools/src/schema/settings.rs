//! The schema of hooks in a settings file: per event, the kinds of handlers that
//! it runs.

use remora_core::{EVENTS, EventDef, HandlerKinds};
use serde_json::{Map, Value, json};

/// The kinds by their names in settings.
const KINDS: [(HandlerKinds, &str); 5] = [
    (HandlerKinds::COMMAND, "command"),
    (HandlerKinds::HTTP, "http"),
    (HandlerKinds::MCP_TOOL, "mcp_tool"),
    (HandlerKinds::PROMPT, "prompt"),
    (HandlerKinds::AGENT, "agent"),
];

pub(super) fn settings_schema() -> Value {
    let mut definitions = Map::new();
    for (_, name) in KINDS {
        definitions.insert(name.to_owned(), handler_schema(name));
    }
    let mut events = Map::new();
    for event in EVENTS {
        events.insert(event.text.to_owned(), groups_schema(event));
    }
    json!({
        "type": "object",
        "properties": {
            "hooks": { "type": "object", "properties": events, "additionalProperties": false },
            "disableAllHooks": { "type": "boolean" },
            "allowManagedHooksOnly": { "type": "boolean", "description": "In managed settings only" },
            "allowedHttpHookUrls": { "type": "array", "items": { "type": "string" } },
            "httpHookAllowedEnvVars": { "type": "array", "items": { "type": "string" } },
        },
        "$defs": definitions,
    })
}

fn groups_schema(event: &EventDef) -> Value {
    let kinds = KINDS
        .iter()
        .filter(|(kind, _)| event.handlers.contains(*kind));
    let handlers: Vec<Value> = kinds
        .map(|(_, name)| json!({ "$ref": format!("#/$defs/{name}") }))
        .collect();
    json!({
        "description": event.doc.trim(),
        "type": ["array", "null"],
        "items": {
            "type": "object",
            "properties": {
                "matcher": { "type": "string" },
                "hooks": { "type": "array", "items": { "oneOf": handlers } },
            },
            "required": ["hooks"],
        },
    })
}

fn handler_schema(kind: &str) -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let flag = || json!({ "type": "boolean" });
    let own: Vec<(&str, Value)> = match kind {
        "command" => vec![
            ("command", text()),
            ("args", texts()),
            ("shell", json!({ "enum": ["bash", "powershell"] })),
            ("async", flag()),
            ("asyncRewake", flag()),
        ],
        "http" => vec![
            ("url", json!({ "type": "string", "format": "uri" })),
            (
                "headers",
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            ),
            ("allowedEnvVars", texts()),
        ],
        "mcp_tool" => vec![
            ("server", text()),
            ("tool", text()),
            ("input", json!({ "type": "object" })),
        ],
        _ => vec![
            ("prompt", text()),
            ("model", text()),
            ("continueOnBlock", flag()),
        ],
    };
    let required: Vec<&str> = match kind {
        "mcp_tool" => vec!["type", "server", "tool"],
        _ => vec!["type", own[0].0],
    };
    let mut properties = Map::new();
    properties.insert("type".to_owned(), json!({ "const": kind }));
    let common = [
        (
            "if",
            json!({ "type": "string", "description": "One permission rule; events with a tool call only" }),
        ),
        (
            "timeout",
            json!({ "type": "number", "exclusiveMinimum": 0, "description": "In seconds" }),
        ),
        ("statusMessage", text()),
        ("onFailure", json!({ "enum": ["continue", "block"] })),
        ("once", flag()),
    ];
    for (key, schema) in own.into_iter().chain(common) {
        properties.insert(key.to_owned(), schema);
    }
    json!({ "type": "object", "properties": properties, "required": required })
}
