//! Recorded payloads decode into their types and encode back unchanged.
use std::collections::BTreeSet;
use std::path::Path;

use remora_core::payload::Payload;
use remora_core::{EVENTS, Event};
use serde_json::Value;

#[test]
fn every_recorded_payload_survives_decode_and_encode() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents/claude-code");
    let mut seen = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let original: Value = serde_json::from_slice(&bytes).unwrap();
        let event = Event::decode(&bytes, None).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&event.to_line()).unwrap(),
            original
        );
        let payload = Payload::decode(&event).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let again = payload.encode().unwrap();
        assert_eq!(Value::Object(again.fields), original, "{}", path.display());
        assert_eq!(again.name, event.name);
        seen.insert(event.name);
    }
    let missing: Vec<_> = EVENTS
        .iter()
        .filter(|d| !seen.contains(&d.name))
        .map(|d| d.text)
        .collect();
    assert!(missing.is_empty(), "no recorded payload for {missing:?}");
}

#[test]
fn the_sample_of_every_event_is_a_payload_of_it() {
    for def in EVENTS {
        let mut fields: serde_json::Map<String, Value> = serde_json::from_str(def.sample).unwrap();
        for key in ["session_id", "transcript_path", "cwd"] {
            fields.insert(key.into(), "x".into());
        }
        let event = Event::from_value(Value::Object(fields), Some(def.name)).unwrap();
        let payload = Payload::decode(&event).unwrap_or_else(|e| panic!("{}: {e}", def.text));
        assert_eq!(
            payload.encode().unwrap().fields.len(),
            event.fields.len(),
            "{}",
            def.text
        );
    }
}
