//! The schemas of what a hook prints, and of what all answers mean together.

use remora_core::{Answers, EVENTS, EventDef, Outcome};
use serde_json::{Map, Value, json};

use super::object_of;

/// Fields of `hookSpecificOutput`, by the answer they belong to.
fn specific_fields() -> Vec<(Answers, Value)> {
    vec![
        (
            Answers::CONTEXT,
            json!({ "additionalContext": { "type": "string" } }),
        ),
        (
            Answers::PERMISSION,
            json!({
                "permissionDecision": { "enum": ["allow", "deny", "ask", "defer"] },
                "permissionDecisionReason": { "type": "string" },
            }),
        ),
        (
            Answers::INPUT,
            json!({ "updatedInput": { "type": "object" } }),
        ),
        (
            Answers::REQUEST,
            json!({ "decision": {
                "type": "object",
                "properties": {
                    "behavior": { "enum": ["allow", "deny"] },
                    "updatedInput": { "type": "object" },
                    "updatedPermissions": { "type": "array" },
                    "message": { "type": "string" },
                    "interrupt": { "type": "boolean" },
                },
                "required": ["behavior"],
            }}),
        ),
        (
            Answers::OUTPUT,
            json!({
                "updatedToolOutput": {},
                "updatedMCPToolOutput": {},
                "classifierContext": { "type": "string" },
            }),
        ),
        (
            Answers::TITLE,
            json!({ "sessionTitle": { "type": "string" } }),
        ),
        (
            Answers::SUPPRESS,
            json!({ "suppressOriginalPrompt": { "type": "boolean" } }),
        ),
        (
            Answers::OPENING,
            json!({
                "initialUserMessage": { "type": "string" },
                "reloadSkills": { "type": "boolean" },
            }),
        ),
        (
            Answers::WATCH,
            json!({ "watchPaths": { "type": "array", "items": { "type": "string" } } }),
        ),
        (Answers::RETRY, json!({ "retry": { "type": "boolean" } })),
        (
            Answers::DISPLAY,
            json!({ "displayContent": { "type": "string" } }),
        ),
        (
            Answers::ELICIT,
            json!({
                "action": { "enum": ["accept", "decline", "cancel"] },
                "content": { "type": ["object", "null"] },
            }),
        ),
        (
            Answers::WORKTREE,
            json!({ "worktreePath": { "type": "string" } }),
        ),
    ]
}

/// One wrong type voids the whole object; unknown keys are fine.
pub(super) fn answer_schema() -> Value {
    let specific: Vec<Value> = EVENTS.iter().map(specific_schema).collect();
    json!({
        "type": "object",
        "properties": {
            "continue": { "type": "boolean", "description": "false ends the turn" },
            "stopReason": { "type": "string" },
            "suppressOutput": { "type": "boolean" },
            "systemMessage": { "type": "string", "description": "For the user" },
            "terminalSequence": { "type": "string" },
            "decision": { "enum": ["approve", "block"] },
            "reason": { "type": "string" },
            "hookSpecificOutput": { "oneOf": specific },
        },
    })
}

fn specific_schema(event: &EventDef) -> Value {
    let mut properties = Map::new();
    properties.insert("hookEventName".to_owned(), json!({ "const": event.text }));
    let mut required = vec!["hookEventName"];
    for (answers, mut fields) in specific_fields() {
        if !event.answers.contains(answers) {
            continue;
        }
        // Only a tool call can be deferred.
        if answers == Answers::PERMISSION && !event.has_tool {
            fields["permissionDecision"] = json!({ "enum": ["allow", "deny", "ask"] });
        }
        if answers == Answers::REQUEST {
            required.push("decision");
        }
        if let Value::Object(fields) = fields {
            properties.extend(fields);
        }
    }
    json!({
        "title": event.text,
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

/// All answers of an event together.
pub(super) fn outcome_schema() -> Value {
    let flag = || json!({ "type": "boolean" });
    let optional_flag = || json!({ "type": ["boolean", "null"] });
    let text = || json!({ "type": ["string", "null"] });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let permission = || json!({ "enum": ["allow", "deny", "ask", "defer", null] });
    // The names come from the type itself, so that none is missing here.
    let fields = serde_json::to_value(Outcome::default()).unwrap_or_default();
    let mut properties = Map::new();
    for (name, _) in fields.as_object().into_iter().flatten() {
        let schema = match name.as_str() {
            "blocked" | "continue" => flag(),
            "permission" | "final" => permission(),
            "context" | "messages" | "watch_paths" => texts(),
            "env" => json!({ "type": "object" }),
            "updated_input" | "elicitation" => json!({ "type": ["object", "null"] }),
            "updated_output" | "updated_permissions" => json!({}),
            "interrupt" | "suppress_original_prompt" | "retry" | "reload_skills" => optional_flag(),
            _ => text(),
        };
        properties.insert(name.clone(), schema);
    }
    object_of(&properties, &[])
}
