//! Recorded transcripts against the payloads of the same client's hooks.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

fn recorded(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/transcripts/claude-code")
        .join(path)
}

fn only(folder: &str) -> PathBuf {
    let mut files: Vec<PathBuf> = fs::read_dir(recorded(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .collect();
    files.sort();
    files.remove(0)
}

fn read(path: &Path, ending: TranscriptEnd) -> Vec<TranscriptEvent> {
    let (kind, _) = classify_path(path).unwrap();
    let note = fs::read(path.with_extension("meta.json")).ok();
    let note = note.and_then(|bytes| read_note(&bytes));
    let mut reader = TranscriptReader::new(path.display().to_string(), kind, note);
    let mut events = Vec::new();
    let bytes = fs::read(path).unwrap();
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        reader
            .read_line(line, &mut |event| events.push(event))
            .unwrap();
    }
    reader.finish_transcript(ending, &mut |event| events.push(event));
    events
}

/// One line an event: what distinguishes it from the others.
fn lines(events: &[TranscriptEvent]) -> String {
    let mut out = String::new();
    for TranscriptEvent { event, .. } in events {
        let mut parts = vec![event.name.as_str().to_owned()];
        for field in [
            "agent_type",
            "tool_name",
            "prompt",
            "error",
            "trigger",
            "compact_summary",
            "last_assistant_message",
            "reason",
        ] {
            if let Some(text) = event.str_field(field) {
                parts.push(text.replace('\n', "|"));
            }
        }
        if let Some(response) = event.fields.get("tool_response") {
            let text = response.to_string();
            parts.push(text.chars().take(30).collect());
        }
        writeln!(out, "{}", parts.join(" · ")).unwrap();
    }
    out
}

fn says(folder: &str, expected: &[&str]) {
    let events = read(&only(folder), TranscriptEnd::Open);
    assert_eq!(lines(&events).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_session_is_told_as_hooks_tell_it() {
    says(
        "full",
        &[
            "SessionStart",
            "UserPromptSubmit · do the whole job",
            r#"PostToolUse · Write · {"type":"create","filePath":"/"#,
            r#"PostToolUse · Read · {"type":"text","file":{"filePa"#,
            r#"PostToolUse · Edit · {"filePath":"/home/dev/app/src"#,
            r#"PostToolUse · Bash · {"stdout":"total 24\ndrwxr-xr-"#,
            "PostToolUseFailure · Bash · Exit code 3|oops",
            r#"PostToolUse · Read · {"type":"text","file":{"filePa"#,
            r#"PostToolUse · Bash · {"stdout":" M src/a.py\n?? src"#,
            "PostToolUseFailure · Read · File does not exist. Note: your current working directory is /home/dev/app.",
            r#"PostToolUse · Agent · {"isAsync":true,"status":"asyn"#,
            "Stop · All done.",
            "Stop · done",
        ],
    );
}

#[test]
fn a_call_has_the_key_that_a_hook_gives_it() {
    let events = read(&only("full"), TranscriptEnd::Open);
    let edit = events
        .iter()
        .find(|t| t.event.str_field("tool_name") == Some("Edit"));
    let event = &edit.unwrap().event;
    let keys: Vec<&str> = event.fields.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "session_id",
            "transcript_path",
            "cwd",
            "prompt_id",
            "hook_event_name",
            "tool_name",
            "tool_input",
            "tool_response",
            "tool_use_id"
        ]
    );
    assert_eq!(
        event.str_field("tool_use_id"),
        Some("toolu_72f89ca88c164f75a9035682")
    );
    assert_eq!(
        event.str_field("prompt_id"),
        Some("90660fe2-b579-4fec-acac-0f24bba397bd")
    );
    assert_eq!(edit.unwrap().branch.as_deref(), Some("main"));
    assert_eq!(edit.unwrap().at, 1_794_823_750_277);
}

#[test]
fn a_subagent_is_told_under_its_session() {
    let session = only("full");
    let folder = session.with_extension("").join("subagents");
    let file = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let file = file
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .last();
    let events = read(&file.unwrap(), TranscriptEnd::Open);
    assert_eq!(
        lines(&events).lines().collect::<Vec<_>>(),
        [
            r#"PostToolUse · general-purpose · Bash · {"stdout":"from-sub","stderr":"#,
            "SubagentStop · general-purpose · sub-agent finished",
        ]
    );
    for TranscriptEvent { event, .. } in &events {
        assert_eq!(
            event.str_field("session_id"),
            session.file_stem().unwrap().to_str()
        );
        assert_eq!(event.str_field("agent_id"), Some("a4139ba77d7b610c7"));
    }
}

#[test]
fn compactions_commands_and_failures_are_told() {
    says(
        "compact-auto",
        &[
            "SessionStart",
            "UserPromptSubmit · hello",
            r#"PostToolUse · Bash · {"stdout":"big","stderr":"","i"#,
            "PreCompact · auto",
            "PostCompact · auto · SUMMARY TEXT",
            "Stop · <summary>SUMMARY TEXT</summary>",
        ],
    );
    says(
        "compact-manual",
        &[
            "SessionStart",
            "UserPromptSubmit · one",
            "Stop · done",
            "PreCompact · manual",
            "PostCompact · manual · SUMMARY TEXT",
            "UserPromptSubmit · three",
            "Stop · <summary>SUMMARY TEXT</summary>",
        ],
    );
    says(
        "slash-command",
        &[
            "SessionStart",
            "UserPromptSubmit · /greet Bob",
            "Stop · done",
        ],
    );
    says(
        "stopfailure",
        &[
            "SessionStart",
            "UserPromptSubmit · hello",
            "StopFailure · rate_limit · API Error: Request rejected (429) · fake limit",
        ],
    );
    // What was refused did not happen.
    says(
        "permission",
        &["SessionStart", "UserPromptSubmit · hello", "Stop · done"],
    );
}

#[test]
fn reading_again_gives_the_same_names_and_a_copy_does_too() {
    let path = only("full");
    let first = read(&path, TranscriptEnd::Open);
    assert_eq!(read(&path, TranscriptEnd::Open), first);
    let mut names: Vec<&str> = first.iter().map(|event| event.id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), first.len(), "names are unique");
    let text = fs::read_to_string(&path).unwrap();
    let copy = text.replace(
        path.file_stem().unwrap().to_str().unwrap(),
        "another-session",
    );
    let mut reader = TranscriptReader::new("copy".into(), TranscriptKind::Session, None);
    let mut again = Vec::new();
    for line in copy.lines() {
        reader
            .read_line(line.as_bytes(), &mut |event| again.push(event.id))
            .unwrap();
    }
    reader.finish_transcript(TranscriptEnd::Open, &mut |event| again.push(event.id));
    assert_eq!(
        again,
        first.into_iter().map(|event| event.id).collect::<Vec<_>>()
    );
}

#[test]
fn a_turn_that_is_not_over_waits_unless_nobody_writes_any_more() {
    let text = fs::read_to_string(only("full")).unwrap();
    let at = text
        .lines()
        .position(|line| line.contains(r#""name":"Edit""#))
        .unwrap();
    let lines: Vec<&str> = text.lines().take(at + 1).collect();
    let end = |ending| {
        let mut reader = TranscriptReader::new("x".into(), TranscriptKind::Session, None);
        let mut names = Vec::new();
        for line in &lines {
            reader
                .read_line(line.as_bytes(), &mut |event| names.push(event.event.name))
                .unwrap();
        }
        reader.finish_transcript(ending, &mut |event| names.push(event.event.name));
        (names[2..].to_vec(), reader.is_settled())
    };
    let calls = [EventName::PostToolUse, EventName::PostToolUse];
    assert_eq!(end(TranscriptEnd::Open), (calls.to_vec(), false));
    let closed = [&calls[..], &[EventName::Stop, EventName::SessionEnd]].concat();
    assert_eq!(end(TranscriptEnd::Closed), (closed, true));
}

#[test]
fn work_between_the_lines_and_pictures_are_told_briefly() {
    let mut reader = TranscriptReader::new("x".into(), TranscriptKind::Session, None);
    let mut events = Vec::new();
    for line in [
        r#"{"type":"user","sessionId":"s","uuid":"u1","cwd":"/a","message":{"content":[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"text","text":"look"}]}}"#,
        r#"{"type":"user","isSidechain":true,"uuid":"u2","message":{"content":"search it"}}"#,
        r#"{"type":"assistant","isSidechain":true,"uuid":"u3","message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}}"#,
        r#"{"type":"user","isSidechain":true,"uuid":"u4","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]},"toolUseResult":{"type":"image","file":{"base64":"AAAA","dimensions":{"width":1}}}}"#,
        r#"{"type":"attachment","uuid":"u5","attachment":{"type":"queued_command","prompt":"and the docs","commandMode":"prompt"}}"#,
        r#"{"type":"attachment","uuid":"u6","attachment":{"type":"queued_command","prompt":"<task-notification>","commandMode":"task-notification"}}"#,
    ] {
        reader
            .read_line(line.as_bytes(), &mut |event| events.push(event))
            .unwrap();
    }
    reader.finish_transcript(TranscriptEnd::Open, &mut |event| events.push(event));
    assert_eq!(
        lines(&events).lines().collect::<Vec<_>>(),
        [
            "SessionStart",
            "UserPromptSubmit · look",
            r#"PostToolUse · Read · {"type":"image","file":{"base6"#,
            "UserPromptSubmit · and the docs",
        ]
    );
    let picture = &events[2].event;
    assert_eq!(picture.str_field("agent_id"), Some("sidechain"));
    assert_eq!(picture.fields["tool_response"]["file"]["base64"], "");
}

#[test]
fn lines_of_another_shape_tell_nothing_and_broken_ones_are_named() {
    let mut reader = TranscriptReader::new("x".into(), TranscriptKind::Session, None);
    let mut events = Vec::new();
    let mut line = |text: &[u8]| reader.read_line(text, &mut |event| events.push(event));
    for odd in [
        r#"{"type":"user","message":{"content":[1,"a",null,{"type":7}]},"uuid":5}"#,
        r#"{"type":"assistant","message":{"content":{"text":"x"}}}"#,
        r#"{"type":"user","message":"hello","isMeta":"yes"}"#,
        r#"{"type":["user"]}"#,
        r#"{"type":"system","subtype":"compact_boundary","compactMetadata":[]}"#,
        "{}",
    ] {
        assert_eq!(line(odd.as_bytes()), Ok(()), "{odd}");
    }
    assert_eq!(line(b"[1]"), Err(TranscriptLineError::NotAnObject));
    assert_eq!(
        line(br#"{"type":"user","mess"#),
        Err(TranscriptLineError::Json(20))
    );
    assert_eq!(line(b"{\"type\":\"user\",\"cwd\":\"\xff\"}"), Ok(()));
    let names: Vec<EventName> = events.iter().map(|event| event.event.name).collect();
    assert_eq!(names, [EventName::PreCompact]);
}
