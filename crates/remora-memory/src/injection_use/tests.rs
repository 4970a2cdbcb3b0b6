//! Lines and calls as data: `cases/uses.json`. Each case is played by one life
//! of the worker and by one that ends after every event, in batches and alone.

use remora_core::agent_event::EventKind;
use remora_core::record::Project;
use remora_core::request::Envelope;
use remora_core::tool_call::{FileChange, FileEdit, ToolCall};
use remora_core::{Event, EventName};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::store::{Batch, ItemWrite};
use crate::testing::{MemoryStore, item};
use crate::testing_events::capture_event;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Time, moment and item of each line.
    given: Vec<String>,
    events: Vec<Told>,
    /// Line, how and when.
    used: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    at: i64,
    tool: String,
    input: Value,
    event: Option<String>,
    session: Option<String>,
    subagent: Option<String>,
    root: Option<String>,
}

const ROOT: &str = "/home/dev/app";
const PROJECT: &str = "h.org/acme/app";

impl Told {
    fn captured(&self) -> CapturedEvent {
        let name = self.event.as_deref().unwrap_or("PostToolUse");
        let root = self.root.as_deref().unwrap_or(ROOT);
        let fields = json!({
            "session_id": self.session.as_deref().unwrap_or("s1"),
            "cwd": root,
            "tool_name": self.tool,
            "tool_input": self.input,
            "agent_id": self.subagent,
        });
        let Value::Object(fields) = fields else {
            unreachable!()
        };
        let envelope = Envelope {
            v: 1,
            id: format!("e{}", self.at),
            agent: "agent".into(),
            at: self.at,
            len: 0,
            cut: false,
            project: Some(Project {
                key: PROJECT.into(),
                name: "app".into(),
                root: root.into(),
            }),
            branch: None,
        };
        let name = EventName::parse(name).unwrap();
        capture_event(envelope, Event { name, fields })
    }
}

fn rows() -> Vec<Item> {
    let row = |uid: &str, kind: Kind, files: &[&str], detail: Value| Item {
        kind,
        project: PROJECT.into(),
        files_modified: files.iter().map(|file| (*file).to_owned()).collect(),
        detail: Some(detail.into()),
        ..item(uid, uid)
    };
    let test = json!({ "command": "cargo test" });
    let memory = |uid: &str, key: &str, path: &str| Item {
        key: Some(key.to_owned()),
        ..row(
            uid,
            Kind::Memory,
            &["src/mocks.rs"],
            json!({ "path": path }),
        )
    };
    let elsewhere = Item {
        project: "h.org/acme/other".into(),
        ..row(
            "other",
            Kind::Discovery,
            &["src/other.rs", "/etc/hosts"],
            json!({}),
        )
    };
    let of_user = Item {
        project: "".into(),
        ..memory("tone", "memory://user/tone", "/home/dev/tone.md")
    };
    vec![
        row("cart-change", Kind::Change, &["src/cart.rs"], json!({})),
        row("fix", Kind::Fix, &["src/cart.rs"], test.clone()),
        row("ran", Kind::Command, &[], test),
        elsewhere,
        memory(
            "no-mocks-row",
            "memory://project/no-mocks",
            "/home/dev/notes/no-mocks.md",
        ),
        of_user,
        row("notebook", Kind::Change, &["a.ipynb"], json!({})),
    ]
}

fn lines(case: &Case) -> Vec<Injection> {
    let line = |(at, text): (usize, &String)| {
        let mut parts = text.splitn(3, ' ');
        let mut next = || parts.next().unwrap().to_owned();
        Injection {
            session: "s1".into(),
            line: u32::try_from(at).unwrap(),
            time: next().parse().unwrap(),
            trigger: next(),
            item: next(),
            subagent: None,
            why: String::new(),
            tokens: 1,
            used: None,
        }
    };
    case.given.iter().enumerate().map(line).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lives {
    One,
    Many,
}

/// What the store holds at the end.
fn play(case: &Case, size: usize, lives: Lives) -> Vec<String> {
    let store = MemoryStore::default();
    store
        .apply(&Batch {
            items: rows().into_iter().map(ItemWrite::Add).collect(),
            ..Batch::default()
        })
        .unwrap();
    let events: Vec<CapturedEvent> = case.events.iter().map(Told::captured).collect();
    let mut uses = UseDetector::default();
    for chunk in events.chunks(size) {
        if lives == Lives::Many {
            uses = UseDetector::default();
        }
        let mut batch = Batch::default();
        for event in chunk {
            // The whole file each time, as after a start.
            let told = match event.session().as_str() {
                "s1" => lines(case),
                _ => Vec::new(),
            };
            batch
                .injections
                .extend(uses.add_injections(&store, event, told).unwrap());
        }
        batch.uses = chunk
            .iter()
            .flat_map(|event| uses.detect_uses(event))
            .collect();
        store.apply(&batch).unwrap();
    }
    store
        .list_injections(&Filter::default(), usize::MAX)
        .unwrap()
        .into_iter()
        .filter_map(|row| {
            let InjectionUse { how, time } = row.used?;
            Some(format!("{} {how} {time}", row.line))
        })
        .collect()
}

#[test]
fn what_was_of_use() {
    let text = include_str!("../../cases/uses.json");
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    for case in &cases {
        for (size, lives) in [
            (100, Lives::One),
            (1, Lives::One),
            (1, Lives::Many),
            (2, Lives::Many),
        ] {
            let found = play(case, size, lives);
            assert_eq!(found, case.used, "{}, {size} {lives:?}", case.name);
        }
    }
}

#[test]
fn old_lines_and_old_sessions_are_let_go() {
    let store = MemoryStore::default();
    let mut uses = UseDetector::default();
    let told = |session: &str| Told {
        at: 1_000_000,
        tool: "mcp__remora__get".into(),
        input: json!({ "ids": [0, 999] }),
        event: None,
        session: Some(session.into()),
        subagent: None,
        root: None,
    };
    let event = told("s1").captured();
    let case = Case {
        name: String::new(),
        given: (0..1000).map(|n| format!("{n} prompt #{n}")).collect(),
        events: Vec::new(),
        used: Vec::new(),
    };
    let fresh = uses.add_injections(&store, &event, lines(&case)).unwrap();
    // All of them are stored; the oldest are no longer waited for.
    assert_eq!(fresh.len(), 1000);
    let found: Vec<u32> = uses
        .detect_uses(&event)
        .into_iter()
        .map(|(_, n, _)| n)
        .collect();
    assert_eq!(found, [999]);
    for n in 0..MAX_SESSIONS {
        let other = told(&format!("other {n}")).captured();
        uses.add_injections(&store, &other, Vec::new()).unwrap();
    }
    assert_eq!(uses.sessions.len(), MAX_SESSIONS);
    assert!(!uses.sessions.contains_key("s1"));
}

#[test]
fn what_the_user_excluded_is_not_looked_at() {
    let store = MemoryStore::default();
    let mut uses = UseDetector::default();
    let told = Told {
        at: 20,
        tool: "mcp__remora__get".into(),
        input: json!({ "ids": [1] }),
        event: None,
        session: None,
        subagent: None,
        root: None,
    };
    let case = Case {
        name: String::new(),
        given: vec!["10 prompt #1".to_owned()],
        events: Vec::new(),
        used: Vec::new(),
    };
    let mut event = told.captured();
    event.worth = CaptureDecision::Ignored;
    uses.add_injections(&store, &event, lines(&case)).unwrap();
    assert_eq!(uses.detect_uses(&event), []);
    event.worth = CaptureDecision::Keep;
    assert_eq!(uses.detect_uses(&event).len(), 1);
}

#[test]
fn a_call_uses_what_any_of_its_files_was_given_for() {
    let edits = ["src/a.rs", "src/b.rs"];
    let edits = edits.map(|path| FileEdit::new(&format!("{ROOT}/{path}"), FileChange::Updated));
    let told = Told {
        at: 20,
        tool: "Edit".into(),
        input: json!({}),
        event: None,
        session: None,
        subagent: None,
        root: None,
    };
    let mut event = told.captured();
    let EventKind::ToolFinished(tool, _) = &mut event.event.kind else {
        panic!("a call")
    };
    tool.call = ToolCall::EditFiles(edits.to_vec());
    let about = |file: &str| UseSignals {
        files: vec![file.to_owned()],
        ..UseSignals::default()
    };
    let deed = deed::ToolUse::from_event(&event).unwrap();
    assert_eq!(
        deed.find_item_use(false, &about("src/a.rs")),
        Some("edited")
    );
    assert_eq!(
        deed.find_item_use(false, &about("src/b.rs")),
        Some("edited")
    );
    assert_eq!(deed.find_item_use(false, &about("src/c.rs")), None);
}
