//! The committed schemas are the generated ones, and they say what the engine
//! does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use remora_hooks::{
    Engine, EngineOptions, Host, SampleFields, SampleSession, SettingsPaths, inspect,
};
use serde_json::json;

use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn the_committed_schemas_are_the_generated_ones() {
    for name in SCHEMA_NAMES {
        let file = Path::new(ROOT).join(format!("docs/schemas/{name}.json"));
        let committed = fs::read_to_string(&file).unwrap_or_default();
        let built = serde_json::to_string_pretty(&build_schema(name).unwrap()).unwrap();
        assert_eq!(
            committed,
            built + "\n",
            "{name}: write it with `remora hooks schema {name} > docs/schemas/{name}.json`"
        );
    }
    assert_eq!(build_schema("none"), None);
}

/// Whether a value has the type of a schema as simple as ours.
fn has_type(value: &Value, schema: &Value) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match (&schema["type"], schema.get("const"), schema.get("enum")) {
        (_, Some(wanted), _) => value == wanted,
        (_, _, Some(list)) => list.as_array().unwrap().contains(value),
        (Value::String(wanted), ..) => wanted == name || wanted == "integer" && name == "number",
        (Value::Array(list), ..) => list
            .iter()
            .any(|t| t == name || t == "integer" && name == "number"),
        _ => true,
    }
}

fn check_object(value: &Value, schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for key in schema["required"].as_array().into_iter().flatten() {
        if value.get(key.as_str().unwrap()).is_none() {
            faults.push(format!("{key} is missing"));
        }
    }
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(key)
            && !has_type(value, schema)
        {
            faults.push(format!("{key}: {value} is not {schema}"));
        }
    }
    faults
}

#[test]
fn what_the_client_sent_fits_the_schema_of_its_event() {
    let schema = build_schema("event").unwrap();
    let find = |name: &str| {
        let all = schema["oneOf"].as_array().unwrap();
        all.iter().find(|one| one["title"] == name).unwrap()
    };
    let mut seen = BTreeSet::new();
    let folder = Path::new(ROOT).join("fixtures/agents/claude-code");
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let Ok(Value::Object(payload)) =
            serde_json::from_slice(&fs::read(entry.path()).unwrap_or_default())
        else {
            continue;
        };
        let payload = Value::Object(payload);
        let Some(name) = payload["hook_event_name"].as_str() else {
            continue;
        };
        seen.insert(name.to_owned());
        let faults = check_object(&payload, find(name));
        assert_eq!(faults, [] as [String; 0], "{}", entry.path().display());
    }
    assert_eq!(seen.len(), EVENTS.len(), "{seen:?}");
}

#[test]
fn settings_name_every_key_and_kind_that_the_engine_reads() {
    let schema = build_schema("settings").unwrap();
    let kinds = schema["$defs"].as_object().unwrap();
    let named: BTreeSet<&str> = kinds
        .values()
        .flat_map(|kind| kind["properties"].as_object().unwrap().keys())
        .map(String::as_str)
        .collect();
    let read: BTreeSet<&str> = inspect::HANDLER_KEYS.iter().copied().collect();
    assert_eq!(named, read);
    for (kind, schema) in kinds {
        let mut entry = json!({ "type": kind });
        for key in schema["required"].as_array().unwrap().iter().skip(1) {
            let key = key.as_str().unwrap();
            entry[key] = json!(if key == "url" {
                "http://localhost/"
            } else {
                "x"
            });
            let without = entry.as_object().unwrap().len() == 2 && kind != "mcp_tool";
            assert!(!without || inspect::read_handler(&entry).is_ok(), "{entry}");
        }
        assert!(inspect::read_handler(&entry).is_ok(), "{entry}");
        assert!(inspect::read_handler(&json!({ "type": kind })).is_err());
    }
}

#[test]
fn reports_have_the_fields_of_their_schema() {
    let folder = tempfile::tempdir().unwrap();
    let paths = SettingsPaths {
        flag: Some(remora_hooks::FlagSettings::Json(
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#
                .to_owned(),
        )),
        ..SettingsPaths::new(folder.path(), folder.path().join("home"))
    };
    let engine = Engine::load(paths, EngineOptions::default()).unwrap();
    let session = SampleSession {
        project: folder.path().display().to_string(),
        transcript: folder.path().join("t.jsonl"),
    };
    let event = session
        .build_event(remora_core::EventName::Stop, SampleFields::default())
        .unwrap();
    let report = serde_json::to_value(engine.run(&event, &Host::default()).report).unwrap();
    let explanation = serde_json::to_value(engine.explain(&event)).unwrap();
    for (name, value) in [("report", report), ("explanation", explanation)] {
        let schema = build_schema(name).unwrap();
        assert_eq!(check_object(&value, &schema), [] as [String; 0], "{name}");
        let handler = &schema["properties"]["handlers"]["items"];
        let row = &value["handlers"][0];
        assert_eq!(check_object(row, handler), [] as [String; 0], "{name}");
        for key in row.as_object().unwrap().keys() {
            assert!(handler["properties"].get(key).is_some(), "{name}: {key}");
        }
        for key in value.as_object().unwrap().keys() {
            assert!(schema["properties"].get(key).is_some(), "{name}: {key}");
        }
        if name == "report" {
            let outcome = &schema["properties"]["outcome"];
            assert_eq!(check_object(&value["outcome"], outcome), [] as [String; 0]);
        }
    }
}
