//! `remora hooks test`: which settings are tested, what is printed, exit codes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Sandbox, command, guard, on};

/// Far above what any step takes; a step that reaches it hangs.
const WATCHDOG: Duration = Duration::from_mins(1);
const GUARD: &str = "grep -q 'rm -rf' && { echo 'no deleting here' >&2; exit 2; }; exit 0";

fn write_cases(sandbox: &Sandbox) {
    sandbox.write(
        "project/.claude/hooks.test.yaml",
        "cases:\n  - name: deleting is blocked\n    event: PreToolUse\n    command: rm -rf /\n    expect: {blocked: true, reason: no deleting}\n  - name: listing goes on\n    event: PreToolUse\n    command: ls\n    expect: {allowed: true, ran: 1}\n",
    );
}

#[test]
fn cases_pass_and_fail() {
    let sandbox = Sandbox::new();
    write_cases(&sandbox);
    sandbox.project(&guard(GUARD));
    insta::assert_snapshot!(sandbox.hooks(&["test", "--jobs", "1"]).go(), @r"
    $ remora hooks test --jobs 1
    .claude/hooks.test.yaml
      ✓ deleting is blocked [N] ms
      ✓ listing goes on [N] ms
    2 cases passed
    exit 0
    ");
    sandbox.project(&guard("echo 'never' >&2; exit 2"));
    insta::assert_snapshot!(sandbox.hooks(&["test", "--filter", "listing"]).go(), @r"
    $ remora hooks test --filter listing
    .claude/hooks.test.yaml
      ✗ listing goes on [N] ms
          allowed
            - expected true
            + found    false
          echo 'never' >&2; exit 2  blocked, exit 2
            exit code 2 blocks
            stderr: never
    0 passed, 1 failed
    exit 1
    ");
}

#[test]
fn a_checkout_is_tested_without_what_the_machine_adds() {
    let sandbox = Sandbox::new();
    write_cases(&sandbox);
    sandbox.project(&guard(GUARD));
    sandbox.user(&guard("exit 2"));
    sandbox.local(&json!({}));
    assert_eq!(sandbox.hooks(&["test"]).plain().go().code, Some(0));
    assert_eq!(sandbox.hooks(&["test", "--all-layers"]).go().code, Some(1));
}

#[test]
fn the_settings_beside_the_file_are_the_ones_under_test() {
    let sandbox = Sandbox::new();
    let case = json!([{"name": "n", "event": "Stop", "expect": {"message": "me"}}]).to_string();
    sandbox.user(&on(
        "Stop",
        "",
        &[command(r#"echo '{"systemMessage":"me"}'"#)],
    ));
    sandbox.project(&on("Stop", "", &[command("exit 2")]));
    let file = sandbox.write("home/.claude/hooks.test.json", &case);
    let done = sandbox.hooks(&["test", file.to_str().unwrap()]).go();
    assert_eq!(done.code, Some(0), "{done}");
    let hooks = on("Stop", "", &[command(r#"echo '{"systemMessage":"me"}'"#)]);
    sandbox.plugin("fmt", &hooks);
    let file = sandbox.write("plugins/fmt/hooks/hooks.test.json", &case);
    let done = sandbox.hooks(&["test", file.to_str().unwrap()]).go();
    assert_eq!(done.code, Some(0), "{done}");
}

#[test]
fn what_cannot_be_played_is_an_error() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.hooks(&["test"]).go(), @r"
    $ remora hooks test
    stderr: remora: [PROJECT]/.claude: there is no hooks.test.json or hooks.test.yaml; `remora hooks test --help` shows one
    exit 1
    ");
    sandbox.write(
        "project/.claude/hooks.test.json",
        r#"{"cases": [{"name": "n", "event": "Stop", "expects": {}}]}"#,
    );
    insta::assert_snapshot!(sandbox.hooks(&["test"]).go(), @r"
    $ remora hooks test
    stderr: remora: [PROJECT]/.claude/hooks.test.json: `cases[0].expects` is not a key; did you mean `expect`?
    exit 1
    ");
    write_cases(&sandbox);
    sandbox.shell("rm .claude/hooks.test.json");
    let done = sandbox.hooks(&["test", "--filter", "nothing"]).go();
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr.contains("no case has that in its name"),
        "{done}"
    );
}

#[test]
fn results_are_written_for_programs() {
    let sandbox = Sandbox::new();
    write_cases(&sandbox);
    sandbox.project(&guard(GUARD));
    let (done, report) = sandbox.hooks(&["test", "--junit", "out.xml"]).json();
    assert_eq!(done.code, Some(0));
    assert_eq!(
        (&report["passed"], &report["failed"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(report["cases"][0]["name"], "deleting is blocked");
    assert_eq!(report["cases"][0]["handlers"][0]["exit_code"], 2);
    let xml = fs::read_to_string(sandbox.path("project/out.xml")).unwrap();
    assert!(xml.contains(r#"<testsuite name=".claude/hooks.test.yaml" tests="2" failures="0""#));
    assert_eq!(sandbox.left_in_tmp(), [] as [std::path::PathBuf; 0]);
}

#[test]
fn hooks_under_test_are_switched_off_for_memory() {
    let sandbox = Sandbox::new();
    sandbox.project(&on(
        "Stop",
        "",
        &[command(r#"echo "{\"systemMessage\":\"off=$REMORA_OFF\"}""#)],
    ));
    sandbox.write(
        "project/.claude/hooks.test.json",
        r#"[{"name": "n", "event": "Stop", "expect": {"message": "off=1"}}]"#,
    );
    let done = sandbox.hooks(&["test"]).go();
    assert_eq!(done.code, Some(0), "{done}");
}

#[test]
fn a_change_plays_the_cases_again() {
    let sandbox = Sandbox::new();
    write_cases(&sandbox);
    sandbox.project(&guard(GUARD));
    let child = Command::new(env!("CARGO_BIN_EXE_remora"))
        .args(["hooks", "test", "--watch", "--jobs", "1"])
        .current_dir(sandbox.path("project"))
        .env("HOME", sandbox.path("home"))
        .env("TMPDIR", sandbox.path("tmp"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = EndedChild(child);
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .try_for_each(|line| send.send(line))
    });
    let wait_for = |wanted: &str| {
        while let Ok(line) = receive.recv_timeout(WATCHDOG) {
            if line.contains(wanted) {
                return true;
            }
        }
        false
    };
    assert!(wait_for("2 cases passed"));
    assert!(wait_for("watching "));
    sandbox.project(&guard("echo no deleting >&2; exit 2"));
    assert!(wait_for("1 passed, 1 failed"));
    assert!(wait_for("watching "));
    sandbox.write("project/.claude/hooks.test.yaml", "cases: [");
    assert!(wait_for("hooks.test.yaml"));
}

/// A program that goes on by itself, ended with its test.
struct EndedChild(Child);

impl Drop for EndedChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const ACTION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../integrations/github-action"
);

#[test]
fn the_action_lints_and_tests() {
    let sandbox = Sandbox::new();
    write_cases(&sandbox);
    sandbox.project(&guard(GUARD));
    let run = |variables: &[(&str, &str)]| {
        Command::new(format!("{ACTION}/run.sh"))
            .current_dir(sandbox.path("project"))
            .env("HOME", sandbox.path("home"))
            .env("TMPDIR", sandbox.path("tmp"))
            .env("REMORA", env!("CARGO_BIN_EXE_remora"))
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    };
    let done = run(&[("JUNIT", "out.xml"), ("SARIF", "out.sarif")]);
    assert!(done.status.success(), "{done:?}");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        text.contains("nothing to fix in 1 file") && text.contains("2 cases passed"),
        "{text}"
    );
    for file in ["project/out.xml", "project/out.sarif"] {
        assert!(sandbox.path(file).is_file(), "{file}");
    }
    sandbox.project(&on("Nope", "", &[]));
    assert_eq!(run(&[]).status.code(), Some(1));
    assert_eq!(
        run(&[("LINT", "false"), ("TEST", "false")]).status.code(),
        Some(0)
    );
    assert_eq!(run(&[("LINT", "maybe")]).status.code(), Some(1));
}

#[test]
fn the_action_hands_every_input_to_its_script() {
    let action = fs::read_to_string(format!("{ACTION}/action.yml")).unwrap();
    let script = fs::read_to_string(format!("{ACTION}/run.sh")).unwrap();
    for input in ["directory", "lint", "lint-files", "test", "junit", "sarif"] {
        let variable = input.to_uppercase().replace('-', "_");
        assert!(
            action.contains(&format!("{variable}: ${{{{ inputs.{input} }}}}")),
            "{input}"
        );
        assert!(script.contains(&format!("${{{variable}:-")), "{variable}");
    }
}
