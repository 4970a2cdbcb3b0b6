//! What one event may cost: time in proportion to its size, whatever its text.
//! A text that is read again and again takes minutes here instead of moments.

use serde_json::{Value, json};

use crate::place::{NOW, Place};

/// Repeated, these make a careless reader look at the rest of the text again
/// and again.
const UNITS: &[&str] = &[
    "</private ",
    "<private ",
    "</remora-context ",
    "-----BEGIN PRIVATE KEY-----",
    "Private-Lines:",
    "\\",
    "```\n",
    "(",
    "[a](",
    "a=",
    "://",
    "e\u{301}",
    "no, ",
    "  File \"a.py\", line 1, in b\n",
];

const BYTES: usize = 256 * 1024;

fn events(text: &str, n: usize) -> [Value; 3] {
    let event = |name: &str, field: &str| {
        let mut event = json!({
            "session_id": format!("s{n}"), "transcript_path": "/t", "cwd": "/p",
            "hook_event_name": name, "prompt_id": format!("p{n}"),
        });
        event[field] = text.into();
        event
    };
    let mut call = Place::call(n);
    call["tool_response"]["stdout"] = text.into();
    [
        event("UserPromptSubmit", "prompt"),
        event("Stop", "last_assistant_message"),
        call,
    ]
}

#[test]
fn no_text_costs_more_than_its_length() {
    let place = Place::new();
    let mut inbox = place.inbox();
    for (n, unit) in UNITS.iter().enumerate() {
        let text = unit.repeat(BYTES / unit.len());
        for event in events(&text, n) {
            place.put(NOW, &event);
        }
        let round = inbox.ingest_batch(NOW).unwrap();
        assert_eq!((round.removed, round.dead), (3, 0), "{unit}");
    }
}

#[test]
fn an_event_larger_than_its_budget_is_cut_and_stored() {
    let place = Place::new();
    let mut event = Place::call(1);
    let secret = format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let line = "all is well and goes on\n";
    let text = format!(
        "first\n{}{secret}\nlast",
        line.repeat((6 << 20) / line.len())
    );
    event["tool_response"]["stdout"] = text.into();
    place.put(NOW, &event);
    assert_eq!(place.inbox().ingest_batch(NOW).unwrap().stored, 1);
    let mut archived = Vec::new();
    for file in remora_server::archive::Archive::new(place.paths.archive_dir())
        .list_files()
        .unwrap()
    {
        remora_server::archive::read_events(&file, |event| archived.push(event)).unwrap();
    }
    let kept = archived.remove(0).event["tool_response"]["stdout"].clone();
    let kept = kept.as_str().unwrap();
    assert!(kept.starts_with("first\nall is well"));
    assert!(kept.len() < (4 << 20) + 100 && kept.ends_with(" bytes left out]"));
    assert!(!kept.contains(&secret));
}
