//! Events that are none: each is a clear message and exit code 1, or a bounded
//! result.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, bash, command, guard, on};

fn said(stdin: impl Into<Vec<u8>>) -> String {
    Sandbox::new().hooks(&["run"]).stdin(stdin).go().to_string()
}

#[test]
fn empty() {
    assert_snapshot!(said(""), @r"
    $ remora hooks run
    stderr: remora: the event is empty: pipe its JSON in, name a file with --input, or let `remora hooks try EVENT` build one
    exit 1
    ");
    assert_snapshot!(said(" \n\t\r\n"), @r"
    $ remora hooks run
    stderr: remora: the event is empty: pipe its JSON in, name a file with --input, or let `remora hooks try EVENT` build one
    exit 1
    ");
}

#[test]
fn not_an_object() {
    let texts = ["[]", "7", "null", "\"Stop\"", "true"].map(said);
    assert_snapshot!(texts.join("\n"), @r"
    $ remora hooks run
    stderr: remora: the event must be a JSON object, found a list
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event must be a JSON object, found a number
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event must be a JSON object, found null
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event must be a JSON object, found a string
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event must be a JSON object, found a boolean
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    ");
}

#[test]
fn not_json() {
    let texts = [
        "{",
        "{\"hook_event_name\":\"Stop\"} x",
        "hello",
        "\u{feff}",
        "{'a':1}",
    ]
    .map(said);
    assert_snapshot!(texts.join("\n"), @r"
    $ remora hooks run
    stderr: remora: the event is not valid JSON: EOF while parsing an object at line 1 column 1
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event is not valid JSON: trailing characters at line 1 column 28
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event is not valid JSON: expected value at line 1 column 1
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event is not valid JSON: EOF while parsing a value at line 1 column 0
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: the event is not valid JSON: key must be a string at line 1 column 2
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    ");
}

#[test]
fn the_name() {
    let texts = [
        "{}",
        "{\"hook_event_name\":\"PreToolUsed\"}",
        "{\"hook_event_name\":\"xyzzy\"}",
        "{\"hook_event_name\":\"stop\"}",
        "{\"hook_event_name\":7}",
        "{\"hook_event_name\":null}",
        "{\"hook_event_name\":[\"Stop\"]}",
        "{\"hook_event_name\":\"\"}",
    ]
    .map(said);
    assert_snapshot!(texts.join("\n"), @r"
    $ remora hooks run
    stderr: remora: the event has no `hook_event_name`; add the field or pass --event NAME
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: unknown event `PreToolUsed`; did you mean `PreToolUse`?
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: unknown event `xyzzy`
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: unknown event `stop`; did you mean `Stop`?
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: `hook_event_name` must be a string
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: `hook_event_name` must be a string
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: `hook_event_name` must be a string
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    $ remora hooks run
    stderr: remora: unknown event ``
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    ");
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.hooks(&["explain", "--event", "Stopp"]).stdin("{}").go(), @r"
    $ remora hooks explain --event Stopp
    stderr: remora: unknown event `Stopp`; did you mean `Stop`?
    exit 1
    ");
}

#[test]
fn invalid_utf_8() {
    assert_snapshot!(said(&b"{\"hook_event_name\":\"Stop\",\"x\":\"\xff\xfe\"}"[..]), @r"
    $ remora hooks run
    stderr: remora: the event is not valid JSON: invalid unicode code point at line 1 column 32
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    ");
    assert_snapshot!(said(&b"\xff\xfe\x00\x01"[..]), @r"
    $ remora hooks run
    stderr: remora: the event is not valid JSON: expected value at line 1 column 1
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    ");
}

#[test]
fn nested_100_000_deep() {
    let deep = |open: &str, close: &str| {
        format!(
            "{{\"hook_event_name\":\"Stop\",\"x\":{}{}}}",
            open.repeat(100_000),
            close.repeat(100_000)
        )
    };
    assert_snapshot!(said(deep("[", "]")), @r"
    $ remora hooks run
    stderr: remora: the event is not valid JSON: recursion limit exceeded at line 1 column 157
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    ");
    assert_snapshot!(said(deep("{\"a\":", "}")), @r"
    $ remora hooks run
    stderr: remora: the event is not valid JSON: recursion limit exceeded at line 1 column 661
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1
    ");
}

#[test]
fn other_fields_of_the_wrong_type() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("cat"));
    for event in [
        json!({"hook_event_name": "PreToolUse", "tool_name": 7, "tool_input": []}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": "x"}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": {}}}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": 7, "session_id": {}, "permission_mode": []}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/no/such/folder"}),
        json!({"hook_event_name": "PreToolUse"}),
    ] {
        let (done, report) = sandbox.run(&event).json();
        assert_eq!(done.code, Some(0), "{done}");
        for handler in report["handlers"].as_array().unwrap() {
            let read: Value = serde_json::from_str(handler["stdout"].as_str().unwrap()).unwrap();
            assert_eq!(read, event);
        }
    }
}

/// A text with a NUL reaches the handler's stdin, not its environment.
#[test]
fn nul_characters() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("Stop", "", &[command("wc -c")]));
    let event = json!({"hook_event_name": "Stop", "session_id": "a\0b", "x": "\0"});
    assert_snapshot!(sandbox.run(&event).go(), @r"
    $ remora hooks run
    Stop
      ✓ [Project] wc -c  ok, exit 0, [N] ms
      → go on
    exit 0
    ");
}

/// The whole event reaches a handler, and nothing of it is cut.
#[test]
fn an_event_of_50_mb() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("PreToolUse", "", &[command("wc -c")]));
    let write = json!({"hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": "/x", "content": "x".repeat(50 << 20)}});
    for event in [write, bash(&"x".repeat(2 << 20))] {
        let length = event.to_string().len() + 1;
        let (done, report) = sandbox.run(&event).json();
        assert_eq!(done.code, Some(0));
        let counted = report["handlers"][0]["stdout"].as_str().unwrap();
        assert_eq!(counted.trim(), length.to_string());
    }
}

#[test]
fn an_event_of_more_than_64_mib() {
    let sandbox = Sandbox::new();
    let event = vec![b' '; (64 << 20) + 1];
    assert_snapshot!(sandbox.hooks(&["run"]).stdin(event.clone()).go(), @r"
    $ remora hooks run
    stderr: remora: the event is longer than 64 MiB
    exit 1
    ");
    sandbox.write("project/event.json", event);
    assert_snapshot!(sandbox.hooks(&["run", "--input", "event.json"]).go(), @r"
    $ remora hooks run --input event.json
    stderr: remora: the event is longer than 64 MiB
    exit 1
    ");
    // A file without an end is read no further.
    assert_snapshot!(sandbox.hooks(&["explain", "--input", "/dev/zero"]).go(), @r"
    $ remora hooks explain --input /dev/zero
    stderr: remora: the event is longer than 64 MiB
    exit 1
    ");
}

#[test]
fn input_files_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    sandbox.write("project/empty.json", "");
    let mut shown = Vec::new();
    for path in [
        "missing.json",
        ".",
        "empty.json",
        "empty.json/x",
        "/dev/null",
    ] {
        shown.push(sandbox.hooks(&["run", "--input", path]).go().to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r"
    $ remora hooks run --input missing.json
    stderr: remora: missing.json: No such file or directory (os error 2)
    exit 1

    $ remora hooks run --input .
    stderr: remora: .: Is a directory (os error 21)
    exit 1

    $ remora hooks run --input empty.json
    stderr: remora: the event is empty: pipe its JSON in, name a file with --input, or let `remora hooks try EVENT` build one
    exit 1

    $ remora hooks run --input empty.json/x
    stderr: remora: empty.json/x: Not a directory (os error 20)
    exit 1

    $ remora hooks run --input /dev/null
    stderr: remora: the event is empty: pipe its JSON in, name a file with --input, or let `remora hooks try EVENT` build one
    exit 1
    ");
}

#[test]
fn the_same_for_explain() {
    let sandbox = Sandbox::new();
    for stdin in ["", "[]", "{", "{}"] {
        let run = sandbox.hooks(&["run"]).stdin(stdin).go();
        let explain = sandbox.hooks(&["explain"]).stdin(stdin).go();
        assert_eq!((run.code, &run.stderr), (explain.code, &explain.stderr));
        // What went wrong is never mixed into the JSON.
        let json = sandbox.hooks(&["run", "--json"]).stdin(stdin).go();
        assert_eq!((json.code, json.stderr), (Some(1), run.stderr));
        assert_eq!(json.raw, "");
    }
}

/// A hostile matcher uses up its steps; a guard is then not skipped.
#[test]
fn a_matcher_that_would_never_end() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("PreToolUse", "^(a+)+$", &[command("true")]));
    let event = json!({"hook_event_name": "PreToolUse", "tool_name": format!("{}!", "a".repeat(60)), "tool_input": {}});
    assert_snapshot!(sandbox.run(&event).go(), @r#"
    $ remora hooks run
    PreToolUse aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!
      ✗ [Project] true  blocked, [N] ms
          the matcher is an unanchored JavaScript regular expression and used up its steps on "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"
      → deny
        because: a hook denied it
        reason: the matcher is an unanchored JavaScript regular expression and used up its steps on "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"
    warning: project/PreToolUse/0/0: the matcher is an unanchored JavaScript regular expression and used up its steps on "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"
    exit 2
    "#);
}
