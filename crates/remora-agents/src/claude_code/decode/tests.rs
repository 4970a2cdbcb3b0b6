//! Events and calls as data: `cases/decode`. A case names pieces of what is
//! decoded, as Rust prints it, with `'` for `"`.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use remora_core::agent_event::{AgentEvent, EventKind, EventLabel, LabelPart};
use remora_core::ids::Timestamp;
use remora_core::{EVENTS, Event, EventName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::claude_code::SPEC;
use crate::{decode_event, read_header};

#[derive(Deserialize)]
struct Case {
    name: String,
    /// The event; that of a call is in the case itself.
    event: Option<Map<String, Value>>,
    #[serde(flatten)]
    call: Map<String, Value>,
    has: Vec<String>,
}

fn build_event(fields: Map<String, Value>, default: EventName) -> Event {
    let name = fields.get("hook_event_name").and_then(Value::as_str);
    Event {
        name: name.map_or(default, |name| EventName::parse(name).unwrap()),
        fields,
    }
}

fn decode(event: &Event) -> AgentEvent {
    decode_event("claude-code", event, Timestamp(7))
}

fn read_json<T: serde::de::DeserializeOwned>(path: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn assert_has(name: &str, event: &Event, pieces: &[String]) {
    assert!(!pieces.is_empty(), "{name}");
    let decoded = format!("{:?}", decode(event)).replace('"', "'");
    for piece in pieces {
        assert!(decoded.contains(piece), "{name}: no {piece} in\n{decoded}");
    }
}

#[test]
fn events_and_calls_are_decoded_as_the_cases_say() {
    for (file, default) in [
        ("cases/decode/events.json", EventName::Setup),
        ("cases/decode/calls.json", EventName::PostToolUse),
    ] {
        let cases: Vec<Case> = read_json(file);
        for case in cases {
            let fields = case.event.unwrap_or(case.call);
            assert_has(&case.name, &build_event(fields, default), &case.has);
        }
    }
}

#[test]
fn recorded_payloads_are_decoded_as_the_cases_say() {
    let cases: Map<String, Value> = read_json("cases/decode/recorded.json");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents/claude-code");
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap();
        assert!(cases.contains_key(name), "{name} has no case");
    }
    for (name, pieces) in cases {
        let fields = read_json(&format!("../../fixtures/agents/claude-code/{name}.json"));
        let pieces: Vec<String> = serde_json::from_value(pieces).unwrap();
        assert_has(&name, &build_event(fields, EventName::Setup), &pieces);
    }
}

fn event(name: EventName, fields: Value) -> Event {
    let Value::Object(fields) = fields else {
        panic!("an event is an object");
    };
    Event { name, fields }
}

#[test]
fn an_event_of_an_unknown_agent_is_read_as_that_of_an_import() {
    let stop = event(
        EventName::Stop,
        json!({ "last_assistant_message": "Done." }),
    );
    let decoded = decode_event("some-platform", &stop, Timestamp(7));
    assert_eq!(decoded.agent, "some-platform");
    assert_eq!(
        decoded.kind,
        EventKind::TurnEnded {
            last_message: "Done.".to_owned(),
            continued: false,
        }
    );
    assert_eq!(read_header("some-platform", &stop).session, None);
}

#[test]
fn a_header_holds_every_text_as_it_came() {
    let call = event(
        EventName::PostToolUse,
        json!({
            "session_id": "", "cwd": "/app", "prompt_id": "p", "tool_use_id": "t", "agent_id": "a",
            "file_path": "d", "tool_input": { "path": "c", "notebook_path": "", "file_path": "a" },
        }),
    );
    let header = read_header("claude-code", &call);
    assert_eq!(header.name, EventName::PostToolUse);
    assert_eq!((header.session, header.cwd), (Some(""), "/app"));
    assert_eq!((header.turn, header.call), (Some("p"), Some("t")));
    assert_eq!(header.subagent, Some("a"));
    assert_eq!(header.paths, ["a", "", "c", "d"]);
    let odd = event(
        EventName::PostToolUse,
        json!({ "session_id": 5, "cwd": null, "tool_input": ["a"], "file_path": {} }),
    );
    let header = read_header("claude-code", &odd);
    assert_eq!((header.session, header.cwd), (None, ""));
    assert_eq!(
        (header.turn, header.call, header.subagent),
        (None, None, None)
    );
    assert!(header.paths.is_empty());
}

#[test]
fn of_a_long_answer_the_text_ends_with_the_block_that_fills_it() {
    let block = json!({ "type": "text", "text": "x".repeat(150_000) });
    let call = event(
        EventName::PostToolUse,
        json!({ "tool_name": "mcp__lab__log", "tool_response": [block, block, block] }),
    );
    let EventKind::ToolFinished(_, outcome) = decode(&call).kind else {
        panic!("no finished call");
    };
    let remora_core::tool_call::ToolOutcome::Done(output) = outcome else {
        panic!("a failure");
    };
    assert_eq!(output.text.len(), 300_001);
}

/// Names that the client uses, for fields and for tools: what is decoded by
/// name is then met with values of every form.
const WORDS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Skill",
    "TaskUpdate",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
    "action",
    "agent_id",
    "answers",
    "command",
    "content",
    "create",
    "cwd",
    "edits",
    "error",
    "file",
    "file_path",
    "filenames",
    "hook_event_name",
    "lines",
    "mcp__lab__echo",
    "mcp__",
    "message",
    "numFiles",
    "old_string",
    "prompt",
    "question",
    "questions",
    "results",
    "session_id",
    "source",
    "statusChange",
    "status",
    "stdout",
    "structuredPatch",
    "task",
    "text",
    "title",
    "tool_input",
    "tool_name",
    "tool_response",
    "tool_use_id",
    "type",
    "url",
    "<task-notification>",
    "",
];

fn any_word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_word(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_decoded(
        nth in 0..EVENTS.len(),
        tool in any_word(),
        input in any_json(),
        response in any_json(),
        others in prop::collection::vec((any_word(), any_json()), 0..8),
    ) {
        let mut fields: Map<String, Value> = [
            ("tool_name".to_owned(), Value::from(tool)),
            ("tool_input".to_owned(), input),
            ("tool_response".to_owned(), response),
        ].into_iter().collect();
        fields.extend(others);
        let event = Event { name: EVENTS[nth].name, fields };
        let (header, decoded) = ((SPEC.read_header)(&event), decode(&event));
        prop_assert_eq!(decoded.name, event.name);
        prop_assert_eq!(&decoded.cwd, header.cwd);
        let session = header.session.filter(|id| !id.is_empty()).unwrap_or("unknown");
        prop_assert_eq!(decoded.session.as_str(), session);
        let names_call = matches!(&decoded.label, EventLabel::Parts(parts) if parts.contains(&LabelPart::Call));
        let holds_call = matches!(
            decoded.kind,
            EventKind::ToolAnnounced(_) | EventKind::ToolFinished(..)
        );
        prop_assert_eq!(names_call, holds_call);
    }
}
