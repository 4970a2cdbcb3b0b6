//! Which files get an anchor, and of which checkout.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use remora_agents::decode_event;
use remora_core::record::Project;
use remora_core::request::{ENVELOPE_VERSION, Envelope};
use remora_core::{Event, EventName};
use remora_memory::CaptureDecision;
use serde_json::{Map, json};

use super::*;

const NOW: i64 = 1_794_700_000_000;

fn event(root: &Path, session: &str, at: i64) -> CapturedEvent {
    let mut fields = Map::new();
    fields.insert("session_id".into(), json!(session));
    let raw = Event {
        name: EventName::PostToolUse,
        fields,
    };
    CapturedEvent {
        envelope: Envelope {
            v: ENVELOPE_VERSION,
            id: format!("{session}-{at}"),
            agent: "agent".into(),
            at,
            len: 0,
            cut: false,
            project: Some(Project {
                key: "app".into(),
                name: "app".into(),
                root: root.display().to_string(),
            }),
            branch: None,
        },
        event: decode_event("agent", &raw, at.into()),
        raw,
        call: None,
        worth: CaptureDecision::Keep,
        raw_tokens: 0,
    }
}

fn record(name: &str, state: FileState, session: &str, time: i64) -> FileRecord {
    FileRecord {
        project: "app".into(),
        folder: "src".into(),
        name: name.into(),
        holds: String::new(),
        state,
        from: None,
        session: session.into(),
        time,
        anchor: None,
    }
}

/// A file of this many bytes, written at this moment.
fn file(root: &Path, name: &str, size: u64, at: i64) {
    fs::create_dir_all(root.join("src")).unwrap();
    let file = File::create(root.join("src").join(name)).unwrap();
    file.set_len(size).unwrap();
    let at = Duration::from_millis(u64::try_from(at).unwrap());
    file.set_modified(UNIX_EPOCH + at).unwrap();
}

#[test]
fn the_last_word_on_a_file_gets_its_anchor() {
    let dir = tempfile::tempdir().unwrap();
    let (main, tree) = (dir.path().join("main"), dir.path().join("tree"));
    file(&main, "a.rs", 1, NOW - 60_000);
    file(&main, "gone-again.rs", 2, NOW);
    file(&main, "later.rs", 3, NOW + 2_001);
    file(&main, "just.rs", 4, NOW + 2_000);
    file(&main, "both.rs", 5, NOW);
    file(&tree, "both.rs", 6, NOW);
    let events = [
        event(&main, "s1", NOW),
        event(&main, "s1", NOW + 1),
        event(&tree, "s2", NOW),
    ];
    let mut files = vec![
        record("a.rs", FileState::Seen, "s1", NOW),
        record("a.rs", FileState::Changed, "s1", NOW + 1),
        record("gone-again.rs", FileState::Added, "s1", NOW),
        record("gone-again.rs", FileState::Removed, "s1", NOW + 1),
        record("later.rs", FileState::Changed, "s1", NOW),
        record("just.rs", FileState::Changed, "s1", NOW),
        record("not-there.rs", FileState::Seen, "s1", NOW),
        record("both.rs", FileState::Changed, "s1", NOW),
        record("both.rs", FileState::Changed, "s2", NOW),
    ];
    fill_fingerprints(&mut files, &events.iter().collect::<Vec<_>>());
    let sizes: Vec<Option<u64>> = files
        .iter()
        .map(|file| file.anchor.map(|anchor| anchor.size))
        .collect();
    assert_eq!(
        sizes,
        [
            None,
            Some(1),
            None,
            None,
            None,
            Some(4),
            None,
            None,
            Some(6)
        ]
    );
    let anchor = files[1].anchor.unwrap();
    assert_eq!(anchor.since, NOW - 60_000);
}

#[test]
fn a_root_that_is_no_path_leads_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "a.rs", 1, NOW);
    let events = [event(Path::new(""), "s1", NOW)];
    let mut files = vec![
        record("a.rs", FileState::Seen, "s1", NOW),
        record("b.rs", FileState::Seen, "of no event here", NOW),
    ];
    fill_fingerprints(&mut files, &events.iter().collect::<Vec<_>>());
    assert!(files.iter().all(|file| file.anchor.is_none()));
}
