//! MCP servers of a session that is served, over its life.

use std::fs;

use serde_json::{Value, json};

use super::host::{Host, event};
use crate::sandbox::{Sandbox, bash, command, on};
use crate::tool_server::{self, entry, handler};

fn messages(fired: &Value) -> &Value {
    &fired["report"]["outcome"]["messages"]
}

fn write_servers(sandbox: &Sandbox, servers: &Value) {
    let file = json!({"mcpServers": servers});
    sandbox.write("project/.mcp.json", file.to_string());
}

#[test]
fn a_server_that_ended_is_started_again_for_a_later_event() {
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    write_servers(&sandbox, &json!({"lab": entry(&sandbox, "lab")}));
    sandbox.project(&json!({"hooks": {
        "PreToolUse": [{"hooks": [handler("lab", "say")]}],
        "PostToolUse": [{"hooks": [handler("lab", "die")]}],
    }}));
    let mut host = Host::start(&sandbox);
    let session = host.open();
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": {}});
    for _ in 0..2 {
        let fired = host.fire(&session, &bash("make"));
        assert_eq!(*messages(&fired), json!(["lab make "]), "{fired}");
        let fired = host.fire(&session, &event("PostToolUse", &tool));
        let status = &fired["report"]["handlers"][0]["status"];
        assert_eq!(status, "error", "{fired}");
    }
    let starts = fs::read_to_string(sandbox.path("starts")).unwrap();
    assert_eq!(starts, "lab\nlab\n");
    host.hang_up();
}

#[test]
fn servers_are_read_again_with_the_settings() {
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    let refused = sandbox.text("refused");
    let file = sandbox.project(&json!({"hooks": {
        "PreToolUse": [{"hooks": [handler("lab", "say")]}],
        "ConfigChange": [{"hooks": [command(&format!("test ! -e {refused} || exit 2"))]}],
    }}));
    let servers = |name: &str| json!({"lab": entry(&sandbox, name)});
    write_servers(&sandbox, &servers("one"));
    let mut host = Host::start(&sandbox);
    let session = host.open();
    let said = |host: &mut Host<'_>| {
        let fired = host.fire(&session, &bash("make"));
        messages(&fired)[0].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(said(&mut host), "one make ");
    write_servers(&sandbox, &servers("two"));
    assert_eq!(said(&mut host), "one make ");
    host.ask("reload", &json!({"session": session}));
    assert_eq!(said(&mut host), "two make ");

    let change = json!({"source": "project_settings", "file_path": file});
    let change = event("ConfigChange", &change);
    write_servers(&sandbox, &servers("three"));
    sandbox.write("refused", "");
    let fired = host.fire(&session, &change);
    assert_eq!(fired["reload"], "refused", "{fired}");
    assert_eq!(said(&mut host), "two make ");
    fs::remove_file(&refused).unwrap();
    let fired = host.fire(&session, &change);
    assert_eq!(fired["reload"], "accepted", "{fired}");
    assert_eq!(said(&mut host), "three make ");
    // One that did not change goes on, one that is wrong is said.
    write_servers(
        &sandbox,
        &json!({"lab": entry(&sandbox, "three"), "odd": 7}),
    );
    let read = host.ask("reload", &json!({"session": session}));
    let warnings = read["warnings"].to_string();
    assert!(warnings.contains("must be an object"), "{warnings}");
    assert_eq!(said(&mut host), "three make ");
    let starts = fs::read_to_string(sandbox.path("starts")).unwrap();
    assert_eq!(starts, "one\ntwo\nthree\n");
    host.hang_up();
}

#[test]
fn a_hook_of_the_host_may_call_a_server() {
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    let mut host = Host::start(&sandbox);
    let servers = json!({"mcpServers": {"lab": entry(&sandbox, "lab")}});
    let session = host.open_with(&json!({"mcp_config": [servers]}));
    let mut hooks = on("PreToolUse", "Bash", &[handler("lab", "say")]);
    let hooks = hooks["hooks"].take();
    host.ask(
        "add_hooks",
        &json!({"session": session, "name": "mine", "hooks": hooks}),
    );
    let fired = host.fire(&session, &bash("make"));
    assert_eq!(*messages(&fired), json!(["lab make "]), "{fired}");
    host.hang_up();
}
