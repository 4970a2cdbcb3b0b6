//! `remora hooks try`: an event from a few flags, run or explained.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, command, guard, on};

/// What a handler of the event finds on stdin.
fn built(event: &str, flags: &[&str]) -> Value {
    let sandbox = Sandbox::new();
    sandbox.project(&on(event, "", &[command("cat > \"$HOME\"/event")]));
    let done = sandbox.hooks(&["try", event]).args(flags).go();
    assert_ne!(done.code, Some(1), "{done}");
    let text = std::fs::read_to_string(sandbox.path("home/event")).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "{text}");
    let project = sandbox.text("project");
    let slug = project.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let text = text
        .replace(&project, "[PROJECT]")
        .replace(&slug, "[SLUG]")
        .replace(&sandbox.text("home"), "[HOME]");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_bash_call() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("echo no >&2; exit 2"));
    assert_snapshot!(sandbox.hooks(&["try", "PreToolUse", "--tool", "Bash", "--command", "rm -rf /"]).go(), @r"
    $ remora hooks try PreToolUse --tool Bash --command rm -rf /
    PreToolUse Bash
      ✗ [Project] echo no >&2; exit 2  blocked, exit 2, [N] ms
          exit code 2 blocks
          stderr: no
      → deny
        because: a hook denied it
        reason: no
    exit 2
    ");
    assert_snapshot!(sandbox.hooks(&["try", "PreToolUse", "--command", "rm -rf /"]).json().0, @r#"
    $ remora hooks try PreToolUse --command rm -rf / --json
    {
      "event": "PreToolUse",
      "query": "Bash",
      "handlers": [
        {
          "id": "project/PreToolUse/0/0",
          "source": "project",
          "file": "[PROJECT]/.claude/settings.json",
          "matcher": "Bash",
          "type": "command",
          "label": "echo no >&2; exit 2",
          "timeout": 600.0,
          "status": "blocked",
          "why": "exit code 2 blocks",
          "exit_code": 2,
          "stderr": "no\n"
        }
      ],
      "outcome": {
        "blocked": true,
        "permission": "deny",
        "reason": "no",
        "final": "deny",
        "final_why": "a hook denied it",
        "continue": true
      }
    }
    exit 2
    "#);
}

#[test]
fn only_explained() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("exit 2"));
    assert_snapshot!(sandbox.hooks(&["try", "PreToolUse", "--file-path", "a.rs", "--explain"]).go(), @r#"
    $ remora hooks try PreToolUse --file-path a.rs --explain
    PreToolUse Edit
      ✗ does not run  [Project] exit 2
          the matcher is the exact name Bash and does not match "Edit"
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
    exit 0
    "#);
}

#[test]
fn the_flags_choose_the_tool() {
    let input = |flags: &[&str]| {
        let event = built("PreToolUse", flags);
        format!(
            "{flags:?}\n  {} {}",
            event["tool_name"], event["tool_input"]
        )
    };
    let rows = [
        input(&["--command", "make"]),
        input(&["--file-path", "src/a.rs"]),
        input(&["--file-path", "/etc/a", "--content", "text"]),
        input(&["--tool", "Read", "--file-path", "a"]),
        input(&["--url", "https://example.com/x"]),
        input(&[
            "--tool",
            "Agent",
            "--prompt",
            "look",
            "--agent-type",
            "Explore",
        ]),
        input(&["--tool", "mcp__memory__get", "--tool-input", "{\"key\":1}"]),
        input(&["--tool", "NotebookEdit", "--file-path", "n.ipynb"]),
    ];
    assert_snapshot!(rows.join("\n"), @r#"
    ["--command", "make"]
      "Bash" {"command":"make","description":"Try it"}
    ["--file-path", "src/a.rs"]
      "Edit" {"file_path":"[PROJECT]/src/a.rs","old_string":"a","new_string":"b","replace_all":false}
    ["--file-path", "/etc/a", "--content", "text"]
      "Write" {"file_path":"/etc/a","content":"text"}
    ["--tool", "Read", "--file-path", "a"]
      "Read" {"file_path":"[PROJECT]/a"}
    ["--url", "https://example.com/x"]
      "WebFetch" {"url":"https://example.com/x","prompt":"Sum it up"}
    ["--tool", "Agent", "--prompt", "look", "--agent-type", "Explore"]
      "Agent" {"description":"Try it","prompt":"look","subagent_type":"Explore"}
    ["--tool", "mcp__memory__get", "--tool-input", "{\"key\":1}"]
      "mcp__memory__get" {"key":1}
    ["--tool", "NotebookEdit", "--file-path", "n.ipynb"]
      "NotebookEdit" {"notebook_path":"[PROJECT]/n.ipynb","new_source":"0"}
    "#);
}

#[test]
fn the_whole_event() {
    assert_snapshot!(format!("{:#}", built("PreToolUse", &["--command", "make"])), @r#"
    {
      "session_id": "00000000-0000-4000-8000-000000000000",
      "transcript_path": "[HOME]/.claude/projects/[SLUG]/00000000-0000-4000-8000-000000000000.jsonl",
      "cwd": "[PROJECT]",
      "permission_mode": "default",
      "hook_event_name": "PreToolUse",
      "tool_name": "Bash",
      "tool_input": {
        "command": "make",
        "description": "Try it"
      },
      "tool_use_id": "toolu_try"
    }
    "#);
}

#[test]
fn the_answer_of_a_call() {
    let event = built(
        "PostToolUse",
        &[
            "--command",
            "make",
            "--tool-response",
            "{\"stdout\":\"done\"}",
        ],
    );
    assert_eq!(event["tool_response"], json!({"stdout": "done"}));
    let event = built("PostToolUse", &["--file-path", "a.rs", "--content", "x"]);
    assert_eq!(event["tool_response"]["filePath"], "[PROJECT]/a.rs");
    let event = built(
        "PostToolUseFailure",
        &["--command", "make", "--error", "it broke"],
    );
    assert_eq!(event["error"], "it broke");
}

#[test]
fn flags_fill_the_fields_of_their_names() {
    for (event, flags, field, value) in [
        (
            "UserPromptSubmit",
            &["--prompt", "hello"][..],
            "prompt",
            json!("hello"),
        ),
        (
            "SessionStart",
            &["--source", "resume"],
            "source",
            json!("resume"),
        ),
        (
            "SessionEnd",
            &["--reason", "clear"],
            "reason",
            json!("clear"),
        ),
        (
            "PreCompact",
            &["--trigger", "manual"],
            "trigger",
            json!("manual"),
        ),
        ("Notification", &["--message", "m"], "message", json!("m")),
        (
            "Notification",
            &["--notification-type", "idle_prompt"],
            "notification_type",
            json!("idle_prompt"),
        ),
        (
            "SubagentStop",
            &["--agent-type", "Explore"],
            "agent_type",
            json!("Explore"),
        ),
        (
            "Stop",
            &["--stop-hook-active"],
            "stop_hook_active",
            json!(true),
        ),
        ("Stop", &["--field", "n=[1,2]"], "n", json!([1, 2])),
        ("Stop", &["--field", "t=a=b"], "t", json!("a=b")),
        (
            "FileChanged",
            &["--file-path", "a"],
            "file_path",
            json!("[PROJECT]/a"),
        ),
    ] {
        let built = built(event, flags);
        assert_eq!(built[field], value, "{event} {flags:?}: {built}");
        assert_eq!(built["hook_event_name"], event);
    }
}

/// Each event has a sample, so each can be tried without a flag.
#[test]
fn every_event_can_be_tried() {
    let sandbox = Sandbox::new();
    for event in remora_core::EVENTS {
        let (done, report) = sandbox.hooks(&["try", event.text]).json();
        assert_eq!(done.code, Some(0), "{done}");
        assert_eq!(report["event"], event.text);
    }
}

#[test]
fn a_stop_that_blocks() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "Stop",
        "",
        &[command("case $(cat) in *'\"stop_hook_active\":true'*) exit 0;; esac; echo 'tests fail' >&2; exit 2")],
    ));
    assert_snapshot!(sandbox.hooks(&["try", "Stop"]).go(), @r#"
    $ remora hooks try Stop
    Stop
      ✗ [Project] case $(cat) in *'"stop_hook_active":true'*) exit 0;; esac; echo 'test…  blocked, exit 2, [N] ms
          exit code 2 blocks
          stderr: tests fail
      → blocked
        reason: tests fail
    exit 2
    "#);
    assert_snapshot!(sandbox.hooks(&["try", "Stop", "--stop-hook-active"]).go(), @r#"
    $ remora hooks try Stop --stop-hook-active
    Stop
      ✓ [Project] case $(cat) in *'"stop_hook_active":true'*) exit 0;; esac; echo 'test…  ok, exit 0, [N] ms
      → go on
    exit 0
    "#);
}

#[test]
fn a_background_handler_is_ended_or_waited_for() {
    let sandbox = Sandbox::new();
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "2 tests fail"}});
    let after = |seconds: f64| {
        let text = format!("sleep {seconds}; echo '{answer}'; touch \"$HOME\"/finished");
        let mut handler = command(&text);
        handler["async"] = json!(true);
        sandbox.project(&on("PostToolUse", "", &[handler]));
    };
    after(300.0);
    assert_snapshot!(sandbox.hooks(&["try", "PostToolUse", "--file-path", "a.rs"]).go().stdout, @r#"
    PostToolUse Edit
      … [Project] sleep 300; echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse"…  background, [N] ms
          it goes on without the host; what it says later cannot decide anything
      → go on
    "#);
    assert!(!sandbox.path("home/finished").exists());
    after(0.2);
    assert_snapshot!(sandbox.hooks(&["try", "PostToolUse", "--file-path", "a.rs", "--wait"]).go().stdout, @r#"
    PostToolUse Edit
      ✓ [Project] sleep 0.2; echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse"…  ok, exit 0, [N] ms
          its texts reach the model with the next turn
      → go on
        for the model: 2 tests fail
    "#);
    assert!(sandbox.path("home/finished").exists());
}

#[test]
fn a_handler_sends_itself_to_the_background() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "PostToolUse",
        "",
        &[command(
            "echo '{\"async\": true}'; sleep 0.2; echo '{\"systemMessage\":\"done at last\"}'",
        )],
    ));
    assert_snapshot!(sandbox.hooks(&["try", "PostToolUse", "--command", "make"]).go().stdout, @r#"
    PostToolUse Bash
      … [Project] echo '{"async": true}'; sleep 0.2; echo '{"systemMessage":"done at la…  background, [N] ms
          it goes on without the host; what it says later cannot decide anything
      → go on
    "#);
    assert_snapshot!(sandbox.hooks(&["try", "PostToolUse", "--command", "make", "--wait"]).go().stdout, @r#"
    PostToolUse Bash
      ✓ [Project] echo '{"async": true}'; sleep 0.2; echo '{"systemMessage":"done at la…  ok, exit 0, [N] ms
          its texts reach the model with the next turn
      → go on
        for the model: done at last
    "#);
}

/// In a session nothing ends it; a run of one event must have an end.
#[test]
fn waiting_ends_at_the_time_limit() {
    let sandbox = Sandbox::new();
    let mut handler = command("sleep 300");
    handler["async"] = json!(true);
    handler["timeout"] = json!(0.3);
    sandbox.project(&on("Stop", "", &[handler]));
    let (done, report) = sandbox.hooks(&["try", "Stop", "--wait"]).json();
    assert_eq!(done.code, Some(0));
    assert_eq!(report["handlers"][0]["status"], "cancelled");
}

#[test]
fn wrong_flags_are_named() {
    let sandbox = Sandbox::new();
    let mut shown = Vec::new();
    for args in [
        &["try", "PreToolUs"][..],
        &["try", "PreToolUse", "--field", "x"],
        &["try", "PreToolUse", "--tool-input", "{}"],
        &[
            "try",
            "PreToolUse",
            "--tool",
            "Bash",
            "--tool-input",
            "text",
        ],
        &["try", "PreToolUse", "--field", "hook_event_name=7"],
        &["try"],
    ] {
        shown.push(sandbox.hooks(args).plain().go().to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r"
    $ remora hooks try PreToolUs
    stderr: remora: unknown event `PreToolUs`; did you mean `PreToolUse`?
    exit 1

    $ remora hooks try PreToolUse --field x
    stderr: remora: --field x: write NAME=VALUE
    exit 1

    $ remora hooks try PreToolUse --tool-input {}
    stderr: remora: --tool-input needs --tool NAME
    exit 1

    $ remora hooks try PreToolUse --tool Bash --tool-input text
    stderr: remora: --tool-input must be a JSON object
    exit 1

    $ remora hooks try PreToolUse --field hook_event_name=7
    stderr: remora: `hook_event_name` must be a string
    stderr:   `remora hooks try EVENT` builds a valid event for you
    exit 1

    $ remora hooks try
    stderr: error: the following required arguments were not provided:
    stderr:   <EVENT>
    stderr: 
    stderr: Usage: remora hooks try <EVENT>
    stderr: 
    stderr: For more information, try '--help'.
    exit 1
    ");
}
