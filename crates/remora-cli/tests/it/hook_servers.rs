//! Which MCP servers `mcp_tool` hooks may call: precedence, trust, what the user
//! accepted and refused, plugins. Each server says its own name.

use serde_json::{Value, json};

use crate::models::server::{Reply, Server};
use crate::sandbox::{Call, Sandbox, bash, on};
use crate::tool_server::{self, entry};

/// Where a server named `lab` may be written, the first one of those that count wins.
const SOURCES: [&str; 4] = ["flag", "local", "project", "user"];

/// Writes `lab` in these sources, each under the source's name.
fn write_sources(sandbox: &Sandbox, sources: &[&str], own: &Value, book: &Value) {
    let servers = |name: &str| {
        if sources.contains(&name) {
            json!({"lab": entry(sandbox, name)})
        } else {
            json!({})
        }
    };
    let mut own = own.clone();
    own["mcpServers"] = servers("local");
    let mut book = book.clone();
    book["mcpServers"] = servers("user");
    book["projects"] = json!({sandbox.text("project"): own});
    sandbox.write("home/.claude.json", book.to_string());
    let project = json!({"mcpServers": servers("project")});
    sandbox.write("project/.mcp.json", project.to_string());
}

fn run<'a>(sandbox: &'a Sandbox, sources: &[&str], args: &[&str]) -> Call<'a> {
    let call = sandbox.run(&bash("make")).args(args);
    if sources.contains(&"flag") {
        let servers = json!({"mcpServers": {"lab": entry(sandbox, "flag")}});
        return call.args(&["--mcp-config", &servers.to_string()]);
    }
    call
}

/// What the handler said, or why it failed.
fn outcome(call: Call<'_>) -> (String, String) {
    let (done, mut report) = call.json();
    assert_eq!(done.code, Some(0), "{report}");
    let handler = report["handlers"][0].take();
    let said = &handler["answer"]["systemMessage"];
    let text = said.as_str().or(handler["why"].as_str()).unwrap();
    let status = handler["status"].as_str().unwrap();
    (status.to_owned(), text.trim().to_owned())
}

fn lab_hook() -> Value {
    on("PreToolUse", "Bash", &[tool_server::handler("lab", "say")])
}

#[test]
fn the_first_source_that_has_a_server_counts() {
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    sandbox.user(&lab_hook());
    for first in 0..SOURCES.len() {
        let sources = &SOURCES[first..];
        write_sources(&sandbox, sources, &json!({}), &json!({}));
        let found = outcome(run(&sandbox, sources, &[]));
        let expected = format!("{} make", SOURCES[first]);
        assert_eq!(found, ("ok".to_owned(), expected), "{sources:?}");
    }
    write_sources(&sandbox, &[], &json!({}), &json!({}));
    let (status, why) = outcome(run(&sandbox, &[], &[]));
    assert_eq!(status, "error");
    assert!(why.contains("\"lab\" is not configured"), "{why}");
}

/// Servers of the project: what the user said to them, where, and what follows.
#[test]
fn servers_of_a_project_need_the_user_s_word_where_a_user_can_give_it() {
    let accepted = json!({"enabledMcpjsonServers": ["lab"]});
    let refused = json!({"disabledMcpjsonServers": ["lab"]});
    let all = json!({"enableAllProjectMcpServers": true});
    let nothing = json!({});
    // Attended or not, then the user's entry for the project, local settings, user settings, and
    // the project's own settings; and whether its server counts.
    let rows = [
        (false, &nothing, &nothing, &nothing, &nothing, true),
        (false, &refused, &nothing, &nothing, &nothing, false),
        (false, &nothing, &refused, &nothing, &nothing, false),
        (false, &nothing, &nothing, &refused, &nothing, false),
        (false, &nothing, &nothing, &nothing, &refused, true),
        (true, &nothing, &nothing, &nothing, &nothing, false),
        (true, &accepted, &nothing, &nothing, &nothing, true),
        (true, &nothing, &accepted, &nothing, &nothing, true),
        (true, &nothing, &nothing, &accepted, &nothing, true),
        (true, &nothing, &nothing, &all, &nothing, true),
        // A repository does not accept its own servers.
        (true, &nothing, &nothing, &nothing, &accepted, false),
        (true, &nothing, &nothing, &nothing, &all, false),
        // A no wins over a yes.
        (true, &refused, &accepted, &all, &nothing, false),
    ];
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    for (attended, own, local, user, project, counts) in rows {
        let row = format!("{attended} {own} {local} {user} {project}");
        write_sources(&sandbox, &["project", "user"], own, &json!({}));
        sandbox.local(local);
        let mut settings = lab_hook();
        for (key, value) in user.as_object().unwrap() {
            settings[key] = value.clone();
        }
        sandbox.user(&settings);
        sandbox.project(project);
        let args: &[&str] = if attended {
            &["--interactive", "--trusted"]
        } else {
            &[]
        };
        let (_, said) = outcome(run(&sandbox, &["project", "user"], args));
        let expected = if counts { "project make" } else { "user make" };
        assert_eq!(said, expected, "{row}");
    }
}

#[test]
fn in_a_folder_that_is_not_trusted_no_server_is_started() {
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    sandbox.user(&lab_hook());
    write_sources(&sandbox, &["project"], &json!({}), &json!({}));
    let (status, why) = outcome(run(&sandbox, &["project"], &["--untrusted"]));
    assert_eq!(status, "skipped", "{why}");
    assert_eq!(std::fs::read(sandbox.path("starts")).unwrap(), b"");
}

#[test]
fn servers_of_a_plugin_have_its_name_in_front_and_its_folders_as_variables() {
    let sandbox = Sandbox::new();
    tool_server::install(&sandbox);
    let with_data = |name: &str| {
        let mut server = entry(&sandbox, name);
        server["env"]["DATA"] = json!("${CLAUDE_PLUGIN_ROOT}|${CLAUDE_PLUGIN_DATA}");
        server
    };
    // The plugin brings servers and no hooks; the hook that calls them is the user's.
    let plugin = sandbox.plugin("kit", &json!({"hooks": {}}));
    let file = json!({"mcpServers": {"lab": with_data("file")}});
    sandbox.write("plugins/kit/.mcp.json", file.to_string());
    let manifest = json!({"name": "kit", "version": "1.0.0",
        "mcpServers": {"more": with_data("manifest"), "lab": with_data("later")}});
    sandbox.write(
        "plugins/kit/.claude-plugin/plugin.json",
        manifest.to_string(),
    );
    let data = sandbox.text("home/.claude/plugins/data/kit-inline");
    for (server, name) in [("plugin:kit:lab", "file"), ("plugin:kit:more", "manifest")] {
        let hook = on("PreToolUse", "Bash", &[tool_server::handler(server, "say")]);
        sandbox.user(&hook);
        let found = outcome(run(&sandbox, &[], &["--plugin", &plugin]));
        let expected = format!("{name} make {plugin}|{data}");
        assert_eq!(found, ("ok".to_owned(), expected), "{server}");
    }
    for server in ["lab", "kit:lab", "plugin:other:lab"] {
        let hook = on("PreToolUse", "Bash", &[tool_server::handler(server, "say")]);
        sandbox.user(&hook);
        let (status, why) = outcome(run(&sandbox, &[], &["--plugin", &plugin]));
        assert_eq!(status, "error", "{server}: {why}");
        assert!(why.contains("is not configured"), "{server}: {why}");
    }
}

#[test]
fn a_server_over_http_is_called_with_its_headers() {
    let sandbox = Sandbox::new();
    sandbox.user(&lab_hook());
    let started = Reply::ok(&json!({"jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "lab", "version": "1"},
    }}));
    let text = json!({"systemMessage": "web made"}).to_string();
    let answer = Reply::ok(&json!({"jsonrpc": "2.0", "id": 1, "result": {
        "content": [{"type": "text", "text": text}],
    }}));
    let server = Server::start(vec![
        started,
        Reply::Full(202, Vec::new(), String::new()),
        answer,
    ]);
    let servers = json!({"mcpServers": {"lab": {
        "type": "http",
        "url": format!("{}/${{PLACE:-mcp}}", server.address()),
        "headers": {"authorization": "Bearer ${WORD}"},
    }}});
    sandbox.write("project/.mcp.json", servers.to_string());
    let call = run(&sandbox, &[], &[]).environment("WORD", "blue");
    assert_eq!(outcome(call), ("ok".to_owned(), "web made".to_owned()));
    let asked = server.asked();
    assert_eq!(asked[2].path(), "/mcp");
    assert_eq!(asked[2].header("authorization"), Some("Bearer blue"));
    assert_eq!(asked[2].body["params"]["arguments"]["word"], "make");
}
