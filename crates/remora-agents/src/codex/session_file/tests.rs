use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::*;

/// Events of that name, and what the session file held by then.
fn recorded_events(run: &str, name: EventName) -> Vec<(Event, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/transcripts/codex")
        .join(run);
    let hooks = fs::read_to_string(folder.join("hooks.jsonl")).unwrap();
    let events = hooks.lines().map(|line| {
        let fields: Map<String, Value> = serde_json::from_str(line).unwrap();
        let name = EventName::parse(fields[field::EVENT_NAME].as_str().unwrap());
        name.map(|name| Event { name, fields })
    });
    let wanted = events.flatten().filter(|event| event.name == name);
    wanted
        .map(|event| {
            let own = event.str_field(field::AGENT_TRANSCRIPT);
            let file = own.or_else(|| event.str_field(field::TRANSCRIPT)).unwrap();
            let file = Path::new(file);
            let bytes = fs::read(folder.join(file.file_name().unwrap())).unwrap();
            (event, bytes)
        })
        .collect()
}

fn describe(calls: &[TranscriptEvent]) -> Vec<String> {
    let line = |call: &TranscriptEvent| {
        let text = |name: &str| call.event.str_field(name).unwrap_or("?").to_owned();
        let error = text(field::ERROR);
        let error: String = error.lines().next().unwrap().chars().take(45).collect();
        format!("{} {}: {error}", text(field::TOOL_NAME), text(field::CALL))
    };
    calls.iter().map(line).collect()
}

#[test]
fn a_turn_that_ended_tells_of_calls_that_failed_unheard() {
    let (stop, bytes) = &recorded_events("full", EventName::Stop)[0];
    assert_eq!(
        describe(&list_unreported_calls(stop, bytes)),
        [
            "apply_patch call_590c0bd4184d: apply_patch verification failed: Failed to re",
            "mcp__lab__fail call_faed645ddfd0: mcp failed",
        ]
    );
}

#[test]
fn a_failure_is_that_of_an_import() {
    let (event, bytes) = &recorded_events("full", EventName::Stop)[0];
    let mut calls = list_unreported_calls(event, bytes);
    let mut reader = RolloutReader::open(crate::transcript::TranscriptSource {
        path: find_source(event).unwrap(),
        session: Path::new(""),
        kind: crate::transcript::TranscriptKind::Session,
        note: None,
        first_line: None,
    });
    let mut imported = Vec::new();
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        reader
            .read_line(line, &mut |event| imported.push(event))
            .unwrap();
    }
    imported.retain(|read| {
        read.event.name == EventName::PostToolUseFailure
            && read.event.str_field(field::TOOL_NAME) != Some(tool::SHELL)
    });
    assert_eq!(imported.len(), 2);
    for (call, read) in calls.iter_mut().zip(&imported) {
        // An event of a hook does not say which branch was checked out.
        call.branch.clone_from(&read.branch);
    }
    assert_eq!(calls, imported);
}

#[test]
fn only_whole_lines_of_the_turn_are_read() {
    let (stop, bytes) = &recorded_events("full", EventName::Stop)[0];
    let mut earlier = b"cut off\n{\"an\":\"earlier turn\"}\n".to_vec();
    earlier.extend_from_slice(bytes);
    assert_eq!(
        list_unreported_calls(stop, &earlier),
        list_unreported_calls(stop, bytes)
    );
    let fault = bytes.windows(10).position(|part| part == b"mcp failed");
    let unfinished = &bytes[..fault.unwrap()];
    assert_eq!(list_unreported_calls(stop, unfinished).len(), 1);
    assert!(list_unreported_calls(stop, b"no JSON\n{}\n[").is_empty());
}

#[test]
fn a_command_gets_its_exit_code() {
    for (mut event, bytes) in recorded_events("full", EventName::PostToolUse) {
        let before = event.clone();
        let is_shell = before.str_field(field::TOOL_NAME) == Some(tool::SHELL);
        let completed = complete_event(&mut event, &bytes);
        assert_eq!(completed, is_shell, "{before:?}");
        if before.str_field(field::CALL) != Some("call_9ba7a5f52bda") {
            assert_eq!(event, before);
            continue;
        }
        assert_eq!(event.name, EventName::PostToolUseFailure);
        let text = |name: &str| event.str_field(name).unwrap_or_default();
        assert_eq!(text(field::EVENT_NAME), "PostToolUseFailure");
        let output = before.str_field(field::TOOL_RESPONSE).unwrap();
        assert_eq!(text(field::ERROR), format!("Exit code 3\n{output}"));
        assert!(!event.fields.contains_key(field::TOOL_RESPONSE));
    }
}

#[test]
fn a_command_that_was_waited_for_gets_all_that_it_printed() {
    let (mut event, bytes) = recorded_events("polled", EventName::PostToolUse).remove(0);
    assert_eq!(event.str_field(field::TOOL_RESPONSE), Some("finish\n"));
    assert!(complete_event(&mut event, &bytes));
    assert_eq!(
        event.str_field(field::ERROR),
        Some("Exit code 7\nstart\nfinish\n")
    );
    let passed = String::from_utf8(bytes)
        .unwrap()
        .replace(r#""exit_code":7"#, r#""exit_code":0"#);
    let (mut event, _) = recorded_events("polled", EventName::PostToolUse).remove(0);
    assert!(complete_event(&mut event, passed.as_bytes()));
    assert_eq!(
        event.str_field(field::TOOL_RESPONSE),
        Some("start\nfinish\n")
    );
    assert_eq!(event.name, EventName::PostToolUse);
}

#[test]
fn only_files_named_as_the_client_names_them_are_followed() {
    let file = "/home/dev/.codex/sessions/2026/11/18/rollout-2026-11-18T12-05-04-01a1.jsonl";
    let event = |name: EventName, path: Value| {
        let mut fields = Map::new();
        fields.insert(field::TRANSCRIPT.into(), path);
        Event { name, fields }
    };
    assert_eq!(
        find_source(&event(EventName::Stop, file.into())),
        Some(Path::new(file))
    );
    for (name, path) in [
        (EventName::Stop, Value::Null),
        (EventName::Stop, "/etc/passwd".into()),
        (EventName::Stop, "rollout-1.jsonl".into()),
        (EventName::SubagentStop, file.into()),
        (EventName::SessionEnd, file.into()),
        // No command.
        (EventName::PostToolUse, file.into()),
    ] {
        assert_eq!(find_source(&event(name, path.clone())), None, "{path}");
    }
}
