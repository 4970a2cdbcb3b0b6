//! Sessions as data: events in, rows out. Each file in `cases/sessions` is a
//! list of cases; adding one adds no code.

use std::fs;

use remora_core::record::{Kind, Project};
use remora_core::request::Envelope;
use remora_core::{Event, EventName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

mod file_edits;

use super::*;
use crate::store::{EventKey, Filter, PageRequest, SortOrder};
use crate::testing::MemoryStore;
use crate::testing_events::capture_event;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// What the case stands for, for whoever reads it.
    #[serde(default, rename = "why")]
    _why: String,
    #[serde(default)]
    skip_tools: Vec<String>,
    /// Payloads; `session_id`, `cwd` and a `tool_use_id` are filled in.
    events: Vec<Map<String, Value>>,
    /// Rows in order; only the fields given are compared.
    items: Vec<Map<String, Value>>,
    #[serde(default)]
    sessions: Option<Vec<Map<String, Value>>>,
    #[serde(default)]
    files: Option<Vec<Map<String, Value>>>,
    /// One a event: `kept N` or `skipped`.
    #[serde(default)]
    fates: Option<Vec<String>>,
    #[serde(default)]
    labels: Option<Vec<String>>,
}

const ROOT: &str = "/home/dev/app";

fn captured(n: usize, mut fields: Map<String, Value>) -> CapturedEvent {
    let name = fields["hook_event_name"].as_str().unwrap();
    let name = EventName::parse(name).unwrap_or_else(|| panic!("no event {name}"));
    for (key, value) in [
        ("session_id", json!("s1")),
        ("cwd", json!(ROOT)),
        ("transcript_path", json!("/t")),
    ] {
        fields.entry(key).or_insert(value);
    }
    if fields.contains_key("tool_name") {
        let id = json!(format!("toolu_{n}"));
        fields.entry("tool_use_id").or_insert(id);
    }
    let at = 1_794_700_000_000 + i64::try_from(n).unwrap() * 1000;
    let envelope = Envelope {
        v: 1,
        id: format!("e{n}"),
        agent: "agent".into(),
        at,
        len: 0,
        cut: false,
        project: Some(Project {
            key: "h.org/acme/app".into(),
            name: "app".into(),
            root: ROOT.into(),
        }),
        branch: Some("main".into()),
    };
    CapturedEvent {
        raw_tokens: 100,
        ..capture_event(envelope, Event { name, fields })
    }
}

/// Stores the events in batches of `size`, with a new digester for each when
/// the worker is to have died in between.
fn play(case: &Case, size: usize, lives: Lives) -> (MemoryStore, Vec<EventDisposition>) {
    let policy = CapturePolicy {
        skip_tools: case.skip_tools.clone(),
        ..CapturePolicy::default()
    };
    let store = MemoryStore::default();
    let mut digester = Extractor::new(policy.clone());
    let mut fates = Vec::new();
    let events: Vec<CapturedEvent> = case
        .events
        .iter()
        .enumerate()
        .map(|(n, fields)| captured(n, fields.clone()))
        .collect();
    for batch in events.chunks(size) {
        if lives == Lives::Many {
            digester = Extractor::new(policy.clone());
        }
        let batch: Vec<&CapturedEvent> = batch.iter().collect();
        let digest = digester.extract_items(&store, &batch).unwrap();
        store.apply(&digest.batch).unwrap();
        fates.extend(digest.fates);
    }
    (store, fates)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lives {
    One,
    Many,
}

const ALL: PageRequest = PageRequest {
    order: SortOrder::Oldest,
    beyond: None,
    limit: 1000,
};

/// A field; `title_ends` and `fact_begins` ask for a part of one.
fn found_part(found: &Map<String, Value>, key: &str, part: &Value) -> Value {
    let text = part.as_str().unwrap_or_default();
    let is_there = match key {
        "title_ends" => found["title"].as_str().unwrap().ends_with(text),
        "fact_begins" => {
            let facts = found["facts"].as_array().unwrap();
            facts
                .iter()
                .any(|fact| fact.as_str().unwrap().starts_with(text))
        }
        _ => {
            // `detail.completed` asks for one field of the detail.
            let field = match key.strip_prefix("detail.") {
                Some(name) => found["detail"].get(name),
                None => found.get(key),
            };
            return field.cloned().unwrap_or(Value::Null);
        }
    };
    if is_there { part.clone() } else { Value::Null }
}

/// What was found, cut down to what is asked for.
fn like(wanted: &[Map<String, Value>], found: Vec<Value>) -> Vec<Value> {
    found
        .into_iter()
        .enumerate()
        .map(|(n, value)| match (wanted.get(n), value) {
            (Some(wanted), Value::Object(found)) => Value::Object(
                wanted
                    .iter()
                    .map(|(key, part)| (key.clone(), found_part(&found, key, part)))
                    .collect(),
            ),
            (_, value) => json!({ "more": value }),
        })
        .collect()
}

fn values(list: &[impl serde::Serialize]) -> Vec<Value> {
    list.iter()
        .map(|row| serde_json::to_value(row).unwrap())
        .collect()
}

fn check(case: &Case, size: usize, lives: Lives) {
    let (store, fates) = play(case, size, lives);
    let name = format!("{} in batches of {size}", case.name);
    let all = Filter::default();
    let wanted = |list: &[Map<String, Value>]| -> Vec<Value> {
        list.iter().cloned().map(Value::Object).collect()
    };
    let items = store.list_items(&all, ALL).unwrap();
    assert_eq!(
        like(&case.items, values(&items)),
        wanted(&case.items),
        "{name}: rows {:#?}",
        items
            .iter()
            .map(|i| (i.kind, &i.title, &i.facts, &i.text))
            .collect::<Vec<_>>()
    );
    if let Some(sessions) = &case.sessions {
        let found = store.list_sessions(&all, 100).unwrap();
        assert_eq!(like(sessions, values(&found)), wanted(sessions), "{name}");
    }
    if let Some(files) = &case.files {
        let found = store.list_files("h.org/acme/app", None).unwrap();
        assert_eq!(like(files, values(&found)), wanted(files), "{name}");
    }
    if let Some(wanted) = &case.fates {
        let found: Vec<String> = fates
            .iter()
            .map(|fate| match fate {
                EventDisposition::Kept { items } => format!("kept {items}"),
                EventDisposition::Skipped(_) => "skipped".to_owned(),
            })
            .collect();
        assert_eq!(&found, wanted, "{name}");
    }
    let events = store.list_events(&all, ALL).unwrap();
    assert_eq!(events.len(), case.events.len(), "{name}: the ledger");
    if let Some(labels) = &case.labels {
        let found: Vec<String> = events.into_iter().map(|e| e.label).collect();
        assert_eq!(&found, labels, "{name}");
    }
}

fn cases() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/sessions");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let list: Vec<Case> =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        cases.extend(list);
    }
    assert!(cases.len() >= 20, "only {} cases were found", cases.len());
    cases
}

#[test]
fn sessions_become_rows() {
    for case in cases() {
        check(&case, 1000, Lives::One);
    }
}

#[test]
fn neither_batches_nor_deaths_change_the_rows() {
    for case in cases() {
        check(&case, 1, Lives::One);
        check(&case, 1, Lives::Many);
    }
}

#[test]
fn an_ignored_event_leaves_nothing_but_its_name() {
    let mut event = captured(
        0,
        json!({
            "hook_event_name": "PostToolUse",
            "tool_name": "Read",
            "tool_input": { "file_path": "/home/dev/app/hidden.txt" },
        })
        .as_object()
        .unwrap()
        .clone(),
    );
    event.worth = CaptureDecision::Ignored;
    let store = MemoryStore::default();
    let digest = Extractor::new(CapturePolicy::default())
        .extract_items(&store, &[&event])
        .unwrap();
    assert_eq!(
        digest.fates,
        [EventDisposition::Skipped("ignored by the user")]
    );
    assert!(digest.batch.items.is_empty() && digest.batch.files.is_empty());
    assert_eq!(digest.batch.events[0].label, "");
    store.apply(&digest.batch).unwrap();
    let key = EventKey {
        id: "e0",
        call: None,
    };
    assert_eq!(store.are_known(&[key]).unwrap(), [true]);
}

#[test]
fn a_session_is_known_by_its_prompts_after_the_worker_was_away() {
    let prompt = |n: usize| {
        let fields = json!({ "hook_event_name": "UserPromptSubmit", "prompt": format!("ask {n}") });
        captured(n, fields.as_object().unwrap().clone())
    };
    let store = MemoryStore::default();
    for n in 0..3 {
        let event = prompt(n);
        let digest = Extractor::new(CapturePolicy::default())
            .extract_items(&store, &[&event])
            .unwrap();
        store.apply(&digest.batch).unwrap();
    }
    let filter = Filter {
        kinds: vec![Kind::Prompt],
        ..Filter::default()
    };
    let numbers: Vec<Option<u32>> = store
        .list_items(&filter, ALL)
        .unwrap()
        .iter()
        .map(|item| item.prompt)
        .collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
}
