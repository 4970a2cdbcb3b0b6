//! Labels of payloads as clients sent them, and of calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path as File;

use remora_core::record::Project;
use remora_core::request::Envelope;
use remora_core::{Event, EventName};
use serde_json::{Map, Value, json};

use super::*;
use crate::testing_events::capture_event;

fn captured(fields: Map<String, Value>) -> CapturedEvent {
    let name = fields["hook_event_name"].as_str().unwrap();
    let name = EventName::parse(name).unwrap();
    let envelope = Envelope {
        v: 1,
        id: "e".into(),
        agent: "agent".into(),
        at: 0,
        len: 0,
        cut: false,
        project: Some(Project {
            key: "k".into(),
            name: "app".into(),
            root: "/home/dev/app".into(),
        }),
        branch: None,
    };
    capture_event(envelope, Event { name, fields })
}

/// Every recorded payload by its file, with its label.
fn recorded() -> BTreeMap<String, String> {
    let folder = File::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents/claude-code");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let fields = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        found.insert(name, format_label(&captured(fields)));
    }
    found
}

#[test]
fn recorded_payloads() {
    let labels = recorded();
    let table = [
        (
            "ConfigChange-local_settings",
            "local_settings: .claude/settings.local.json",
        ),
        (
            "ConfigChange-user_settings",
            "user_settings: /home/dev/.claude/settings.json",
        ),
        ("CwdChanged", "src"),
        (
            "DirectoryAdded-slash_command-tui",
            "/home/dev/other: slash_command",
        ),
        ("Elicitation-form", "lab: Your name?"),
        ("ElicitationResult-form-cancel", "lab: cancel"),
        ("FileChanged-change", "watch.txt: change"),
        ("FileChanged-unlink", "README.md: unlink"),
        ("InstructionsLoaded-compact", "CLAUDE.md: compact"),
        (
            "InstructionsLoaded-include",
            "imp/nested4.md: include, imp/nested3.md",
        ),
        (
            "InstructionsLoaded-nested_traversal",
            "src/CLAUDE.md: nested_traversal, src/a.py",
        ),
        (
            "InstructionsLoaded-path_glob_match",
            "/home/dev/.claude/rules/u2.md: path_glob_match, src/a.py",
        ),
        (
            "InstructionsLoaded-session_start",
            "CLAUDE.md: session_start",
        ),
        (
            "Notification-elicitation_response",
            "elicitation_response: Elicitation response for server \"lab\": cancel",
        ),
        (
            "Notification-idle_prompt-tui",
            "idle_prompt: Claude is waiting for your input",
        ),
        (
            "Notification-permission_prompt-tui",
            "permission_prompt: Claude needs your permission",
        ),
        (
            "PermissionDenied-Bash",
            "Bash(curl -s http://127.0.0.1:9/x): Classifier unavailable",
        ),
        ("PermissionRequest-Write", "Write(z.txt)"),
        ("PostCompact-auto", "auto"),
        ("PostModelSwitch-command", "claude-sonnet-4-5: command"),
        ("PostToolUse-Write", "Write(src/new.py)"),
        ("PostToolUse-mcp__lab__echo", "mcp__lab__echo"),
        ("SessionEnd-clear", "clear"),
        ("SessionStart-resume", "resume"),
        ("Setup-init", "init"),
        ("StopFailure-rate_limit-tui", "rate_limit"),
        ("SubagentStart-general_purpose", "general-purpose"),
        ("TaskCompleted", "Do X"),
        ("TaskCreated", "Do X"),
        ("TeammateIdle-in_subagent-tui", "alice"),
        ("WorktreeCreate", "wt1"),
        ("WorktreeRemove", "/home/dev/wt/x"),
    ];
    for (file, wanted) in table {
        assert_eq!(labels.get(file).map(String::as_str), Some(wanted), "{file}");
    }
}

/// What the client says of an event must not be lost on the timeline; these
/// have nothing to say beyond that they came, or a row says it.
#[test]
fn no_recorded_payload_is_without_words() {
    let mute = [
        "MessageDisplay",
        "PostToolBatch",
        "Stop",
        "SubagentStop",
        "UserPromptSubmit",
    ];
    for (file, label) in recorded() {
        let event = file.split('-').next().unwrap();
        assert!(!label.is_empty() || mute.contains(&event), "{file}");
        assert!(
            !label.contains('\n') && label.chars().count() <= 310,
            "{file}"
        );
    }
}

fn told(event: &str, tool: &str, input: &Value) -> String {
    let value = json!({
        "hook_event_name": event, "tool_name": tool, "tool_input": input,
        "error": "Exit code 1\nno): such file", "reason": "",
    });
    let Value::Object(fields) = value else {
        unreachable!()
    };
    format_label(&captured(fields))
}

#[test]
fn calls_are_told_as_rules() {
    let long = "x".repeat(500);
    for (tool, input, wanted) in [
        (
            "Bash",
            json!({"command": "  cargo  test --all "}),
            "Bash(cargo test --all)",
        ),
        (
            "Bash",
            json!({"command": "cd a\n\n  rm b\r\nls"}),
            "Bash(cd a ⏎ ⏎ rm b ⏎ ls)",
        ),
        ("Bash", json!({"command": " "}), "Bash"),
        ("Bash", json!("text"), "Bash"),
        (
            "Edit",
            json!({"file_path": "/home/dev/app/src/x.rs"}),
            "Edit(src/x.rs)",
        ),
        (
            "Write",
            json!({"file_path": "/etc/hosts"}),
            "Write(/etc/hosts)",
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/home/dev/app/n.ipynb"}),
            "NotebookEdit(n.ipynb)",
        ),
        (
            "Grep",
            json!({"pattern": "fn", "path": "/home/dev/app/src"}),
            "Grep(src)",
        ),
        ("Glob", json!({"pattern": "**/*.rs"}), "Glob(**/*.rs)"),
        (
            "WebFetch",
            json!({"url": "https://me:pw@Docs.RS:443/x?token=1"}),
            "WebFetch(domain:docs.rs)",
        ),
        (
            "WebFetch",
            json!({"url": "http://[::1]:80/x"}),
            "WebFetch(domain:[::1])",
        ),
        ("WebFetch", json!({"url": "https://"}), "WebFetch"),
        ("WebSearch", json!({"query": "secret"}), "WebSearch"),
        (
            "Agent",
            json!({"subagent_type": "Explore", "prompt": "p"}),
            "Agent(Explore)",
        ),
        ("Skill", json!({"skill": "greet"}), "Skill(greet)"),
        ("mcp__lab__echo", json!({"text": "hi"}), "mcp__lab__echo"),
        (
            "Bash",
            json!({"command": long}),
            &format!("Bash({}…)", "x".repeat(193)),
        ),
    ] {
        for event in [
            "PermissionRequest",
            "PreToolUse",
            "PostToolUse",
            "PermissionDenied",
        ] {
            assert_eq!(told(event, tool, &input), wanted, "{event}");
        }
        let failed = told("PostToolUseFailure", tool, &input);
        assert_eq!(failed, format!("{wanted}: Exit code 1 no) - such file"));
    }
}
