//! A file with cases, read strictly: a key that means nothing is an error that
//! names it, because a case that checks less than its author thinks is worse
//! than none.

use std::path::{Path, PathBuf};

use remora_core::text::{SwapCost, edit_distance};
use remora_core::{Event, EventName, json_type_name};
use remora_files::read_text;
use serde_json::{Map, Value};

use super::expect::Expectations;
use super::{CaseEvent, HookCase};
use crate::document::Document;
use crate::yaml::parse_yaml;

/// The longest file with cases that is read.
const MAX_CASE_FILE_BYTES: u64 = 16 << 20;
/// How many letters a mistyped key may differ by.
const MAX_KEY_DISTANCE: usize = 3;
/// Keys of the file.
const FILE_KEYS: &[&str] = &["$schema", "cases"];
/// Keys of a case that are not fields of its event.
const CASE_KEYS: &[&str] = &["name", "event", "env", "expect", "fields"];
/// Keys of a case that fill in its event.
pub(crate) const EVENT_KEYS: &[&str] = &[
    "tool",
    "command",
    "path",
    "content",
    "url",
    "tool_input",
    "tool_response",
    "error",
    "prompt",
    "source",
    "trigger",
    "reason",
    "message",
    "notification_type",
    "agent_type",
    "stop_hook_active",
    "permission_mode",
];

/// Why a file with cases cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct CaseFileError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong, with the key or the line.
    pub problem: String,
}

/// Reads a file with cases: JSON, or YAML by its ending.
pub fn read_case_file(file: &Path) -> Result<Vec<HookCase>, CaseFileError> {
    let fail = |problem: String| CaseFileError {
        file: file.to_path_buf(),
        problem,
    };
    let text = read_text(file, MAX_CASE_FILE_BYTES).map_err(|error| fail(error.to_string()))?;
    let ending = file.extension().and_then(|e| e.to_str());
    let value = if matches!(ending, Some("yaml" | "yml")) {
        parse_yaml(&text).map_err(fail)?
    } else {
        let document = Document::parse(&text).map_err(|error| fail(error.to_string()))?;
        if let Some(path) = document.repeated_keys().first() {
            return Err(fail(format!("`{path}` is written twice")));
        }
        document.value().clone()
    };
    read_cases(file, &value).map_err(fail)
}

fn read_cases(file: &Path, value: &Value) -> Result<Vec<HookCase>, String> {
    let (list, at) = match value {
        Value::Array(list) => (list, ""),
        Value::Object(map) => {
            check_keys(map, &[FILE_KEYS], "")?;
            match map.get("cases") {
                Some(Value::Array(list)) => (list, "cases"),
                Some(other) => return Err(wrong_type("cases", "a list", other)),
                None => return Err("`cases` is missing".to_owned()),
            }
        }
        other => return Err(wrong_type("the file", "an object with `cases`", other)),
    };
    if list.is_empty() {
        return Err("there is no case in it".to_owned());
    }
    list.iter()
        .enumerate()
        .map(|(index, case)| read_case(file, case, &format!("{at}[{index}]")))
        .collect()
}

fn read_case(file: &Path, case: &Value, at: &str) -> Result<HookCase, String> {
    let Value::Object(map) = case else {
        return Err(wrong_type(at, "an object", case));
    };
    check_keys(map, &[CASE_KEYS, EVENT_KEYS], at)?;
    let name = match map.get("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name.clone(),
        Some(other) => return Err(wrong_type(&join(at, "name"), "a text", other)),
        None => return Err(format!("`{}` is missing", join(at, "name"))),
    };
    let event = read_event(map, at)?;
    let env = match map.get("env") {
        None => Vec::new(),
        Some(Value::Object(env)) => env
            .iter()
            .map(|(key, value)| {
                let text = text_of(value)
                    .ok_or_else(|| wrong_type(&join(at, &format!("env.{key}")), "a text", value))?;
                Ok((key.clone(), text))
            })
            .collect::<Result<_, String>>()?,
        Some(other) => return Err(wrong_type(&join(at, "env"), "an object", other)),
    };
    let expect = match map.get("expect") {
        Some(Value::Object(expect)) => Expectations::read(expect, &join(at, "expect"))?,
        Some(other) => return Err(wrong_type(&join(at, "expect"), "an object", other)),
        None => return Err(format!("`{}` is missing", join(at, "expect"))),
    };
    Ok(HookCase {
        file: file.to_path_buf(),
        name,
        event,
        env,
        expect,
    })
}

fn read_event(map: &Map<String, Value>, at: &str) -> Result<CaseEvent, String> {
    let path = join(at, "event");
    match map.get("event") {
        Some(Value::String(name)) => {
            let name = EventName::find(name).map_err(|error| format!("`{path}`: {error}"))?;
            let mut fields = Map::new();
            for (key, value) in map {
                if !EVENT_KEYS.contains(&key.as_str()) && key != "fields" {
                    continue;
                }
                check_field(key, value, at)?;
                fields.insert(key.clone(), value.clone());
            }
            Ok(CaseEvent::Fields { name, fields })
        }
        Some(Value::Object(payload)) => {
            if let Some(key) = map.keys().find(|k| EVENT_KEYS.contains(&k.as_str())) {
                return Err(format!(
                    "`{}` has no place beside a whole event",
                    join(at, key)
                ));
            }
            let event = Event::from_value(Value::Object(payload.clone()), None);
            let event = event.map_err(|error| format!("`{path}`: {error}"))?;
            Ok(CaseEvent::Whole(event))
        }
        Some(other) => Err(wrong_type(&path, "an event's name or payload", other)),
        None => Err(format!("`{path}` is missing")),
    }
}

fn check_field(key: &str, value: &Value, at: &str) -> Result<(), String> {
    let (fits, wanted) = match key {
        "tool_response" => (true, ""),
        "tool_input" | "fields" => (value.is_object(), "an object"),
        "stop_hook_active" => (value.is_boolean(), "true or false"),
        _ => (value.is_string(), "a text"),
    };
    if fits {
        Ok(())
    } else {
        Err(wrong_type(&join(at, key), wanted, value))
    }
}

/// Every key is known, or the first that is not is named.
pub(super) fn check_keys(
    map: &Map<String, Value>,
    known: &[&[&str]],
    at: &str,
) -> Result<(), String> {
    let known: Vec<&str> = known.iter().flat_map(|list| *list).copied().collect();
    let Some(key) = map.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    let near = known
        .iter()
        .filter_map(|k| Some((edit_distance(key, k, SwapCost::One, MAX_KEY_DISTANCE)?, *k)))
        .min();
    let hint = match near {
        Some((_, near)) => format!("did you mean `{near}`?"),
        None => format!("the keys here are {}", known.join(", ")),
    };
    Err(format!("`{}` is not a key; {hint}", join(at, key)))
}

pub(super) fn join(at: &str, key: &str) -> String {
    if at.is_empty() {
        key.to_owned()
    } else {
        format!("{at}.{key}")
    }
}

pub(super) fn wrong_type(path: &str, wanted: &str, found: &Value) -> String {
    format!("`{path}` must be {wanted}, found {}", json_type_name(found))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
