//! `remora hooks list`: everything that is configured, with the layer it comes
//! from.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Call, Sandbox, command, guard, on};

fn full(sandbox: &Sandbox) -> Call<'_> {
    sandbox.policy(&guard("echo policy"));
    sandbox.write(
        "managed/managed-settings.d/10-more.json",
        on("Stop", "", &[command("echo drop-in")]).to_string(),
    );
    sandbox.user(&guard("echo user"));
    let mut project = on("PreToolUse", "Edit|Write", &[command("echo project")]);
    project["hooks"]["Stop"] = json!([{"hooks": [command("echo stop")]}]);
    sandbox.project(&project);
    let mut local = command("echo local");
    local["if"] = json!("Bash(rm *)");
    sandbox.local(&on("PreToolUse", "Bash", &[local]));
    let plugin = sandbox.plugin(
        "fmt",
        &on("PostToolUse", "Write", &[command("echo plugin")]),
    );
    let flag = on(
        "SessionStart",
        "startup",
        &[json!({"type": "http", "url": "http://127.0.0.1:9/hook"})],
    );
    sandbox
        .hooks(&["list"])
        .args(&["--plugin", &plugin, "--settings", &flag.to_string()])
}

#[test]
fn every_layer_has_its_label() {
    let sandbox = Sandbox::new();
    assert_snapshot!(full(&sandbox).go().stdout, @r"
    SessionStart  A session begins, resumes, or restarts after a clear, a compaction or a fork.
      [Flag] startup  http: http://127.0.0.1:9/hook
    PreToolUse  A tool call is ready and has not been made.
      [Policy] Bash  command: echo policy
      [User] Bash  command: echo user
      [Project] Edit|Write  command: echo project
      [Local] Bash if Bash(rm *)  command: echo local
    PostToolUse  A tool returned.
      [Plugin fmt] Write  command: echo plugin
    Stop  The main agent finished its answer.
      [Policy]  command: echo drop-in
      [Project]  command: echo stop
    ");
}

#[test]
fn one_event() {
    let sandbox = Sandbox::new();
    assert_snapshot!(full(&sandbox).args(&["--event", "Stop"]).go().stdout, @r"
    Stop  The main agent finished its answer.
      [Policy]  command: echo drop-in
      [Project]  command: echo stop
    ");
    assert_snapshot!(sandbox.hooks(&["list", "--event", "Stopp"]).go(), @r"
    $ remora hooks list --event Stopp
    stderr: remora: unknown event `Stopp`; did you mean `Stop`?
    exit 1
    ");
}

#[test]
fn as_json() {
    let sandbox = Sandbox::new();
    let (done, list) = full(&sandbox).json();
    assert_eq!(done.code, Some(0));
    let mut rows = Vec::new();
    for event in list["events"].as_array().unwrap() {
        for handler in event["handlers"].as_array().unwrap() {
            let text = |key: &str| handler[key].as_str().unwrap_or("-").to_owned();
            rows.push(format!(
                "{} {} {} {} {} {}",
                event["event"].as_str().unwrap(),
                text("label_source"),
                text("id"),
                text("plugin"),
                text("type"),
                text("label"),
            ));
        }
    }
    assert_snapshot!(rows.join("\n"), @r"
    SessionStart [Flag] flag/SessionStart/0/0 - http http://127.0.0.1:9/hook
    PreToolUse [Policy] policy/PreToolUse/0/0 - command echo policy
    PreToolUse [User] user/PreToolUse/0/0 - command echo user
    PreToolUse [Project] project/PreToolUse/0/0 - command echo project
    PreToolUse [Local] local/PreToolUse/0/0 - command echo local
    PostToolUse [Plugin] plugin:fmt/PostToolUse/0/0 fmt command echo plugin
    Stop [Policy] policy.2/Stop/0/0 - command echo drop-in
    Stop [Project] project/Stop/0/0 - command echo stop
    ");
    let (_, list) = full(&sandbox).args(&["--event", "PostToolUse"]).json();
    assert_snapshot!(format!("{list:#}").replace(&sandbox.text(""), "[ROOT]/"), @r#"
    {
      "warnings": [],
      "events": [
        {
          "event": "PostToolUse",
          "about": "A tool returned.",
          "handlers": [
            {
              "id": "plugin:fmt/PostToolUse/0/0",
              "source": "plugin",
              "file": "[ROOT]/plugins/fmt/hooks/hooks.json",
              "plugin": "fmt",
              "matcher": "Write",
              "if": null,
              "type": "command",
              "label": "echo plugin",
              "timeout": 600.0,
              "label_source": "[Plugin]",
              "off": null
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn nothing_is_configured() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.hooks(&["list"]).go(), @r"
    $ remora hooks list
    no hooks are configured
    exit 0
    ");
    assert_snapshot!(sandbox.hooks(&["list"]).json().0.raw, @r#"{"warnings":[],"events":[]}"#);
}

#[test]
fn what_is_off_says_so() {
    let sandbox = Sandbox::new();
    let mut settings: Value = guard("true");
    settings["disableAllHooks"] = json!(true);
    sandbox.local(&settings);
    assert_snapshot!(sandbox.hooks(&["list"]).go(), @r"
    $ remora hooks list
    PreToolUse  A tool call is ready and has not been made.
      [Local] Bash  command: true
          off: disableAllHooks in the local settings turns all but managed hooks off
    exit 0
    ");
}

#[test]
fn long_labels_are_cut_to_one_line() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard(&format!("echo one\n\u{1b}[31m {}", "x".repeat(200))));
    let done = sandbox.hooks(&["list"]).go();
    assert!(
        done.stdout.lines().all(|l| l.chars().count() < 140),
        "{done}"
    );
    assert!(!done.stdout.contains('\u{1b}'), "{done}");
}

#[test]
fn warnings_name_file_and_key() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/.claude/settings.json",
        r#"{"hooks": {"Nope": [{"hooks": []}], "Stop": [{"hooks": [{"type": "command"}]}]}}"#,
    );
    assert_snapshot!(sandbox.hooks(&["list"]).go(), @r"
    $ remora hooks list
    no hooks are configured
    warning: [PROJECT]/.claude/settings.json: `hooks.Nope`: no such event; it is left out
    warning: [PROJECT]/.claude/settings.json: `hooks.Stop[0].hooks[0].command`: is missing; it is left out
    exit 0
    ");
}
