//! `remora export`: everything, in a form that comes back whole.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::Value;

use crate::rebuild::{exported, remember};
use crate::sandbox::Sandbox;

#[test]
fn an_export_comes_back_whole() {
    let sandbox = Sandbox::new();
    remember(&sandbox);
    let before = exported(&sandbox);
    let mut kinds: Vec<String> = before
        .iter()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line.as_object().unwrap().keys().next().unwrap().clone()
        })
        .collect();
    kinds.dedup();
    assert_eq!(
        kinds,
        ["project", "session", "item", "file", "event", "raw"]
    );
    let done = sandbox
        .remora(&["export", "--events", "--out", "all.jsonl"])
        .go();
    assert_eq!(done.code, Some(0), "{done}");
    let elsewhere = sandbox.text("home/elsewhere");
    let there = |args: &[&str]| {
        let done = sandbox
            .remora(args)
            .environment("REMORA_HOME", &elsewhere)
            .go();
        assert_eq!(done.code, Some(0), "{done}");
        done.raw
    };
    let lines = |text: String| -> Vec<String> { text.lines().skip(1).map(str::to_owned).collect() };
    // No worker is left for what rows mean.
    there(&["config", "set", "search.background", "false"]);
    there(&["import", "jsonl", "all.jsonl"]);
    assert_eq!(lines(there(&["export", "--events"])), before);
    // Once more changes nothing, and rebuilding finds the same rows.
    there(&["import", "jsonl", "all.jsonl"]);
    there(&["rebuild"]);
    assert_eq!(lines(there(&["export", "--events"])), before);
}

#[test]
fn a_part_can_be_chosen_and_the_file_is_private() {
    let sandbox = Sandbox::new();
    let corpus = r#"{"id":"1","conv":"a","timestamp":"2023-05-08","text":"old"}
{"id":"2","conv":"a","timestamp":"2024-05-08","text":"new"}
{"id":"3","conv":"b","timestamp":"2024-05-09","text":"other"}"#;
    let done = sandbox.remora(&["import", "jsonl", "-"]).stdin(corpus).go();
    assert_eq!(done.code, Some(0), "{done}");
    let texts = |args: &[&str]| -> Vec<String> {
        let done = sandbox.remora(&["export"]).args(args).go();
        let lines = done
            .raw
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter_map(|line| Some(line.get("item")?["text"].as_str()?.to_owned()))
            .collect()
    };
    assert_eq!(texts(&[]), ["old", "new", "other"]);
    assert_eq!(texts(&["--project", "a"]), ["old", "new"]);
    assert_eq!(texts(&["--since", "2024-01-01"]), ["new", "other"]);
    assert_eq!(
        texts(&["--project", "b", "--since", "2024-05-10"]),
        Vec::<String>::new()
    );
    assert_snapshot!(sandbox.remora(&["export", "--out", "part.jsonl"]).go(), @r"
    $ remora export --out part.jsonl
    exported 8 lines to part.jsonl
    exit 0
    ");
    let mode = fs::metadata(sandbox.path("project/part.jsonl"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_empty_memory_has_a_first_line_only() {
    let sandbox = Sandbox::new();
    let done = sandbox.remora(&["export", "--events"]).go();
    let head: Value = serde_json::from_str(&done.raw).unwrap();
    assert_eq!(
        (&head["remora"], &head["version"]),
        (&"export".into(), &1.into())
    );
}

#[test]
fn bad_words_are_told() {
    let sandbox = Sandbox::new();
    let done = sandbox.remora(&["import", "jsonl", "-"]);
    done.stdin(r#"{"id":"1","conv":"a","timestamp":"2023-05-08","text":"old"}"#)
        .go();
    let soon = sandbox.remora(&["export", "--since", "soonish"]).go();
    let none = sandbox.remora(&["export", "--project", "nowhere"]).go();
    let folder = sandbox.remora(&["export", "--out", "no/such/file"]).go();
    assert_snapshot!(format!("{soon}\n{none}\n{folder}"), @r#"
    $ remora export --since soonish
    stderr: remora: --since: `soonish` is not a time; try 2026-11-15, "2026-11-15 14:30", yesterday, monday, "last week", 3d or 2h
    exit 1
    $ remora export --project nowhere
    stderr: remora: `nowhere` is not a project; known:
    stderr:   a
    exit 1
    $ remora export --out no/such/file
    stderr: remora: no/such: no such folder
    exit 1
    "#);
}
