//! `remora hooks run --json` for programs: the stable keys, and what stands in
//! them. Empty places and durations are left out of the snapshots.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, answering, bash, command, guard, on};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// Programs read these. A key may join them; none may go or change its name.
#[test]
fn the_keys_are_the_stable_ones() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("exit 2"));
    for event in [bash("make"), json!({"hook_event_name": "Stop"})] {
        let (_, report) = sandbox.run(&event).json();
        assert_eq!(
            keys(&report),
            ["event", "query", "warnings", "handlers", "outcome"]
        );
        assert_eq!(
            keys(&report["outcome"]),
            [
                "blocked",
                "permission",
                "reason",
                "final",
                "final_why",
                "continue",
                "stop_reason",
                "updated_input",
                "updated_output",
                "updated_permissions",
                "interrupt",
                "context",
                "messages",
                "initial_user_message",
                "session_title",
                "suppress_original_prompt",
                "compact_instructions",
                "display_content",
                "terminal_sequence",
                "classifier_context",
                "watch_paths",
                "env",
                "retry",
                "reload_skills",
                "worktree_path",
                "elicitation"
            ]
        );
        for handler in report["handlers"].as_array().unwrap() {
            assert_eq!(
                keys(handler),
                [
                    "id",
                    "source",
                    "file",
                    "plugin",
                    "matcher",
                    "if",
                    "type",
                    "label",
                    "timeout",
                    "status",
                    "why",
                    "exit_code",
                    "duration_ms",
                    "stdout",
                    "stderr",
                    "answer"
                ]
            );
        }
    }
}

#[test]
fn the_keys_of_explanations_and_lists() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("exit 2"));
    let (_, explanation) = sandbox.explain(&bash("make")).json();
    assert_eq!(
        keys(&explanation),
        ["event", "query", "warnings", "handlers"]
    );
    let own = [
        "id", "source", "file", "plugin", "matcher", "if", "type", "label", "timeout",
    ];
    let handler = &explanation["handlers"][0];
    assert_eq!(keys(handler), [&own[..], &["matches", "why"]].concat());
    let (_, list) = sandbox.hooks(&["list"]).json();
    assert_eq!(keys(&list), ["warnings", "events"]);
    assert_eq!(keys(&list["events"][0]), ["event", "about", "handlers"]);
    let handler = &list["events"][0]["handlers"][0];
    assert_eq!(keys(handler), [&own[..], &["label_source", "off"]].concat());
}

#[test]
fn denied() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("echo 'not here' >&2; exit 2"));
    assert_snapshot!(sandbox.run(&bash("make")).json().0, @r#"
    $ remora hooks run --json
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
          "label": "echo 'not here' >&2; exit 2",
          "timeout": 600.0,
          "status": "blocked",
          "why": "exit code 2 blocks",
          "exit_code": 2,
          "stderr": "not here\n"
        }
      ],
      "outcome": {
        "blocked": true,
        "permission": "deny",
        "reason": "not here",
        "final": "deny",
        "final_why": "a hook denied it",
        "continue": true
      }
    }
    exit 2
    "#);
}

#[test]
fn allowed_with_a_new_input() {
    let sandbox = Sandbox::new();
    sandbox.project(&answering(&json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "make -n"}}})));
    assert_snapshot!(sandbox.run(&bash("make")).json().0, @r#"
    $ remora hooks run --json
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
          "label": "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\"make -n\"}}}'",
          "timeout": 600.0,
          "status": "ok",
          "exit_code": 0,
          "stdout": "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\"make -n\"}}}\n",
          "answer": {
            "hookSpecificOutput": {
              "hookEventName": "PreToolUse",
              "permissionDecision": "allow",
              "updatedInput": {
                "command": "make -n"
              }
            }
          }
        }
      ],
      "outcome": {
        "blocked": false,
        "permission": "allow",
        "final": "allow",
        "final_why": "a hook allowed it and no rule objects",
        "continue": true,
        "updated_input": {
          "command": "make -n"
        }
      }
    }
    exit 0
    "#);
}

#[test]
fn asked_and_deferred() {
    for word in ["ask", "defer"] {
        let sandbox = Sandbox::new();
        sandbox.project(&answering(&json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "r"}})));
        let (done, report) = sandbox.run(&bash("make")).json();
        let outcome = &report["outcome"];
        assert_eq!(done.code, Some(0), "{done}");
        assert_eq!(outcome["permission"], word);
        assert_eq!(outcome["final"], word);
        assert_eq!(outcome["blocked"], false);
        assert_eq!(outcome["reason"], "r");
    }
}

#[test]
fn stopped() {
    let sandbox = Sandbox::new();
    let stop = json!({"continue": false, "stopReason": "enough for today"});
    sandbox.project(&on(
        "UserPromptSubmit",
        "",
        &[command(&format!("echo '{stop}'"))],
    ));
    let event = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"});
    assert_snapshot!(sandbox.run(&event).json().0, @r#"
    $ remora hooks run --json
    {
      "event": "UserPromptSubmit",
      "handlers": [
        {
          "id": "project/UserPromptSubmit/0/0",
          "source": "project",
          "file": "[PROJECT]/.claude/settings.json",
          "type": "command",
          "label": "echo '{\"continue\":false,\"stopReason\":\"enough for today\"}'",
          "timeout": 30.0,
          "status": "blocked",
          "exit_code": 0,
          "stdout": "{\"continue\":false,\"stopReason\":\"enough for today\"}\n",
          "answer": {
            "continue": false,
            "stopReason": "enough for today"
          }
        }
      ],
      "outcome": {
        "blocked": false,
        "reason": "enough for today",
        "continue": false,
        "stop_reason": "enough for today"
      }
    }
    exit 2
    "#);
}

#[test]
fn context_and_messages() {
    let sandbox = Sandbox::new();
    let answer = json!({"systemMessage": "for you", "hookSpecificOutput": {
        "hookEventName": "PostToolUse", "additionalContext": "for the model"}});
    sandbox.project(&on(
        "PostToolUse",
        "Write",
        &[command(&format!("echo '{answer}'"))],
    ));
    let event = json!({"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {}, "tool_response": {}});
    assert_snapshot!(sandbox.run(&event).json().0, @r#"
    $ remora hooks run --json
    {
      "event": "PostToolUse",
      "query": "Write",
      "handlers": [
        {
          "id": "project/PostToolUse/0/0",
          "source": "project",
          "file": "[PROJECT]/.claude/settings.json",
          "matcher": "Write",
          "type": "command",
          "label": "echo '{\"systemMessage\":\"for you\",\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"for the model\"}}'",
          "timeout": 600.0,
          "status": "ok",
          "exit_code": 0,
          "stdout": "{\"systemMessage\":\"for you\",\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"for the model\"}}\n",
          "answer": {
            "systemMessage": "for you",
            "hookSpecificOutput": {
              "hookEventName": "PostToolUse",
              "additionalContext": "for the model"
            }
          }
        }
      ],
      "outcome": {
        "blocked": false,
        "continue": true,
        "context": [
          "for the model"
        ],
        "messages": [
          "for you"
        ]
      }
    }
    exit 0
    "#);
}

#[test]
fn a_malformed_file() {
    let sandbox = Sandbox::new();
    sandbox.write("project/.claude/settings.json", "{\"hooks\": ");
    assert_snapshot!(sandbox.run(&bash("make")).json().0, @r#"
    $ remora hooks run --json
    {
      "event": "PreToolUse",
      "query": "Bash",
      "warnings": [
        "[PROJECT]/.claude/settings.json: not valid JSON (EOF while parsing a value at line 1 column 10); the file is ignored"
      ],
      "outcome": {
        "blocked": false,
        "final": "ask",
        "final_why": "no rule covers the call, so the user is asked",
        "continue": true
      }
    }
    exit 0
    "#);
}

#[test]
fn a_broken_condition_is_a_warning_too() {
    let sandbox = Sandbox::new();
    let mut handler = command("exit 2");
    handler["if"] = json!("WebFetch(domain:example.com)");
    sandbox.project(&on("PreToolUse", "", &[handler]));
    assert_snapshot!(sandbox.run(&bash("make")).json().0, @r#"
    $ remora hooks run --json
    {
      "event": "PreToolUse",
      "query": "Bash",
      "warnings": [
        "project/PreToolUse/0/0: `if` can look into Bash commands and file paths only; a pattern for WebFetch never holds (use `WebFetch` alone, or the matcher)"
      ],
      "outcome": {
        "blocked": false,
        "final": "ask",
        "final_why": "no rule covers the call, so the user is asked",
        "continue": true
      }
    }
    exit 0
    "#);
}

#[test]
fn nothing_matches() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&bash("make")).json().0, @r#"
    $ remora hooks run --json
    {
      "event": "PreToolUse",
      "query": "Bash",
      "outcome": {
        "blocked": false,
        "final": "ask",
        "final_why": "no rule covers the call, so the user is asked",
        "continue": true
      }
    }
    exit 0
    "#);
}

/// All at once, and the report in the order of the settings.
#[test]
fn many_handlers_come_back_in_order() {
    let sandbox = Sandbox::new();
    let handlers: Vec<Value> = (0..40)
        .map(|n| command(&format!("test {n} -gt 20 || sleep 0.3; echo {n}")))
        .collect();
    sandbox.project(&on("PreToolUse", "Bash", &handlers));
    let (done, report) = sandbox.run(&bash("make")).json();
    assert_eq!(done.code, Some(0));
    let said: Vec<String> = report["handlers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| h["stdout"].as_str().unwrap().trim().to_owned())
        .collect();
    let wanted: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(said, wanted);
}
