//! `remora hooks explain`: for every handler of the event, whether it would run
//! and why. Nothing is started.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, bash, command, guard, on};

/// A handler that would leave a file behind if it ran.
fn tripwire(condition: &str) -> Value {
    let mut handler = command(&format!("touch \"$HOME\"/ran # {condition}"));
    handler["if"] = json!(condition);
    handler
}

fn ran(sandbox: &Sandbox) -> bool {
    sandbox.path("home/ran").exists()
}

#[test]
fn how_each_matcher_was_read() {
    let sandbox = Sandbox::new();
    let groups: Vec<Value> = [
        "",
        "*",
        "Bash",
        "Edit|Write",
        "Edit, Bash",
        "^Ba",
        "Bash(rm *)",
        "(",
        "|",
        "mcp__memory",
    ]
    .iter()
    .map(|m| json!({"matcher": m, "hooks": [command(&format!("touch \"$HOME\"/ran # {m}"))]}))
    .collect();
    sandbox.project(&json!({"hooks": {"PreToolUse": groups}}));
    assert_snapshot!(sandbox.explain(&bash("make")).go(), @r#"
    $ remora hooks explain
    PreToolUse Bash
      ✓ runs  [Project] touch "$HOME"/ran # 
          the matcher takes everything
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
      ✓ runs  [Project] touch "$HOME"/ran # *
          the matcher takes everything
          [PROJECT]/.claude/settings.json  project/PreToolUse/1/0
      ✓ runs  [Project] touch "$HOME"/ran # Bash
          the matcher is the exact name Bash and matches "Bash"
          [PROJECT]/.claude/settings.json  project/PreToolUse/2/0
      ✗ does not run  [Project] touch "$HOME"/ran # Edit|Write
          the matcher is the exact names Edit, Write and does not match "Bash"
          [PROJECT]/.claude/settings.json  project/PreToolUse/3/0
      ✓ runs  [Project] touch "$HOME"/ran # Edit, Bash
          the matcher is the exact names Edit, Bash and matches "Bash"
          [PROJECT]/.claude/settings.json  project/PreToolUse/4/0
      ✓ runs  [Project] touch "$HOME"/ran # ^Ba
          the matcher is an unanchored JavaScript regular expression and matches "Bash"
          [PROJECT]/.claude/settings.json  project/PreToolUse/5/0
      ✗ does not run  [Project] touch "$HOME"/ran # Bash(rm *)
          the matcher is an unanchored JavaScript regular expression and does not match "Bash" (a matcher is tested on the tool's name; to look into the call use `if`)
          [PROJECT]/.claude/settings.json  project/PreToolUse/6/0
      ✗ does not run  [Project] touch "$HOME"/ran # (
          the matcher is not a valid regular expression (unterminated group at 0) and never matches
          [PROJECT]/.claude/settings.json  project/PreToolUse/7/0
      ✗ does not run  [Project] touch "$HOME"/ran # |
          the matcher holds only separators and takes nothing
          [PROJECT]/.claude/settings.json  project/PreToolUse/8/0
      ✗ does not run  [Project] touch "$HOME"/ran # mcp__memory
          the matcher is the exact name mcp__memory and does not match "Bash" (to match all tools of a server write `mcp__server__.*`)
          [PROJECT]/.claude/settings.json  project/PreToolUse/9/0
    warning: project/PreToolUse/7/0: the matcher is not a valid regular expression (unterminated group at 0) and never matches
    warning: project/PreToolUse/8/0: the matcher holds only separators and takes nothing
    exit 0
    "#);
    assert!(!ran(&sandbox));
}

#[test]
fn what_each_condition_found() {
    let sandbox = Sandbox::new();
    let conditions = [
        "Bash(rm *)",
        "Bash(make *)",
        "Bash",
        "Edit",
        "WebFetch(domain:example.com)",
        "Bash(make *) ",
    ];
    let handlers: Vec<Value> = conditions.iter().map(|c| tripwire(c)).collect();
    sandbox.project(&on("PreToolUse", "", &handlers));
    assert_snapshot!(sandbox.explain(&bash("cd x && rm -rf y")).go(), @r#"
    $ remora hooks explain
    PreToolUse Bash
      ✓ runs  [Project] touch "$HOME"/ran # Bash(rm *)
          the matcher takes everything; `if`: the command "rm -rf y" fits "rm *"
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
      ✗ does not run  [Project] touch "$HOME"/ran # Bash(make *)
          the matcher takes everything; `if`: none of "cd x", "rm -rf y" fits "make *"
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/1
      ✓ runs  [Project] touch "$HOME"/ran # Bash
          the matcher takes everything; `if` takes every Bash call
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/2
      ✗ does not run  [Project] touch "$HOME"/ran # Edit
          the matcher takes everything; `if` is about Edit, the call is Bash
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/3
      ✗ does not run  [Project] touch "$HOME"/ran # WebFetch(domain:example.com)
          the matcher takes everything; `if` is about WebFetch, the call is Bash
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/4
      ✗ does not run  [Project] touch "$HOME"/ran # Bash(make *) 
          the matcher takes everything; `if` must be exactly one rule, `Tool` or `Tool(pattern)`, without blanks around it; this one never holds
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/5
    warning: project/PreToolUse/0/4: `if` can look into Bash commands and file paths only; a pattern for WebFetch never holds (use `WebFetch` alone, or the matcher)
    warning: project/PreToolUse/0/5: `if` must be exactly one rule, `Tool` or `Tool(pattern)`, without blanks around it; this one never holds
    exit 0
    "#);
    assert!(!ran(&sandbox));
}

#[test]
fn a_condition_fails_open_on_what_it_cannot_read() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("PreToolUse", "", &[tripwire("Bash(rm *)")]));
    assert_snapshot!(sandbox.explain(&bash("$TOOL -rf 'x")).go(), @r#"
    $ remora hooks explain
    PreToolUse Bash
      ✓ runs  [Project] touch "$HOME"/ran # Bash(rm *)
          the matcher takes everything; `if`: not understood (an unknown variable), so the handler runs
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
    exit 0
    "#);
}

#[test]
fn conditions_on_paths() {
    let sandbox = Sandbox::new();
    let handlers: Vec<Value> = [
        "Edit(src/**)",
        "Edit(//etc/**)",
        "Edit(~/notes/*)",
        "Edit(*.rs)",
    ]
    .iter()
    .map(|c| tripwire(c))
    .collect();
    sandbox.project(&on("PreToolUse", "Edit", &handlers));
    let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": sandbox.text("project/src/lib.rs"), "old_string": "a", "new_string": "b"}});
    assert_snapshot!(sandbox.explain(&event).go(), @r#"
    $ remora hooks explain
    PreToolUse Edit
      ✓ runs  [Project] touch "$HOME"/ran # Edit(src/**)
          the matcher is the exact name Edit and matches "Edit"; `if`: the path [PROJECT]/src/lib.rs fits
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
      ✗ does not run  [Project] touch "$HOME"/ran # Edit(//etc/**)
          the matcher is the exact name Edit and matches "Edit"; `if`: the path [PROJECT]/src/lib.rs does not fit
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/1
      ✗ does not run  [Project] touch "$HOME"/ran # Edit(~/notes/*)
          the matcher is the exact name Edit and matches "Edit"; `if`: the path [PROJECT]/src/lib.rs does not fit
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/2
      ✓ runs  [Project] touch "$HOME"/ran # Edit(*.rs)
          the matcher is the exact name Edit and matches "Edit"; `if`: the path [PROJECT]/src/lib.rs fits
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/3
    exit 0
    "#);
}

#[test]
fn a_condition_needs_a_tool_call() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("Stop", "", &[tripwire("Bash(rm *)")]));
    assert_snapshot!(sandbox.explain(&json!({"hook_event_name": "Stop"})).go(), @r#"
    $ remora hooks explain
    Stop
      ✗ does not run  [Project] touch "$HOME"/ran # Bash(rm *)
          the matcher takes everything; `if` needs a tool call; on this event the handler never runs
          [PROJECT]/.claude/settings.json  project/Stop/0/0
    warning: project/Stop/0/0: `if` needs a tool call, which this event does not have; the handler never runs
    exit 0
    "#);
}

#[test]
fn one_of_two_copies_runs() {
    let sandbox = Sandbox::new();
    sandbox.user(&guard("exit 2"));
    sandbox.project(&guard("exit 2"));
    assert_snapshot!(sandbox.explain(&bash("make")).go(), @r#"
    $ remora hooks explain
    PreToolUse Bash
      ✗ does not run  [User] exit 2
          the same handler stands in [PROJECT]/.claude/settings.json (project/PreToolUse/0/0), which runs
          [HOME]/.claude/settings.json  user/PreToolUse/0/0
      ✓ runs  [Project] exit 2
          the matcher is the exact name Bash and matches "Bash"
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
    exit 0
    "#);
    assert_snapshot!(sandbox.explain(&bash("make")).json().0, @r#"
    $ remora hooks explain --json
    {
      "event": "PreToolUse",
      "query": "Bash",
      "handlers": [
        {
          "id": "user/PreToolUse/0/0",
          "source": "user",
          "file": "[HOME]/.claude/settings.json",
          "matcher": "Bash",
          "type": "command",
          "label": "exit 2",
          "timeout": 600.0,
          "matches": false,
          "why": "the same handler stands in [PROJECT]/.claude/settings.json (project/PreToolUse/0/0), which runs"
        },
        {
          "id": "project/PreToolUse/0/0",
          "source": "project",
          "file": "[PROJECT]/.claude/settings.json",
          "matcher": "Bash",
          "type": "command",
          "label": "exit 2",
          "timeout": 600.0,
          "matches": true,
          "why": "the matcher is the exact name Bash and matches \"Bash\""
        }
      ]
    }
    exit 0
    "#);
}

#[test]
fn disabled_in_each_layer() {
    let off = |mut settings: Value| {
        settings["disableAllHooks"] = json!(true);
        settings
    };
    let mut why = Vec::new();
    for layer in ["user", "project", "local", "flag", "policy"] {
        let sandbox = Sandbox::new();
        sandbox.policy(&guard("exit 2"));
        sandbox.plugin("p", &guard("exit 3"));
        let mut call = sandbox.explain(&bash("make"));
        match layer {
            "user" => drop(sandbox.user(&off(guard("exit 4")))),
            "project" => drop(sandbox.project(&off(guard("exit 4")))),
            "local" => drop(sandbox.local(&off(guard("exit 4")))),
            "policy" => drop(sandbox.policy(&off(guard("exit 4")))),
            _ => call = call.args(&["--settings", &off(guard("exit 4")).to_string()]),
        }
        let call = call.args(&["--plugin", &sandbox.text("plugins/p")]);
        let (_, explanation) = call.json();
        for handler in explanation["handlers"].as_array().unwrap() {
            why.push(format!(
                "{layer}: {} {}: {}",
                handler["source"].as_str().unwrap(),
                handler["matches"],
                handler["why"].as_str().unwrap()
            ));
        }
    }
    assert_snapshot!(why.join("\n"), @r#"
    user: policy true: the matcher is the exact name Bash and matches "Bash"
    user: user false: disableAllHooks in the user settings turns all but managed hooks off
    user: plugin false: disableAllHooks in the user settings turns all but managed hooks off
    project: policy true: the matcher is the exact name Bash and matches "Bash"
    project: project false: disableAllHooks in the project settings turns all but managed hooks off
    project: plugin false: disableAllHooks in the project settings turns all but managed hooks off
    local: policy true: the matcher is the exact name Bash and matches "Bash"
    local: local false: disableAllHooks in the local settings turns all but managed hooks off
    local: plugin false: disableAllHooks in the local settings turns all but managed hooks off
    flag: policy true: the matcher is the exact name Bash and matches "Bash"
    flag: flag false: disableAllHooks in --settings turns all but managed hooks off
    flag: plugin false: disableAllHooks in --settings turns all but managed hooks off
    policy: policy false: disableAllHooks in managed settings turns every hook off
    policy: plugin false: disableAllHooks in managed settings turns every hook off
    "#);
}

#[test]
fn held_back_by_the_organisation() {
    let mut shown = Vec::new();
    for switch in ["allowManagedHooksOnly", "strictPluginOnlyCustomization"] {
        let sandbox = Sandbox::new();
        let mut policy = guard("exit 2");
        policy[switch] = json!(true);
        sandbox.policy(&policy);
        sandbox.user(&guard("exit 3"));
        let plugin = sandbox.plugin("p", &guard("exit 4"));
        let done = sandbox
            .explain(&bash("make"))
            .args(&["--plugin", &plugin])
            .go();
        shown.push(done.to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r#"
    $ remora hooks explain --plugin [ROOT]/plugins/p
    PreToolUse Bash
      ✓ runs  [Policy] exit 2
          the matcher is the exact name Bash and matches "Bash"
          [MANAGED]/managed-settings.json  policy/PreToolUse/0/0
      ✗ does not run  [User] exit 3
          allowManagedHooksOnly in managed settings lets only managed hooks run
          [HOME]/.claude/settings.json  user/PreToolUse/0/0
      ✗ does not run  [Plugin p] exit 4
          allowManagedHooksOnly in managed settings lets only managed hooks run
          [ROOT]/plugins/p/hooks/hooks.json  plugin:p/PreToolUse/0/0
    exit 0

    $ remora hooks explain --plugin [ROOT]/plugins/p
    PreToolUse Bash
      ✓ runs  [Policy] exit 2
          the matcher is the exact name Bash and matches "Bash"
          [MANAGED]/managed-settings.json  policy/PreToolUse/0/0
      ✗ does not run  [User] exit 3
          strictPluginOnlyCustomization in managed settings lets only plugin and managed hooks run
          [HOME]/.claude/settings.json  user/PreToolUse/0/0
      ✓ runs  [Plugin p] exit 4
          the matcher is the exact name Bash and matches "Bash"
          [ROOT]/plugins/p/hooks/hooks.json  plugin:p/PreToolUse/0/0
    exit 0
    "#);
}

#[test]
fn held_back_by_mode_and_trust() {
    let sandbox = Sandbox::new();
    sandbox.policy(&guard("exit 2"));
    sandbox.user(&guard("exit 3"));
    let mut shown = Vec::new();
    for flags in [
        &["--bare"][..],
        &["--safe-mode"],
        &["--untrusted"],
        &["--interactive"],
    ] {
        shown.push(sandbox.explain(&bash("make")).args(flags).go().to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r#"
    $ remora hooks explain --bare
    PreToolUse Bash
      ✓ runs  [Policy] exit 2
          the matcher is the exact name Bash and matches "Bash"
          [MANAGED]/managed-settings.json  policy/PreToolUse/0/0
      ✗ does not run  [User] exit 3
          --bare runs managed hooks only
          [HOME]/.claude/settings.json  user/PreToolUse/0/0
    exit 0

    $ remora hooks explain --safe-mode
    PreToolUse Bash
      ✓ runs  [Policy] exit 2
          the matcher is the exact name Bash and matches "Bash"
          [MANAGED]/managed-settings.json  policy/PreToolUse/0/0
      ✗ does not run  [User] exit 3
          --safe-mode runs managed hooks only
          [HOME]/.claude/settings.json  user/PreToolUse/0/0
    exit 0

    $ remora hooks explain --untrusted
    PreToolUse Bash
      ✗ does not run  [Policy] exit 2
          the folder is not trusted, so every hook is held back
          [MANAGED]/managed-settings.json  policy/PreToolUse/0/0
      ✗ does not run  [User] exit 3
          the folder is not trusted, so every hook is held back
          [HOME]/.claude/settings.json  user/PreToolUse/0/0
    exit 0

    $ remora hooks explain --interactive
    PreToolUse Bash
      ✗ does not run  [Policy] exit 2
          the folder is not trusted, so every hook is held back
          [MANAGED]/managed-settings.json  policy/PreToolUse/0/0
      ✗ does not run  [User] exit 3
          the folder is not trusted, so every hook is held back
          [HOME]/.claude/settings.json  user/PreToolUse/0/0
    exit 0
    "#);
}

#[test]
fn a_kind_that_the_event_does_not_run() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "SessionStart",
        "",
        &[
            json!({"type": "http", "url": "http://127.0.0.1:9/"}),
            json!({"type": "prompt", "prompt": "Is this fine?"}),
            command("true"),
        ],
    ));
    let event = json!({"hook_event_name": "SessionStart", "source": "startup"});
    assert_snapshot!(sandbox.explain(&event).go(), @r"
    $ remora hooks explain
    SessionStart startup
      ✗ does not run  [Project] http://127.0.0.1:9/
          http handlers do not run on SessionStart
          [PROJECT]/.claude/settings.json  project/SessionStart/0/0
      ✗ does not run  [Project] Is this fine?
          prompt handlers do not run on SessionStart
          [PROJECT]/.claude/settings.json  project/SessionStart/0/1
      ✓ runs  [Project] true
          the matcher takes everything
          [PROJECT]/.claude/settings.json  project/SessionStart/0/2
    warning: project/SessionStart/0/0: http handlers do not run on SessionStart
    warning: project/SessionStart/0/1: prompt handlers do not run on SessionStart
    exit 0
    ");
}

#[test]
fn a_call_that_is_refused_before_any_hook() {
    let sandbox = Sandbox::new();
    let mut settings = guard("exit 0");
    settings["permissions"] = json!({"deny": ["Bash"]});
    sandbox.project(&settings);
    assert_snapshot!(sandbox.explain(&bash("make")).go(), @r"
    $ remora hooks explain
    PreToolUse Bash
      ✗ does not run  [Project] exit 0
          deny rule `Bash` [Project] covers the call, so it is refused before any hook
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
    exit 0
    ");
}

#[test]
fn nothing_is_configured() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.explain(&bash("make")).go(), @r"
    $ remora hooks explain
    PreToolUse Bash
      no handler is configured for this event
    exit 0
    ");
    assert_snapshot!(sandbox.explain(&bash("make")).json().0, @r#"
    $ remora hooks explain --json
    {
      "event": "PreToolUse",
      "query": "Bash"
    }
    exit 0
    "#);
}

#[test]
fn as_json() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "PreToolUse",
        "Bash",
        &[tripwire("Bash(rm *)"), tripwire("Glob(x)")],
    ));
    assert_snapshot!(sandbox.explain(&bash("make")).json().0, @r#"
    $ remora hooks explain --json
    {
      "event": "PreToolUse",
      "query": "Bash",
      "warnings": [
        "project/PreToolUse/0/1: `if` can look into Bash commands and file paths only; a pattern for Glob never holds (use `Glob` alone, or the matcher)"
      ],
      "handlers": [
        {
          "id": "project/PreToolUse/0/0",
          "source": "project",
          "file": "[PROJECT]/.claude/settings.json",
          "matcher": "Bash",
          "if": "Bash(rm *)",
          "type": "command",
          "label": "touch \"$HOME\"/ran # Bash(rm *)",
          "timeout": 600.0,
          "matches": false,
          "why": "the matcher is the exact name Bash and matches \"Bash\"; `if`: the command \"make\" does not fit \"rm *\""
        },
        {
          "id": "project/PreToolUse/0/1",
          "source": "project",
          "file": "[PROJECT]/.claude/settings.json",
          "matcher": "Bash",
          "if": "Glob(x)",
          "type": "command",
          "label": "touch \"$HOME\"/ran # Glob(x)",
          "timeout": 600.0,
          "matches": false,
          "why": "the matcher is the exact name Bash and matches \"Bash\"; `if` is about Glob, the call is Bash",
          "never": "`if` can look into Bash commands and file paths only; a pattern for Glob never holds (use `Glob` alone, or the matcher)"
        }
      ]
    }
    exit 0
    "#);
}

#[test]
fn the_layers_are_traced() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("true"));
    assert_snapshot!(sandbox.explain(&bash("make")).args(&["--verbose"]).go(), @r#"
    $ remora hooks explain --verbose
    PreToolUse Bash
      ✓ runs  [Project] true
          the matcher is the exact name Bash and matches "Bash"
          [PROJECT]/.claude/settings.json  project/PreToolUse/0/0
    stderr: remora: layer policy [MANAGED]/managed-settings.json: not there
    stderr: remora: layer user [HOME]/.claude/settings.json: not there
    stderr: remora: layer project [PROJECT]/.claude/settings.json: 1 handler
    stderr: remora: layer local [PROJECT]/.claude/settings.local.json: not there
    exit 0
    "#);
}
