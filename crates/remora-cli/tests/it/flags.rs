//! Flags that change how the session is set up: modes, trust, permission mode,
//! sources.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Call, Sandbox, bash, command, guard, on};

/// The sources whose handler would run.
fn runs(call: Call<'_>) -> Vec<String> {
    let (done, explanation) = call.json();
    assert_eq!(done.code, Some(0), "{done}");
    let handlers = explanation["handlers"].as_array().unwrap();
    handlers
        .iter()
        .filter(|h| h["matches"] == true)
        .map(|h| h["source"].as_str().unwrap().to_owned())
        .collect()
}

fn layered() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.policy(&guard("echo policy"));
    sandbox.user(&guard("echo user"));
    sandbox.project(&guard("echo project"));
    sandbox.local(&guard("echo local"));
    sandbox
}

#[test]
fn setting_sources_choose_the_files() {
    let sandbox = layered();
    for (list, wanted) in [
        ("user", &["policy", "user"][..]),
        ("project,local", &["policy", "project", "local"]),
        (" user , local ", &["policy", "user", "local"]),
        ("", &["policy"]),
    ] {
        let call = sandbox
            .explain(&bash("x"))
            .args(&["--setting-sources", list]);
        assert_eq!(runs(call), wanted, "{list:?}");
    }
    assert_eq!(
        runs(sandbox.explain(&bash("x"))),
        ["policy", "user", "project", "local"]
    );
}

#[test]
fn modes_leave_managed_hooks_only() {
    let sandbox = layered();
    for flag in ["--bare", "--safe-mode"] {
        assert_eq!(runs(sandbox.explain(&bash("x")).args(&[flag])), ["policy"]);
    }
    for variable in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"] {
        let call = |value| sandbox.explain(&bash("x")).environment(variable, value);
        assert_eq!(runs(call("1")), ["policy"]);
        assert_eq!(runs(call("0")).len(), 4);
        assert_eq!(runs(call("")).len(), 4);
    }
}

#[test]
fn trust_is_asked_for_in_interactive_sessions_only() {
    let sandbox = layered();
    let count = |flags: &[&str]| runs(sandbox.explain(&bash("x")).args(flags)).len();
    assert_eq!(count(&[]), 4);
    assert_eq!(count(&["--interactive"]), 0);
    assert_eq!(count(&["--interactive", "--trusted"]), 4);
    assert_eq!(count(&["--interactive", "--untrusted"]), 0);
    assert_eq!(count(&["--untrusted"]), 0);
    // The person's own answer, for this folder or one above it.
    for folder in ["project", ""] {
        let folder = sandbox.text(folder);
        let folder = folder.trim_end_matches('/');
        let book = json!({"projects": {folder: {"hasTrustDialogAccepted": true}}});
        let book = sandbox.write("home/.claude.json", book.to_string());
        assert_eq!(count(&["--interactive"]), 4);
        assert_eq!(count(&["--interactive", "--untrusted"]), 0);
        std::fs::remove_file(book).unwrap();
    }
    for book in [
        "{",
        "[]",
        "{\"projects\": 7}",
        "{\"projects\": {\"/x\": {\"hasTrustDialogAccepted\": true}}}",
    ] {
        sandbox.write("home/.claude.json", book);
        assert_eq!(count(&["--interactive"]), 0, "{book}");
    }
    let book = json!({"projects": {sandbox.text("project"): {"hasTrustDialogAccepted": false}}});
    sandbox.write("home/.claude.json", book.to_string());
    assert_eq!(count(&["--interactive"]), 0);
}

#[test]
fn an_interactive_session_tells_its_handlers() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "Stop",
        "",
        &[command(
            "echo $CLAUDE_CODE_SESSION_ATTENDED $CLAUDE_CODE_ENTRYPOINT",
        )],
    ));
    let said = |flags: &[&str]| {
        let (_, report) = sandbox.hooks(&["try", "Stop"]).args(flags).json();
        report["handlers"][0]["stdout"].clone()
    };
    assert_eq!(said(&[]), "0 sdk-cli\n");
    assert_eq!(said(&["--interactive", "--trusted"]), "1 cli\n");
}

#[test]
fn the_permission_mode_replaces_the_event_s() {
    let sandbox = Sandbox::new();
    let verdict = |flags: &[&str]| {
        let (done, report) = sandbox.run(&bash("make")).args(flags).json();
        (done.code, report["outcome"]["final"].clone())
    };
    assert_eq!(verdict(&[]), (Some(0), json!("ask")));
    assert_eq!(
        verdict(&["--permission-mode", "bypassPermissions"]),
        (Some(0), json!("allow"))
    );
    assert_eq!(
        verdict(&["--permission-mode", "dontAsk"]),
        (Some(2), json!("deny"))
    );
}

#[test]
fn wrong_words_are_named() {
    let sandbox = Sandbox::new();
    let mut shown = Vec::new();
    for args in [
        &["--setting-sources", "user,projekt"][..],
        &["--permission-mode", "yolo"],
        &["--permission-mode", ""],
    ] {
        shown.push(sandbox.run(&bash("make")).args(args).go().to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r"
    $ remora hooks run --setting-sources user,projekt
    stderr: remora: --setting-sources: `projekt` is not one of user, project, local
    exit 1

    $ remora hooks run --permission-mode yolo
    stderr: remora: --permission-mode: `yolo` is not one of default, acceptEdits, plan, dontAsk, bypassPermissions, auto
    exit 1

    $ remora hooks run --permission-mode 
    stderr: remora: --permission-mode: `` is not one of default, acceptEdits, plan, dontAsk, bypassPermissions, auto
    exit 1
    ");
}

#[test]
fn plugins_are_named_by_manifest_or_folder() {
    let sandbox = Sandbox::new();
    let named = sandbox.plugin("named", &guard("echo $CLAUDE_PLUGIN_ROOT"));
    sandbox.write(
        "plugins/folder/hooks/hooks.json",
        guard("echo two").to_string(),
    );
    let folder = sandbox.text("plugins/folder");
    let call = sandbox.run(&bash("make"));
    assert_snapshot!(call.args(&["--plugin", &named, "--plugin-dir", &folder]).json().0, @r#"
    $ remora hooks run --plugin [ROOT]/plugins/named --plugin-dir [ROOT]/plugins/folder --json
    {
      "event": "PreToolUse",
      "query": "Bash",
      "handlers": [
        {
          "id": "plugin:named/PreToolUse/0/0",
          "source": "plugin",
          "file": "[ROOT]/plugins/named/hooks/hooks.json",
          "plugin": "named",
          "matcher": "Bash",
          "type": "command",
          "label": "echo $CLAUDE_PLUGIN_ROOT",
          "timeout": 600.0,
          "status": "ok",
          "exit_code": 0,
          "stdout": "[ROOT]/plugins/named\n"
        },
        {
          "id": "plugin:folder/PreToolUse/0/0",
          "source": "plugin",
          "file": "[ROOT]/plugins/folder/hooks/hooks.json",
          "plugin": "folder",
          "matcher": "Bash",
          "type": "command",
          "label": "echo two",
          "timeout": 600.0,
          "status": "ok",
          "exit_code": 0,
          "stdout": "two\n"
        }
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
fn faulty_plugins_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("plugins/broken/.claude-plugin/plugin.json", "{");
    sandbox.write("plugins/bare/hooks/hooks.json", "{\"PreToolUse\": []}");
    sandbox.write("plugins/torn/hooks/hooks.json", "{");
    sandbox.write("plugins/file", "");
    let mut shown = Vec::new();
    for name in ["missing", "file", "broken", "bare", "torn"] {
        let plugin = sandbox.text(&format!("plugins/{name}"));
        let done = sandbox.run(&bash("make")).args(&["--plugin", &plugin]).go();
        shown.push(done.to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r#"
    $ remora hooks run --plugin [ROOT]/plugins/missing
    stderr: remora: --plugin [ROOT]/plugins/missing: is not a directory
    exit 1

    $ remora hooks run --plugin [ROOT]/plugins/file
    stderr: remora: --plugin [ROOT]/plugins/file: is not a directory
    exit 1

    $ remora hooks run --plugin [ROOT]/plugins/broken
    stderr: remora: --plugin [ROOT]/plugins/broken: .claude-plugin/plugin.json is not valid (EOF while parsing an object at line 1 column 1)
    exit 1

    $ remora hooks run --plugin [ROOT]/plugins/bare
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [ROOT]/plugins/bare/hooks/hooks.json: no `hooks` key, so nothing is loaded; wrap the events in {"hooks": {…}}
    exit 0

    $ remora hooks run --plugin [ROOT]/plugins/torn
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [ROOT]/plugins/torn/hooks/hooks.json: not valid JSON (EOF while parsing an object at line 1 column 1); the file is ignored
    exit 0
    "#);
}

/// Exit codes: 0 go on (also ask, defer), 2 blocked or stopped, 1 could not run.
#[test]
fn exit_codes() {
    let decision = |word: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word}})
            .to_string()
    };
    let exit = |settings: Value, event: &Value| {
        let sandbox = Sandbox::new();
        sandbox.project(&settings);
        sandbox.run(event).go().code.unwrap()
    };
    let call = bash("make");
    for word in ["allow", "ask", "defer"] {
        assert_eq!(
            exit(guard(&format!("echo '{}'", decision(word))), &call),
            0,
            "{word}"
        );
    }
    assert_eq!(
        exit(guard(&format!("echo '{}'", decision("deny"))), &call),
        2
    );
    assert_eq!(exit(guard("exit 2"), &call), 2);
    assert_eq!(exit(guard("exit 1"), &call), 0);
    assert_eq!(exit(guard("exit 127"), &call), 0);
    assert_eq!(exit(json!({"permissions": {"deny": ["Bash"]}}), &call), 2);
    let stop = json!({"hook_event_name": "UserPromptSubmit", "prompt": "x"});
    assert_eq!(
        exit(
            on(
                "UserPromptSubmit",
                "",
                &[command("echo '{\"continue\":false}'")]
            ),
            &stop
        ),
        2
    );
    let after = json!({"hook_event_name": "SessionEnd", "reason": "other"});
    assert_eq!(exit(on("SessionEnd", "", &[command("exit 2")]), &after), 0);
}
