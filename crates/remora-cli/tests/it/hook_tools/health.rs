//! `remora hooks health`: which transcripts are read, what is said of hooks.

use std::fs;

use serde_json::json;

use crate::sandbox::{Sandbox, command, on};

const SESSION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/hooks/health/session.jsonl"
);

/// Puts the recorded transcript where the client keeps those of the project.
fn keep_transcript(sandbox: &Sandbox) {
    let slug: String = sandbox
        .text("project")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let text = fs::read_to_string(SESSION).unwrap();
    sandbox.write(&format!("home/.claude/projects/{slug}/a.jsonl"), text);
}

#[test]
fn failing_hooks_come_first() {
    let sandbox = Sandbox::new();
    keep_transcript(&sandbox);
    sandbox.project(&on(
        "Stop",
        "",
        &[
            command("true # stop"),
            command("exit 1 # stop"),
            command("new"),
        ],
    ));
    insta::assert_snapshot!(sandbox.hooks(&["health", "--event", "Stop"]).go(), @r#"
    $ remora hooks health --event Stop
    21 recorded runs in 1 transcript, 2026-11-18 to 2026-11-18

    ✗ Stop  exit 1 # stop  project/Stop/0/1
        2 runs, 2 failed, p50 [N] ms, p95 [N] ms, last 2026-11-18
        exit 1, nothing on stderr
    ✗ Stop  sleep 5 # stop  not configured now
        2 runs, 2 timed out, p50 [N] ms, p95 [N] ms, last 2026-11-18
        its time limit of [N] ms ended it
    ? Stop  new  project/Stop/0/2
        no trace: never fired, or always silent
    · Stop  true # stop  project/Stop/0/0
        2 runs, always silent, p50 [N] ms, p95 [N] ms, last 2026-11-18
    ✓ Stop  grep -q 'stop_hook_active":true' || { echo again >&2; exit 2; }  not configured now
        2 runs, 1 blocked, p50 [N] ms, p95 [N] ms, ~2 tokens injected, last 2026-11-18
    5 hooks, 2 failing
    exit 0
    "#);
}

#[test]
fn other_projects_and_files_are_read_if_asked() {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(SESSION).unwrap();
    sandbox.write("home/.claude/projects/other/deep/a.jsonl", &text);
    let runs = |args: &[&str]| {
        let (_, report) = sandbox.hooks(&["health"]).args(args).json();
        (report["runs"].clone(), report["transcripts"].clone())
    };
    assert_eq!(runs(&[]), (json!(0), json!(0)));
    assert_eq!(runs(&["--all"]), (json!(21), json!(1)));
    assert_eq!(runs(&[SESSION]), (json!(21), json!(1)));
    // A line that is not whole costs itself alone.
    let cut = &text[..text.len() - 200];
    let cut = sandbox.write("cut.jsonl", cut);
    assert!(runs(&[cut.to_str().unwrap()]).0.as_u64() > Some(10));
    let done = sandbox.hooks(&["health", "none.jsonl"]).go();
    assert_eq!(done.code, Some(1));
    let done = sandbox.hooks(&["health"]).go();
    assert!(
        done.stdout.contains("there is no transcript here"),
        "{done}"
    );
}

#[test]
fn old_runs_can_be_left_out() {
    let sandbox = Sandbox::new();
    let line = |at: &str| json!({"type": "attachment", "timestamp": at, "attachment": {"type": "hook_success", "hookEvent": "Stop", "toolUseID": at, "command": "x", "durationMs": 3, "stdout": "y"}});
    let lines = format!(
        "{}\n{}\n",
        line("2020-01-01T00:00:00.000Z"),
        line("2999-01-01T00:00:00.000Z")
    );
    let file = sandbox.write("a.jsonl", lines);
    let file = file.to_str().unwrap();
    let (_, report) = sandbox.hooks(&["health", "--days", "30", file]).json();
    assert_eq!(report["runs"], 1);
    assert_eq!(report["hooks"][0]["p95_ms"], 3);
}
