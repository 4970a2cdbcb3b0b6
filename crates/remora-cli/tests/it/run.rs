//! `remora hooks run` for people: what one event's handlers did, what it means,
//! and the exit code.

use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox::{Sandbox, answering, bash, command, guard, on};

fn decision(word: &str) -> serde_json::Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "because I say so"}})
}

#[test]
fn a_hook_allows() {
    let sandbox = Sandbox::new();
    sandbox.project(&answering(&decision("allow")));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r#"
    $ remora hooks run
    PreToolUse Bash
      ✓ [Project] echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permission…  ok, exit 0, [N] ms
      → allow
        because: a hook allowed it and no rule objects
        reason: because I say so
    exit 0
    "#);
}

#[test]
fn exit_code_2_denies() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("echo 'not here' >&2; exit 2"));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      ✗ [Project] echo 'not here' >&2; exit 2  blocked, exit 2, [N] ms
          exit code 2 blocks
          stderr: not here
      → deny
        because: a hook denied it
        reason: not here
    exit 2
    ");
}

#[test]
fn a_hook_that_runs_its_own_event_ends() {
    let sandbox = Sandbox::new();
    let program = env!("CARGO_BIN_EXE_remora");
    let runs = sandbox.path("project/runs");
    sandbox.project(&guard(&format!(
        "echo ran >> '{}'; exec '{program}' hooks run 2>&1",
        runs.display()
    )));
    let done = sandbox.run(&bash("make")).go();
    assert_eq!(done.code, Some(0), "{done}");
    let runs = std::fs::read_to_string(runs).unwrap();
    assert_eq!(runs, "ran\n".repeat(3));
    let refused = sandbox.run(&bash("make"));
    let refused = refused.environment("REMORA_RUN_DEPTH", "3").go();
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("this would not end"), "{refused}");
}

#[test]
fn a_hook_asks() {
    let sandbox = Sandbox::new();
    sandbox.project(&answering(&decision("ask")));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r#"
    $ remora hooks run
    PreToolUse Bash
      ✓ [Project] echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permission…  ok, exit 0, [N] ms
      → ask the user
        because: a hook asked
        reason: because I say so
    exit 0
    "#);
}

#[test]
fn a_hook_defers() {
    let sandbox = Sandbox::new();
    sandbox.project(&answering(&decision("defer")));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r#"
    $ remora hooks run
    PreToolUse Bash
      ✓ [Project] echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permission…  ok, exit 0, [N] ms
      → defer
        because: a hook deferred it
        reason: because I say so
    exit 0
    "#);
}

#[test]
fn a_hook_stops_the_turn() {
    let sandbox = Sandbox::new();
    let stop = json!({"continue": false, "stopReason": "enough for today"});
    sandbox.project(&on(
        "UserPromptSubmit",
        "",
        &[command(&format!("echo '{stop}'"))],
    ));
    let event = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"});
    assert_snapshot!(sandbox.run(&event).go(), @r#"
    $ remora hooks run
    UserPromptSubmit
      ✗ [Project] echo '{"continue":false,"stopReason":"enough for today"}'  blocked, exit 0, [N] ms
      → stopped
        reason: enough for today
        the turn ends: enough for today
    exit 2
    "#);
}

#[test]
fn a_blocked_prompt() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "UserPromptSubmit",
        "",
        &[command("echo 'a secret' >&2; exit 2")],
    ));
    let event = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"});
    assert_snapshot!(sandbox.run(&event).go(), @r"
    $ remora hooks run
    UserPromptSubmit
      ✗ [Project] echo 'a secret' >&2; exit 2  blocked, exit 2, [N] ms
          exit code 2 blocks
          stderr: a secret
      → blocked
        reason: a secret
    exit 2
    ");
}

#[test]
fn plain_text_is_context_where_the_event_says_so() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "SessionStart",
        "startup",
        &[command("echo 'Use tabs.'")],
    ));
    let event = json!({"hook_event_name": "SessionStart", "source": "startup"});
    assert_snapshot!(sandbox.run(&event).go(), @r"
    $ remora hooks run
    SessionStart startup
      ✓ [Project] echo 'Use tabs.'  ok, exit 0, [N] ms
      → go on
        for the model: Use tabs.
    exit 0
    ");
}

#[test]
fn a_hook_rewrites_the_input() {
    let sandbox = Sandbox::new();
    sandbox.project(&answering(&json!({"systemMessage": "dry run", "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "make -n"}}})));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r#"
    $ remora hooks run
    PreToolUse Bash
      ✓ [Project] echo '{"systemMessage":"dry run","hookSpecificOutput":{"hookEventName…  ok, exit 0, [N] ms
      → allow
        because: a hook allowed it and no rule objects
        for the user: dry run
        new input: {"command":"make -n"}
    exit 0
    "#);
}

#[test]
fn a_rule_denies_what_a_hook_allowed() {
    let sandbox = Sandbox::new();
    sandbox.project(&answering(&decision("allow")));
    sandbox.user(&json!({"permissions": {"deny": ["Bash(make *)"]}}));
    assert_snapshot!(sandbox.run(&bash("make all")).go(), @r#"
    $ remora hooks run
    PreToolUse Bash
      ✓ [Project] echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permission…  ok, exit 0, [N] ms
      → deny
        because: a hook allowed it, but deny rule `Bash(make *)` [User] covers the call
        reason: because I say so
    exit 2
    "#);
}

#[test]
fn a_malformed_file_is_named_and_the_others_count() {
    let sandbox = Sandbox::new();
    sandbox.write("home/.claude/settings.json", "{\"hooks\": ");
    sandbox.write(
        "project/.claude/settings.json",
        r#"{"hooks": {"PreToolUs": [], "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "comand", "command": "true"}, {"type": "command", "command": "exit 2"}]}]}}"#,
    );
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [HOME]/.claude/settings.json: not valid JSON (EOF while parsing a value at line 1 column 10); the file is ignored
    warning: [PROJECT]/.claude/settings.json: `hooks.PreToolUse[0].hooks[0].type`: `comand` is not one of command, http, mcp_tool, prompt, agent. Under PreToolUse one malformed entry voids the whole file: none of its hooks, permissions or other settings count; the file is ignored
    exit 0
    ");
}

#[test]
fn nothing_is_configured() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    exit 0
    ");
}

#[test]
fn no_matcher_fits() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("PreToolUse", "Write", &[command("exit 2")]));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    exit 0
    ");
}

#[test]
fn each_end_of_a_handler() {
    let sandbox = Sandbox::new();
    let mut slow = command("sleep 300");
    slow["timeout"] = json!(0.2);
    let mut late = command("cat >/dev/null; sleep 300");
    late["async"] = json!(true);
    sandbox.user(&guard("exit 3"));
    sandbox.project(&on(
        "PreToolUse",
        "Bash",
        &[
            command("true"),
            command("echo oops >&2; exit 1"),
            command("kill -TERM $$"),
            json!({"type": "command", "command": "/no/such/program", "args": []}),
            json!({"type": "prompt", "prompt": "Is this safe?"}),
            slow,
            late,
            command("exit 3"),
        ],
    ));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      - [User] exit 3  skipped
          the same handler stands in [PROJECT]/.claude/settings.json (project/PreToolUse/0/7), which runs
      ✓ [Project] true  ok, exit 0, [N] ms
      ! [Project] echo oops >&2; exit 1  error, exit 1, [N] ms
          exit code 1
          stderr: oops
      ! [Project] kill -TERM $$  error, [N] ms
          ended by signal 15
      ! [Project] /no/such/program  error, [N] ms
          cannot start `/no/such/program`: no such program
      - [Project] Is this safe?  skipped
          not available: no model configured; the event goes on
      ! [Project] sleep 300  timeout, [N] ms
          it did not answer in time; what it had said is discarded
      … [Project] cat >/dev/null; sleep 300  background, [N] ms
          it goes on without the host; what it says later cannot decide anything
      ! [Project] exit 3  error, exit 3, [N] ms
          exit code 3
      → ask the user
        because: no rule covers the call, so the user is asked
    exit 0
    ");
}

#[test]
fn variables_are_collected() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "SessionStart",
        "",
        &[command(
            "echo 'export CITY=\"New York\"' >> \"$CLAUDE_ENV_FILE\"",
        )],
    ));
    let event = json!({"hook_event_name": "SessionStart", "source": "startup"});
    assert_snapshot!(sandbox.run(&event).go(), @r#"
    $ remora hooks run
    SessionStart startup
      ✓ [Project] echo 'export CITY="New York"' >> "$CLAUDE_ENV_FILE"  ok, exit 0, [N] ms
      → go on
        variable: CITY=New York
    exit 0
    "#);
    assert!(sandbox.left_in_tmp().is_empty());
}

#[test]
fn a_long_text_is_kept_in_a_file() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "SessionStart",
        "",
        &[command("head -c 20000 /dev/zero | tr '\\0' x")],
    ));
    let event = json!({"hook_event_name": "SessionStart", "source": "startup"});
    let (done, report) = sandbox.run(&event).json();
    assert_eq!(done.code, Some(0));
    let text = report["outcome"]["context"][0].as_str().unwrap();
    assert!(text.len() < 3_000, "{text}");
    let left = sandbox.left_in_tmp();
    assert_eq!(left.len(), 1, "{left:?}");
    let file = left[0].join("hook-SessionStart-1.txt");
    assert!(text.contains(file.to_str().unwrap()), "{text}");
    assert_eq!(
        std::fs::read_to_string(file).unwrap().trim(),
        "x".repeat(20_000)
    );
}

#[test]
fn the_name_may_come_from_the_command_line() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("Stop", "", &[command("cat; exit 0")]));
    let call = sandbox.hooks(&["run", "--event", "Stop"]);
    let (done, report) = call.stdin("\u{feff}{\"stop_hook_active\":false}").json();
    assert_eq!(done.code, Some(0));
    assert_eq!(
        report["handlers"][0]["stdout"],
        "{\"stop_hook_active\":false,\"hook_event_name\":\"Stop\"}\n"
    );
    // The event's own name counts more.
    let call = sandbox.hooks(&["run", "--event", "Stop"]);
    let (_, report) = call.stdin(bash("make").to_string()).json();
    assert_eq!(report["event"], "PreToolUse");
}

#[test]
fn an_event_from_a_file() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("exit 2"));
    sandbox.write("project/event.json", bash("make").to_string());
    assert_snapshot!(sandbox.hooks(&["run", "--input", "event.json"]).go(), @r"
    $ remora hooks run --input event.json
    PreToolUse Bash
      ✗ [Project] exit 2  blocked, exit 2, [N] ms
          exit code 2 blocks
      → deny
        because: a hook denied it
        reason: No stderr output
    exit 2
    ");
}

#[test]
fn every_step_is_traced() {
    let sandbox = Sandbox::new();
    sandbox.write("home/.claude/settings.json", "[]");
    let mut careful = command("exit 2");
    careful["if"] = json!("Bash(rm *)");
    sandbox.project(&on(
        "PreToolUse",
        "Bash",
        &[careful, command("echo '{\"systemMessage\":\"hi\"}'")],
    ));
    assert_snapshot!(sandbox.run(&bash("make")).args(&["-v"]).go(), @r#"
    $ remora hooks run -v
    PreToolUse Bash
      ✓ [Project] echo '{"systemMessage":"hi"}'  ok, exit 0, [N] ms
      → ask the user
        because: no rule covers the call, so the user is asked
        for the user: hi
    warning: [HOME]/.claude/settings.json: the file must hold a JSON object; the file is ignored
    stderr: remora: layer policy [MANAGED]/managed-settings.json: not there
    stderr: remora: layer user [HOME]/.claude/settings.json: ignored: the file must hold a JSON object
    stderr: remora: layer project [PROJECT]/.claude/settings.json: 2 handlers
    stderr: remora: layer local [PROJECT]/.claude/settings.local.json: not there
    stderr: remora: match project/PreToolUse/0/0: does not run: the matcher is the exact name Bash and matches "Bash"; `if`: the command "make" does not fit "rm *"
    stderr: remora: match project/PreToolUse/0/1: runs: the matcher is the exact name Bash and matches "Bash"
    stderr: remora: start project/PreToolUse/0/1 (command): echo '{"systemMessage":"hi"}'
    stderr: remora: done project/PreToolUse/0/1: ok, exit 0, [N] ms; answer {"systemMessage":"hi"}
    stderr: remora: rules: ask (no rule covers the call, so the user is asked)
    stderr: remora: outcome: not blocked, final ask
    exit 0
    "#);
}
