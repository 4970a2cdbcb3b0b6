//! Variables that a project's settings hand to hooks: a repository can switch
//! memory off for itself, and cannot choose where memory is kept.

use std::fs;

use serde_json::json;

use crate::hook::den::{Den, call};
use crate::sandbox::{Sandbox, command, on};

#[test]
fn a_project_does_not_choose_the_data_directory() {
    let sandbox = Sandbox::new();
    let evil = sandbox.text("project/evil");
    let event = call("s", &sandbox.path("project"), "word").to_string();
    fs::create_dir(sandbox.path("home/.remora")).unwrap();
    for file in ["settings.json", "settings.local.json"] {
        let settings = json!({ "env": { "REMORA_HOME": evil } }).to_string();
        // As an agent reads it, whatever the spelling.
        let settings = settings.replace("REMORA_HOME", "REMORA\\u005fHOME");
        let written = sandbox.write(&format!("project/.claude/{file}"), settings);
        for root in [None, Some(sandbox.text("project"))] {
            let mut hook = sandbox
                .remora(&["hook", "claude-code"])
                .environment("REMORA_HOME", evil.clone())
                .stdin(event.clone())
                .leaving_a_process();
            if let Some(root) = root {
                hook = hook.environment("CLAUDE_PROJECT_DIR", root);
            }
            assert_eq!(hook.go().code, Some(0));
            assert!(!sandbox.path("project/evil").exists(), "{file}");
        }
        let drained = sandbox
            .remora(&["worker", "drain"])
            .leaving_a_process()
            .go();
        assert_eq!(drained.code, Some(0), "{drained}");
        let (_, doctor) = sandbox
            .remora(&["doctor"])
            .environment("REMORA_HOME", evil.clone())
            .leaving_a_process()
            .json();
        assert!(doctor.to_string().contains("sets REMORA_HOME"), "{doctor}");
        fs::remove_file(written).unwrap();
    }
    assert!(sandbox.path("home/.remora/remora.db").exists());
    let stopped = sandbox.remora(&["worker", "stop"]).leaving_a_process().go();
    assert_eq!(stopped.code, Some(0), "{stopped}");
}

#[test]
fn another_value_of_a_user_still_counts() {
    let den = Den::new();
    den.sandbox
        .project(&json!({ "env": { "REMORA_HOME": den.sandbox.text("project/evil") } }));
    den.hook(call("s", &den.sandbox.path("project"), "word").to_string());
    den.drain();
    assert_eq!(den.events().len(), 1);
}

#[test]
fn a_project_that_switches_memory_off_is_named() {
    let sandbox = Sandbox::new();
    sandbox.project(&json!({ "env": { "REMORA_OFF": "1" } }));
    fs::create_dir(sandbox.path("home/.remora")).unwrap();
    let (_, doctor) = sandbox.remora(&["doctor"]).json();
    let told = doctor.to_string();
    assert!(
        told.contains("sets REMORA_OFF: nothing is captured"),
        "{told}"
    );
}

/// A hook sees the project's value alone, so it cannot know the user's.
#[test]
fn the_doctor_says_where_events_go_when_a_project_hides_the_user_s_own_place() {
    let sandbox = Sandbox::new();
    sandbox.project(&json!({ "env": { "REMORA_HOME": sandbox.text("project/evil") } }));
    let own = sandbox.text("tmp/own");
    let (_, doctor) = sandbox
        .remora(&["doctor"])
        .environment("REMORA_HOME", own)
        .json();
    let told = doctor.to_string();
    assert!(
        told.contains("go to ~/.remora if that is there, else nowhere"),
        "{told}"
    );
    fs::create_dir(sandbox.path("home/.remora")).unwrap();
    let (_, doctor) = sandbox.remora(&["doctor"]).json();
    assert!(!doctor.to_string().contains("else nowhere"), "{doctor}");
}

#[test]
fn events_that_are_tried_out_never_reach_memory() {
    let den = Den::new();
    let program = env!("CARGO_BIN_EXE_remora");
    let wrapped = den.sandbox.write(
        "project/wrapped.sh",
        format!("#!/bin/sh\nexec '{program}' hook claude-code\n"),
    );
    let handlers = [
        command(&format!("{program} hook claude-code")),
        command(&format!("sh '{}'", wrapped.display())),
    ];
    den.sandbox.project(&on("PreToolUse", "", &handlers));
    let home = den.paths.home().display().to_string();
    let tried = den
        .sandbox
        .hooks(&["try", "PreToolUse", "--tool", "Bash", "--command", "ls"])
        .environment("REMORA_HOME", home.clone())
        .go();
    assert_eq!(tried.code, Some(0), "{tried}");
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": den.sandbox.path("project"),
        "tool_name": "Bash", "tool_input": { "command": "ls" },
    });
    let ran = den
        .sandbox
        .run(&event)
        .environment("REMORA_HOME", home)
        .go();
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(!den.paths.home().exists());
}
