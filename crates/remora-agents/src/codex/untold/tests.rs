use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::*;

/// What ended a turn, and what the session file held by then.
fn turn_ends(run: &str, name: EventName) -> Vec<(Event, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/transcripts/codex")
        .join(run);
    let hooks = fs::read_to_string(folder.join("hooks.jsonl")).unwrap();
    let events = hooks.lines().map(|line| {
        let fields: Map<String, Value> = serde_json::from_str(line).unwrap();
        let name = EventName::parse(fields[field::EVENT_NAME].as_str().unwrap());
        name.map(|name| Event { name, fields })
    });
    let ends = events.flatten().filter(|event| event.name == name);
    ends.map(|event| {
        let file = Path::new(find_untold_source(&event).unwrap());
        let bytes = fs::read(folder.join(file.file_name().unwrap())).unwrap();
        (event, bytes)
    })
    .collect()
}

fn describe(calls: &[UntoldCall]) -> Vec<String> {
    let line = |call: &UntoldCall| {
        let text = |name: &str| call.told.event.str_field(name).unwrap_or("?").to_owned();
        let error = text(field::ERROR);
        let error = error
            .lines()
            .next()
            .unwrap()
            .chars()
            .take(45)
            .collect::<String>();
        let tool = text(field::TOOL_NAME);
        format!("{tool} {} {}: {error}", text(field::CALL), call.was_told)
    };
    calls.iter().map(line).collect()
}

#[test]
fn a_turn_that_ended_tells_its_failures() {
    let (stop, bytes) = &turn_ends("full", EventName::Stop)[0];
    let (calls, read) = list_untold_calls(stop, bytes);
    assert_eq!(read, bytes.len());
    assert_eq!(
        describe(&calls),
        [
            "Bash call_9ba7a5f52bda true: Exit code 3",
            "apply_patch call_590c0bd4184d false: apply_patch verification failed: Failed to re",
            "mcp__lab__fail call_faed645ddfd0 false: mcp failed",
        ]
    );
}

#[test]
fn a_failure_is_that_of_an_import() {
    for (run, name) in [
        ("full", EventName::Stop),
        ("code-mode", EventName::Stop),
        ("subagent", EventName::SubagentStop),
    ] {
        let (event, bytes) = &turn_ends(run, name)[0];
        let calls = list_untold_calls(event, bytes).0;
        let mut reader = RolloutReader::open(crate::transcript::TranscriptSource {
            path: Path::new(find_untold_source(event).unwrap()),
            session: Path::new(""),
            kind: crate::transcript::TranscriptKind::Session,
            note: None,
            first_line: None,
        });
        let mut imported = Vec::new();
        for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            reader
                .read_line(line, &mut |told| imported.push(told))
                .unwrap();
        }
        imported.retain(|told| told.event.name == EventName::PostToolUseFailure);
        assert!(!imported.is_empty(), "{run}");
        let mut calls: Vec<TranscriptEvent> = calls.into_iter().map(|call| call.told).collect();
        for (call, told) in calls.iter_mut().zip(&imported) {
            // An event of a hook does not say which branch was checked out.
            call.branch.clone_from(&told.branch);
        }
        assert_eq!(calls, imported, "{run}");
    }
}

#[test]
fn only_lines_that_are_new_and_whole_are_read() {
    let ends = turn_ends("resume", EventName::Stop);
    let (stop, bytes) = &ends[1];
    let text = String::from_utf8(bytes.clone()).unwrap();
    let failed = text.replace(r#""exit_code":0"#, r#""exit_code":4"#);
    let second = failed.rfind(r#"{"timestamp""#).unwrap();
    let middle = failed.find("task_complete").unwrap();
    let middle = middle + failed[middle..].find('\n').unwrap() + 1;
    let (calls, read) = list_untold_calls(stop, &failed.as_bytes()[middle..second + 20]);
    assert_eq!(
        describe(&calls),
        ["Bash call_1035231e0c8a true: Exit code 4"]
    );
    assert_eq!(
        middle + read,
        second,
        "the last line is still being written"
    );
}

#[test]
fn a_command_that_began_in_an_earlier_turn_is_told_by_its_end() {
    let (stop, bytes) = &turn_ends("polled", EventName::Stop)[0];
    let text = String::from_utf8(bytes.clone()).unwrap();
    let end = text.find(r#""type":"CommandExecution""#).unwrap();
    let line = text[..end].rfind('\n').unwrap() + 1;
    let calls = list_untold_calls(stop, &bytes[line..]).0;
    assert_eq!(
        describe(&calls),
        ["Bash call_669fc792a5a2 true: Exit code 7"]
    );
    let input = &calls[0].told.event.fields[field::TOOL_INPUT];
    assert_eq!(
        input[field::COMMAND],
        "echo start; sleep 4; echo finish; exit 7"
    );
}

#[test]
fn sessions_that_are_not_kept_have_no_source() {
    let event = |name: EventName, path: Value| {
        let mut fields = Map::new();
        fields.insert(field::TRANSCRIPT.into(), path);
        Event { name, fields }
    };
    assert_eq!(
        find_untold_source(&event(EventName::Stop, Value::Null)),
        None
    );
    assert_eq!(
        find_untold_source(&event(EventName::Stop, "/a".into())),
        Some("/a")
    );
    assert_eq!(
        find_untold_source(&event(EventName::SubagentStop, "/a".into())),
        None
    );
    assert_eq!(
        find_untold_source(&event(EventName::SessionEnd, "/a".into())),
        None
    );
    assert_eq!(
        list_untold_calls(&event(EventName::Stop, "/a".into()), b"no JSON\n{}\n[").1,
        11
    );
}
