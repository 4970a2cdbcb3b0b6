//! `remora import jsonl`: conversations from elsewhere, whole or not at all,
//! and the same store however often it is done.

mod after_hooks;
mod database;
mod git;
mod notes;
mod transcripts;

use insta::assert_snapshot;
use serde_json::Value;

use crate::rebuild::exported;
use crate::sandbox::Sandbox;

const CORPUS: &str = r#"{"id":"a:1","conv":"a","session":"a:S1","seq":0,"timestamp":"2023-05-08T13:56:00","speaker":"Ann","text":"The lighthouse keeper waters his tomatoes."}
{"id":"a:2","conv":"a","session":"a:S1","seq":1,"timestamp":"2023-05-08T13:57:00","speaker":"Ben","text":"Which tomatoes does he grow?"}

{"id":"b:1","conv":"b","session":"b:S1","seq":0,"timestamp":null,"speaker":"Cy","text":"The lighthouse is closed in winter."}
"#;

fn found(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let (done, value) = sandbox.remora(&["search"]).args(args).json();
    assert_eq!(done.code, Some(0), "{done}");
    let results = value["results"].as_array().unwrap();
    results
        .iter()
        .map(|hit| hit["external_id"].clone())
        .collect()
}

#[test]
fn a_conversation_is_found_by_its_own_names() {
    let sandbox = Sandbox::new();
    sandbox.write("project/c.jsonl", CORPUS);
    assert_snapshot!(sandbox.remora(&["import", "jsonl", "c.jsonl"]).go(), @r"
    $ remora import jsonl c.jsonl
    imported 3 items, 2 sessions, 2 projects
    exit 0
    ");
    let first = |args: &[&str]| found(&sandbox, args)[0].clone();
    assert_eq!(first(&["--project", "a", "lighthouse"]), "a:1");
    assert_eq!(found(&sandbox, &["--project", "b", "lighthouse"]), ["b:1"]);
    assert_eq!(first(&["--all", "tomatoes grow"]), "a:2");
    let before = exported(&sandbox);
    assert_snapshot!(sandbox.remora(&["import", "jsonl", "c.jsonl"]).json().0, @r#"
    $ remora import jsonl c.jsonl --json
    {
      "lines": 3,
      "items": 0,
      "unchanged": 3,
      "sessions": 2,
      "projects": 0,
      "files": 0,
      "events": 0,
      "raw": 0,
      "saved": 0,
      "embedded": 0,
      "waiting": 0
    }
    exit 0
    "#);
    assert_eq!(exported(&sandbox), before);
}

#[test]
fn everything_can_go_into_one_project_and_keeps_its_order() {
    let sandbox = Sandbox::new();
    let lines: Vec<String> = (0..40)
        .map(|n| format!(r#"{{"id":{n},"seq":{n},"text":"Step {n} of the recipe"}}"#))
        .collect();
    let args = ["import", "jsonl", "-", "--project", "kitchen"];
    let done = sandbox.remora(&args).stdin(lines.join("\r\n")).go();
    assert_snapshot!(done, @r"
    $ remora import jsonl - --project kitchen
    imported 40 items, 1 session, 1 project
    exit 0
    ");
    let rows: Vec<Value> = exported(&sandbox)
        .iter()
        .filter_map(|line| {
            serde_json::from_str::<Value>(line)
                .unwrap()
                .get("item")
                .cloned()
        })
        .collect();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["external_id"].as_str().unwrap())
        .collect();
    let expected: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(names, expected);
    assert!(rows.iter().all(|row| row["project"] == "kitchen"));
}

#[test]
fn bad_lines_are_named_and_nothing_is_stored() {
    let sandbox = Sandbox::new();
    let bad = [
        r#"{"id":"a:1","conv":"a","text":"A good line about lighthouses"}"#,
        r#"{"id":"a:2","conv":"a"}"#,
        "{ \"id\"",
        "[1]",
        r#"{"id":"a:3","conv":"a","timestamp":"soon","text":"x"}"#,
        r#"{"id":"a:4","text":"x"}"#,
        r#"{"item":{"id":1}}"#,
        r#"{"remora":"export","version":99}"#,
    ];
    sandbox.write("project/bad.jsonl", bad.join("\n"));
    assert_snapshot!(sandbox.remora(&["import", "jsonl", "bad.jsonl"]).go(), @r"
    $ remora import jsonl bad.jsonl
    stderr: remora: bad.jsonl:2: missing field `text`
    stderr: bad.jsonl:3: not JSON: EOF while parsing an object at column 6
    stderr: bad.jsonl:4: not a JSON object
    stderr: bad.jsonl:5: `timestamp`: `soon` is no time such as 2026-11-15T08:30:00Z
    stderr: bad.jsonl:6: `conv` is missing; --project says where it belongs
    stderr: bad.jsonl:7: missing field `uid`
    stderr: bad.jsonl:8: version 99 of an export is newer than this program; update remora
    stderr: nothing was imported; --skip-bad leaves such lines out
    exit 1
    ");
    assert_eq!(exported(&sandbox), Vec::<String>::new());
    let skipped = sandbox
        .remora(&["import", "jsonl", "bad.jsonl", "--skip-bad"])
        .go();
    assert_snapshot!(skipped, @r"
    $ remora import jsonl bad.jsonl --skip-bad
    imported 1 item, 1 session, 1 project
    left out 7 bad lines:
      line 2: missing field `text`
      line 3: not JSON: EOF while parsing an object at column 6
      line 4: not a JSON object
      line 5: `timestamp`: `soon` is no time such as 2026-11-15T08:30:00Z
      line 6: `conv` is missing; --project says where it belongs
      line 7: missing field `uid`
      line 8: version 99 of an export is newer than this program; update remora
    exit 0
    ");
    assert_eq!(found(&sandbox, &["--all", "lighthouses"]), ["a:1"]);
}

#[test]
fn secrets_do_not_come_in() {
    let sandbox = Sandbox::new();
    let line = r#"{"id":"1","conv":"a","text":"Use AKIAZ7Q3WX5RT2LMNB4K for <private>the vault</private> now"}"#;
    let done = sandbox.remora(&["import", "jsonl", "-"]).stdin(line).go();
    assert_snapshot!(done, @r"
    $ remora import jsonl -
    imported 1 item, 1 session, 1 project
    redacted 2 aws-access-key
    exit 0
    ");
    let all = exported(&sandbox).join("\n");
    assert!(!all.contains("AKIAZ7Q3WX5RT2LMNB4K"), "{all}");
    assert!(!all.contains("the vault"), "{all}");
}

#[test]
fn what_is_not_there_is_said() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.remora(&["import", "jsonl", "none.jsonl"]).go(), @r"
    $ remora import jsonl none.jsonl
    stderr: remora: none.jsonl: No such file or directory (os error 2)
    exit 1
    ");
}

/// A device never ends, and SQLite waits for a pipe.
#[test]
fn what_is_no_file_is_not_imported() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo pipe pipe.jsonl");
    for args in [
        ["import", "jsonl", "/dev/zero"],
        ["import", "claude-mem", "/dev/zero"],
        ["import", "claude-mem", "pipe"],
        ["import", "jsonl", "."],
    ] {
        let done = sandbox.remora(&args).go();
        assert_eq!(done.code, Some(1), "{done}");
        assert!(done.stderr.contains("not a file"), "{done}");
    }
    let done = sandbox
        .remora(&["import", "claude-code", "pipe.jsonl"])
        .go();
    assert_eq!(done.code, Some(0), "{done}");
}
