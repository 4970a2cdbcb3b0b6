//! The case format: reading it, laying rows over cases, and refusing keys that
//! nobody compares.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use remora_core::Outcome;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::compare::SUFFIXES;

pub(super) type Fields = Map<String, Value>;
pub(super) type ByLabel = BTreeMap<String, Fields>;

/// One file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    about: String,
    cases: Vec<Fields>,
}

/// One case after its row was laid over it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) event: Value,
    #[serde(default)]
    pub(super) handlers: Vec<Value>,
    pub(super) matcher: Option<String>,
    #[serde(rename = "if")]
    pub(super) condition: Option<String>,
    #[serde(default)]
    pub(super) layers: Fields,
    #[serde(default)]
    pub(super) files: Fields,
    #[serde(default)]
    pub(super) options: Settings,
    #[serde(default)]
    pub(super) http: BTreeMap<String, Reply>,
    pub(super) expect: Fields,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    pub(super) mode: Option<String>,
    pub(super) trust: Option<String>,
    pub(super) interactive: bool,
    pub(super) sources: Option<Vec<String>>,
    pub(super) permission_mode: Option<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) start: Option<String>,
    pub(super) plugins: Option<Vec<String>>,
    pub(super) flag_json: bool,
    pub(super) no_session_dir: bool,
}

/// What the loopback server answers on one path.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    #[serde(default = "ok")]
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: Value,
    #[serde(default)]
    pub(super) delay_ms: u64,
}

fn ok() -> u16 {
    200
}

/// What is compared besides the fields of the outcome.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expect {
    pub(super) ran: Option<Vec<String>>,
    pub(super) status: BTreeMap<String, String>,
    pub(super) handlers: ByLabel,
    pub(super) explain: ByLabel,
    pub(super) late: ByLabel,
    pub(super) warnings: Option<Vec<String>>,
    pub(super) warnings_contain: Vec<String>,
    pub(super) load_error_contains: Option<String>,
    pub(super) requests: Option<Vec<Fields>>,
    pub(super) files: BTreeMap<String, Option<String>>,
    pub(super) file_units: BTreeMap<String, usize>,
    pub(super) gone: Vec<String>,
    pub(super) under_ms: Option<u128>,
    pub(super) outcome: Fields,
}

const EXPECT: [&str; 13] = [
    "ran",
    "status",
    "handlers",
    "explain",
    "late",
    "warnings",
    "warnings_contain",
    "load_error_contains",
    "requests",
    "files",
    "file_units",
    "gone",
    "under_ms",
];
const HANDLER: [&str; 16] = [
    "id",
    "source",
    "file",
    "plugin",
    "matcher",
    "if",
    "type",
    "label",
    "timeout",
    "status",
    "why",
    "exit_code",
    "duration_ms",
    "stdout",
    "stderr",
    "answer",
];
const EXPLAIN: [&str; 11] = [
    "id", "source", "file", "plugin", "matcher", "if", "type", "timeout", "matches", "why", "never",
];
const LATE: [&str; 4] = ["status", "stdout", "stderr", "context"];
const REQUEST: [&str; 4] = ["method", "path", "headers", "body"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks/cases")
}

/// Every case of every file: (file and name, the case's fields).
pub(super) fn all() -> Vec<(String, Fields)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let book: Book = serde_json::from_slice(&fs::read(&path).unwrap())
            .unwrap_or_else(|e| panic!("{file}.json: {e}"));
        assert!(!book.about.is_empty(), "{file}.json says what it is about");
        for mut case in book.cases {
            let rows = case.remove("rows").unwrap_or_else(|| json!([{}]));
            for row in rows.as_array().unwrap() {
                let row = row.as_object().unwrap();
                let case = overlay(&case, row);
                cases.push((format!("{file}: {}", text(&case["name"])), case));
            }
        }
    }
    cases
}

/// A row laid over its case: objects are joined, names strung together, all
/// else is replaced. A row without a name goes by what it changes.
fn overlay(case: &Fields, row: &Fields) -> Fields {
    let mut out = case.clone();
    let mut name = text(&case["name"]);
    let mut tags: Vec<String> = Vec::new();
    for (key, value) in row {
        match (out.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                old.extend(new.iter().map(|(k, v)| (k.clone(), v.clone())));
            }
            _ => {
                out.insert(key.clone(), value.clone());
            }
        }
        if key != "expect" {
            tags.push(text(value));
        }
    }
    if !row.is_empty() {
        let tag = row.get("name").map_or_else(|| tags.join(" "), text);
        name = format!("{name} / {tag}");
    }
    out.insert("name".into(), name.into());
    out
}

pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            list.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// A typo must not make a case vacuous.
#[test]
fn every_key_of_a_case_is_known() {
    let mut outcome: Vec<String> = fields(&Outcome::default()).keys().cloned().collect();
    outcome.sort();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, fields) in all() {
        if !seen.insert(name.clone()) {
            found.push(format!("{name}: the name stands twice"));
        }
        let case: Case = match serde_json::from_value(Value::Object(fields)) {
            Ok(case) => case,
            Err(error) => {
                found.push(format!("{name}: {error}"));
                continue;
            }
        };
        match expect(&case.expect) {
            Err(error) => found.push(format!("{name}: expect: {error}")),
            Ok(expect) => {
                let tables: [(&ByLabel, &[&str]); 3] = [
                    (&expect.handlers, &HANDLER),
                    (&expect.explain, &EXPLAIN),
                    (&expect.late, &LATE),
                ];
                let mut wrong = unknown(&expect.outcome, &outcome);
                for (table, known) in tables {
                    wrong.extend(table.values().flat_map(|f| unknown(f, known)));
                }
                wrong.extend(
                    expect
                        .requests
                        .iter()
                        .flatten()
                        .flat_map(|f| unknown(f, &REQUEST)),
                );
                found.extend(
                    wrong
                        .iter()
                        .map(|key| format!("{name}: unknown key `{key}`")),
                );
            }
        }
        if case.name.is_empty() || case.expect.is_empty() {
            found.push(format!("{name}: has no name or expects nothing"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn unknown<T: AsRef<str>>(fields: &Fields, known: &[T]) -> Vec<String> {
    let bare = |key: &str| {
        let cut = SUFFIXES.iter().find_map(|s| key.strip_suffix(s));
        cut.unwrap_or(key).to_owned()
    };
    fields
        .keys()
        .filter(|key| !known.iter().any(|k| k.as_ref() == bare(key)))
        .cloned()
        .collect()
}

/// Keys that are not our own are fields of the outcome.
pub(super) fn expect(fields: &Fields) -> Result<Expect, serde_json::Error> {
    let own = |key: &str| EXPECT.contains(&key);
    let (mine, outcome): (Fields, Fields) =
        fields.clone().into_iter().partition(|(key, _)| own(key));
    let mut expect: Expect = serde_json::from_value(Value::Object(mine))?;
    expect.outcome = outcome;
    Ok(expect)
}

pub(super) fn fields<T: serde::Serialize>(value: &T) -> Fields {
    match serde_json::to_value(value).unwrap() {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

/// A group may be written as one handler, a handler in short.
pub(super) fn expand(event: &str, groups: &mut Value) {
    for group in groups.as_array_mut().into_iter().flatten() {
        let short = shorthand(event, group);
        if short != *group {
            *group = json!({"hooks": [short]});
        } else if let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) {
            for handler in hooks {
                *handler = shorthand(event, handler);
            }
        }
    }
}

/// `"@label command"` runs a command, `{"@label command": object}` prints an
/// object first. Everything else is a handler as it stands.
pub(super) fn shorthand(event: &str, handler: &Value) -> Value {
    let (head, answer) = match handler {
        Value::String(head) => (head.as_str(), None),
        Value::Object(map) if map.len() == 1 => match map.iter().next() {
            Some((head, answer)) => (head.as_str(), Some(answer)),
            None => return handler.clone(),
        },
        _ => return handler.clone(),
    };
    let Some(head) = head.strip_prefix('@') else {
        return handler.clone();
    };
    let (label, command) = head.split_once(' ').unwrap_or((head, ":"));
    let print = answer.map_or_else(String::new, |answer| {
        let mut answer = answer.as_object().unwrap().clone();
        if let Some(Value::Object(mut own)) = answer.remove("hso") {
            own.insert("hookEventName".into(), event.into());
            answer.insert("hookSpecificOutput".into(), Value::Object(own));
        }
        let text = Value::Object(answer).to_string().replace('\'', r"'\''");
        format!("printf '%s\\n' '{text}'; ")
    });
    // The comment keeps two labels from being one handler.
    let command = format!("{print}{command} # {label}");
    json!({"type": "command", "statusMessage": label, "command": command})
}
