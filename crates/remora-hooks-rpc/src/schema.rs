//! The published schema of every message, made of the tables that requests are
//! checked with.

use serde_json::{Map, Value, json};

use crate::shapes::{CALLBACK_PARAMS, Field, NOTIFICATIONS, anything, text};
use crate::table::METHODS;

/// A JSON schema of every line that host and server exchange. It refers to the
/// schemas `report` and `explanation` in the same folder. The definitions name each
/// message: `fire_request`, `fire_result`, `changed_notification`.
pub fn build_schema() -> Value {
    let mut definitions = Map::new();
    let mut messages = Vec::new();
    let mut add_message = |definitions: &mut Map<String, Value>, name: String, schema: Value| {
        messages.push(json!({ "$ref": format!("#/$defs/{name}") }));
        definitions.insert(name, schema);
    };
    for row in METHODS {
        let request = build_request(row.name, row.doc, row.params);
        add_message(&mut definitions, format!("{}_request", row.name), request);
        definitions.insert(format!("{}_result", row.name), build_object(row.result));
    }
    for row in NOTIFICATIONS {
        let mut schema = build_request(row.name, row.doc, row.params);
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.remove("id");
        }
        add_message(
            &mut definitions,
            format!("{}_notification", row.name),
            schema,
        );
    }
    let doc = "The server asks the host: run the callback, and answer with what a command would \
               print, or `null`.";
    let callback = build_request("callback", doc, CALLBACK_PARAMS);
    add_message(&mut definitions, "callback_request".to_owned(), callback);
    definitions.insert(
        "callback_result".to_owned(),
        json!({ "type": ["object", "null"] }),
    );
    add_message(&mut definitions, "answer".to_owned(), build_answer());
    add_message(&mut definitions, "error".to_owned(), build_error());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The messages of `remora hooks serve`, one a line",
        "anyOf": messages,
        "$defs": definitions,
    })
}

/// An object with these fields and no others.
fn build_object(fields: &[Field]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.name.to_owned(), (field.schema)());
    }
    let needed = fields.iter().filter(|field| !field.is_optional);
    let required: Vec<&str> = needed.map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn build_request(method: &str, doc: &str, params: &[Field]) -> Value {
    let mut required = vec!["jsonrpc", "method"];
    if params.iter().any(|field| !field.is_optional) {
        required.push("params");
    }
    json!({
        "description": doc,
        "type": "object",
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "id": id_schema(),
            "method": { "const": method },
            "params": build_object(params),
        },
        "required": required,
    })
}

/// Which result belongs to an answer is known by its id alone.
fn build_answer() -> Value {
    json!({
        "description": "The answer to a request: its `_result`",
        "type": "object",
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "id": id_schema(),
            "result": anything(),
        },
        "required": ["jsonrpc", "id", "result"],
        "additionalProperties": false,
    })
}

fn build_error() -> Value {
    json!({
        "description": "A request was not done",
        "type": "object",
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "id": id_schema(),
            "error": {
                "type": "object",
                "properties": {
                    "code": { "type": "integer" },
                    "message": text(),
                    "data": {
                        "type": "object",
                        "properties": { "key": { "description": "The key at fault", "type": "string" } },
                    },
                },
                "required": ["code", "message"],
            },
        },
        "required": ["jsonrpc", "id", "error"],
    })
}

fn id_schema() -> Value {
    json!({ "type": ["string", "integer", "null"] })
}
