//! Files of real sessions against the hook payloads of the same sessions.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::transcript::TranscriptKind;

fn folder(run: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/transcripts/codex")
        .join(run)
}

/// The files of a run, in the order of their beginning.
fn files(run: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(run))
        .unwrap()
        .map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| is_session_file(path)).collect();
    files.sort();
    files
}

/// The hook payloads of a run, with the path in them.
fn hooks(run: &str) -> Vec<Event> {
    let text = fs::read_to_string(folder(run).join("hooks.jsonl")).unwrap();
    let events = text.lines().map(|line| {
        let fields: Map<String, Value> = serde_json::from_str(line).unwrap();
        let name = EventName::parse(fields[field::EVENT_NAME].as_str().unwrap());
        // An event that is not registered.
        name.map(|name| Event { name, fields })
    });
    events.flatten().collect()
}

/// Where the file lay when the session ran.
fn original_path(file: &Path) -> PathBuf {
    Path::new("/home/agent/.codex/sessions/2026/11/18").join(file.file_name().unwrap())
}

fn open(file: &Path, first_line: Option<&[u8]>) -> RolloutReader {
    let path = original_path(file);
    let (kind, session) = classify_file(&path, &|| {
        fs::read(file)
            .ok()?
            .split(|b| *b == b'\n')
            .next()
            .map(<[u8]>::to_vec)
    })
    .unwrap();
    RolloutReader::open(TranscriptSource {
        path: &path,
        session: &session,
        kind,
        note: None,
        first_line,
    })
}

fn read_lines(reader: &mut RolloutReader, text: &str) -> Vec<TranscriptEvent> {
    let mut events = Vec::new();
    for line in text.lines() {
        reader
            .read_line(line.as_bytes(), &mut |event| events.push(event))
            .unwrap();
    }
    events
}

fn read(file: &Path, ending: TranscriptEnd) -> Vec<TranscriptEvent> {
    let mut reader = open(file, None);
    let mut events = read_lines(&mut reader, &fs::read_to_string(file).unwrap());
    reader.finish_transcript(ending, &mut |event| events.push(event));
    events
}

/// One line an event: what distinguishes it from the others.
fn describe(events: &[TranscriptEvent]) -> Vec<String> {
    let line = |read: &TranscriptEvent| {
        let event = &read.event;
        let mut parts = vec![event.name.as_str().to_owned()];
        for name in [
            field::AGENT_TYPE,
            field::SOURCE,
            field::TOOL_NAME,
            field::PROMPT,
            field::ERROR,
            field::TRIGGER,
            field::SUMMARY,
            field::LAST_MESSAGE,
            field::REASON,
        ] {
            if let Some(text) = event.str_field(name) {
                parts.push(text.trim_end().replace('\n', "|"));
            }
        }
        parts.join(" · ")
    };
    events.iter().map(line).collect()
}

#[derive(serde::Deserialize)]
struct SessionCase {
    run: String,
    #[serde(rename = "told")]
    events: Vec<String>,
}

#[test]
fn sessions_are_told_with_the_failures_that_hooks_miss() {
    let cases = include_str!("../../../cases/codex-sessions.json");
    let cases: Vec<SessionCase> = serde_json::from_str(cases).unwrap();
    for case in cases {
        let events: Vec<TranscriptEvent> = files(&case.run)
            .iter()
            .flat_map(|file| read(file, TranscriptEnd::Closed))
            .collect();
        assert_eq!(describe(&events), case.events, "{}", case.run);
    }
}

/// Every event that both report, field by field in their order.
#[test]
fn what_hooks_told_is_told_the_same() {
    let mut compared = 0;
    for run in [
        "full",
        "patch-many",
        "patch-apply-fail",
        "mcp-fail",
        "subagent",
        "fork",
        "resume",
        "workdir",
        "code-mode",
        "stop-block",
        "compact",
        "compact-manual",
    ] {
        let mut hooks = hooks(run);
        for read_event in files(run)
            .iter()
            .flat_map(|file| read(file, TranscriptEnd::Open))
        {
            let event = read_event.event;
            let call = event.str_field(field::CALL);
            let turn = event.str_field(field::TURN);
            let twin = hooks.iter().position(|hook| {
                (hook.name == event.name)
                    && hook.str_field(field::CALL) == call
                    && hook.str_field(field::TURN) == turn
                    && hook.str_field(field::SESSION) == event.str_field(field::SESSION)
                    && hook.fields.get(field::STOP_HOOK_ACTIVE)
                        == event.fields.get(field::STOP_HOOK_ACTIVE)
            });
            let is_silent = matches!(
                event.name,
                EventName::PostToolUseFailure | EventName::SubagentStop | EventName::PostCompact
            );
            let Some(twin) = twin.filter(|_| !is_silent) else {
                assert!(is_silent, "{run}: hooks were not told of {event:?}");
                continue;
            };
            let hook = hooks.remove(twin);
            compared += 1;
            assert_eq!(
                serde_json::to_string(&event.fields).unwrap(),
                serde_json::to_string(&hook.fields).unwrap(),
                "{run}"
            );
        }
        // What is left is what a file does not report, or reports as a failure.
        hooks.retain(|hook| hook.name == EventName::PostToolUse);
        for hook in hooks {
            let tool = hook.str_field(field::TOOL_NAME).unwrap();
            let command = &hook.fields[field::TOOL_INPUT];
            let fails = tool == "Bash" && command.to_string().contains("exit ");
            assert!(fails, "{run}: {hook:?}");
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn whose_file_it_is_stands_in_its_first_line() {
    let [parent, child] = &files("subagent")[..] else {
        panic!()
    };
    let of = |file: &Path| {
        classify_file(file, &|| {
            fs::read(file).ok().map(|bytes| first_line(&bytes))
        })
    };
    let shared = folder("subagent").join("01a1ee91-2390-7af3-879a-b4d4dad0e440");
    assert_eq!(of(parent), Some((TranscriptKind::Session, shared.clone())));
    assert_eq!(of(child), Some((TranscriptKind::Subagent, shared)));
    let other = folder("subagent").join("hooks.jsonl");
    assert_eq!(of(&other), None);
    let mut head = &fs::read(child).unwrap()[..];
    assert_eq!(
        read_start_folder(&mut head).as_deref(),
        Some("/home/agent/app")
    );
}

fn first_line(bytes: &[u8]) -> Vec<u8> {
    bytes.split(|b| *b == b'\n').next().unwrap().to_vec()
}

#[test]
fn reading_goes_on_where_it_ended() {
    for run in ["resume", "subagent", "compact-manual"] {
        for file in files(run) {
            let whole = read(&file, TranscriptEnd::Open);
            let text = fs::read_to_string(&file).unwrap();
            let head = first_line(text.as_bytes());
            let ends = text.match_indices('\n').map(|(at, _)| at + 1);
            let mut settled = 0;
            for end in ends {
                let mut reader = open(&file, None);
                let mut events = read_lines(&mut reader, &text[..end]);
                if !reader.is_settled() || events.is_empty() {
                    continue;
                }
                settled += 1;
                let mut reader = open(&file, Some(&head));
                reader.mark_resumed();
                events.extend(read_lines(&mut reader, &text[end..]));
                let ids = |events: &[TranscriptEvent]| {
                    events
                        .iter()
                        .map(|event| event.id.clone())
                        .collect::<Vec<_>>()
                };
                assert_eq!(ids(&events), ids(&whole), "{run} at {end}");
            }
            assert!(settled > 0, "{run}");
        }
    }
}

#[test]
fn names_are_unique_and_do_not_change() {
    for run in ["full", "subagent", "fork", "resume", "code-mode", "compact"] {
        let events = |_| -> Vec<String> {
            let files = files(run).into_iter();
            files
                .flat_map(|file| read(&file, TranscriptEnd::Closed))
                .map(|event| event.id)
                .collect()
        };
        let (mut first, again) = (events(1), events(2));
        assert_eq!(first, again);
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), again.len(), "{run}");
    }
    let events = read(&files("full")[0], TranscriptEnd::Open);
    assert_eq!(events[0].id, "3a70704b-3b72-8cca-8d52-1d006ba31631");
    assert_eq!(events[0].branch.as_deref(), Some("main"));
    assert_eq!(events[2].at, 1_795_003_505_319);
}

#[test]
fn files_of_older_clients_are_read() {
    let lines = [
        r#"{"timestamp":"2025-10-01T10:00:00.000Z","type":"session_meta","payload":{"id":"t1","cwd":"/a","git":{"branch":"dev"}}}"#,
        r#"{"timestamp":"2025-10-01T10:00:01.000Z","type":"turn_context","payload":{"cwd":"/a/b","approval_policy":"on-request","model":"m"}}"#,
        r#"{"timestamp":"2025-10-01T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}"#,
        r#"{"timestamp":"2025-10-01T10:00:03.000Z","type":"event_msg","payload":{"type":"user_message","message":"do it"}}"#,
        r#"{"timestamp":"2025-10-01T10:00:04.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make test\"]}","call_id":"c1"}}"#,
        r#"{"timestamp":"2025-10-01T10:00:05.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"boom\\n\",\"metadata\":{\"exit_code\":2}}"}}"#,
        r#"{"timestamp":"2025-10-01T10:00:06.000Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"c2","action":{"type":"exec","command":["ls","-l"]}}}"#,
        r#"{"timestamp":"2025-10-01T10:00:07.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"Exit code: 0\nWall time: 1 seconds\nOutput:\nx\n"}}"#,
        r#"{"timestamp":"2025-10-01T10:00:08.000Z","type":"event_msg","payload":{"type":"agent_message","message":"did it"}}"#,
        r#"{"timestamp":"2025-10-01T10:00:09.000Z","type":"event_msg","payload":{"type":"user_message","message":"and now?"}}"#,
        r#"{"timestamp":"2025-10-01T10:00:10.000Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}"#,
    ];
    let mut reader = RolloutReader::default();
    let events = read_lines(&mut reader, &lines.join("\n"));
    assert_eq!(
        describe(&events),
        [
            "SessionStart · startup",
            "UserPromptSubmit · do it",
            "PostToolUseFailure · Bash · Exit code 2|boom",
            "PostToolUse · Bash",
            "Stop · did it",
            "UserPromptSubmit · and now?",
        ]
    );
    assert!(reader.is_settled());
    let fields = &events[3].event.fields;
    assert_eq!(fields[field::TOOL_INPUT], json!({ "command": "ls -l" }));
    assert_eq!(fields[field::TOOL_RESPONSE], "x\n");
    assert_eq!(
        (&fields[field::CWD], &fields[field::PERMISSION_MODE]),
        (&json!("/a/b"), &json!("default"))
    );
}

#[test]
fn lines_of_another_shape_tell_nothing_and_broken_ones_are_named() {
    let mut reader = RolloutReader::default();
    let mut events = Vec::new();
    let mut line = |text: &[u8]| reader.read_line(text, &mut |event| events.push(event));
    for odd in [
        r#"{"type":"session_meta","payload":[]}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","exit_code":"3"}}}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":7}}"#,
        r#"{"type":"event_msg","payload":{"type":"task_complete","error":1}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call","name":7,"call_id":"c"}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":null}}"#,
        r#"{"type":["x"],"payload":null}"#,
        "{}",
    ] {
        assert_eq!(line(odd.as_bytes()), Ok(()), "{odd}");
    }
    assert_eq!(line(b"[]"), Err(TranscriptLineError::NotAnObject));
    assert_eq!(line(b"{\"a"), Err(TranscriptLineError::Json(3)));
    assert!(events.is_empty(), "{events:?}");
}

/// Puts another value in the place of each value in turn.
fn replace_each(value: &Value, with: &Value, take: &mut dyn FnMut(Value)) {
    take(with.clone());
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                replace_each(inner, with, &mut |odd| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), odd);
                    take(Value::Object(fields));
                });
            }
        }
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                replace_each(inner, with, &mut |odd| {
                    let mut list = list.clone();
                    list[at] = odd;
                    take(Value::Array(list));
                });
            }
        }
        _ => {}
    }
}

#[test]
fn a_value_of_another_type_does_no_harm_wherever_it_stands() {
    for run in ["code-mode", "subagent", "compact"] {
        for file in files(run) {
            let mut reader = open(&file, None);
            for line in fs::read_to_string(&file).unwrap().lines() {
                let value: Value = serde_json::from_str(line).unwrap();
                for with in [json!(null), json!(-7), json!(""), json!(["x"]), json!({})] {
                    replace_each(&value, &with, &mut |odd| {
                        let is_object = odd.is_object();
                        let odd = odd.to_string();
                        let read = reader.read_line(odd.as_bytes(), &mut |_| {});
                        assert_eq!(read.is_ok(), is_object, "{odd}");
                    });
                }
                reader.read_line(line.as_bytes(), &mut |_| {}).unwrap();
            }
        }
    }
}
