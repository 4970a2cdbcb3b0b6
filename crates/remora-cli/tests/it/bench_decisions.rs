//! `remora bench decisions`: chats are played, and a task gets what was decided.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A chat of user and agent in turns.
fn chat(session: &str, day: u32, turns: &[&str]) -> String {
    let line = |(seq, text): (usize, &&str)| {
        let speaker = if seq % 2 == 0 { "user" } else { "assistant" };
        let message = json!({
            "id": format!("{session}:{seq}"), "conv": "c", "session": session, "seq": seq,
            "timestamp": format!("2026-03-{day:02}T09:00:00"), "speaker": speaker, "text": text,
        });
        format!("{message}\n")
    };
    turns.iter().enumerate().map(line).collect()
}

fn write_set(sandbox: &Sandbox) {
    let chats = [
        chat(
            "paint",
            1,
            &[
                "Which green for the header?",
                "Moss green, because it passes the contrast check.",
            ],
        ),
        chat(
            "budget#0",
            2,
            &[
                "The uploader retries for ever and the storage service bans us.",
                "Settled: upload_part retries at most 5 times, then gives up with QuotaError.",
            ],
        ),
        chat(
            "fonts",
            3,
            &[
                "Do we ship the italic font?",
                "No: the italic font stays out, it weighs 400 KB.",
            ],
        ),
        chat(
            "budget#1",
            4,
            &[
                "Actually the storage service bans us after 3 attempts of upload_part, change the retries.",
                "Amended: upload_part retries at most 2 times instead of 5, then gives up with QuotaError.",
            ],
        ),
    ];
    sandbox.write("project/corpus.jsonl", chats.concat());
    let query = json!({
        "id": "budget", "conv": "c", "category": "conversation-amended",
        "text": "The storage service bans us: upload_part retries too often. Restore the number of retries.",
        "relevant": ["budget#0:0", "budget#0:1", "budget#1:0", "budget#1:1"],
    });
    sandbox.write("project/queries.jsonl", format!("{query}\n"));
}

const SET: [&str; 8] = [
    "bench",
    "decisions",
    "--corpus",
    "corpus.jsonl",
    "--queries",
    "queries.jsonl",
    "--tier",
    "fast",
];

#[test]
fn a_task_gets_the_amended_decision_and_not_the_old_one() {
    let sandbox = Sandbox::new();
    write_set(&sandbox);
    let done = sandbox.remora(&[&SET[..], &["--json"]].concat()).go();
    assert_eq!(done.code, Some(0), "{done}");
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(told["chats"], 4, "{told}");
    assert_eq!(told["figures"]["amended_tasks"], 1, "{told}");
    let task = &told["tasks"][0];
    assert_eq!(task["right_chat"], true, "{told}");
    assert_eq!(task["rule"], true, "{told}");
    assert_eq!(task["gives_old"], false, "{told}");
    let done = sandbox.remora(&[&SET[..], &["--verbose"]].concat()).go();
    assert!(
        done.stdout
            .contains("rule in the text     1 of 1 (100.0 %)"),
        "{done}"
    );
    assert!(done.stdout.contains("  | "), "{done}");
}

#[test]
fn a_task_about_a_message_that_is_not_there_is_refused() {
    let sandbox = Sandbox::new();
    write_set(&sandbox);
    let query = json!({ "id": "x", "text": "fix it", "relevant": ["nowhere:0"] });
    sandbox.write("project/queries.jsonl", format!("{query}\n"));
    let done = sandbox.remora(&SET).go();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(
        done.stderr
            .contains("queries.jsonl:1: there is no message `nowhere:0`"),
        "{done}"
    );
}
