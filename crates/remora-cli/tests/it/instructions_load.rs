//! `remora instructions load`: each file that enters the prompt is told to the
//! hooks that listen.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A project with a file for each reason, and a hook that writes down what it
/// is told.
fn sandbox() -> Sandbox {
    // Outside the checkout, whose own instruction files would show up.
    let sandbox = Sandbox::unprivileged();
    let heard = sandbox.path("tmp/heard");
    let command = format!("cat >> '{}'; echo >> '{0}'", heard.display());
    let hook = json!([{"hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"hooks": {"InstructionsLoaded": hook}});
    sandbox.write("home/.claude/settings.json", settings.to_string());
    sandbox.write("project/CLAUDE.md", "Use tabs. @docs/style.md\n");
    sandbox.write("project/docs/style.md", "Short lines.\n");
    let rule = "---\npaths: \"src/**\"\n---\nNo unwrap.\n";
    sandbox.write("project/.claude/rules/src.md", rule);
    sandbox.write("project/src/CLAUDE.md", "Nested.\n");
    sandbox.write("project/src/main.rs", "fn main() {}\n");
    sandbox
}

/// What the hook was told: file, kind, reason, and what else there is.
fn heard(sandbox: &Sandbox) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path("tmp/heard")).unwrap_or_default();
    let events = text.lines().filter(|line| !line.trim().is_empty());
    let project = format!("{}/", sandbox.path("project").display());
    events
        .map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            assert_eq!(event["hook_event_name"], "InstructionsLoaded");
            assert!(event["session_id"].is_string() && event["transcript_path"].is_string());
            let mut told: Vec<String> = Vec::new();
            for key in ["load_reason", "memory_type", "file_path"] {
                told.push(event[key].as_str().unwrap().replace(&project, ""));
            }
            for key in ["parent_file_path", "trigger_file_path"] {
                if let Some(path) = event[key].as_str() {
                    told.push(format!("{key} {}", path.replace(&project, "")));
                }
            }
            if !event["globs"].is_null() {
                told.push(event["globs"].to_string());
            }
            told.join(" ")
        })
        .collect()
}

const START: [&str; 2] = [
    "session_start Project CLAUDE.md",
    "include Project docs/style.md parent_file_path CLAUDE.md",
];

#[test]
fn hooks_hear_of_every_file_with_its_reason() {
    let sandbox = sandbox();
    let args = [
        "instructions",
        "load",
        "--fire",
        "--read",
        "src/main.rs",
        "--reset",
        "compact",
    ];
    let done = sandbox.remora(&args).go();
    assert_eq!(done.code, Some(0), "{done}");
    let mut expected: Vec<&str> = START.to_vec();
    expected.extend([
        "nested_traversal Project src/CLAUDE.md trigger_file_path src/main.rs",
        "path_glob_match Project .claude/rules/src.md trigger_file_path src/main.rs [\"src\"]",
        "compact Project CLAUDE.md",
        "include Project docs/style.md parent_file_path CLAUDE.md",
    ]);
    assert_eq!(heard(&sandbox), expected);
    assert!(done.stdout.contains("path_glob_match"), "{done}");
    assert!(done.stdout.contains("1 ok"), "{done}");
}

#[test]
fn a_cleared_cache_is_not_told() {
    let sandbox = sandbox();
    let args = ["instructions", "load", "--fire", "--reset", "clear"];
    let done = sandbox.remora(&args).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(heard(&sandbox), START);
}

#[test]
fn without_fire_nothing_runs_and_the_facts_are_printed() {
    let sandbox = sandbox();
    let done = sandbox.remora(&["instructions", "load", "--json"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(heard(&sandbox), Vec::<String>::new());
    let facts: Vec<Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let reasons: Vec<&Value> = facts.iter().map(|f| &f["load_reason"]).collect();
    assert_eq!(reasons, ["session_start", "include"]);
    assert!(facts[0].get("handlers").is_none());
}
