//! What a host follows of handlers while they run, and handlers of every kind in
//! a session that is served.

use std::fs;

use serde_json::{Value, json};

use super::host::{Host, event, prompt};
use crate::models::server::Server;
use crate::models::{said, use_openai};
use crate::sandbox::{Sandbox, bash, command, on};
use crate::tool_server;

/// Method and parameters of a notification, without its session.
fn notice(message: &Value) -> (&str, Value) {
    let mut params = message["params"].clone();
    params.as_object_mut().unwrap().remove("session");
    (message["method"].as_str().unwrap_or("no method"), params)
}

#[test]
fn a_handler_is_followed_from_its_start_to_its_end() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo gate");
    let gate = sandbox.text("project/gate");
    let text = format!("printf 'one\\n'; read word < {gate}; echo \"$word\" >&2; exit 2");
    sandbox.project(&on("PreToolUse", "Bash", &[command(&text)]));
    let mut host = Host::start(&sandbox);
    let session = host.open_with(&json!({"observe_handlers": true}));
    let id = host.send("fire", &json!({"session": session, "event": bash("x")}));
    let name = json!({"request": id, "event": "PreToolUse", "handler": "project/PreToolUse/0/0"});
    let with_name = |more: Value| {
        let mut all = name.clone();
        for (key, value) in more.as_object().unwrap() {
            all[key] = value.clone();
        }
        all
    };
    let message = host.next();
    assert_eq!(message["params"]["session"], session.as_str(), "{message}");
    let started = with_name(json!({"type": "command", "label": text}));
    assert_eq!(notice(&message), ("handler_started", started));
    // It cannot end before the gate is opened, so this came while it ran.
    let message = host.next();
    let progress = with_name(json!({"stdout": "one\n", "stderr": ""}));
    assert_eq!(notice(&message), ("handler_progress", progress));
    fs::write(&gate, "two\n").unwrap();
    let mut message = host.next();
    // On a slow machine it says more before it ends.
    while message["method"] == "handler_progress" {
        message = host.next();
    }
    let (method, mut finished) = notice(&message);
    assert!(finished["duration_ms"].take().is_u64(), "{finished}");
    let expected = json!({"status": "blocked", "why": "exit code 2 blocks", "exit_code": 2, "duration_ms": null});
    assert_eq!(
        (method, finished),
        ("handler_finished", with_name(expected))
    );
    let answer = host.next();
    assert_eq!(answer["id"], id, "{answer}");
    assert_eq!(answer["result"]["report"]["outcome"]["reason"], "two");
    host.hang_up();
}

#[test]
fn every_handler_that_starts_finishes_and_none_is_said_unasked() {
    let sandbox = Sandbox::new();
    let mut background = command("true");
    background["async"] = json!(true);
    let handlers = [
        command("echo loud; echo louder >&2"),
        background,
        json!({"type": "prompt", "prompt": "Is it safe?"}),
        command("exit 3"),
    ];
    sandbox.project(&on("PreToolUse", "Bash", &handlers));
    let mut host = Host::start(&sandbox);
    let session = host.open_with(&json!({"observe_handlers": true}));
    let id = host.send("fire", &json!({"session": session, "event": bash("x")}));
    let mut seen: Vec<(String, String)> = Vec::new();
    loop {
        let message = host.next();
        if message["id"] == id {
            break;
        }
        let (method, params) = notice(&message);
        let stage = match method {
            "handler_started" => "started",
            "handler_finished" => params["status"].as_str().unwrap(),
            // A background handler may be over already.
            "handler_progress" | "background_ended" => continue,
            other => panic!("{other}: {params}"),
        };
        seen.push((params["handler"].as_str().unwrap().into(), stage.into()));
    }
    let ends = ["ok", "background", "skipped", "error"];
    for (index, end) in ends.into_iter().enumerate() {
        let id = format!("project/PreToolUse/0/{index}");
        let stages: Vec<&str> = (seen.iter().filter(|(handler, _)| *handler == id))
            .map(|(_, stage)| stage.as_str())
            .collect();
        assert_eq!(stages, ["started", end], "{id}");
    }
    host.wait_for_method("background_ended");

    let session = host.open();
    let id = host.send("fire", &json!({"session": session, "event": bash("x")}));
    let answer = host.next();
    assert_eq!(answer["id"], id, "{answer}");
    host.hang_up();
}

#[test]
fn a_prompt_handler_asks_the_configured_model() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "Stop",
        "",
        &[json!({"type": "prompt", "prompt": "Is it done? $ARGUMENTS"})],
    ));
    let server = Server::start(vec![said(
        r#"{"ok": false, "reason": "tests are missing"}"#,
    )]);
    use_openai(&sandbox, &server);
    let mut host = Host::start(&sandbox);
    let session = host.open();
    host.fire(&session, &prompt("go"));
    let conversation = json!([
        {"role": "user", "text": "add a parser"},
        {"role": "assistant", "text": "it is there"},
    ]);
    let fired = host.ask(
        "fire",
        &json!({"session": session, "event": event("Stop", &json!({})),
            "conversation": conversation}),
    );
    assert_eq!(
        (&fired["stop"], &fired["report"]["handlers"][0]["status"]),
        (&json!("continues"), &json!("blocked")),
        "{fired}"
    );
    let text = fired["deliveries"][0]["text"].as_str().unwrap();
    assert!(text.contains("tests are missing"), "{fired}");
    let asked = server.asked().remove(0).body["messages"].to_string();
    assert!(asked.contains("it is there"), "{asked}");
    host.hang_up();
}

#[test]
fn a_tool_of_a_server_is_called_over_one_connection() {
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    sandbox.project(&on(
        "PreToolUse",
        "Bash",
        &[tool_server::handler("lab", "say")],
    ));
    let servers = json!({"mcpServers": {"lab": tool_server::entry(&sandbox, "lab")}});
    let mut host = Host::start(&sandbox);
    let session = host.open_with(&json!({"mcp_config": [servers]}));
    for word in ["make", "test"] {
        let fired = host.fire(&session, &bash(word));
        let messages = &fired["report"]["outcome"]["messages"];
        assert_eq!(*messages, json!([format!("lab {word} ")]), "{fired}");
    }
    let starts = fs::read_to_string(sandbox.path("starts")).unwrap();
    assert_eq!(starts, "lab\n");
    host.hang_up();
}

#[test]
fn a_watched_file_that_changes_is_said_and_its_hooks_run_when_it_is_fired() {
    let sandbox = Sandbox::new();
    let seen = sandbox.text("seen");
    sandbox.project(&on(
        "FileChanged",
        "plan.md",
        &[command(&format!("cat > {seen}"))],
    ));
    let mut host = Host::start(&sandbox);
    let session = host.open_with(&json!({"watch": true}));
    let file = sandbox.write("project/plan.md", "first\n");
    let changed = host.wait_for_method("changed");
    let event = &changed["params"]["event"];
    assert_eq!(
        (
            &event["hook_event_name"],
            &event["file_path"],
            &event["event"]
        ),
        (&json!("FileChanged"), &json!(file), &json!("add")),
        "{changed}"
    );
    let fired = host.fire(&session, event);
    assert_eq!(fired["report"]["handlers"][0]["status"], "ok", "{fired}");
    let seen: Value = serde_json::from_slice(&fs::read(seen).unwrap()).unwrap();
    assert_eq!(seen["file_path"], json!(file));
    host.hang_up();
}

#[test]
fn hooks_of_the_host_come_and_go_by_name() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&sandbox);
    let session = host.open();
    let hooks = |word: &str| {
        let mut settings = on(
            "PreToolUse",
            "Bash",
            &[command(&format!("echo '{word} says no' >&2; exit 2"))],
        );
        settings["hooks"].take()
    };
    let reason = |host: &mut Host<'_>, agent: Option<&str>| {
        let mut event = bash("x");
        event["agent_id"] = json!(agent);
        let fired = host.fire(&session, &event);
        fired["report"]["outcome"]["reason"].clone()
    };
    let named =
        |name: &str, word: &str| json!({"session": session, "name": name, "hooks": hooks(word)});
    host.ask("add_hooks", &named("guard", "one"));
    assert_eq!(reason(&mut host, None), "one says no");
    // Also inside subagents, and the last of one name counts.
    host.ask("add_hooks", &named("guard", "two"));
    assert_eq!(reason(&mut host, Some("a1")), "two says no");
    // Malformed ones change nothing.
    let broken = json!({"session": session, "name": "guard", "hooks": {"PreToolUse": 7}});
    assert_eq!(host.fail("add_hooks", &broken), (-32602, json!("hooks")));
    assert_eq!(reason(&mut host, None), "two says no");
    let fired = host.fire(&session, &bash("x"));
    let handler = &fired["report"]["handlers"][0];
    assert_eq!(
        (&handler["source"], &handler["id"]),
        (&json!("session"), &json!("session:guard/PreToolUse/0/0"))
    );
    let remove = json!({"session": session, "name": "guard"});
    assert_eq!(host.ask("remove_hooks", &remove), json!({"removed": true}));
    assert_eq!(host.ask("remove_hooks", &remove), json!({"removed": false}));
    assert_eq!(reason(&mut host, None), Value::Null);

    let agent = |name: &str, word: &str| {
        let mut params = named(name, word);
        params["origin"] = json!("user");
        params
    };
    host.ask("add_agent", &agent("writer", "the writer"));
    host.ask("add_agent", &agent("reviewer", "the reviewer"));
    assert_eq!(reason(&mut host, None), "the reviewer says no");
    let remove = json!({"session": session});
    assert_eq!(host.ask("remove_agent", &remove), json!({"removed": true}));
    assert_eq!(host.ask("remove_agent", &remove), json!({"removed": false}));
    assert_eq!(reason(&mut host, None), Value::Null);
    host.hang_up();
}

#[test]
fn a_session_has_an_environment_and_a_memory_of_its_own_choice() {
    let sandbox = Sandbox::new();
    let shown = sandbox.text("shown");
    sandbox.project(&on(
        "PreToolUse",
        "",
        &[command(&format!(
            "echo \"${{REMORA_OFF-unset}} ${{WORD-unset}} ${{LC_ALL-unset}}\" > {shown}"
        ))],
    ));
    let mut host = Host::start(&sandbox);
    let environment = json!({"WORD": "blue", "LC_ALL": null, "REMORA_OFF": "0"});
    for (open, expected) in [
        // Safe unless the host says otherwise.
        (json!({}), "1 unset C\n"),
        (json!({"environment": environment}), "1 blue unset\n"),
        (json!({"memory": true}), "unset unset C\n"),
        (
            json!({"memory": true, "environment": environment}),
            "0 blue unset\n",
        ),
    ] {
        let session = host.open_with(&open);
        host.fire(&session, &bash("x"));
        assert_eq!(fs::read_to_string(&shown).unwrap(), expected, "{open}");
    }
    for environment in [
        json!({"": "x"}),
        json!({"A=B": "x"}),
        json!({"A": "x\u{0}y"}),
        json!({"A": 1}),
        json!([]),
    ] {
        let refused = host.fail("open", &json!({"environment": environment}));
        assert_eq!(refused, (-32602, json!("environment")), "{environment}");
    }
    host.hang_up();
}
