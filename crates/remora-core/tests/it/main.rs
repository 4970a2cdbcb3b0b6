//! Recorded payloads decode and encode back unchanged, and cover the table.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use remora_core::{EVENTS, Event, EventName};
use serde_json::{Map, Value};

/// The field names that recorded payloads of each event hold.
fn recorded_fields() -> BTreeMap<EventName, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents/claude-code");
    let mut seen: BTreeMap<EventName, BTreeSet<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let original: Value = serde_json::from_slice(&bytes).unwrap();
        let event = Event::decode(&bytes, None).unwrap();
        let again: Value = serde_json::from_str(&event.to_line()).unwrap();
        assert_eq!(again, original, "{}", path.display());
        seen.entry(event.name)
            .or_default()
            .extend(event.fields.keys().cloned());
    }
    seen
}

#[test]
fn every_event_has_a_recorded_payload_that_survives_decode_and_encode() {
    let seen = recorded_fields();
    let missing: Vec<_> = EVENTS
        .iter()
        .filter(|def| !seen.contains_key(&def.name))
        .map(|def| def.text)
        .collect();
    assert!(missing.is_empty(), "no recorded payload for {missing:?}");
}

#[test]
fn the_sample_of_every_event_holds_only_recorded_fields() {
    let seen = recorded_fields();
    for def in EVENTS {
        let sample: Map<String, Value> = serde_json::from_str(def.sample).unwrap();
        let known = &seen[&def.name];
        let unknown: Vec<_> = sample
            .keys()
            .filter(|key| !known.contains(*key))
            // Sent only when the user accepts; the recording is of a refusal.
            .filter(|key| (def.name, key.as_str()) != (EventName::ElicitationResult, "content"))
            .collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", def.text);
    }
}
