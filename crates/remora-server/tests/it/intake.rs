//! Events from elsewhere than the spool.

use remora_core::request::{ENVELOPE_VERSION, Envelope};
use remora_core::{Event, EventName};
use remora_memory::CapturePolicy;
use remora_memory::store::Batch;
use remora_memory::testing::FaultyStore;
use remora_redact::{RedactionCounts, RedactionRules, Redactor};
use remora_server::archive::{self, Archive};
use remora_server::ingest::{EventRedactor, ImportIngest};
use remora_server::open_store;
use serde_json::{Value, json};

use crate::place::{AGENT, NOW, Place};

/// Panics at a batch with the word `poison` in it.
fn poisoned(batch: &Batch) {
    assert!(!format!("{batch:?}").contains("poison"), "the store panics");
}

fn archived_ids(place: &Place) -> Vec<String> {
    let mut ids = Vec::new();
    let archive = Archive::new(place.paths.archive_dir());
    for file in archive.list_files().unwrap() {
        archive::read_events(&file, |event| ids.push(event.envelope.id)).unwrap();
    }
    ids
}

#[test]
fn an_event_that_panics_is_left_out_and_named() {
    let place = Place::new();
    let redactor = Redactor::new(&RedactionRules::default()).unwrap();
    let mut cleaner = EventRedactor::new(&redactor, Vec::new());
    let mut marks = RedactionCounts::default();
    let events: Vec<_> = (0..20)
        .map(|n| {
            let mut event = Place::call(n);
            if n % 7 == 3 {
                event["tool_input"]["command"] = format!("make poison{n}").into();
            }
            let Value::Object(fields) = event else {
                panic!()
            };
            let name = EventName::PostToolUse;
            let id = format!("00000000-0000-8000-8000-{n:012}");
            let at = NOW + i64::try_from(n).unwrap();
            let envelope =
                json!({ "v": ENVELOPE_VERSION, "id": id, "agent": AGENT, "at": at, "len": 1 });
            let envelope: Envelope = serde_json::from_value(envelope).unwrap();
            cleaner.redact_event(envelope, Event { name, fields }, &mut marks)
        })
        .collect();
    let store = open_store(&place.paths.database_file()).unwrap();
    let store = FaultyStore::new(store, poisoned);
    let mut intake = ImportIngest::new(&store, CapturePolicy::default(), &place.paths).unwrap();
    let taken = intake.ingest_events(&events, NOW).unwrap();
    assert_eq!(taken.stored, 17);
    let named: Vec<&str> = taken.left_out.iter().map(|left| &left.id[34..]).collect();
    assert_eq!(named, ["03", "10", "17"]);
    for left in &taken.left_out {
        assert!(left.reason.starts_with("panicked at "), "{left:?}");
        assert!(!left.reason.contains("poison"), "{left:?}");
    }
    // Tried again in halves, none was archived again.
    assert_eq!(archived_ids(&place).len(), events.len());
    // The next run brings the rest, once it is not poisonous any more.
    let store = open_store(&place.paths.database_file()).unwrap();
    let mut intake = ImportIngest::new(&*store, CapturePolicy::default(), &place.paths).unwrap();
    let taken = intake.ingest_events(&events, NOW).unwrap();
    assert_eq!(
        (taken.stored, taken.repeated, taken.left_out),
        (3, 17, vec![])
    );
    assert_eq!(place.items().len(), 20);
}
