//! `remora hooks add`, `remove`, `enable`, `disable`: what is written and shown.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, command, guard, on};

const SETTINGS: &str = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"PreToolUse\": [\n            { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"true\" } ] }\n        ]\n    }\n}\n";

fn read(sandbox: &Sandbox, file: &str) -> String {
    fs::read_to_string(sandbox.path(file)).unwrap()
}

#[test]
fn a_hook_is_added_shown_and_backed_up() {
    let sandbox = Sandbox::new();
    sandbox.write("project/.claude/settings.json", SETTINGS);
    let args = [
        "hooks",
        "add",
        "PreToolUse",
        "--matcher",
        "Bash",
        "--command",
        "ls",
        "--timeout",
        "5",
    ];
    let dry = sandbox.remora(&args).args(&["--dry-run"]).go();
    insta::assert_snapshot!(dry, @r#"
    $ remora hooks add PreToolUse --matcher Bash --command ls --timeout 5 --dry-run
    [PROJECT]/.claude/settings.json
          "model": "opus",
          "hooks": {
              "PreToolUse": [
    -             { "matcher": "Bash", "hooks": [ { "type": "command", "command": "true" } ] }
    +             { "matcher": "Bash", "hooks": [ { "type": "command", "command": "true" }, {"type": "command", "command": "ls", "timeout": 5} ] }
              ]
          }
      }
    nothing is written: --dry-run
    exit 0
    "#);
    assert_eq!(read(&sandbox, "project/.claude/settings.json"), SETTINGS);
    let (_, done) = sandbox.remora(&args).json();
    assert_eq!(done["key"], "hooks.PreToolUse[0].hooks[1]");
    assert_eq!(done["written"], true);
    let backup = done["backup"].as_str().unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), SETTINGS);
    let (_, list) = sandbox.hooks(&["list"]).json();
    assert!(
        list.to_string().contains("project/PreToolUse/0/1"),
        "{list}"
    );
}

#[test]
fn each_file_that_users_write_can_be_chosen() {
    let sandbox = Sandbox::new();
    for (target, file) in [
        ("user", "home/.claude/settings.json"),
        ("project", "project/.claude/settings.json"),
        ("local", "project/.claude/settings.local.json"),
    ] {
        let done = sandbox
            .remora(&["hooks", "add", "Stop", "--command", "true", "--to", target])
            .go();
        assert_eq!(done.code, Some(0), "{done}");
        let written: Value = serde_json::from_str(&read(&sandbox, file)).unwrap();
        assert_eq!(
            written,
            json!({"hooks": {"Stop": [{"hooks": [command("true")]}]}})
        );
    }
}

#[test]
fn other_kinds_and_whole_handlers_are_added() {
    let sandbox = Sandbox::new();
    let add = |args: &[&str]| {
        sandbox
            .remora(&["hooks", "add", "PreToolUse"])
            .args(args)
            .go()
    };
    assert_eq!(
        add(&["--url", "http://localhost/", "--if", "Bash(git *)"]).code,
        Some(0)
    );
    assert_eq!(
        add(&["--command", "x", "--arg", "-v", "--async"]).code,
        Some(0)
    );
    assert_eq!(
        add(&["--handler", r#"{"type":"prompt","prompt":"ok?"}"#]).code,
        Some(0)
    );
    let written: Value =
        serde_json::from_str(&read(&sandbox, "project/.claude/settings.json")).unwrap();
    assert_eq!(
        written["hooks"]["PreToolUse"][0]["hooks"],
        json!([
            {"type": "http", "url": "http://localhost/", "if": "Bash(git *)"},
            {"type": "command", "command": "x", "args": ["-v"], "async": true},
            {"type": "prompt", "prompt": "ok?"},
        ])
    );
    let bad = add(&["--handler", r#"{"type":"command"}"#]);
    assert_eq!(bad.code, Some(1));
    assert!(
        bad.stderr
            .contains("settings.json: the handler is malformed: `command` is missing"),
        "{bad}"
    );
    let wrong = sandbox
        .remora(&["hooks", "add", "PreTolUse", "--command", "x"])
        .go();
    assert!(
        wrong.stderr.contains("did you mean `PreToolUse`?"),
        "{wrong}"
    );
}

#[test]
fn a_hook_is_switched_off_and_on_and_removed() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("echo no >&2; exit 2"));
    sandbox.user(&on("Stop", "", &[command("true")]));
    let blocked = || {
        sandbox
            .hooks(&["try", "PreToolUse", "--command", "ls"])
            .go()
            .code
    };
    assert_eq!(blocked(), Some(2));
    insta::assert_snapshot!(sandbox.remora(&["hooks", "disable"]).go(), @r"
    $ remora hooks disable
    user/Stop/0/0  true
    project/PreToolUse/0/0  Bash  echo no >&2; exit 2
    exit 0
    ");
    let done = sandbox
        .remora(&["hooks", "disable", "project/PreToolUse/0/0"])
        .go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(blocked(), Some(0));
    let done = sandbox.remora(&["hooks", "enable", "exit 2"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(blocked(), Some(2));
    let done = sandbox.remora(&["hooks", "remove", "exit 2"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(read(&sandbox, "project/.claude/settings.json"), "{}");
    let none = sandbox.remora(&["hooks", "enable", "exit 2"]).go();
    insta::assert_snapshot!(none, @r"
    $ remora hooks enable exit 2
    stderr: remora: no hook to enable is called `exit 2` or runs that; `remora hooks enable` lists them
    exit 1
    ");
}

#[test]
fn a_file_that_the_client_ignores_is_left_alone() {
    let sandbox = Sandbox::new();
    let text = "{\n  // mine\n}\n";
    sandbox.write("project/.claude/settings.json", text);
    let done = sandbox
        .remora(&["hooks", "add", "Stop", "--command", "true"])
        .go();
    insta::assert_snapshot!(done, @r"
    $ remora hooks add Stop --command true
    stderr: remora: [PROJECT]/.claude/settings.json: 2:3: not valid JSON: a comment; the client ignores the whole file, so it is not edited
    exit 1
    ");
    assert_eq!(read(&sandbox, "project/.claude/settings.json"), text);
    // Hooks of other files can still be changed.
    sandbox.user(&on("Stop", "", &[command("true")]));
    let done = sandbox.remora(&["hooks", "remove", "user/Stop/0/0"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stderr.starts_with("note: "), "{done}");
}

#[test]
fn one_of_several_must_be_named() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("Stop", "", &[command("echo a"), command("echo b")]));
    let done = sandbox.remora(&["hooks", "remove", "echo"]).go();
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr
            .contains("`echo` is part of 2 hooks; name one: project/Stop/0/0, project/Stop/0/1"),
        "{done}"
    );
}
