//! From the hooks' files to rows, and from calls to uses.

use std::fs::File;

use remora_agents::decode_event;
use remora_client::{InjectionLog, NewInjection, TASKS_EXTENSION};
use remora_core::ids::SessionId;
use remora_core::record::Session;
use remora_core::request::{ENVELOPE_VERSION, Envelope};
use remora_core::{Event, EventName};
use remora_memory::CaptureDecision;
use remora_memory::testing::MemoryStore;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const NOW: i64 = 1_794_700_000_000;
const ONE_DAY: i64 = 86_400_000;

struct Home {
    paths: DataPaths,
    store: MemoryStore,
    ledger: InjectionIngest,
    _folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(folder.path());
        paths.prepare_data_dir().unwrap();
        Self {
            paths,
            store: MemoryStore::default(),
            ledger: InjectionIngest::default(),
            _folder: folder,
        }
    }

    /// As a hook would, with the file's time set.
    fn give(&self, session: &str, item: &str, time: i64) {
        let mut file = InjectionLog::open(&self.paths, session, None).unwrap();
        let giving = NewInjection {
            item,
            trigger: "prompt",
            why: "words",
            tokens: 7,
        };
        file.record_injections(&[giving], time).unwrap();
        drop(file);
        self.touch(session, time);
    }

    fn touch(&self, session: &str, time: i64) {
        let file = File::options()
            .append(true)
            .open(injection_log_file(&self.paths, session))
            .unwrap();
        file.set_modified(to_system_time(time)).unwrap();
    }

    fn fold(&mut self, now: i64) {
        self.ledger
            .store_injections(&self.paths, &self.store, now)
            .unwrap();
    }

    /// Stores events: session, time and the row that is asked for.
    fn events(&mut self, events: &[(&str, i64, i64)]) {
        let events: Vec<CapturedEvent> = events
            .iter()
            .map(|(session, at, id)| asks(session, *at, *id))
            .collect();
        let all: Vec<&CapturedEvent> = events.iter().collect();
        let mut batch = Batch::default();
        self.ledger
            .join(&self.paths, &self.store, &all, &mut batch, NOW)
            .unwrap();
        self.store.apply(&batch).unwrap();
    }

    /// Session, line, item, and when it was used.
    fn rows(&self) -> Vec<(SessionId, u32, String, Option<i64>)> {
        let mut rows: Vec<_> = self
            .store
            .list_injections(&Filter::default(), usize::MAX)
            .unwrap()
            .into_iter()
            .map(|row| (row.session, row.line, row.item, row.used.map(|u| u.time)))
            .collect();
        rows.sort();
        rows
    }
}

fn asks(session: &str, at: i64, id: i64) -> CapturedEvent {
    let fields = json!({
        "session_id": session, "cwd": "/p",
        "tool_name": "mcp__remora__get", "tool_input": {"ids": [id]},
    });
    let Value::Object(fields) = fields else {
        unreachable!()
    };
    let raw = Event {
        name: EventName::PostToolUse,
        fields,
    };
    CapturedEvent {
        envelope: Envelope {
            v: ENVELOPE_VERSION,
            id: format!("{session} {at}"),
            agent: "agent".into(),
            at,
            len: 0,
            cut: false,
            project: None,
            branch: None,
        },
        event: decode_event("agent", &raw, at.into()),
        raw,
        call: None,
        worth: CaptureDecision::Keep,
        raw_tokens: 0,
    }
}

fn row(
    session: &str,
    line: u32,
    item: &str,
    used: Option<i64>,
) -> (SessionId, u32, String, Option<i64>) {
    (session.into(), line, item.to_owned(), used)
}

#[test]
fn a_session_s_lines_are_there_before_its_events_are_judged() {
    let mut home = Home::new();
    home.give("s1", "#1", NOW);
    home.give("s1", "#2", NOW + 1);
    home.events(&[("s1", NOW + 5, 2)]);
    let first = [row("s1", 0, "#1", None), row("s1", 1, "#2", Some(NOW + 5))];
    assert_eq!(home.rows(), first);
    // What comes in the quiet is there for the next event, also after a start.
    home.give("s1", "#3", NOW + 10);
    home.fold(NOW + 11);
    assert_eq!(home.rows()[2], row("s1", 2, "#3", None));
    home.ledger = InjectionIngest::default();
    home.fold(NOW + 12);
    home.events(&[("s1", NOW + 20, 3), ("s1", NOW + 21, 2)]);
    assert_eq!(home.rows()[..2], first);
    assert_eq!(home.rows()[2], row("s1", 2, "#3", Some(NOW + 20)));
}

#[test]
fn a_hook_that_writes_after_its_event_was_stored_is_not_missed() {
    let mut home = Home::new();
    home.give("s1", "#1", NOW - 20 * ONE_DAY);
    home.fold(NOW);
    // Too old for a start to read it.
    assert_eq!(home.rows(), []);
    home.events(&[("s1", NOW, 9)]);
    home.give("s1", "#2", NOW + 1);
    home.fold(NOW + 30_000);
    assert_eq!(
        home.rows(),
        [row("s1", 0, "#1", None), row("s1", 1, "#2", None)]
    );
}

#[test]
fn files_that_nobody_adds_to_go_when_they_are_stored() {
    let mut home = Home::new();
    home.give("old", "#1", NOW - 31 * ONE_DAY);
    home.give("young", "#2", NOW - 13 * ONE_DAY);
    home.fold(NOW);
    assert_eq!(
        home.rows(),
        [row("old", 0, "#1", None), row("young", 0, "#2", None)]
    );
    let there = |name: &str| injection_log_file(&home.paths, name).exists();
    assert!(!there("old") && there("young"));
    // A day later it is looked at again, and another is old enough.
    let later = NOW + 18 * ONE_DAY;
    home.fold(later);
    assert!(!injection_log_file(&home.paths, "young").exists());
    assert_eq!(home.rows().len(), 2);
}

#[test]
fn a_session_that_is_taken_up_after_its_file_went_goes_on_in_the_ledger() {
    let mut home = Home::new();
    home.give("old", "#1", NOW - 31 * ONE_DAY);
    home.give("old", "#2", NOW - 31 * ONE_DAY);
    home.fold(NOW);
    let before = home.rows();
    assert_eq!(before.len(), 2);
    home.give("old", "#1", NOW + 1);
    home.fold(NOW + 2);
    home.give("old", "#3", NOW + 3);
    home.events(&[("old", NOW + 5, 3)]);
    let mut all = before;
    all.push(row("old", 2, "#1", None));
    all.push(row("old", 3, "#3", Some(NOW + 5)));
    assert_eq!(home.rows(), all);
    // Nor is anything counted twice after a start.
    home.ledger = InjectionIngest::default();
    home.fold(NOW + 6);
    assert_eq!(home.rows(), all);
}

#[test]
fn what_waits_for_nobody_goes() {
    let mut home = Home::new();
    home.give("s1", "#1", NOW);
    let minute = 60_000;
    let kept = |name: &str, ending: &str, time: i64| {
        let file = injection_log_file(&home.paths, name).with_extension(ending);
        let made = File::create(&file).unwrap();
        made.set_modified(to_system_time(time)).unwrap();
        file
    };
    let stale = kept("s1", "summary", NOW - 11 * minute);
    let refused = kept("s1", TASKS_EXTENSION, NOW - 11 * minute);
    let fresh = kept("s2", "summary", NOW - 9 * minute);
    home.fold(NOW);
    assert!(!stale.exists() && !refused.exists() && fresh.exists());
    home.fold(NOW + minute);
    assert!(fresh.exists());
    home.fold(NOW + 2 * minute);
    assert!(!fresh.exists());
}

#[test]
fn odd_ids_find_their_session() {
    let mut home = Home::new();
    home.give("a/b c", "#1", NOW);
    home.fold(NOW);
    // Nobody knows yet whose it is.
    assert_eq!(home.rows(), []);
    home.events(&[("a/b c", NOW + 5, 1)]);
    assert_eq!(home.rows(), [row("a/b c", 0, "#1", Some(NOW + 5))]);
    // A start finds it among the sessions.
    let session = Session {
        id: "x y".into(),
        agent: "agent".into(),
        project: "p".into(),
        cwd: "/p".into(),
        branch: None,
        started: NOW,
        last: NOW,
        end_reason: None,
        prompts: 0,
        title: String::new(),
    };
    let sessions = vec![session];
    home.store
        .apply(&Batch {
            sessions,
            ..Batch::default()
        })
        .unwrap();
    home.give("x y", "#2", NOW);
    home.ledger = InjectionIngest::default();
    home.fold(NOW);
    assert_eq!(home.rows()[1], row("x y", 0, "#2", None));
}

#[test]
fn many_sessions_at_once_are_all_judged() {
    let mut home = Home::new();
    let names: Vec<String> = (0..100).map(|n| format!("s{n}")).collect();
    let mut events = Vec::new();
    for name in &names {
        home.give(name, "#1", NOW);
        events.push((name.as_str(), NOW + 5, 1));
    }
    home.events(&events);
    assert_eq!(home.rows().len(), 100);
    assert!(home.rows().iter().all(|row| row.3 == Some(NOW + 5)));
}

#[test]
fn what_is_no_file_of_ours_is_left_alone() {
    let mut home = Home::new();
    home.fold(NOW);
    let folder = home.paths.injection_log_dir();
    fs::create_dir_all(folder.join("folder.given")).unwrap();
    fs::write(folder.join("notes.txt"), "#1\tprompt\tx\t1\t1\t\n").unwrap();
    fs::write(folder.join("bytes.given"), [0xff, 0xfe, b'\n']).unwrap();
    home.give("s1", "#1", NOW);
    home.fold(NOW + 1);
    assert_eq!(home.rows(), [row("s1", 0, "#1", None)]);
    // Long after, only ours go.
    home.fold(NOW + 4000 * ONE_DAY);
    assert!(folder.join("notes.txt").exists() && folder.join("folder.given").exists());
}
