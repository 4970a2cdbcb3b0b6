//! A transcript that the client wrote of hooks that succeed, fail, hang and
//! block, and the forms that older clients write.

use serde_json::json;

use super::*;

/// Written by client 2.1.325; lines without hooks are left out.
const SESSION: &str = include_str!("../../../../fixtures/hooks/health/session.jsonl");

fn read(lines: &str) -> HealthReport {
    let mut reading = TranscriptReading::default();
    let mut report = HealthReport::default();
    for line in lines.lines() {
        assert!(TranscriptReading::is_about_hooks(line), "{line}");
        for run in reading.read_line(line) {
            report.add_run(run);
        }
    }
    report
}

fn find(hooks: &[HookHealth], command: &str) -> HookHealth {
    let found = hooks.iter().find(|hook| hook.command == command);
    found
        .unwrap_or_else(|| panic!("{command}: {hooks:#?}"))
        .clone()
}

#[test]
fn a_recorded_session_is_read() {
    let hooks = read(SESSION).list_hooks(std::iter::empty());
    let counts = |command: &str| {
        let hook = find(&hooks, command);
        (
            hook.state,
            hook.runs,
            hook.failed,
            hook.timed_out,
            hook.blocked,
        )
    };
    assert_eq!(
        counts("echo hello context"),
        (HealthState::Fine, 1, 0, 0, 0)
    );
    assert_eq!(counts("exit 1"), (HealthState::Failing, 1, 1, 0, 0));
    assert_eq!(counts("sleep 5"), (HealthState::Failing, 1, 0, 1, 0));
    assert_eq!(counts("exit 3"), (HealthState::Failing, 2, 2, 0, 0));
    assert_eq!(
        counts("echo blocked >&2; exit 2"),
        (HealthState::Fine, 1, 0, 0, 1)
    );
    // Of a stop, the summary and the lines of single hooks count once.
    assert_eq!(counts("exit 1 # stop"), (HealthState::Failing, 2, 2, 0, 0));
    assert_eq!(counts("sleep 5 # stop"), (HealthState::Failing, 2, 0, 2, 0));
    assert_eq!(counts("true # stop"), (HealthState::Silent, 2, 0, 0, 0));
    let again = find(
        &hooks,
        "grep -q 'stop_hook_active\":true' || { echo again >&2; exit 2; }",
    );
    assert_eq!((again.runs, again.blocked), (2, 1));
    assert_eq!(
        find(&hooks, "exit 1").last_error.unwrap(),
        "exit 1, nothing on stderr"
    );
    assert_eq!(
        find(&hooks, "no-such-program-x").last_error.unwrap(),
        "exit 127: /bin/sh: 1: no-such-program-x: not found"
    );
    assert_eq!(
        find(&hooks, "sleep 5").last_error.unwrap(),
        "its time limit of 500 ms ended it"
    );
    let hello = find(&hooks, "echo hello context");
    assert!(hello.injected_tokens > 0);
    assert_eq!(hello.p50_ms, Some(52));
    let failing = hooks.iter().take_while(|h| h.state == HealthState::Failing);
    assert_eq!(failing.count(), 8, "failing ones come first");
}

#[test]
fn an_older_summary_says_that_its_one_hook_failed() {
    let summary = |hooks: serde_json::Value, errors: serde_json::Value, call: &str| {
        json!({"type": "system", "subtype": "stop_hook_summary", "hookInfos": hooks, "hookErrors": errors, "toolUseID": call, "timestamp": "2026-01-01T00:00:00.000Z"})
            .to_string()
    };
    let one = json!([{"command": "gone"}]);
    let two = json!([{"command": "a", "durationMs": 1}, {"command": "b", "durationMs": 2}]);
    let failure = json!(["Failed with non-blocking status code: sh: gone: not found"]);
    let lines = [
        summary(one.clone(), failure.clone(), "1"),
        summary(one, failure.clone(), "2"),
        // Which of the two failed is not said, so neither is accused.
        summary(two, failure, "3"),
    ];
    let hooks = read(&lines.join("\n")).list_hooks(std::iter::empty());
    let gone = find(&hooks, "gone");
    assert_eq!((gone.runs, gone.failed), (2, 2));
    assert_eq!(gone.last_error.unwrap(), "sh: gone: not found");
    assert_eq!(find(&hooks, "a").failed, 0);
}

#[test]
fn what_is_not_a_run_is_left_alone() {
    let mut reading = TranscriptReading::default();
    for line in [
        "",
        "{\"hook",
        r#"{"attachment": {"type": "hook_system_message", "hookEvent": "Stop"}}"#,
        r#"{"attachment": {"type": 7}}"#,
        r#"{"subtype": "stop_hook_summary", "hookInfos": [7, {}]}"#,
        r#"{"message": {"content": "x hook error: [a]: b"}}"#,
        r#"{"message": {"content": [{"is_error": false, "content": "PreToolUse hook error: [a]: b"}]}}"#,
    ] {
        assert_eq!(reading.read_line(line), [], "{line}");
    }
    assert!(!TranscriptReading::is_about_hooks(
        r#"{"type":"user","message":"about hooks"}"#
    ));
}

#[test]
fn percentiles_are_values_that_occurred() {
    let values: Vec<u64> = (1..=100).collect();
    assert_eq!(percentile(&values, 50), Some(50));
    assert_eq!(percentile(&values, 95), Some(95));
    assert_eq!(percentile(&[7], 95), Some(7));
    assert_eq!(percentile(&[], 50), None);
}

#[test]
fn configured_hooks_are_found_by_what_the_client_calls_them() {
    let settings = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "a", "statusMessage": "Checking..."},
        {"type": "command", "command": "b", "statusMessage": "Never seen"},
    ]}]}});
    let folder = tempfile::tempdir().unwrap();
    let paths = remora_hooks::SettingsPaths {
        flag: Some(remora_hooks::FlagSettings::Json(settings.to_string())),
        ..remora_hooks::SettingsPaths::new(folder.path(), folder.path().join("home"))
    };
    let engine = remora_hooks::Engine::load(paths, remora_hooks::EngineOptions::default()).unwrap();
    let run = json!({"timestamp": "t", "attachment": {"type": "hook_success", "hookEvent": "Stop", "command": "Checking...", "stdout": "x", "toolUseID": "1"}});
    let configured = engine.handlers();
    let hooks = read(&run.to_string())
        .list_hooks(configured.map(|(handler, _)| (handler, handler.config.kind.label())));
    let rows: Vec<(&str, Option<&str>, usize)> = hooks
        .iter()
        .map(|hook| (hook.command.as_str(), hook.id.as_deref(), hook.runs))
        .collect();
    assert_eq!(rows, [("b", Some("b"), 0), ("Checking...", Some("a"), 1)]);
}
