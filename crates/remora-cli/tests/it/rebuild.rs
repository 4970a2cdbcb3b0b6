//! `remora rebuild`: digests anew, numbers as before, nothing lost. Also the
//! session that other tests of upkeep begin with.

use std::fs;
use std::os::unix::fs::MetadataExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::hook::den::Den;
use crate::sandbox::Sandbox;

/// Captures a short session and waits until it is stored. No worker is left.
pub(crate) fn remember(sandbox: &Sandbox) {
    for event in session(&sandbox.text("project")) {
        let done = sandbox
            .remora(&["hook", "claude-code"])
            .stdin(event.to_string())
            .leaving_a_process()
            .go();
        assert_eq!(done.code, Some(0), "{done}");
    }
    let drained = sandbox
        .remora(&["worker", "drain"])
        .leaving_a_process()
        .go();
    assert_eq!(drained.code, Some(0), "{drained}");
    stop(sandbox);
}

/// Rows may wait for their meaning, and no worker is left for it.
fn without_background(sandbox: &Sandbox) {
    let args = ["config", "set", "search.background", "false"];
    let done = sandbox.remora(&args).go();
    assert_eq!(done.code, Some(0), "{done}");
}

/// Ends the worker, so that the sandbox is left empty.
pub(crate) fn stop(sandbox: &Sandbox) {
    let done = sandbox.remora(&["worker", "stop"]).go();
    assert_eq!(done.code, Some(0), "{done}");
}

fn session(cwd: &str) -> Vec<Value> {
    let event = |name: &str, fields: Value| {
        let mut event = json!({
            "session_id": "5d0a4b0e-7c53-4f0e-9b3a-6a0d5ac4e001",
            "transcript_path": format!("{cwd}/t.jsonl"),
            "cwd": cwd,
            "hook_event_name": name,
        });
        let map = event.as_object_mut().unwrap();
        map.extend(fields.as_object().unwrap().clone());
        event
    };
    let call = |id: &str, tool: &str, input: Value, response: Value| {
        event(
            "PostToolUse",
            json!({"tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": id}),
        )
    };
    let edit = json!({
        "file_path": format!("{cwd}/src/parse.rs"),
        "old_string": "fn parse() -> i32 {\n    1\n}\n",
        "new_string": "fn parse() -> i32 {\n    // see TICKET-4711\n    2\n}\n",
    });
    vec![
        event("SessionStart", json!({"source": "startup"})),
        event(
            "UserPromptSubmit",
            json!({"prompt": "Make the parser return two. Always use tabs."}),
        ),
        // Told by PostToolUse; counted, not archived.
        event(
            "PreToolUse",
            json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_1"}),
        ),
        call(
            "toolu_1",
            "Bash",
            json!({"command": "make check"}),
            json!({"stdout": "checked 12 files for TICKET-4711", "stderr": "", "interrupted": false}),
        ),
        call("toolu_2", "Edit", edit.clone(), edit),
        event(
            "Stop",
            json!({"stop_hook_active": false, "last_assistant_message": "The parser returns two now."}),
        ),
    ]
}

/// All lines of an export, without the first.
pub(crate) fn exported(sandbox: &Sandbox) -> Vec<String> {
    let done = sandbox.remora(&["export", "--events"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    done.raw.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn rebuilding_changes_nothing_that_was_right() {
    let sandbox = Sandbox::new();
    without_background(&sandbox);
    remember(&sandbox);
    // What no event made stays as well.
    let corpus =
        r#"{"id":"m1","conv":"chat","timestamp":"2024-01-01","text":"We agreed on blue."}"#;
    let imported = sandbox.remora(&["import", "jsonl", "-"]).stdin(corpus).go();
    assert_eq!(imported.code, Some(0), "{imported}");
    let before = exported(&sandbox);
    assert!(
        before.iter().any(|line| line.contains("parse.rs")),
        "{before:#?}"
    );
    let database = sandbox.path("home/.remora/remora.db");
    let inode = fs::metadata(&database).unwrap().ino();
    // Left by one that was killed.
    for name in ["remora.db.rebuild", "remora.db.rebuild-wal"] {
        fs::write(sandbox.path("home/.remora").join(name), "half").unwrap();
    }
    let dry = sandbox.remora(&["rebuild", "--dry-run"]).go();
    assert_eq!(fs::metadata(&database).unwrap().ino(), inode);
    let done = sandbox.remora(&["rebuild"]).go();
    assert_snapshot!(format!("{dry}\n\n{done}"), @r"
    $ remora rebuild --dry-run
    would be rebuilt from 5 archived events; 1 item carried over
      preference        1
      change            1
      command           1
      prompt            1
      message           1
      summary           1
      sessions          2
      events            6
    exit 0

    $ remora rebuild
    rebuilt from 5 archived events; 1 item carried over
      preference        1
      change            1
      command           1
      prompt            1
      message           1
      summary           1
      sessions          2
      events            6
    6 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    exit 0
    ");
    assert_ne!(fs::metadata(&database).unwrap().ino(), inode);
    assert_eq!(exported(&sandbox), before);
    let left: Vec<_> = fs::read_dir(sandbox.path("home/.remora"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("rebuild"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    let (_, value) = sandbox.remora(&["rebuild"]).json();
    assert_eq!(value["before"]["items"], value["after"]["items"]);
    assert_eq!(value["carried"], 1);
}

#[test]
fn a_lost_database_comes_back_from_the_archive() {
    let sandbox = Sandbox::new();
    without_background(&sandbox);
    remember(&sandbox);
    let rows = |lines: Vec<String>| -> Vec<Value> {
        let parsed = lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        parsed
            .filter_map(|line| line.get("item").cloned())
            .collect()
    };
    let titles = |rows: &[Value]| -> Vec<(Value, Value)> {
        rows.iter()
            .map(|row| (row["kind"].clone(), row["title"].clone()))
            .collect()
    };
    let before = rows(exported(&sandbox));
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(sandbox.path(&format!("home/.remora/remora.db{end}")));
    }
    let done = sandbox.remora(&["rebuild"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(titles(&rows(exported(&sandbox))), titles(&before));
}

#[test]
fn a_running_worker_makes_way_and_comes_back() {
    let sandbox = Sandbox::new();
    remember(&sandbox);
    let started = sandbox
        .remora(&["worker", "start"])
        .leaving_a_process()
        .go();
    assert_eq!(started.code, Some(0), "{started}");
    let pid = |sandbox: &Sandbox| {
        let call = sandbox.remora(&["worker", "start"]).leaving_a_process();
        call.json().1["worker"]["pid"].clone()
    };
    let first = pid(&sandbox);
    let done = sandbox.remora(&["rebuild"]).leaving_a_process().go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_ne!(pid(&sandbox), first);
    stop(&sandbox);
}

#[test]
fn a_worker_is_left_when_rows_wait_for_their_meaning() {
    let den = Den::new();
    let row = r#"{"id":"1","conv":"a","timestamp":"2023-05-08","text":"Rain again."}"#;
    let told = den.remora(&["import", "jsonl", "-"]).stdin(row).go();
    assert_eq!(told.code, Some(0), "{told}");
    assert!(den.deserted());
    let done = den.remora(&["rebuild"]).go();
    assert!(done.stdout.contains("the worker sees to it"), "{done}");
    den.worker();
}

#[test]
fn without_anything_there_is_nothing_to_do() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.remora(&["rebuild"]).go(), @r"
    $ remora rebuild
    there is nothing to rebuild from yet
    exit 0
    ");
    assert_snapshot!(sandbox.remora(&["rebuild"]).json().0, @r#"
    $ remora rebuild --json
    {
      "dry_run": false,
      "events": 0,
      "carried": 0,
      "unreadable": 0,
      "before": {
        "events": 0,
        "sessions": 0,
        "db_bytes": 0
      },
      "after": {
        "events": 0,
        "sessions": 0,
        "db_bytes": 0
      },
      "waiting": 0
    }
    exit 0
    "#);
}
