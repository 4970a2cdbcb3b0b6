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
        describe(&list_unreported_events(stop, bytes)),
        [
            "apply_patch call_590c0bd4184d: apply_patch verification failed: Failed to re",
            "mcp__lab__fail call_faed645ddfd0: mcp failed",
        ]
    );
}

#[test]
fn a_failure_is_that_of_an_import() {
    let (event, bytes) = &recorded_events("full", EventName::Stop)[0];
    let mut calls = list_unreported_events(event, bytes);
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
        list_unreported_events(stop, &earlier),
        list_unreported_events(stop, bytes)
    );
    let fault = bytes.windows(10).position(|part| part == b"mcp failed");
    let unfinished = &bytes[..fault.unwrap()];
    assert_eq!(list_unreported_events(stop, unfinished).len(), 1);
    assert!(list_unreported_events(stop, b"no JSON\n{}\n[").is_empty());
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
fn a_compaction_gets_its_summary_where_an_import_has_it() {
    for (run, is_in_turn) in [("compact", true), ("compact-manual", false)] {
        let (mut event, bytes) = recorded_events(run, EventName::PostCompact).remove(0);
        let mut stop = recorded_events(run, EventName::Stop).remove(0).0;
        let before = event.clone();
        assert!(complete_event(&mut event, &bytes), "{run}");
        assert_eq!(event.str_field(field::SUMMARY), Some("SUMMARY-TEXT"));
        let names: Vec<&str> = event.fields.keys().map(String::as_str).collect();
        assert_eq!(names.last(), Some(&field::SUMMARY), "{run}");
        // A turn that was over by then has nothing of it.
        let told = list_unreported_events(&stop, &bytes);
        assert_eq!(told.is_empty(), !is_in_turn, "{run}");
        // The end of the next turn says the same, field by field: it is known by that.
        stop.fields.insert(field::TURN.into(), "01a2".into());
        let unreported = list_unreported_events(&stop, &bytes);
        let events: Vec<&Event> = unreported.iter().map(|read| &read.event).collect();
        assert_eq!(events, [&event], "{run}");
        // In another turn there was none.
        let mut other = before.clone();
        other.fields.insert(field::TURN.into(), "01a1".into());
        assert!(!complete_event(&mut other, &bytes), "{run}");
        assert!(!complete_event(&mut before.clone(), b""), "{run}");
    }
}

#[test]
fn the_end_of_a_session_tells_of_the_turn_that_broke_off() {
    let (end, bytes) = recorded_events("api-error", EventName::SessionEnd).remove(0);
    let unreported = list_unreported_events(&end, &bytes);
    let events: Vec<String> = unreported
        .iter()
        .map(|read| serde_json::to_string(&read.event.fields).unwrap())
        .collect();
    assert_eq!(events.len(), 1);
    let said = [
        r#""turn_id":"01a1ee8c-b954-70a2-a64a-4fd8e079eb0d""#,
        r#""model":"gpt-5.5","permission_mode":"bypassPermissions","error":"other""#,
    ];
    assert!(
        said.iter().all(|part| events[0].contains(part)),
        "{events:?}"
    );
}

#[test]
fn what_an_interrupted_turn_did_comes_with_the_next_prompt() {
    let (stop, bytes) = &recorded_events("full", EventName::Stop)[0];
    let text = String::from_utf8(bytes.clone()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().rposition(|line| line.contains(TURN_END));
    let aborted = r#"{"type":"event_msg","payload":{"type":"turn_aborted","turn_id":"t"}}"#;
    lines[end.unwrap()] = aborted;
    let next = [
        r#"{"type":"event_msg","payload":{"type":"task_started","turn_id":"next-turn"}}"#,
        r#"{"type":"event_msg","payload":{"type":"task_complete","turn_id":"next-turn"}}"#,
    ];
    lines.extend(next);
    let both = lines.join("\n") + "\n";
    let mut later = stop.clone();
    later.fields.insert(field::TURN.into(), "next-turn".into());
    let calls = list_unreported_events(&later, both.as_bytes());
    assert_eq!(calls, list_unreported_events(stop, bytes));
    assert_eq!(calls.len(), 2);
    later.name = EventName::UserPromptSubmit;
    assert_eq!(list_unreported_events(&later, both.as_bytes()), calls);
    // The prompt of that turn itself comes before all of it, also when it is read late.
    let mut first = stop.clone();
    first.name = EventName::UserPromptSubmit;
    assert!(list_unreported_events(&first, both.as_bytes()).is_empty());
    let (end, _) = recorded_events("full", EventName::SessionEnd).remove(0);
    let ids = |events: Vec<TranscriptEvent>| -> Vec<String> {
        events.into_iter().map(|read| read.id).collect()
    };
    assert_eq!(
        ids(list_unreported_events(&end, both.as_bytes())),
        ids(calls)
    );
}

#[test]
fn a_tail_that_reaches_the_end_of_an_earlier_turn_is_enough() {
    let (mut stop, bytes) = recorded_events("full", EventName::Stop).remove(0);
    let earlier = r#"{"type":"event_msg","payload":{"type":"task_complete","turn_id":"earlier","error":null}}"#;
    let broken = r#"{"type":"event_msg","payload":{"type":"task_complete","turn_id":"earlier","error":{"message":"bad"}}}"#;
    let (mut end, _) = recorded_events("full", EventName::SessionEnd).remove(0);
    for (head, is_enough) in [("", false), (earlier, true), (broken, false)] {
        let tail = [head.as_bytes(), b"\n", &bytes].concat();
        assert_eq!(complete_event(&mut stop, &tail), is_enough, "{head}");
        // After a turn that ended nothing is left to tell.
        assert!(complete_event(&mut end, &tail), "{head}");
    }
    assert!(!complete_event(&mut end, broken.as_bytes()));
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
    for name in [
        EventName::UserPromptSubmit,
        EventName::PostCompact,
        EventName::SessionEnd,
    ] {
        let event = event(name, file.into());
        assert_eq!(find_source(&event), Some(Path::new(file)), "{name:?}");
    }
    for (name, path) in [
        (EventName::Stop, Value::Null),
        (EventName::Stop, "/etc/passwd".into()),
        (EventName::Stop, "rollout-1.jsonl".into()),
        (EventName::SubagentStop, file.into()),
        (EventName::PreCompact, file.into()),
        // No command.
        (EventName::PostToolUse, file.into()),
    ] {
        assert_eq!(find_source(&event(name, path.clone())), None, "{path}");
    }
}
