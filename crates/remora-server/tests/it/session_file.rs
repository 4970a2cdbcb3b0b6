//! A recorded session of an agent whose hooks are not told everything: what its
//! session file adds is stored like any other event.

use std::fs;
use std::path::Path;

use remora_client::{HookInput, spool_event};
use remora_core::record::{Item, Kind};
use remora_memory::CapturePolicy;
use remora_server::rebuild_database;
use serde_json::Value;

use crate::place::{NOW, Place};

const AGENT: &str = "codex";
/// Ended with code 3, which its hook was not told.
const FAILED_COMMAND: &str = "call_9ba7a5f52bda";
/// Failed, of which no hook was told.
const FAILED_MCP_CALL: &str = "call_faed645ddfd0";

/// The payloads of the recorded session. Their session file lies in `folder`.
fn recorded_payloads(folder: &Path) -> Vec<Value> {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts/codex/full");
    let hooks = fs::read_to_string(run.join("hooks.jsonl")).unwrap();
    let payloads = hooks.lines().map(|line| {
        let mut payload: Value = serde_json::from_str(line).unwrap();
        let name = Path::new(payload["transcript_path"].as_str().unwrap());
        let name = name.file_name().unwrap();
        fs::copy(run.join(name), folder.join(name)).unwrap();
        payload["transcript_path"] = folder.join(name).to_str().unwrap().into();
        payload
    });
    payloads.collect()
}

fn put_all(place: &Place, payloads: &[Value], since: i64) {
    for (at, payload) in (since..).zip(payloads) {
        let input = HookInput {
            bytes: payload.to_string().into_bytes(),
            cut: false,
        };
        spool_event(&place.paths, AGENT, at, None, &input, false).unwrap();
    }
}

fn item_of<'a>(items: &'a [Item], call: &str) -> &'a Item {
    let mut found = items
        .iter()
        .filter(|item| item.tool_use_id.as_deref() == Some(call));
    let item = found.next().unwrap();
    assert_eq!(found.next(), None, "{call} has two items");
    item
}

#[test]
fn failures_that_hooks_are_not_told_of_are_stored() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let payloads = recorded_payloads(folder.path());
    put_all(&place, &payloads, NOW);
    let mut inbox = place.inbox();
    inbox.ingest_batch(NOW).unwrap();
    let items = place.items();
    let command = item_of(&items, FAILED_COMMAND);
    assert_eq!(command.kind, Kind::Failure);
    assert!(command.text.starts_with("Exit code 3\n"), "{command:?}");
    let call = item_of(&items, FAILED_MCP_CALL);
    assert_eq!(call.kind, Kind::Failure);
    assert!(call.title.contains("mcp failed"), "{call:?}");

    // Told again by a second installation, and when the turn before is long over.
    put_all(&place, &payloads, NOW + 5_000);
    inbox.ingest_batch(NOW + 5_000).unwrap();
    assert_eq!(place.items(), items);

    // What was found is in the archive: the session file may go.
    drop(inbox);
    folder.close().unwrap();
    rebuild_database(&place.paths, &CapturePolicy::default(), &mut |_| {}).unwrap();
    assert_eq!(place.items(), items);
}

#[test]
fn without_the_session_file_events_are_stored_as_they_came() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let payloads = recorded_payloads(folder.path());
    folder.close().unwrap();
    put_all(&place, &payloads, NOW);
    let stats = place.inbox().ingest_batch(NOW).unwrap();
    assert_eq!((stats.stored, stats.dead), (payloads.len(), 0));
    let items = place.items();
    assert_eq!(item_of(&items, FAILED_COMMAND).kind, Kind::Command);
}
