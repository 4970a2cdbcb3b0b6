//! `remora install` and `uninstall`: the MCP server beside the hooks, in a
//! project's own file and through the client's program.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Call, Done, Sandbox};

/// A client that keeps its book as the real one does, and notes its calls.
const CLIENT: &str = r#"#!/bin/sh
echo "off=$REMORA_OFF $*" >>"$HOME/calls"
case "$2" in
add) printf '{"mcpServers":{"remora":{"type":"stdio","command":"%s","args":["mcp"],"env":{}}}}' "$7" >"$HOME/.claude.json" ;;
remove) echo '{"mcpServers":{}}' >"$HOME/.claude.json" ;;
esac
"#;

fn agent() -> &'static str {
    remora_agents::known_names()[0]
}

/// A sandbox with a client on the PATH.
fn with_client(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let file = sandbox.write("client", script);
    let client = remora_agents::find_agent(agent()).unwrap().mcp.client;
    let bin = sandbox.text("bin");
    let from = file.display();
    sandbox.shell(&format!(
        "mkdir '{bin}' && cat '{from}' >'{bin}/{client}' && chmod 755 '{bin}/{client}'"
    ));
    sandbox
}

/// Only the sandbox's own programs, and a shell for them.
fn call<'s>(sandbox: &'s Sandbox, verb: &str, flags: &[&str]) -> Call<'s> {
    let path = format!("{}:/usr/bin:/bin", sandbox.text("bin"));
    sandbox
        .remora(&[verb, agent()])
        .args(flags)
        .environment("PATH", path)
}

fn go(sandbox: &Sandbox, verb: &str, flags: &[&str]) -> Done {
    let done = call(sandbox, verb, flags).go();
    assert_eq!(done.code, Some(0), "{done}");
    done
}

fn told(sandbox: &Sandbox, verb: &str, flags: &[&str]) -> Value {
    let (done, value) = call(sandbox, verb, flags).json();
    assert_eq!(done.code, Some(0), "{done}");
    value["mcp"].clone()
}

fn note(sandbox: &Sandbox) -> Option<Value> {
    let text = fs::read_to_string(sandbox.path("home/.remora/mcp.json")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn a_project_gets_its_server_and_gives_the_bytes_back() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("project/.mcp.json");
    // Without a file, ours comes and goes.
    assert_eq!(
        told(&sandbox, "install", &["--project"])["outcome"],
        "added"
    );
    let value: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        value,
        json!({"mcpServers": {"remora": {
            "type": "stdio",
            "command": "remora",
            "args": ["mcp"],
        }}})
    );
    assert_eq!(
        note(&sandbox),
        Some(json!({"user": false, "projects": [sandbox.text("project")]}))
    );
    assert_eq!(
        told(&sandbox, "install", &["--project"])["outcome"],
        "unchanged"
    );
    assert_eq!(
        told(&sandbox, "uninstall", &["--project"])["outcome"],
        "removed"
    );
    assert!(!file.exists());
    assert_eq!(note(&sandbox), None);
    assert_eq!(
        told(&sandbox, "uninstall", &["--project"])["outcome"],
        "not there"
    );
    // With one, every other byte stays.
    let old = "{\r\n\t\"mcpServers\": {\r\n\t\t\"z\": {\"command\":\"z\"} }, \"more\": 1}";
    fs::write(&file, old).unwrap();
    let done = go(&sandbox, "install", &["--project"]);
    assert!(
        done.stdout
            .contains("MCP server: added, in [PROJECT]/.mcp.json\n"),
        "{done}"
    );
    let new = fs::read_to_string(&file).unwrap();
    assert!(
        new.starts_with("{\r\n\t\"mcpServers\": {\r\n\t\t\"z\": {\"command\":\"z\"},"),
        "{new}"
    );
    go(&sandbox, "uninstall", &["--project"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), old);
    assert_eq!(fs::read_dir(sandbox.path("project")).unwrap().count(), 2);
}

#[test]
fn trouble_with_the_server_leaves_the_hooks_installed() {
    for text in [
        "{ not JSON",
        r#"{"mcpServers":{"remora":{"command":"fish","args":[]}}}"#,
    ] {
        let sandbox = Sandbox::new();
        let file = sandbox.write("project/.mcp.json", text);
        let done = go(&sandbox, "install", &["--project"]);
        assert!(
            done.stdout
                .contains("MCP server: not changed: [PROJECT]/.mcp.json: "),
            "{done}"
        );
        assert!(done.stdout.contains("self-test: ok"), "{done}");
        assert!(sandbox.path("project/.claude/settings.json").exists());
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(note(&sandbox), None);
        go(&sandbox, "uninstall", &["--project"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    let sandbox = with_client("#!/bin/sh\necho 'no such scope' >&2\nexit 3\n");
    let told = told(&sandbox, "install", &[]);
    assert_eq!(
        (&told["outcome"], &told["why"]),
        (&json!("failed"), &json!("no such scope"))
    );
    assert!(
        told["command"]
            .as_str()
            .unwrap()
            .contains(" mcp add --scope user remora -- ")
    );
    assert_eq!(note(&sandbox), None);
}

#[test]
fn a_person_gets_it_through_the_client() {
    let sandbox = with_client(CLIENT);
    let done = go(&sandbox, "install", &[]);
    assert!(
        done.stdout
            .contains("MCP server: added, in [HOME]/.claude.json\n"),
        "{done}"
    );
    assert_eq!(note(&sandbox), Some(json!({"user": true, "projects": []})));
    // A second time there is nothing to do; an old program is replaced.
    assert_eq!(told(&sandbox, "install", &[])["outcome"], "unchanged");
    let book = sandbox.path("home/.claude.json");
    let text = fs::read_to_string(&book).unwrap();
    let program = env!("CARGO_BIN_EXE_remora");
    fs::write(&book, text.replace(program, "/old/remora")).unwrap();
    assert_eq!(told(&sandbox, "install", &[])["outcome"], "updated");
    assert_eq!(told(&sandbox, "uninstall", &[])["outcome"], "removed");
    assert_eq!(note(&sandbox), None);
    let calls = fs::read_to_string(sandbox.path("home/calls")).unwrap();
    let (add, remove) = (
        format!("off=1 mcp add --scope user remora -- {program} mcp"),
        "off=1 mcp remove --scope user remora",
    );
    assert_eq!(
        calls.lines().collect::<Vec<_>>(),
        [&*add, remove, &*add, remove]
    );
    // Somebody else's server of that name is theirs.
    let other = r#"{"mcpServers":{"remora":{"type":"http","url":"https://fish.test"}}}"#;
    fs::write(&book, other).unwrap();
    assert_eq!(told(&sandbox, "install", &[])["outcome"], "failed");
    assert_eq!(told(&sandbox, "uninstall", &[])["outcome"], "not there");
    assert_eq!(fs::read_to_string(&book).unwrap(), other);
}

#[test]
fn without_the_client_the_command_is_told() {
    let sandbox = Sandbox::new();
    let done = go(&sandbox, "install", &[]);
    let program = env!("CARGO_BIN_EXE_remora");
    let client = remora_agents::find_agent(agent()).unwrap().mcp.client;
    let command = format!("  {client} mcp add --scope user remora -- {program} mcp\n");
    assert!(
        done.raw.contains(&format!("run this yourself\n{command}")),
        "{done}"
    );
    assert_eq!(note(&sandbox), None);
    // Once the person did it, installing again knows.
    sandbox.write(
        "home/.claude.json",
        json!({"mcpServers": {"remora": {"command": program, "args": ["mcp"]}}}).to_string(),
    );
    assert_eq!(told(&sandbox, "install", &[])["outcome"], "unchanged");
    assert!(note(&sandbox).is_some());
    let gone = told(&sandbox, "uninstall", &[]);
    assert_eq!(gone["outcome"], "by hand");
    assert_eq!(
        gone["command"],
        format!("{client} mcp remove --scope user remora")
    );
}

#[test]
fn it_can_be_left_out_and_looked_at_first() {
    let sandbox = with_client(CLIENT);
    let left_out = told(&sandbox, "install", &["--no-mcp"]);
    assert_eq!(left_out, json!({"outcome": "left out"}));
    let would = told(&sandbox, "install", &["--dry-run"]);
    assert_eq!(would["outcome"], "would be added");
    let would = told(&sandbox, "install", &["--dry-run", "--project"]);
    assert_eq!(would["outcome"], "would be added");
    assert!(!sandbox.path("project/.mcp.json").exists());
    assert!(!sandbox.path("home/calls").exists());
}

#[test]
fn the_memory_goes_only_with_the_persons_own_hooks() {
    let sandbox = Sandbox::new();
    go(&sandbox, "install", &["--project"]);
    sandbox.remora(&["remember", "--user", "Ask Ann."]).go();
    let memory = sandbox.path("home/.remora/memory/ask-ann.md");
    let done = call(&sandbox, "uninstall", &["--project", "--purge"]).go();
    assert_eq!(done.code, Some(1), "{done}");
    assert_eq!(
        done.stderr,
        "remora: --purge removes the memory of all projects: leave out --scope project, or see \
         `remora prune --project`; nothing was changed\n"
    );
    assert!(memory.exists() && sandbox.path("project/.mcp.json").exists());
    go(&sandbox, "uninstall", &["--project"]);
    assert!(memory.exists() && !sandbox.path("project/.mcp.json").exists());
    let done = go(&sandbox, "uninstall", &["--purge", "--yes"]);
    assert!(done.stdout.contains(" in [HOME]/.remora\n"), "{done}");
    assert!(!sandbox.path("home/.remora").exists());
}

#[test]
fn the_doctor_misses_a_server_that_is_gone() {
    let sandbox = with_client(CLIENT);
    let look = |sandbox: &Sandbox| -> Vec<String> {
        let (_, told) = sandbox.remora(&["doctor"]).json();
        let checks = told["checks"].as_array().unwrap().iter();
        let ours = checks.filter(|check| check["name"] == "mcp server");
        ours.map(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or("-").to_owned();
            format!("{}: {} -> {}", text("level"), text("message"), text("fix"))
                .replace(&sandbox.text("project"), "[PROJECT]")
                .replace(&sandbox.text("home"), "[HOME]")
                .replace(agent(), "[AGENT]")
                .replace(env!("CARGO_BIN_EXE_remora"), "[REMORA]")
        })
        .collect()
    };
    assert_eq!(
        look(&sandbox),
        [
            "ok: not in the lists of servers: agents cannot search by themselves -> put `claude` on the PATH, then `remora install [AGENT]`"
        ]
    );
    let tools = "its tools are called mcp__remora__search and so on";
    sandbox.write(
        "home/.claude.json",
        json!({"mcpServers": {"remora": {"command": "remora", "args": ["mcp"]}}}).to_string(),
    );
    assert_eq!(
        look(&sandbox),
        [format!(
            "ok: [HOME]/.claude.json: runs remora; {tools}; hooks do not name them yet -> `remora install [AGENT]`"
        )]
    );
    go(&sandbox, "install", &[]);
    assert_eq!(
        look(&sandbox),
        [format!(
            "ok: [HOME]/.claude.json: runs [REMORA]; {tools} -> -"
        )]
    );
    go(&sandbox, "install", &["--project"]);
    fs::remove_file(sandbox.path("project/.mcp.json")).unwrap();
    sandbox.write(
        "home/.claude.json",
        r#"{"mcpServers":{"remora":{"command":"/gone/remora","args":["mcp"]}}}"#,
    );
    assert_eq!(
        look(&sandbox),
        [
            "fail: [HOME]/.claude.json: runs /gone/remora, which is gone -> `remora install [AGENT]`",
            "warn: it was installed, but is no longer in [PROJECT]/.mcp.json -> `remora install [AGENT] --scope project`",
        ]
    );
}

#[test]
fn the_doctor_sees_a_plugin_beside_the_settings() {
    let sandbox = Sandbox::new();
    sandbox.user(&json!({"enabledPlugins": {"remora@somewhere": true}}));
    let hooks = |sandbox: &Sandbox| -> Vec<(String, String)> {
        let (_, told) = sandbox.remora(&["doctor"]).json();
        let checks = told["checks"].as_array().unwrap().iter();
        let ours = checks.filter(|check| check["name"] == "hooks");
        let text = |check: &Value, key: &str| check[key].as_str().unwrap_or("-").to_owned();
        ours.map(|check| (text(check, "message"), text(check, "fix")))
            .collect()
    };
    let found = hooks(&sandbox);
    assert!(found[0].0.starts_with("by the plugin"), "{found:?}");
    go(&sandbox, "install", &["--no-mcp"]);
    let found = hooks(&sandbox);
    assert!(
        found[0].0.starts_with("installed as a plugin (")
            && found[0].1 == format!("`remora uninstall {}`", agent()),
        "{found:?}"
    );
}

/// The handlers of one event in the user's settings.
fn handlers(sandbox: &Sandbox, event: &str) -> Value {
    let text = fs::read_to_string(sandbox.path("home/.claude/settings.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    value["hooks"][event][0]["hooks"].clone()
}

#[test]
fn a_link_on_the_path_stays_a_link() {
    let sandbox = with_client(CLIENT);
    let link = sandbox.path("bin/remora");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_remora"), &link).unwrap();
    go(&sandbox, "install", &[]);
    let link = link.to_str().unwrap();
    assert_eq!(handlers(&sandbox, "Stop")[0]["command"], link);
    let start = handlers(&sandbox, "SessionStart");
    assert_eq!(start[0]["args"][2], link);
    // An entry of an older installation is brought up to date.
    let file = sandbox.path("home/.claude/settings.json");
    let old = fs::read_to_string(&file)
        .unwrap()
        .replace(link, "/old/place/remora");
    fs::write(&file, old).unwrap();
    go(&sandbox, "install", &[]);
    assert_eq!(handlers(&sandbox, "Stop")[0]["command"], link);
    // Whatever becomes of the program, the start of a session says so.
    let script = start[0]["args"][1].as_str().unwrap();
    let gone = |home: &str| {
        let done = std::process::Command::new("/bin/sh")
            .args(["-c", script, "/nowhere/remora", "hook", "claude-code"])
            .stdin(std::process::Stdio::null())
            .env("HOME", sandbox.path(home))
            .output()
            .unwrap();
        assert!(done.status.success());
        String::from_utf8(done.stdout).unwrap()
    };
    let is_said = |text: &str| {
        let said: Value = serde_json::from_str(text).unwrap_or_default();
        let message = said["systemMessage"].as_str().unwrap_or_default();
        message.contains("no longer where")
    };
    // Without a data directory there is no place for a mark.
    assert!(is_said(&gone("tmp")));
    assert!(is_said(&gone("tmp")));
    fs::create_dir_all(sandbox.path("home/.remora/run")).unwrap();
    assert!(is_said(&gone("home")));
    assert_eq!(gone("home"), "");
    // Once it has run again, it is news again.
    let start = json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": "s",
        "cwd": sandbox.path("project"), "transcript_path": "/t",
    });
    let hook = sandbox.remora(&["hook", "claude-code"]);
    let hook = hook.leaving_a_process().stdin(start.to_string()).go();
    assert_eq!(hook.code, Some(0), "{hook}");
    // It may only just have been started.
    let drain = sandbox.remora(&["worker", "drain"]).leaving_a_process();
    assert_eq!(drain.go().code, Some(0));
    assert_eq!(sandbox.remora(&["worker", "stop"]).go().code, Some(0));
    assert!(is_said(&gone("home")));
    assert_eq!(gone("home"), "");
}

#[test]
fn what_a_project_shares_is_silent_where_remora_is_not_installed() {
    let sandbox = Sandbox::new();
    let done = go(&sandbox, "install", &["--scope", "project"]);
    assert!(done.stdout.contains("Shared with everybody"), "{done}");
    let text = fs::read_to_string(sandbox.path("project/.claude/settings.json")).unwrap();
    assert!(!text.contains(env!("CARGO_BIN_EXE_remora")), "{text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    let handler = &value["hooks"]["Stop"][0]["hooks"][0];
    let args: Vec<&str> = handler["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a.as_str().unwrap())
        .collect();
    let without = std::process::Command::new(handler["command"].as_str().unwrap())
        .args(&args)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(without.status.success());
    assert_eq!(
        (without.stdout.as_slice(), without.stderr.as_slice()),
        (&b""[..], &b""[..])
    );
    assert!(!sandbox.path("home/.claude/commands/remora.md").exists());
}

#[test]
fn a_command_and_a_skill_come_along_and_files_of_the_user_stay() {
    let sandbox = with_client(CLIENT);
    let own = sandbox.write("home/.claude/skills/memory/SKILL.md", "mine\n");
    let command = sandbox.path("home/.claude/commands/remora.md");
    let done = go(&sandbox, "install", &["--allow-reads"]);
    assert!(done.stdout.contains("SKILL.md: left alone"), "{done}");
    assert!(command.exists());
    let settings = sandbox.path("home/.claude/settings.json");
    assert!(
        fs::read_to_string(&settings)
            .unwrap()
            .contains("mcp__remora__search")
    );
    let done = go(&sandbox, "uninstall", &[]);
    assert!(
        done.stdout.contains("What was remembered stays: "),
        "{done}"
    );
    assert!(!command.exists() && !settings.exists());
    assert_eq!(fs::read_to_string(own).unwrap(), "mine\n");
}
