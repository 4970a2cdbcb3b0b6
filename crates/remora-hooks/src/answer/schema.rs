//! The types an answer must have. One wrong type refuses the whole object, as in
//! the client; unknown keys, and keys of other events, are fine. `null` is a
//! wrong type like any other.

use remora_core::{Answers, EventDef};
use serde_json::{Map, Value};

type FieldCheck = (&'static str, fn(&Value) -> bool, &'static str);

const TOP_LEVEL_FIELDS: [FieldCheck; 7] = [
    ("continue", Value::is_boolean, "true or false"),
    ("suppressOutput", Value::is_boolean, "true or false"),
    ("stopReason", Value::is_string, "a string"),
    ("systemMessage", Value::is_string, "a string"),
    ("reason", Value::is_string, "a string"),
    ("terminalSequence", Value::is_string, "a string"),
    (
        "decision",
        |v| v == "approve" || v == "block",
        "\"approve\" or \"block\"",
    ),
];

/// Fields of `hookSpecificOutput`, by the answer they belong to.
const SPECIFIC_FIELDS: [(Answers, &[FieldCheck]); 11] = [
    (
        Answers::CONTEXT,
        &[("additionalContext", Value::is_string, "a string")],
    ),
    (
        Answers::PERMISSION,
        &[
            (
                "permissionDecision",
                is_permission,
                "\"allow\", \"deny\", \"ask\" or \"defer\"",
            ),
            ("permissionDecisionReason", Value::is_string, "a string"),
        ],
    ),
    (
        Answers::INPUT,
        &[("updatedInput", Value::is_object, "an object")],
    ),
    (
        Answers::REQUEST,
        &[(
            "decision",
            is_request,
            "{\"behavior\": \"allow\"} or {\"behavior\": \"deny\"}",
        )],
    ),
    (
        Answers::OUTPUT,
        &[("classifierContext", Value::is_string, "a string")],
    ),
    (
        Answers::TITLE,
        &[("sessionTitle", Value::is_string, "a string")],
    ),
    (
        Answers::SUPPRESS,
        &[("suppressOriginalPrompt", Value::is_boolean, "true or false")],
    ),
    (
        Answers::OPENING,
        &[
            ("initialUserMessage", Value::is_string, "a string"),
            ("reloadSkills", Value::is_boolean, "true or false"),
        ],
    ),
    (
        Answers::WATCH,
        &[("watchPaths", is_strings, "a list of strings")],
    ),
    (
        Answers::RETRY,
        &[("retry", Value::is_boolean, "true or false")],
    ),
    (
        Answers::ELICIT,
        &[
            (
                "action",
                |v| v == "accept" || v == "decline" || v == "cancel",
                "\"accept\", \"decline\" or \"cancel\"",
            ),
            ("content", |v| v.is_object() || v.is_null(), "an object"),
        ],
    ),
];

/// Checks an object against its event.
pub(super) fn check_object(def: &EventDef, object: &Map<String, Value>) -> Result<(), String> {
    check_fields(&TOP_LEVEL_FIELDS, object, "")?;
    let specific = match object.get("hookSpecificOutput") {
        None => return Ok(()),
        Some(Value::Object(specific)) => specific,
        Some(_) => return Err("`hookSpecificOutput` must be an object".into()),
    };
    match specific.get("hookEventName") {
        Some(name) if name == def.text => {}
        Some(name) => {
            return Err(format!(
                "`hookSpecificOutput.hookEventName` is {name}, the event is \"{}\"",
                def.text
            ));
        }
        None => {
            return Err(format!(
                "`hookSpecificOutput.hookEventName` is missing; it must be \"{}\"",
                def.text
            ));
        }
    }
    // On this event `hookSpecificOutput` exists for the decision alone.
    if def.answers.contains(Answers::REQUEST) && !specific.contains_key("decision") {
        return Err("`hookSpecificOutput.decision` is missing".into());
    }
    // A change of model has the same field, but only a tool call can be deferred.
    let defers = specific
        .get("permissionDecision")
        .is_some_and(|d| d == "defer");
    if def.answers.contains(Answers::PERMISSION) && !def.has_tool && defers {
        return Err(
            "`hookSpecificOutput.permissionDecision` must be \"allow\", \"deny\" or \"ask\"".into(),
        );
    }
    for (answers, checks) in &SPECIFIC_FIELDS {
        // Fields of other events are not even looked at: `permissionDecision` on Stop may be
        // anything.
        if def.answers.contains(*answers) {
            check_fields(checks, specific, "hookSpecificOutput.")?;
        }
    }
    Ok(())
}

fn check_fields(
    checks: &[FieldCheck],
    object: &Map<String, Value>,
    prefix: &str,
) -> Result<(), String> {
    for (key, fits, expected) in checks {
        if let Some(value) = object.get(*key)
            && !fits(value)
        {
            return Err(format!("`{prefix}{key}` must be {expected}"));
        }
    }
    Ok(())
}

fn is_permission(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|t| remora_core::Permission::parse(t).is_some())
}

fn is_strings(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.iter().all(Value::is_string))
}

fn is_request(value: &Value) -> bool {
    let Some(decision) = value.as_object() else {
        return false;
    };
    let optional = |key: &str, fits: fn(&Value) -> bool| decision.get(key).is_none_or(fits);
    match decision.get("behavior").and_then(Value::as_str) {
        Some("allow") => {
            optional("updatedInput", Value::is_object)
                && optional("updatedPermissions", are_updates)
        }
        Some("deny") => {
            optional("message", Value::is_string) && optional("interrupt", Value::is_boolean)
        }
        _ => false,
    }
}

/// Permission updates: one of six kinds, each with its own fields.
fn are_updates(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.iter().all(is_update))
}

fn is_update(update: &Value) -> bool {
    const UPDATE_DESTINATIONS: [&str; 5] = [
        "userSettings",
        "projectSettings",
        "localSettings",
        "session",
        "cliArg",
    ];
    let text = |key: &str| update.get(key).and_then(Value::as_str);
    let placed = text("destination").is_some_and(|d| UPDATE_DESTINATIONS.contains(&d));
    placed
        && match text("type") {
            Some("addRules" | "replaceRules" | "removeRules") => {
                let rules = update.get("rules").and_then(Value::as_array);
                matches!(text("behavior"), Some("allow" | "deny" | "ask"))
                    && rules.is_some_and(|list| {
                        list.iter()
                            .all(|r| r.get("toolName").is_some_and(Value::is_string))
                    })
            }
            Some("setMode") => text("mode").is_some(),
            Some("addDirectories" | "removeDirectories") => {
                update.get("directories").is_some_and(is_strings)
            }
            _ => false,
        }
}
