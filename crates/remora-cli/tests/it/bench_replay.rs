//! `remora bench replay`: past sessions are played, and what they would have been
//! given is compared with what they did.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A transcript of one prompt, one edit and one answer.
fn transcript(session: &str, day: u32, prompt: &str, file: &str, answer: &str) -> String {
    let line = |second: u32, kind: &str, message: Value, more: Value| {
        let mut line = json!({
            "type": kind, "uuid": format!("{session}-{second}"), "sessionId": session,
            "timestamp": format!("2026-03-{day:02}T09:00:{second:02}.000Z"),
            "cwd": "/home/dev/shop", "gitBranch": "main", "message": message,
        });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        format!("{line}\n")
    };
    let path = format!("/home/dev/shop/{file}");
    [
        line(1, "user", json!({ "role": "user", "content": prompt }), json!({})),
        line(
            2,
            "assistant",
            json!({ "role": "assistant", "id": "m1", "stop_reason": "tool_use", "content": [{
                "type": "tool_use", "id": "t1", "name": "Write",
                "input": { "file_path": path, "content": "limit = 2\n" },
            }] }),
            json!({}),
        ),
        line(
            3,
            "user",
            json!({ "role": "user", "content": [{
                "type": "tool_result", "tool_use_id": "t1", "content": "done",
            }] }),
            json!({ "toolUseResult": { "type": "create", "filePath": path, "content": "limit = 2\n" } }),
        ),
        line(
            4,
            "assistant",
            json!({ "role": "assistant", "id": "m2", "stop_reason": "end_turn", "content": [{
                "type": "text", "text": answer,
            }] }),
            json!({}),
        ),
    ]
    .concat()
}

#[test]
fn a_later_session_uses_what_it_would_have_been_given() {
    let sandbox = Sandbox::new();
    let answer = "The uploader gives up after 2 retries, because the storage service bans us at the third; \
                  the quarantine bucket keeps the leftovers.";
    let first = transcript(
        "s1",
        1,
        "The uploader retries for ever and the storage service bans us, limit it.",
        "src/upload.toml",
        answer,
    );
    // So many sessions lie between the two that the start does not tell of the first.
    for n in 0..14 {
        let name = format!("between{n}");
        let (prompt, said) = (
            format!("Paint page {n} of the brochure."),
            format!("Page {n} is painted."),
        );
        let text = transcript(&name, 2 + n, &prompt, &format!("brochure/{n}.txt"), &said);
        sandbox.write(&format!("project/past/shop/{name}.jsonl"), text);
    }
    let second = transcript(
        "s2",
        20,
        "How many retries does the uploader make before the storage service bans us?",
        "src/upload.toml",
        answer,
    );
    sandbox.write("project/past/shop/s2.jsonl", second);
    sandbox.write("project/past/shop/s1.jsonl", first);
    let args = [
        "bench",
        "replay",
        "--transcripts",
        "past",
        "--tier",
        "fast",
        "--sample",
        "20",
        "--out",
        "read.txt",
        "--json",
    ];
    let done = sandbox.remora(&args).go();
    assert_eq!(done.code, Some(0), "{done}");
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    let all = &told["all"];
    assert_eq!(all["sessions"], 16, "{told}");
    assert_eq!(
        all["prompts_with_something_given"]["first"]["whole"], 16,
        "{told}"
    );
    let used = &all["used"]["recall"];
    assert_eq!(used["deeds"]["first"]["part"], 1, "{told}");
    let read = fs::read_to_string(sandbox.path("project/read.txt")).unwrap();
    assert!(
        read.contains("session s2, first prompt") && read.contains("gives up after 2 retries"),
        "{read}"
    );
}

#[test]
fn a_folder_without_transcripts_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("project/past/notes.txt", "nothing");
    let done = sandbox
        .remora(&["bench", "replay", "--transcripts", "past", "--tier", "fast"])
        .go();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(done.stderr.contains("no transcript of a session"), "{done}");
}
