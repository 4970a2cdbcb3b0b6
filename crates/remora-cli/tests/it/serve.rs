//! `remora hooks serve`: a host that speaks JSON-RPC to the real program.

mod handlers;
mod host;
mod messages;
mod servers;

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, bash, command, guard, on};
use host::{Host, event, prompt};

/// Longer than any line that is read.
const LONG_LINE_BYTES: usize = (16 << 20) + 1;

#[test]
fn a_session_is_opened_fired_and_closed() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("echo 'not here' >&2; exit 2"));
    let mut host = Host::start(&sandbox);
    let hello = host.ask("initialize", &json!({}));
    assert_eq!(
        (&hello["name"], &hello["protocol"]),
        (&json!("remora"), &json!(1))
    );
    let session = host.open();
    let shown = host.ask(
        "preview",
        &json!({"session": session, "event": bash("make")}),
    );
    assert_eq!(shown["handlers"][0]["matches"], true, "{shown}");
    let fired = host.fire(&session, &bash("make"));
    let outcome = &fired["report"]["outcome"];
    assert_eq!(
        (&outcome["blocked"], &outcome["reason"]),
        (&json!(true), &json!("not here")),
        "{fired}"
    );
    assert_eq!(fired["deliveries"][0]["place"], "tool_result", "{fired}");
    host.ask("close", &json!({"session": session}));
    let late = json!({"session": session, "event": bash("make")});
    assert_eq!(host.fail("fire", &late), (-32602, json!("session")));
    host.hang_up();
}

#[test]
fn wrong_requests_are_answered_and_end_nothing() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&sandbox);
    let session = host.open();
    let cases = [
        ("{", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (
            r#"{"id":"x","method":"initialize"}"#,
            -32600,
            json!("jsonrpc"),
        ),
        (r#"{"jsonrpc":"2.0","id":"x"}"#, -32600, json!("method")),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"fire","params":[]}"#,
            -32602,
            json!("params"),
        ),
    ];
    for (line, code, key) in cases {
        host.send_line(line.as_bytes());
        let answer = host.wait_for(|m| m["id"] == "x" || m["id"].is_null());
        let error = &answer["error"];
        assert_eq!(
            (&error["code"], &error["data"]["key"]),
            (&json!(code), &key)
        );
    }
    host.send_line(&vec![b' '; LONG_LINE_BYTES]);
    let answer = host.wait_for(|m| m["id"].is_null());
    assert_eq!(answer["error"]["code"], -32700);
    let cases = [
        ("walk", json!({}), -32601, json!("walk")),
        ("open", json!({"projekt": "/"}), -32602, json!("projekt")),
        (
            "open",
            json!({"project": "/none"}),
            -32602,
            json!("project"),
        ),
        ("open", json!({"mode": "odd"}), -32602, json!("mode")),
        (
            "open",
            json!({"permission_mode": "odd"}),
            -32602,
            json!("permission_mode"),
        ),
        ("open", json!({"settings": 7}), -32602, json!("settings")),
        (
            "open",
            json!({"attendance": "x"}),
            -32602,
            json!("attendance"),
        ),
        (
            "fire",
            json!({"event": bash("x")}),
            -32602,
            json!("session"),
        ),
        ("fire", json!({"session": session}), -32602, json!("event")),
        (
            "fire",
            json!({"session": session, "event": {"hook_event_name": "Nothing"}}),
            -32602,
            json!("event"),
        ),
        (
            "fire",
            json!({"session": session, "event": bash("x"), "timeout_seconds": -1}),
            -32602,
            json!("timeout_seconds"),
        ),
        (
            "register_callback",
            json!({"session": session, "callback": "c", "event": "Nothing"}),
            -32602,
            json!("event"),
        ),
        (
            "add_skill",
            json!({"session": session, "name": "lab", "origin": "user", "hooks": {"Stop": 7}}),
            -32602,
            json!("hooks"),
        ),
        (
            "take_deliveries",
            json!({"session": session, "point": "never"}),
            -32602,
            json!("point"),
        ),
    ];
    for (method, params, code, key) in cases {
        assert_eq!(host.fail(method, &params), (code, key), "{method} {params}");
    }
    host.fire(&session, &bash("make"));
    host.hang_up();
}

#[test]
fn events_of_one_session_run_at_the_same_time() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo meet");
    let meet = sandbox.text("project/meet");
    // Each is over only when both have begun.
    sandbox.project(&json!({"hooks": {
        "PreToolUse": [{"hooks": [{"type": "command", "command": format!("read word < {meet}")}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": format!("echo word > {meet}")}]}],
    }}));
    let mut host = Host::start(&sandbox);
    let session = host.open();
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": {}});
    let first = host.send("fire", &json!({"session": session, "event": bash("x")}));
    let second = json!({"session": session, "event": event("PostToolUse", &tool)});
    let second = host.send("fire", &second);
    for id in [second, first] {
        let answer = host.wait_for_answer(id);
        let status = &answer["result"]["report"]["handlers"][0]["status"];
        assert_eq!(status, "ok", "{answer}");
    }
    host.hang_up();
}

#[test]
fn the_host_is_called_back_and_need_not_answer_in_time() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&sandbox);
    let session = host.open();
    let callback = json!({"session": session, "callback": "judge", "event": "PreToolUse",
        "matcher": "Bash"});
    host.ask("register_callback", &callback);
    let fire = json!({"session": session, "event": bash("make")});
    let id = host.send("fire", &fire);
    let asked = host.wait_for_method("callback");
    assert_eq!(asked["params"]["callback"], "judge");
    assert_eq!(asked["params"]["event"]["tool_input"]["command"], "make");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"],
        "result": {"decision": "block", "reason": "the host says no"}});
    host.send_line(answer.to_string().as_bytes());
    let fired = host.wait_for_answer(id);
    let outcome = &fired["result"]["report"]["outcome"];
    assert_eq!(outcome["reason"], "the host says no", "{fired}");

    let removed = host.ask(
        "remove_callback",
        &json!({"session": session, "callback": "judge"}),
    );
    assert_eq!(removed, json!({"removed": true}));
    let mut callback = callback;
    callback["timeout_seconds"] = json!(0.1);
    host.ask("register_callback", &callback);
    let fired = host.ask("fire", &fire);
    // No answer is a no where the callback guards something.
    let report = &fired["report"];
    assert_eq!(
        (
            &report["handlers"][0]["status"],
            &report["outcome"]["blocked"]
        ),
        (&json!("timeout"), &json!(true)),
        "{fired}"
    );
    // Too late, and no call waits for it.
    let asked = host.wait_for_method("callback");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": null});
    host.send_line(answer.to_string().as_bytes());
    host.ask("initialize", &json!({}));
    host.hang_up();
}

#[test]
fn what_ends_in_the_background_is_said_and_delivered() {
    let sandbox = Sandbox::new();
    let mut handler = command(
        "echo '{\"systemMessage\": \"late\", \"hookSpecificOutput\": {\"hookEventName\": \"PostToolUse\", \"additionalContext\": \"late words\"}}'",
    );
    handler["async"] = json!(true);
    sandbox.project(&on("PostToolUse", "", &[handler]));
    let mut host = Host::start(&sandbox);
    let session = host.open();
    host.fire(&session, &prompt("go"));
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": {}});
    host.fire(&session, &event("PostToolUse", &tool));
    let ended = host.wait_for_method("background_ended");
    assert_eq!(ended["params"]["session"], session.as_str());
    assert_eq!(ended["params"]["event"], "PostToolUse");
    let point = json!({"session": session, "point": "next_request"});
    let taken = host.ask("take_deliveries", &point);
    let text = taken["deliveries"][0]["text"].as_str().unwrap();
    assert!(text.contains("late words"), "{taken}");
    assert_eq!(
        host.ask("take_deliveries", &point),
        json!({"deliveries": []})
    );
    host.hang_up();
}

#[test]
fn a_handler_wakes_an_idle_session() {
    let sandbox = Sandbox::new();
    let mut handler = command("echo 'the build broke' >&2; exit 2");
    handler["asyncRewake"] = json!(true);
    sandbox.project(&on("PostToolUse", "", &[handler]));
    let mut host = Host::start(&sandbox);
    let session = host.open_with(&json!({"attendance": "streaming"}));
    host.fire(&session, &prompt("go"));
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": {}});
    host.fire(&session, &event("PostToolUse", &tool));
    host.wait_for_method("background_ended");
    // The turn ends, and with it what kept the wake-up back.
    host.ask("end_turn", &json!({"session": session}));
    let wake = host.wait_for_method("wake_up");
    let text = wake["params"]["prompt"].as_str().unwrap();
    assert!(text.contains("the build broke"), "{wake}");
    host.hang_up();
}

#[test]
fn where_nothing_runs_no_wake_up_is_missed() {
    let sandbox = Sandbox::new();
    let mut handler = command("echo 'the build broke' >&2; exit 2");
    handler["asyncRewake"] = json!(true);
    sandbox.project(&on("UserPromptSubmit", "", &[handler]));
    let mut host = Host::start(&sandbox);
    let session = host.open_with(&json!({"attendance": "streaming"}));
    host.fire(&session, &prompt("go"));
    host.ask("end_turn", &json!({"session": session}));
    let status = loop {
        let status = host.ask("status", &json!({"session": session}));
        if status["running"] == json!([]) {
            break status;
        }
    };
    assert_eq!(status["phase"], "waking", "{status}");
    host.wait_for_method("wake_up");
    host.hang_up();
}

#[test]
fn a_session_lives_on_in_its_snapshot() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("Stop", "", &[command("echo 'go on' >&2; exit 2")]));
    let mut host = Host::start(&sandbox);
    let session = host.open();
    host.fire(&session, &prompt("go"));
    let fired = host.fire(&session, &event("Stop", &json!({})));
    assert_eq!(
        (&fired["stop"], &fired["event"]["stop_hook_active"]),
        (&json!("continues"), &json!(false)),
        "{fired}"
    );
    let state = host.ask("snapshot", &json!({"session": session}))["state"].clone();
    host.ask("close", &json!({"session": session, "end_all": true}));
    let session = host.open_with(&json!({"state": state}));
    let status = host.ask("status", &json!({"session": session}));
    assert_eq!(
        (&status["phase"], &status["stop_hook_active"]),
        (&json!("busy"), &json!(true))
    );
    host.hang_up();
}

#[test]
fn hooks_of_skills_and_settings_come_and_go() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&sandbox);
    let session = host.open();
    let blocks = |fired: &Value| fired["report"]["outcome"]["blocked"] == true;
    let hooks = guard("echo 'the skill says no' >&2; exit 2")["hooks"].clone();
    let skill = json!({"session": session, "name": "lab", "origin": "user", "hooks": hooks});
    assert!(!blocks(&host.fire(&session, &bash("x"))));
    host.ask("add_skill", &skill);
    assert!(blocks(&host.fire(&session, &bash("x"))));
    host.ask("clear_skills", &json!({"session": session}));
    assert!(!blocks(&host.fire(&session, &bash("x"))));

    let mut agent = skill.clone();
    agent["agent_id"] = json!("a1");
    host.ask("add_agent", &agent);
    assert!(!blocks(&host.fire(&session, &bash("x"))));
    let mut inside = bash("x");
    inside["agent_id"] = json!("a1");
    assert!(blocks(&host.fire(&session, &inside)));
    host.ask(
        "remove_agent",
        &json!({"session": session, "agent_id": "a1"}),
    );
    assert!(!blocks(&host.fire(&session, &inside)));

    let file = sandbox.project(&guard("exit 2"));
    assert!(!blocks(&host.fire(&session, &bash("x"))));
    host.ask("reload", &json!({"session": session}));
    assert!(blocks(&host.fire(&session, &bash("x"))));
    let change = json!({"session": session, "path": file, "kind": "change"});
    let events = host.ask("describe_change", &change)["events"].clone();
    assert_eq!(events[0]["hook_event_name"], "ConfigChange", "{events}");
    host.hang_up();
}

#[test]
fn a_change_of_settings_is_said_and_takes_effect_once_it_is_fired() {
    let sandbox = Sandbox::new();
    sandbox.project(&json!({}));
    let mut host = Host::start(&sandbox);
    let session = host.open_with(&json!({"watch": true}));
    let file = sandbox.project(&guard("exit 2"));
    let changed = host.wait_for_method("changed");
    let event = &changed["params"]["event"];
    assert_eq!(
        (&event["hook_event_name"], &event["file_path"]),
        (&json!("ConfigChange"), &json!(file))
    );
    assert_eq!(host.fire(&session, event)["reload"], "accepted");
    let fired = host.fire(&session, &bash("x"));
    assert_eq!(fired["report"]["outcome"]["blocked"], true, "{fired}");
    host.hang_up();
}

#[test]
fn a_host_that_goes_leaves_no_process() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo waited-for background");
    let pipes = ["waited-for", "background"].map(|name| sandbox.text(&format!("project/{name}")));
    let mut handlers = pipes
        .clone()
        .map(|pipe| command(&format!("echo began > {pipe}; exec sleep 1000")));
    handlers[1]["async"] = json!(true);
    sandbox.project(&on("PreToolUse", "", &handlers));
    let mut host = Host::start(&sandbox);
    for _ in 0..2 {
        let session = host.open();
        host.send("fire", &json!({"session": session, "event": bash("x")}));
        for pipe in &pipes {
            assert_eq!(fs::read(pipe).unwrap(), b"began\n");
        }
    }
    host.hang_up();
}

#[test]
fn a_server_that_is_killed_leaves_no_process_and_no_folder() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo waited-for background");
    let pipes = ["waited-for", "background"].map(|name| sandbox.text(&format!("project/{name}")));
    let mut handlers = pipes
        .clone()
        .map(|pipe| command(&format!("echo began > {pipe}; exec sleep 1000")));
    handlers[1]["async"] = json!(true);
    sandbox.project(&on("PreToolUse", "", &handlers));
    let mut host = Host::start(&sandbox);
    let session = host.open();
    host.send("fire", &json!({"session": session, "event": bash("x")}));
    for pipe in &pipes {
        assert_eq!(fs::read(pipe).unwrap(), b"began\n");
    }
    host.kill();
}
