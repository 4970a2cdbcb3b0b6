//! `remora hooks record` and `replay`: a session kept, and what its hooks would
//! decide now.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, bash, guard};

fn record(sandbox: &Sandbox, event: &Value) {
    let done = sandbox
        .remora(&["hooks", "record", "../r.jsonl"])
        .stdin(event.to_string())
        .go();
    assert_eq!(
        (done.code, done.raw.as_str(), done.stderr.as_str()),
        (Some(0), "", "")
    );
}

/// A session in which one call was made and one was not.
fn record_session(sandbox: &Sandbox) {
    record(
        sandbox,
        &json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}),
    );
    record(sandbox, &bash("rm -rf build"));
    let mut after = bash("rm -rf build");
    after["hook_event_name"] = json!("PostToolUse");
    record(sandbox, &after);
    record(
        sandbox,
        &json!({"hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false}),
    );
}

#[test]
fn events_are_kept_for_their_owner_and_redacted() {
    let sandbox = Sandbox::new();
    let token = format!("ghp_{}", "0123456789".repeat(4).get(..36).unwrap());
    record(
        &sandbox,
        &bash(&format!("echo {token} <private>mine</private>")),
    );
    let text = fs::read_to_string(sandbox.path("r.jsonl")).unwrap();
    assert!(!text.contains(&token) && !text.contains("mine"), "{text}");
    assert!(text.contains("\"tool_name\":\"Bash\""), "{text}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(sandbox.path("r.jsonl")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_recorder_never_harms_the_session() {
    let sandbox = Sandbox::new();
    let done = sandbox
        .remora(&["hooks", "record", "r.jsonl"])
        .stdin("no event")
        .go();
    assert_eq!((done.code, done.raw.as_str()), (Some(0), ""));
    assert!(
        done.stderr.starts_with("note: the event is not recorded"),
        "{done}"
    );
    let done = sandbox
        .remora(&["hooks", "record", "no/such/folder/r.jsonl"])
        .stdin(bash("ls").to_string())
        .go();
    assert_eq!((done.code, done.raw.as_str()), (Some(0), ""));
    // What a user tries out never happened.
    let done = sandbox
        .remora(&["hooks", "record", "r.jsonl"])
        .environment("REMORA_OFF", "1")
        .stdin(bash("ls").to_string())
        .go();
    assert_eq!(done.code, Some(0));
    assert!(!sandbox.path("project/r.jsonl").exists());
}

#[test]
fn settings_record_every_event_but_one() {
    let sandbox = Sandbox::new();
    let done = sandbox
        .remora(&["hooks", "record", "my r.jsonl", "--print-settings"])
        .go();
    let settings: Value = serde_json::from_str(&done.raw).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), 32);
    assert!(!hooks.contains_key("WorktreeCreate"));
    sandbox.project(&settings);
    sandbox.shell("printf '%s' '{\"hook_event_name\":\"Stop\"}' > e.json");
    let (_, list) = sandbox.hooks(&["lint"]).json();
    assert_eq!(list["errors"], 0, "{list}");
    let command = hooks["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    sandbox.shell(&format!(
        "HOME='{}' {command} < e.json",
        sandbox.text("home")
    ));
    assert!(sandbox.path("project/my r.jsonl").is_file());
}

#[test]
fn what_would_be_decided_otherwise_is_shown() {
    let sandbox = Sandbox::new();
    record_session(&sandbox);
    let file = sandbox.text("r.jsonl");
    let replay = |args: &[&str]| sandbox.hooks(&["replay", &file]).args(args).go();
    assert_eq!(replay(&[]).code, Some(0));
    sandbox.project(&guard("echo 'no deleting' >&2; exit 2"));
    // The recording itself shows that the call was made.
    insta::assert_snapshot!(replay(&[]), @r"
    $ remora hooks replay [ROOT]/r.jsonl
    2: PreToolUse Bash rm -rf build  (ran then)
      + decision: deny
      + reason: no deleting
    4 events played, 1 differ from what the recording shows; `--save` keeps decisions to compare with
    exit 1
    ");
    assert_eq!(replay(&["--save"]).code, Some(0));
    assert_eq!(replay(&[]).code, Some(0));
    sandbox.project(&guard("echo 'ask first' >&2; exit 2"));
    insta::assert_snapshot!(replay(&[]), @r"
    $ remora hooks replay [ROOT]/r.jsonl
    2: PreToolUse Bash rm -rf build  (ran then)
      - reason: no deleting
      + reason: ask first
      - ran: echo 'no deleting' >&2; exit 2
      + ran: echo 'ask first' >&2; exit 2
    4 events played, 1 differ from the saved decisions
    exit 1
    ");
    let (_, report) = sandbox.hooks(&["replay", &file]).json();
    assert_eq!(report["differences"][0]["then"], "ran");
    let wrong = replay(&["--plan"]);
    assert!(wrong.stderr.contains("saved without --plan"), "{wrong}");
}

#[test]
fn a_plan_runs_nothing_and_sessions_stay_unreal() {
    let sandbox = Sandbox::new();
    record_session(&sandbox);
    let file = sandbox.text("r.jsonl");
    sandbox.project(&guard("cat > seen.json; echo $REMORA_OFF > off.txt"));
    let planned = sandbox.hooks(&["replay", &file, "--plan", "--save"]).go();
    assert_eq!(planned.code, Some(0), "{planned}");
    assert!(!sandbox.path("project/seen.json").exists());
    let done = sandbox
        .hooks(&["replay", &file, "--decisions", "other.json", "--save"])
        .go();
    assert_eq!(done.code, Some(0), "{done}");
    let seen: Value =
        serde_json::from_slice(&fs::read(sandbox.path("project/seen.json")).unwrap()).unwrap();
    assert_eq!(seen["session_id"], "00000000-0000-4000-8000-000000000000");
    assert_eq!(
        fs::read_to_string(sandbox.path("project/off.txt")).unwrap(),
        "1\n"
    );
}

#[test]
fn a_file_that_is_no_recording_names_its_line() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("r.jsonl", "{\"a\": 1}\n{}\n");
    let done = sandbox.hooks(&["replay", file.to_str().unwrap()]).go();
    insta::assert_snapshot!(done, @r"
    $ remora hooks replay [ROOT]/r.jsonl
    stderr: remora: [ROOT]/r.jsonl:1: there is no `event` in it
    exit 1
    ");
}
