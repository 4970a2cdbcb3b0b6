//! Two agents on one machine: what the doctor says of each, and what becomes of
//! the settings of the second.

use std::fmt::Write as _;
use std::fs;

use remora_agents::install::{InstalledHook, find_entries};
use remora_agents::{AGENTS, AgentPaths, AgentSpec, InstallScope};
use serde_json::{Value, json};

use crate::remembered::Remembered;
use crate::sandbox::Sandbox;

/// The agent that runs only hooks which its user has trusted.
fn careful() -> &'static AgentSpec {
    let mut all = AGENTS.iter().copied();
    all.find(|agent| agent.install.trust.is_some()).unwrap()
}

/// One that runs all that it finds.
fn plain() -> &'static AgentSpec {
    let mut all = AGENTS.iter().copied();
    all.find(|agent| agent.install.trust.is_none()).unwrap()
}

fn places(sandbox: &Sandbox) -> AgentPaths {
    AgentPaths {
        home: sandbox.path("home"),
        config_dir: None,
        root: sandbox.path("project"),
    }
}

fn install(sandbox: &Sandbox, agent: &AgentSpec, flags: &[&str]) {
    let done = sandbox
        .remora(&["install", agent.name, "--no-mcp"])
        .args(flags)
        .go();
    assert_eq!(done.code, Some(0), "{done}");
}

fn uninstall(sandbox: &Sandbox, agent: &AgentSpec) {
    let done = sandbox.remora(&["uninstall", agent.name]).go();
    assert_eq!(done.code, Some(0), "{done}");
}

/// Writes down that the user trusts those of our hooks that are wanted.
fn trust(sandbox: &Sandbox, scope: InstallScope, wanted: impl Fn(&InstalledHook) -> bool) {
    let places = places(sandbox);
    let hooks = (careful().install.settings_file)(&places, scope).unwrap();
    let text = fs::read_to_string(&hooks).unwrap();
    let mut state = "[hooks.state]\n".to_owned();
    for entry in find_entries(&text, careful()).unwrap() {
        let mut event = String::new();
        for (at, c) in entry.event.char_indices() {
            event.push_str(if at > 0 && c.is_uppercase() { "_" } else { "" });
            event.push(c.to_ascii_lowercase());
        }
        let (file, group, handler) = (hooks.display(), entry.group, entry.handler);
        if wanted(&entry) {
            let key = format!("{file}:{event}:{group}:{handler}");
            write!(state, "\n[hooks.state.\"{key}\"]\ntrusted_hash = \"x\"\n").unwrap();
        }
    }
    fs::write(trust_file(sandbox), state).unwrap();
}

fn trust_file(sandbox: &Sandbox) -> std::path::PathBuf {
    let trust = careful().install.trust.as_ref().unwrap();
    (trust.file)(&places(sandbox))
}

/// What the doctor says of hooks: level and message of each.
fn hook_checks(memory: &Remembered) -> Vec<(String, String)> {
    let (_, told) = memory.call("doctor").json();
    let checks = told["checks"].as_array().unwrap().iter();
    let text = |check: &Value, key: &str| {
        let text = check[key].as_str().unwrap_or_default();
        let text = text.replace(&memory.sandbox.text("home"), "[HOME]");
        text.replace(&memory.sandbox.text("project"), "[PROJECT]")
    };
    checks
        .filter(|check| check["name"] == "hooks")
        .map(|check| (text(check, "level"), text(check, "message")))
        .collect()
}

/// A session of the careful agent, stored.
fn with_session(memory: &mut Remembered) {
    let fields = json!({ "prompt": "Which port does the relay use?" });
    memory.event_of(careful().name, "c1", "relay", "UserPromptSubmit", fields);
    memory.store();
}

#[test]
fn hooks_that_the_user_has_not_trusted_are_named() {
    let mut memory = Remembered::nothing();
    install(&memory.sandbox, careful(), &[]);
    let name = careful().name;
    let checks = hook_checks(&memory);
    let [(level, message)] = &checks[..] else {
        panic!("{checks:?}")
    };
    assert_eq!(level, "warn");
    for word in [
        "hooks.json: ",
        &format!("{name} does not run 8 of our 8 hooks: not trusted in [HOME]"),
        "config.toml: SessionStart, UserPromptSubmit, PostToolUse, SubagentStop, Stop, PreCompact",
    ] {
        assert!(message.contains(word), "{word}: {message}");
    }
    let done = memory.call("doctor").go();
    assert_eq!(done.code, Some(0), "{done}");
    let advice = careful().install.trust.as_ref().unwrap().advice;
    assert!(done.stdout.contains(&format!("-> {advice}\n")), "{done}");

    trust(&memory.sandbox, InstallScope::User, |hook| {
        !["Stop", "PreCompact"].contains(&hook.event.as_str())
    });
    let checks = hook_checks(&memory);
    let wanted = format!("{name} does not run 2 of our 8 hooks");
    assert!(checks[0].1.contains(&wanted), "{checks:?}");
    assert!(checks[0].1.ends_with(": Stop, PreCompact"), "{checks:?}");

    trust(&memory.sandbox, InstallScope::User, |_| true);
    let told = hook_checks(&memory);
    let silent = format!("installed, but no event of {name} has ever come");
    assert_eq!(told, [("warn".to_owned(), silent)]);
    with_session(&mut memory);
    let told = hook_checks(&memory);
    assert_eq!(told[0].0, "ok", "{told:?}");

    let state = fs::read_to_string(trust_file(&memory.sandbox)).unwrap();
    let off = format!("{state}enabled = false\n");
    fs::write(trust_file(&memory.sandbox), off).unwrap();
    let told = hook_checks(&memory);
    assert!(
        told[0].1.contains("1 of our 8 hooks: switched off"),
        "{told:?}"
    );
    assert!(told[0].1.ends_with(": SessionEnd"), "{told:?}");
}

/// Somebody else's hook before ours moves it to a place that nobody trusted.
#[test]
fn trust_belongs_to_the_place_and_to_the_file() {
    let mut memory = Remembered::nothing();
    install(&memory.sandbox, careful(), &[]);
    with_session(&mut memory);
    trust(&memory.sandbox, InstallScope::User, |_| true);
    let hooks = (careful().install.settings_file)(&places(&memory.sandbox), InstallScope::User);
    let hooks = hooks.unwrap();
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&hooks).unwrap()).unwrap();
    let other = json!({ "hooks": [{ "type": "command", "command": "beep" }] });
    value["hooks"]["Stop"]
        .as_array_mut()
        .unwrap()
        .insert(0, other);
    fs::write(&hooks, value.to_string()).unwrap();
    let told = hook_checks(&memory);
    assert!(told[0].1.contains("1 of our 8 hooks"), "{told:?}");
    assert!(told[0].1.ends_with(": Stop"), "{told:?}");
    uninstall(&memory.sandbox, careful());
    // The user's trust in their own hooks says nothing of a project's.
    install(&memory.sandbox, careful(), &["--project"]);
    let told = hook_checks(&memory);
    assert!(told[0].1.starts_with("[PROJECT]"), "{told:?}");
    assert!(told[0].1.contains("8 of our 8 hooks"), "{told:?}");
    trust(&memory.sandbox, InstallScope::Project, |_| true);
    let told = hook_checks(&memory);
    assert_eq!(told[0].0, "ok", "{told:?}");
}

#[test]
fn what_others_write_and_the_agent_refuses_is_a_fault() {
    let mut memory = Remembered::nothing();
    install(&memory.sandbox, careful(), &[]);
    with_session(&mut memory);
    trust(&memory.sandbox, InstallScope::User, |_| true);
    let hooks = (careful().install.settings_file)(&places(&memory.sandbox), InstallScope::User);
    let hooks = hooks.unwrap();
    let ours = fs::read_to_string(&hooks).unwrap();
    let add = |place: &[&str], what: Value| {
        let mut value: Value = serde_json::from_str(&ours).unwrap();
        let at = place.iter().fold(&mut value, |at, key| &mut at[*key]);
        match at.as_array_mut() {
            Some(list) => list.push(what),
            None => *at = what,
        }
        value.to_string()
    };
    let http = json!({ "hooks": [{ "type": "http", "url": "http://localhost" }] });
    for (text, problem) in [
        (
            add(&["$schema"], json!("x")),
            "`$schema` is not a key of this file",
        ),
        (
            add(&["hooks", "Stop"], http),
            "`hooks.Stop[1].hooks[0]` has the `type` http, not command",
        ),
    ] {
        fs::write(&hooks, text).unwrap();
        let told = hook_checks(&memory);
        let [(level, message)] = &told[..] else {
            panic!("{told:?}")
        };
        assert_eq!(level, "fail");
        assert!(message.contains(problem), "{message}");
        assert!(message.contains("ignores this whole file"), "{message}");
        assert!(message.contains("hooks.json: "), "{message}");
    }
    fs::write(&hooks, ours).unwrap();
    fs::write(trust_file(&memory.sandbox), "a = = 1\n").unwrap();
    let told = hook_checks(&memory);
    assert_eq!(told[0].0, "fail", "{told:?}");
    assert!(
        told[0]
            .1
            .contains("config.toml: not valid TOML at line 1, column 5"),
        "{told:?}"
    );
}

/// Which of the two are installed, and what the doctor says of hooks.
#[test]
fn the_doctor_looks_at_every_agent_that_is_installed() {
    let mut memory = Remembered::shop();
    let quiet = |told: &[(String, String)]| told.iter().all(|(level, _)| level == "ok");
    install(&memory.sandbox, plain(), &[]);
    let told = hook_checks(&memory);
    assert!(quiet(&told) && told.len() == 1, "{told:?}");

    // The events of the first are no sign of life of the second.
    install(&memory.sandbox, careful(), &[]);
    trust(&memory.sandbox, InstallScope::User, |_| true);
    let told = hook_checks(&memory);
    let silent = format!(
        "installed, but no event of {} has ever come",
        careful().name
    );
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1], ("warn".to_owned(), silent));
    with_session(&mut memory);
    let told = hook_checks(&memory);
    assert!(quiet(&told) && told.len() == 2, "{told:?}");

    uninstall(&memory.sandbox, plain());
    let told = hook_checks(&memory);
    assert!(quiet(&told), "{told:?}");
    assert!(told.iter().any(|(_, text)| text.contains("hooks.json")));

    uninstall(&memory.sandbox, careful());
    let told = hook_checks(&memory);
    let missing = format!("not in the settings of {}; of its events", careful().name);
    assert!(
        told.iter().any(|(_, text)| text.starts_with(&missing)),
        "{told:?}"
    );
}

/// The files of the careful agent: hooks and other settings.
fn settings(sandbox: &Sandbox, scope: InstallScope) -> [std::path::PathBuf; 2] {
    let (spec, places) = (careful(), places(sandbox));
    let servers = match scope {
        InstallScope::User => (spec.mcp.user_file)(&places),
        _ => (spec.mcp.project_file)(&places),
    };
    [
        (spec.install.settings_file)(&places, scope).unwrap(),
        servers,
    ]
}

#[test]
fn it_comes_and_goes_where_there_was_nothing() {
    for (scope, flags) in [
        (InstallScope::User, &[][..]),
        (InstallScope::Project, &["--project"][..]),
        (InstallScope::Project, &["--scope", "project"][..]),
    ] {
        let sandbox = Sandbox::new();
        let files = settings(&sandbox, scope);
        let folder = files[0].parent().unwrap();
        assert!(!folder.exists());
        let call = |verb: &str| {
            let (done, told) = sandbox.remora(&[verb, careful().name]).args(flags).json();
            assert_eq!(done.code, Some(0), "{done}");
            told
        };
        let told = call("install");
        assert_eq!(
            (&told["outcome"], &told["mcp"]["outcome"]),
            (&json!("created"), &json!("added"))
        );
        let [hooks, servers] = files.clone().map(|file| fs::read_to_string(file).unwrap());
        assert_eq!(find_entries(&hooks, careful()).unwrap().len(), 8);
        assert!(servers.contains("[mcp_servers.remora]"), "{servers}");
        let again = call("install");
        assert_eq!(
            (&again["outcome"], &again["mcp"]["outcome"]),
            (&json!("unchanged"), &json!("unchanged"))
        );
        assert_eq!(
            files.clone().map(|f| fs::read_to_string(f).unwrap()),
            [hooks, servers]
        );
        let told = call("uninstall");
        assert_eq!(
            (&told["outcome"], &told["mcp"]["outcome"]),
            (&json!("deleted"), &json!("removed"))
        );
        assert!(!folder.exists(), "{scope:?}");
    }
}

/// A file that cannot be edited stays, and so does the one beside it.
#[test]
fn settings_that_cannot_be_edited_are_named_and_nothing_changes() {
    let (json, toml) = ("{ \"hooks\": {,} }", "model = = 1\n");
    for (hooks, config, words) in [
        (
            Some(json),
            None,
            "hooks.json: not valid JSON at line 1, column 13",
        ),
        (
            Some("[]"),
            Some("a = 1\n"),
            "hooks.json: `the file` must be a JSON object",
        ),
        (
            None,
            Some(toml),
            "config.toml: not valid TOML at line 1, column 9",
        ),
        (
            Some("{}"),
            Some(toml),
            "config.toml: not valid TOML at line 1, column 9",
        ),
    ] {
        for scope in [InstallScope::User, InstallScope::Project] {
            let sandbox = Sandbox::new();
            let files = settings(&sandbox, scope);
            fs::create_dir(files[0].parent().unwrap()).unwrap();
            for (file, text) in files.iter().zip([hooks, config]) {
                text.inspect(|text| fs::write(file, text).unwrap());
            }
            let flags = match scope {
                InstallScope::User => &[][..],
                _ => &["--project"][..],
            };
            let done = sandbox
                .remora(&["install", careful().name])
                .args(flags)
                .go();
            assert_eq!(done.code, Some(1), "{done}");
            assert!(done.stderr.contains(words), "{words}: {done}");
            let advice = "nothing was changed; correct the file at that place, and run this again";
            assert!(done.stderr.contains(advice), "{done}");
            let now = files.map(|file| fs::read_to_string(file).ok());
            assert_eq!(now, [hooks, config].map(|text| text.map(str::to_owned)));
        }
    }
}

#[test]
fn read_only_files_stay_as_they_are() {
    let sandbox = Sandbox::new();
    let [hooks, config] = settings(&sandbox, InstallScope::User);
    fs::create_dir(hooks.parent().unwrap()).unwrap();
    fs::write(&hooks, "{}").unwrap();
    fs::write(&config, "model = \"m\"\n").unwrap();
    let mode = |file: &std::path::Path, mode: &str| {
        sandbox.shell(&format!("chmod {mode} '{}'", file.display()));
    };
    mode(&hooks, "444");
    let done = sandbox.remora(&["install", careful().name]).go();
    assert_eq!(done.code, Some(1), "{done}");
    let words = "hooks.json: the file is read-only; make it writable or install elsewhere";
    assert!(done.stderr.contains(words), "{done}");
    assert_eq!(fs::read_to_string(&hooks).unwrap(), "{}");
    assert_eq!(fs::read_to_string(&config).unwrap(), "model = \"m\"\n");

    // Without the server, hooks are worth having.
    mode(&hooks, "644");
    mode(&config, "444");
    let (done, told) = sandbox.remora(&["install", careful().name]).json();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(
        (&told["outcome"], &told["mcp"]["outcome"]),
        (&json!("edited"), &json!("failed"))
    );
    let why = told["mcp"]["why"].as_str().unwrap();
    assert!(why.contains("config.toml: the file is read-only"), "{why}");
    assert_eq!(fs::read_to_string(&config).unwrap(), "model = \"m\"\n");
}

#[test]
fn without_a_name_or_with_a_scope_that_is_none_it_says_what_to_type() {
    let sandbox = Sandbox::new();
    for verb in ["install", "uninstall"] {
        let done = sandbox.remora(&[verb]).go();
        assert_eq!(done.code, Some(1), "{done}");
        for agent in AGENTS {
            let line = format!("  remora {verb} {}  ({})\n", agent.name, agent.title);
            assert!(done.stderr.contains(&line), "{done}");
        }
        for agent in AGENTS {
            let done = sandbox.remora(&[verb, agent.name, "--local"]).go();
            assert_eq!(done.code, Some(1), "{done}");
            assert!(done.stderr.contains("there is no such scope"), "{done}");
            assert!(done.stderr.contains("--project"), "{done}");
            let done = sandbox.remora(&[verb, agent.name, "--scope", "local"]).go();
            assert!(done.stderr.contains("user, project"), "{done}");
        }
        let done = sandbox.remora(&[verb, "nobody"]).go();
        assert_eq!(done.code, Some(1), "{done}");
        let names = remora_agents::known_names().join(", ");
        assert!(done.stderr.contains(&names), "{done}");
        let help = sandbox.remora(&[verb, "--help"]).go().stdout;
        assert!(
            AGENTS.iter().all(|agent| help.contains(agent.name)),
            "{help}"
        );
    }
    assert!(!sandbox.path("home/.remora").exists());
}

/// The line with which each shell offers an agent to `remora install`.
#[test]
fn completions_offer_both_agents() {
    let sandbox = Sandbox::new();
    for agent in AGENTS {
        let (name, title) = (agent.name, agent.title);
        for (shell, wanted) in [
            ("bash", format!(" {name}")),
            ("zsh", format!("{name}\\:\"{title}\"")),
            (
                "fish",
                format!("subcommand install\" -f -a \"{name}\" -d '{title}'"),
            ),
        ] {
            let script = sandbox.remora(&["completions", shell]).go().stdout;
            let offers = |line: &str| {
                let verb = shell != "bash" || line.contains("--allow-reads");
                verb && line.contains(&wanted)
            };
            assert!(script.lines().any(offers), "{shell}: {wanted}");
            assert!(!script.contains("-local"), "{shell}");
        }
    }
}

/// The shop, and a session of the careful agent in it: a prompt, a command that
/// was asked for, and a picture that was looked at.
fn shop_of_both() -> Remembered {
    let mut memory = Remembered::shop();
    let cwd = "/home/dev/shop";
    let command = json!({ "command": "make relay" });
    for (event, fields) in [
        ("SessionStart", json!({ "source": "startup" })),
        (
            "UserPromptSubmit",
            json!({ "prompt": "Move the relay to port 4477", "turn_id": "u1" }),
        ),
        (
            "PermissionRequest",
            json!({ "tool_name": "Bash", "tool_input": command }),
        ),
        (
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": command, "tool_response": "relay: ok\n",
                "tool_use_id": "k1", "turn_id": "u1" }),
        ),
        (
            "PostToolUse",
            json!({ "tool_name": "view_image", "tool_input": { "path": format!("{cwd}/relay.png") },
                "tool_response": "", "tool_use_id": "k2", "turn_id": "u1" }),
        ),
        (
            "Stop",
            json!({ "last_assistant_message": "The relay listens on port 4477.", "turn_id": "u1" }),
        ),
    ] {
        memory.event_of(careful().name, "c1", "shop", event, fields);
    }
    memory.store();
    memory
}

#[test]
fn every_list_shows_and_filters_the_second_agent() {
    let memory = shop_of_both();
    let (first, second) = (plain().name, careful().name);
    let agents_of = |line: &str, rows: &str| -> Vec<String> {
        let told = memory.json(line);
        let rows = told.pointer(rows).and_then(Value::as_array).unwrap();
        let names = rows.iter().filter_map(|row| row["agent"].as_str());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    for (line, rows) in [
        ("sessions --all", "/sessions"),
        ("timeline --all", "/entries"),
        ("search --all", "/results"),
        (
            "recap --project github.com/acme/shop --since 2026-11-10",
            "/projects/0/sessions",
        ),
    ] {
        assert_eq!(agents_of(line, rows), [first, second], "{line}");
        for name in [first, second] {
            let line = format!("{line} --agent {name}");
            assert_eq!(agents_of(&line, rows), [name], "{line}");
        }
    }
    let alias = careful().aliases[0];
    assert_eq!(
        agents_of(&format!("search --all agent:{alias}"), "/results"),
        [second]
    );
    assert_eq!(
        memory.json("status")["agents"],
        json!({ first: 3, second: 1 })
    );
    let words = |line: &str| memory.call(line).go().stdout.replace("\n            ", " ");
    let text = words("status");
    let wanted = format!("{first}: 3 sessions, {second}: 1 session");
    assert!(text.contains(&wanted), "{text}");
    for line in [
        "sessions --all",
        "timeline --all",
        "recap --all --since 2026-11-10",
    ] {
        let text = words(line);
        assert!(
            text.contains(first) && text.contains(second),
            "{line}: {text}"
        );
    }
    // One agent goes without saying.
    let text = words(&format!("timeline --all --agent {second}"));
    assert!(!text.contains(second), "{text}");
    let text = words("timeline --all --agent nobody");
    assert!(text.starts_with("nothing happened"), "{text}");
}

#[test]
fn rules_are_made_only_of_what_their_agent_asked() {
    let memory = shop_of_both();
    let told = memory.json("permissions --all --at-least 1");
    assert_eq!(told["groups"], json!([]), "{told}");
    assert_eq!(told["paste"], Value::Null);
}
