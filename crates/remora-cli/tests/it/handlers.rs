//! Handlers that misbehave: bounded, ended with all they started, and told
//! about. Each call is watched, and the sandbox looks for what was left.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::{Done, Sandbox, bash, command, guard, on};

/// Far below what the handlers under test would take, far above what a busy
/// machine needs.
const PROMPT: Duration = Duration::from_secs(30);

/// Runs one handler, asserts that it did not take long.
fn one(sandbox: &Sandbox, handler: Value) -> (Done, Value) {
    sandbox.project(&on("PreToolUse", "Bash", &[handler]));
    let started = Instant::now();
    let (done, mut report) = sandbox.run(&bash("make")).json();
    assert!(started.elapsed() < PROMPT, "{done}");
    assert!(sandbox.left_in_tmp().is_empty());
    (done, report["handlers"][0].take())
}

fn limited(text: &str, seconds: f64) -> Value {
    let mut handler = command(text);
    handler["timeout"] = json!(seconds);
    handler
}

#[test]
fn flooding_stdout() {
    let sandbox = Sandbox::new();
    let (done, handler) = one(&sandbox, command("yes"));
    assert_eq!(done.code, Some(0));
    assert_eq!(handler["status"], "error", "{}", handler["why"]);
    assert!(done.raw.len() < 2 << 20, "{}", done.raw.len());
}

#[test]
fn flooding_stderr() {
    let sandbox = Sandbox::new();
    let (done, handler) = one(&sandbox, command("yes >&2"));
    assert_eq!(done.code, Some(0));
    assert_eq!(handler["status"], "error", "{}", handler["why"]);
    assert!(done.raw.len() < 2 << 20, "{}", done.raw.len());
}

/// Much, but with an end: kept to a bounded length, the decision counts.
#[test]
fn much_output_and_an_end() {
    let sandbox = Sandbox::new();
    let (done, handler) = one(
        &sandbox,
        command("head -c 18000000 /dev/zero | tr '\\0' x; exit 2"),
    );
    assert_eq!(done.code, Some(2));
    assert_eq!(handler["status"], "blocked");
    assert_eq!(handler["exit_code"], 2);
    assert!(done.raw.len() < 2 << 20, "{}", done.raw.len());
}

#[test]
fn floods_in_the_background_end_too() {
    let sandbox = Sandbox::new();
    let mut handler = command("yes");
    handler["async"] = json!(true);
    sandbox.project(&on("PreToolUse", "Bash", &[handler]));
    for flags in [&[][..], &["--wait"]] {
        let (done, _) = sandbox.run(&bash("make")).args::<&str>(flags).json();
        assert_eq!(done.code, Some(0), "{done}");
    }
}

/// Nobody waits on a pipe that a child of the handler keeps open.
#[test]
fn a_child_that_keeps_the_pipes_open() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("sleep 300 & echo $! > \"$HOME\"/pid; echo said"));
    let started = Instant::now();
    let (done, report) = sandbox.run(&bash("make")).leaving_a_process().json();
    assert!(started.elapsed() < PROMPT, "{done}");
    let pid = fs::read_to_string(sandbox.path("home/pid")).unwrap();
    sandbox.shell(&format!("kill -KILL {} 2>/dev/null || true", pid.trim()));
    assert_eq!(done.code, Some(0));
    assert_eq!(report["handlers"][0]["status"], "ok");
    assert_eq!(report["handlers"][0]["stdout"], "said\n");
}

#[test]
fn ignoring_sigterm() {
    let sandbox = Sandbox::new();
    let (done, handler) = one(
        &sandbox,
        limited("trap '' TERM INT HUP; echo here; sleep 300; sleep 300", 1.5),
    );
    assert_eq!(done.code, Some(0));
    assert_eq!(handler["status"], "timeout");
    assert_eq!(handler["exit_code"], Value::Null);
    assert_eq!(handler["stdout"], "here\n");
}

#[test]
fn a_family_at_the_deadline() {
    let sandbox = Sandbox::new();
    let text = "(trap '' TERM; (sleep 300 & sleep 300 & wait) & sleep 300) & sh -c 'sleep 300 & sleep 300' & wait";
    let (done, handler) = one(&sandbox, limited(text, 0.3));
    assert_eq!(done.code, Some(0));
    assert_eq!(handler["status"], "timeout");
}

/// The deadline counts also for a handler that closed all its pipes.
#[test]
fn closing_every_pipe_and_staying() {
    let sandbox = Sandbox::new();
    let (_, handler) = one(&sandbox, limited("exec <&- >&- 2>&-; sleep 300", 0.3));
    assert_eq!(handler["status"], "timeout");
}

#[test]
fn a_stop_signal_does_not_stop_the_clock() {
    let sandbox = Sandbox::new();
    let (_, handler) = one(&sandbox, limited("kill -STOP $$", 0.3));
    assert_eq!(handler["status"], "timeout");
}

#[test]
fn in_the_background_the_family_ends_with_the_command() {
    let sandbox = Sandbox::new();
    let mut handler = command("trap '' TERM; sleep 300 & sleep 300");
    handler["async"] = json!(true);
    let (done, handler) = one(&sandbox, handler);
    assert_eq!(done.code, Some(0));
    assert_eq!(handler["status"], "background");
}

/// Handlers need not read the event, however long it is.
#[test]
fn stdin_is_closed_early() {
    let sandbox = Sandbox::new();
    let event = bash(&"x".repeat(1 << 20));
    for text in [
        "exec <&-; echo done",
        "exit 0",
        "head -c 1 >/dev/null; exit 2",
        "true",
    ] {
        sandbox.project(&guard(text));
        let started = Instant::now();
        let (done, report) = sandbox.run(&event).json();
        assert!(started.elapsed() < PROMPT, "{done}");
        let wanted = if text.ends_with('2') { "blocked" } else { "ok" };
        assert_eq!(report["handlers"][0]["status"], wanted, "{text}");
    }
}

#[test]
fn stdin_is_not_read_until_the_deadline() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("PreToolUse", "Bash", &[limited("sleep 300", 0.3)]));
    let (_, report) = sandbox.run(&bash(&"x".repeat(1 << 20))).json();
    assert_eq!(report["handlers"][0]["status"], "timeout");
}

/// Filling one stream before reading must not lock the two up.
#[test]
fn writing_much_before_reading_much() {
    let sandbox = Sandbox::new();
    let event = bash(&"x".repeat(4 << 20));
    sandbox.project(&guard(
        "head -c 4000000 /dev/zero | tr '\\0' y >&2; cat >/dev/null; echo read",
    ));
    let (done, report) = sandbox.run(&event).json();
    assert_eq!(done.code, Some(0));
    assert_eq!(report["handlers"][0]["stdout"], "read\n");
}

#[test]
fn nuls_and_bad_utf_8() {
    let sandbox = Sandbox::new();
    let (done, handler) = one(
        &sandbox,
        command(r"printf 'a\0b\377\376c'; printf '\0\377' >&2; exit 2"),
    );
    assert_eq!(done.code, Some(2));
    assert_eq!(handler["stdout"], "a\0b\u{fffd}\u{fffd}c");
    assert_eq!(handler["stderr"], "\0\u{fffd}");
    let done = sandbox.run(&bash("make")).go();
    assert_eq!(done.code, Some(2));
}

#[test]
fn answers_that_are_almost_json() {
    let sandbox = Sandbox::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    sandbox.write("home/deep", format!("{{\"x\":{deep}}}"));
    for text in [
        "echo '{'",
        "echo '{}{}'",
        "echo '[]'",
        "echo null",
        "cat \"$HOME\"/deep",
        "printf '{\"continue\":\"no\"}'",
        "printf '\\377{}'",
    ] {
        let (done, _) = one(&sandbox, command(text));
        assert!(matches!(done.code, Some(0 | 2)), "{text}: {done}");
    }
}

#[test]
fn programs_that_cannot_start() {
    let sandbox = Sandbox::new();
    sandbox.write("project/plain.txt", "text");
    let plain = sandbox.text("project/plain.txt");
    let mut shown = Vec::new();
    for handler in [
        command("no-such-program-anywhere"),
        json!({"type": "command", "command": "no-such-program-anywhere", "args": ["x"]}),
        json!({"type": "command", "command": plain, "args": []}),
        json!({"type": "command", "command": sandbox.text("project"), "args": []}),
        json!({"type": "command", "command": "a\0b"}),
        json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/x"}),
    ] {
        let (done, handler) = one(&sandbox, handler);
        assert_eq!(done.code, Some(0), "{done}");
        let row = format!(
            "{} {} {}",
            handler["status"], handler["exit_code"], handler["why"]
        );
        shown.push(row.replace(&sandbox.text("project"), "[PROJECT]"));
    }
    insta::assert_snapshot!(shown.join("\n"), @r#"
    "error" 127 "exit code 127"
    "error" null "cannot start `no-such-program-anywhere`: no such program"
    "error" null "cannot start `[PROJECT]/plain.txt`: it is not executable"
    "error" null "cannot start `[PROJECT]`: it is not executable"
    "error" null "cannot start `/bin/sh`: an argument holds a NUL byte"
    "error" null "${CLAUDE_PLUGIN_ROOT} is filled in for plugins only, so the handler is not run"
    "#);
}

#[test]
fn an_http_handler_that_nobody_answers() {
    let sandbox = Sandbox::new();
    let (done, handler) = one(
        &sandbox,
        json!({"type": "http", "url": "http://127.0.0.1:1/hook", "timeout": 2}),
    );
    assert_eq!(done.code, Some(0));
    assert_eq!(handler["status"], "error", "{}", handler["why"]);
}

/// A reader who leaves early is no error.
#[test]
fn stdout_is_closed_early() {
    let sandbox = Sandbox::new();
    sandbox.project(&guard("head -c 200000 /dev/zero | tr '\\0' x; exit 2"));
    let call = || sandbox.run(&bash("make")).args(&["--json"]);
    let done = call().reading_only(1).go();
    assert_eq!((done.code, done.stderr.as_str()), (Some(2), ""));
    for args in [
        &["hooks", "list"][..],
        &["demo"],
        &["completions", "bash"],
        &["hooks", "try", "--help"],
        &["--version"],
    ] {
        for bytes in [0, 1] {
            let done = sandbox.remora(args).reading_only(bytes).go();
            assert!(!done.stderr.contains("panic"), "{done}");
            assert!(done.code.is_some(), "{done}");
        }
    }
}

/// Every variable and folder of a handler is the sandbox's.
#[test]
fn a_handler_s_surroundings() {
    let sandbox = Sandbox::new();
    sandbox.project(&json!({
        "env": {"FROM_SETTINGS": "yes"},
        "hooks": {"PreToolUse": [{"hooks": [command("pwd; env | grep -E '^(CLAUDE|FROM|HOME|AI_|OTEL)' | grep -v _PID= | sort")]}]}
    }));
    let call = sandbox.run(&bash("make")).environment("OTEL_X", "1");
    let (_, report) = call.json();
    let text = report["handlers"][0]["stdout"].as_str().unwrap();
    let text = text
        .replace(&sandbox.text("project"), "[PROJECT]")
        .replace(&sandbox.text("home"), "[HOME]");
    insta::assert_snapshot!(text, @r"
    [PROJECT]
    AI_AGENT=remora_0.1.0
    CLAUDECODE=1
    CLAUDE_CODE_CHILD_SESSION=1
    CLAUDE_CODE_ENTRYPOINT=sdk-cli
    CLAUDE_CODE_SESSION_ATTENDED=0
    CLAUDE_CODE_SESSION_ID=s
    CLAUDE_PROJECT_DIR=[PROJECT]
    FROM_SETTINGS=yes
    HOME=[HOME]
    ");
}
