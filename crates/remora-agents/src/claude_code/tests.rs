use std::path::PathBuf;

use remora_core::{EVENTS, EventName};
use serde_json::{Value, json};

use super::SPEC;
use super::parse::parse_payload;
use super::registration::REGISTRATIONS;
use crate::spec::{
    AgentPaths, DecodeError, DecodedEvent, HookResponse, InstallScope, MAX_CONTEXT_UTF16_UNITS,
    Truncation,
};

fn read(text: &str) -> Result<DecodedEvent, DecodeError> {
    parse_payload(text.as_bytes())
}

#[test]
fn what_is_not_an_event_is_said_without_quoting_it() {
    let cases = [
        ("", DecodeError::Empty, "the event is empty"),
        (" \n", DecodeError::Empty, "the event is empty"),
        (
            "secret",
            DecodeError::Json { line: 1, column: 1 },
            "the event is not valid JSON at line 1, column 1",
        ),
        (
            "{\"a\":1}\nsecret",
            DecodeError::Json { line: 2, column: 1 },
            "the event is not valid JSON at line 2, column 1",
        ),
        (
            "[\"secret\"]",
            DecodeError::NotAnObject("a list"),
            "the event must be a JSON object, found a list",
        ),
        (
            "{\"a\":\"secret\"}",
            DecodeError::NoName,
            "the event has no `hook_event_name`",
        ),
        (
            "{\"hook_event_name\":7}",
            DecodeError::NameNotAString,
            "`hook_event_name` must be a string",
        ),
        (
            "{\"hook_event_name\":\"sk-secret\"}",
            DecodeError::UnknownName(None),
            "unknown event",
        ),
        (
            "{\"hook_event_name\":\"PostNewThing\"}",
            DecodeError::UnknownName(Some("PostNewThing".into())),
            "unknown event `PostNewThing`",
        ),
        (
            "{\"a\":1,\"hook_event_name\":\"Stop",
            DecodeError::CutBeforeName,
            "the event was cut off before its `hook_event_name` was complete",
        ),
        (
            "{\"a\":\"secret",
            DecodeError::CutBeforeName,
            "the event was cut off before its `hook_event_name` was complete",
        ),
    ];
    for (text, error, message) in cases {
        let found = read(text).unwrap_err();
        assert_eq!(found.to_string(), message, "{text}");
        assert_eq!(found, error, "{text}");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_a_mark_at_the_start_is_passed_over() {
    let decoded =
        parse_payload(b"\xef\xbb\xbf{\"hook_event_name\":\"Stop\",\"x\":\"a\xffb\"}\n").unwrap();
    assert_eq!(decoded.cut, Truncation::Whole);
    assert_eq!(decoded.event.str_field("x"), Some("a\u{fffd}b"));
    // Cut within a character.
    let decoded = parse_payload(b"{\"hook_event_name\":\"Stop\",\"x\":\"a\xe2\x82").unwrap();
    assert_eq!(decoded.cut, Truncation::Cut);
    assert_eq!(decoded.event.str_field("x"), Some("a\u{fffd}… [cut off]"));
}

#[test]
fn a_lone_surrogate_does_not_lose_the_event() {
    let decoded = read(r#"{"hook_event_name":"UserPromptSubmit","prompt":"a\ud83d"}"#).unwrap();
    assert_eq!(decoded.cut, Truncation::Whole);
    assert_eq!(decoded.event.str_field("prompt"), Some("a\u{fffd}"));
}

#[test]
fn tool_output_stands_in_for_a_missing_tool_response() {
    let decoded = read(r#"{"hook_event_name":"PostToolUse","tool_output":"x"}"#).unwrap();
    let fields = json!({"hook_event_name": "PostToolUse", "tool_response": "x"});
    assert_eq!(Value::Object(decoded.event.fields), fields);
    let both = r#"{"hook_event_name":"PostToolUse","tool_response":"r","tool_output":"o"}"#;
    let decoded = read(both).unwrap();
    assert_eq!(decoded.event.str_field("tool_response"), Some("r"));
    assert_eq!(decoded.event.str_field("tool_output"), Some("o"));
}

#[test]
fn settings_lie_where_the_agent_looks() {
    let mut places = AgentPaths {
        home: "/h".into(),
        config_dir: None,
        root: "/p".into(),
    };
    let file = |places: &AgentPaths, scope| (SPEC.install.settings_file)(places, scope).unwrap();
    assert_eq!(
        file(&places, InstallScope::User),
        PathBuf::from("/h/.claude/settings.json")
    );
    assert_eq!(
        file(&places, InstallScope::Project),
        PathBuf::from("/p/.claude/settings.json")
    );
    assert_eq!(
        file(&places, InstallScope::Local),
        PathBuf::from("/p/.claude/settings.local.json")
    );
    places.config_dir = Some("/c".into());
    assert_eq!(
        file(&places, InstallScope::User),
        PathBuf::from("/c/settings.json")
    );
    assert_eq!(
        file(&places, InstallScope::Project),
        PathBuf::from("/p/.claude/settings.json")
    );
}

#[test]
fn what_was_typed_into_a_form_is_not_taken() {
    let text = r#"{"hook_event_name":"ElicitationResult","mcp_server_name":"db","action":"accept",
        "content":{"password":"hunter2"}}"#;
    let fields = read(text).unwrap().event.fields;
    assert_eq!(
        Value::Object(fields),
        json!({"hook_event_name": "ElicitationResult", "mcp_server_name": "db", "action": "accept"})
    );
}

#[test]
fn no_event_is_registered_twice_and_none_that_changes_what_the_client_does() {
    for (at, row) in REGISTRATIONS.iter().enumerate() {
        assert!(row.timeout > 0);
        assert!(
            REGISTRATIONS[..at]
                .iter()
                .all(|other| other.event != row.event),
            "{} twice",
            row.event
        );
        assert!(!matches!(
            row.event,
            EventName::WorktreeCreate | EventName::WorktreeRemove | EventName::MessageDisplay
        ));
    }
    assert_eq!(REGISTRATIONS.len(), 22);
}

fn both() -> HookResponse {
    HookResponse {
        context: Some("known\nfacts".into()),
        message: Some("for you".into()),
        ..HookResponse::default()
    }
}

#[test]
fn answers_per_event() {
    let cases = [
        (
            EventName::SessionStart,
            r#"{"systemMessage":"for you","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"known\nfacts"}}"#,
        ),
        (
            EventName::PreToolUse,
            r#"{"systemMessage":"for you","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"known\nfacts"}}"#,
        ),
        (EventName::Stop, r#"{"systemMessage":"for you"}"#),
        (EventName::SubagentStop, r#"{"systemMessage":"for you"}"#),
        (EventName::TaskCreated, r#"{"systemMessage":"for you"}"#),
        (EventName::Notification, "{}"),
        (EventName::SessionEnd, "{}"),
        (EventName::PreCompact, ""),
        (EventName::PostCompact, ""),
        (EventName::WorktreeCreate, ""),
    ];
    for (event, line) in cases {
        assert_eq!((SPEC.encode_response)(event, &both()), line, "{event}");
    }
}

#[test]
fn every_answer_is_one_object_on_one_line_or_nothing() {
    let blank = HookResponse {
        context: Some(" \n".into()),
        message: Some(String::new()),
        ..HookResponse::default()
    };
    for def in EVENTS {
        for answer in [HookResponse::default(), blank.clone(), both()] {
            let line = (SPEC.encode_response)(def.name, &answer);
            assert!(!line.contains('\n'), "{line}");
            if line.is_empty() {
                continue;
            }
            let value: Value = serde_json::from_str(&line).unwrap();
            assert!(value.is_object(), "{line}");
            if answer != both() {
                assert_eq!(line, "{}", "{}", def.text);
            }
        }
    }
}

fn encode_context(context: String) -> String {
    let answer = HookResponse {
        context: Some(context),
        message: None,
        ..HookResponse::default()
    };
    let line = (SPEC.encode_response)(EventName::SessionStart, &answer);
    let value: Value = serde_json::from_str(&line).unwrap();
    value["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn long_context_is_cut_at_a_line_end_and_says_so() {
    let exact = "é".repeat(MAX_CONTEXT_UTF16_UNITS);
    assert_eq!(encode_context(exact.clone()), exact);
    // Two units each: fewer characters than the limit, and yet too long.
    let wide = encode_context("😀".repeat(MAX_CONTEXT_UTF16_UNITS / 2 + 1));
    assert!(wide.encode_utf16().count() <= MAX_CONTEXT_UTF16_UNITS);
    assert!(wide.ends_with("😀\n[cut: Remora gives at most 10,000 characters at a time]"));
    let one = encode_context("x".repeat(MAX_CONTEXT_UTF16_UNITS + 1));
    assert_eq!(one.len(), MAX_CONTEXT_UTF16_UNITS);
    let lines = "a line of text\r\n".repeat(2_000);
    let cut = encode_context(lines);
    assert!(cut.encode_utf16().count() <= MAX_CONTEXT_UTF16_UNITS);
    assert!(cut.encode_utf16().count() > MAX_CONTEXT_UTF16_UNITS - 100);
    assert!(
        cut.ends_with("a line of text\n[cut: Remora gives at most 10,000 characters at a time]")
    );
}

#[test]
fn a_prompt_is_what_the_person_typed() {
    let cases = [
        ("why is it 3?", "why is it 3?"),
        (
            "<ide_opened_file>The user opened src/a.py.</ide_opened_file>\nwhy is it 3?",
            "why is it 3?",
        ),
        (
            " <ide_selection lines=\"1\">let x = 1;\n</ide_selection> <system-reminder>r</system-reminder>\n\nmend <b>x</b>",
            "mend <b>x</b>",
        ),
        ("<ide_opened_file>a.py</ide_opened_file>", ""),
        ("<ide_selection>never closed", "<ide_selection>never closed"),
        ("<div> is not closed, fix it", "<div> is not closed, fix it"),
        ("  two spaces before", "  two spaces before"),
        ("<", "<"),
    ];
    for (prompt, wanted) in cases {
        let text = json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}).to_string();
        let event = read(&text).unwrap().event;
        assert_eq!(event.fields["prompt"], wanted, "{prompt}");
    }
}
