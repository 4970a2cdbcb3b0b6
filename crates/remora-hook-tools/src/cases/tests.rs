//! What a file with cases may say, and what its results say.

use std::fs;

use remora_hooks::{EngineOptions, Host, SampleSession, SettingsPaths};
use serde_json::json;

use super::*;

fn read(name: &str, text: &str) -> Result<Vec<HookCase>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, text).unwrap();
    read_case_file(&file).map_err(|error| error.problem)
}

#[test]
fn a_mistake_names_its_key() {
    let case = |extra: &str| {
        format!(
            r#"{{"cases": [{{"name": "n", "event": "Stop", "expect": {{"blocked": true}}{extra}}}]}}"#
        )
    };
    for (text, problem) in [
        (case(r#", "comand": "x""#), "`cases[0].comand` is not a key; did you mean `command`?"),
        (case(r#", "command": 7"#), "`cases[0].command` must be a text, found a number"),
        (case(r#", "env": {"A": []}"#), "`cases[0].env.A` must be a text, found a list"),
        (
            r#"{"cases": [{"name": "n", "event": "Stop", "expect": {"blokced": true}}]}"#.to_owned(),
            "`cases[0].expect.blokced` is not a key; did you mean `blocked`?",
        ),
        (
            r#"[{"name": "n", "event": "Stop", "expect": {}}]"#.to_owned(),
            "`[0].expect` expects nothing",
        ),
        (
            r#"[{"name": "n", "event": "Stopp", "expect": {"blocked": true}}]"#.to_owned(),
            "`[0].event`: unknown event `Stopp`; did you mean `Stop`?",
        ),
        (
            r#"[{"name": "n", "event": {"hook_event_name": "Stop"}, "prompt": "x", "expect": {"blocked": true}}]"#
                .to_owned(),
            "`[0].prompt` has no place beside a whole event",
        ),
        (
            r#"[{"name": "n", "event": "Stop", "expect": {"permission": "no"}}]"#.to_owned(),
            "`[0].expect.permission` must be one of allow, deny, ask, defer, none, found a string",
        ),
        (r#"{"case": []}"#.to_owned(), "`case` is not a key; did you mean `cases`?"),
        (r#"{"cases": []}"#.to_owned(), "there is no case in it"),
        (r#"{"cases": 1, "cases": 2}"#.to_owned(), "`cases` is written twice"),
        ("{".to_owned(), "1:1: not valid JSON: EOF while parsing an object"),
    ] {
        assert_eq!(read("a.json", &text).map(drop).unwrap_err(), problem, "{text}");
    }
    let yaml = "cases:\n  - name: n\n    event: Stop\n    expect: {blocked: yes}\n";
    assert_eq!(
        read("a.yaml", yaml).map(drop).unwrap_err(),
        "`cases[0].expect.blocked` must be true or false, found a string"
    );
}

/// Plays cases against settings with one command for every event.
fn play(command: &str, event: &str, cases: &str) -> Vec<CaseResult> {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join(".claude");
    fs::create_dir(&settings).unwrap();
    let hooks = json!({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}});
    fs::write(settings.join("settings.json"), hooks.to_string()).unwrap();
    let file = settings.join("hooks.test.json");
    fs::write(&file, cases).unwrap();
    let cases = read_case_file(&file).unwrap();
    let project = folder.path().to_path_buf();
    let paths = SettingsPaths::new(&project, project.join("home"));
    let engine = remora_hooks::Engine::load(paths, EngineOptions::default()).unwrap();
    let host = Host {
        environment: vec![("PATH".into(), "/bin:/usr/bin".into())],
        ..Host::default()
    };
    let session = SampleSession {
        project: project.to_string_lossy().into_owned(),
        transcript: project.join("t.jsonl"),
    };
    play_cases(
        &cases,
        &CaseStage {
            engine: &engine,
            session: &session,
            host: &host,
            project: &project,
            jobs: 3,
        },
    )
}

#[test]
fn every_expectation_can_hold_and_can_fail() {
    let command = r#"grep -q secret && { echo "no $WHO" >&2; exit 2; }; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls","x":1},"additionalContext":"look here"},"systemMessage":"hi"}'"#;
    let holds = json!([
        {"name": "a", "event": "PreToolUse", "command": "cat secret", "env": {"WHO": "me"},
         "expect": {"blocked": true, "allowed": false, "permission": "deny", "reason": "no me", "stderr": ["no", "me"], "ran": 1, "failed": false, "files": {"none": null}}},
        {"name": "b", "event": "PreToolUse", "command": "ls",
         "expect": {"allowed": true, "stopped": false, "permission": "allow", "context": "look", "message": "hi", "reason": null, "updated_input": {"command": "ls"},
                    "ran": ["grep"], "not_ran": "other", "outcome": {"blocked": false}, "files": {".claude/settings.json": "hooks"}}},
    ]);
    for result in play(command, "PreToolUse", &holds.to_string()) {
        assert_eq!(result.mismatches, [], "{}", result.name);
        assert!(result.passed);
    }
    let fails = json!([
        {"name": "a", "event": "PreToolUse", "command": "ls",
         "expect": {"blocked": true, "allowed": false, "stopped": true, "failed": true, "permission": "deny", "final": "deny", "reason": "x", "stop_reason": "x",
                    "context": null, "message": "bye", "stderr": "x", "ran": 0, "not_ran": "grep", "updated_input": null, "env": {"A": "b"},
                    "files": {".claude/settings.json": null}, "outcome": {"blocked": true}}},
    ]);
    let failed = &play(command, "PreToolUse", &fails.to_string())[0];
    let keys: Vec<&str> = failed.mismatches.iter().map(|m| m.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "blocked",
            "allowed",
            "stopped",
            "failed",
            "permission",
            "final",
            "reason",
            "stop_reason",
            "context",
            "message",
            "stderr",
            "ran",
            "not_ran",
            "updated_input",
            "env.A",
            "files..claude/settings.json",
            "outcome.blocked"
        ]
    );
    assert_eq!(
        failed.mismatches[9],
        Mismatch {
            key: "message".to_owned(),
            expected: "…bye…".to_owned(),
            found: "hi".to_owned()
        }
    );
}

#[test]
fn results_keep_their_order_and_become_junit() {
    let cases: Vec<serde_json::Value> = (0..12)
        .map(|at| {
            json!({"name": format!("case <{at}>"), "event": "UserPromptSubmit", "prompt": "x", "expect": {"context": at.to_string()}})
        })
        .collect();
    let results = play("echo 7", "UserPromptSubmit", &json!(cases).to_string());
    let passed: Vec<usize> = (0..12).filter(|at| results[*at].passed).collect();
    assert_eq!(passed, [7]);
    let xml = write_junit(&results, results[0].file.parent().unwrap());
    assert!(
        xml.contains(r#"<testsuite name="hooks.test.json" tests="12" failures="11""#),
        "{xml}"
    );
    assert!(xml.contains(r#"name="case &lt;7&gt;""#), "{xml}");
    assert_eq!(xml.matches("<failure").count(), 11);
    assert!(xml.contains("context\nexpected: …0…\nfound: 7\n"), "{xml}");
}
