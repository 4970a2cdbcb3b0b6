//! The live self-test at the end of an installation.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use remora_agents::{AgentSpec, HookResponse};
use remora_core::EventName;
use serde_json::Value;

/// Runs the hook as the agent would, on an event of its own, in a data
/// directory of its own, and looks whether the event arrives.
pub(super) fn run(program: &Path, spec: &AgentSpec) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let mark = "remora-self-test";
    let event = (spec.install.sample_prompt)(mark, place.path(), mark);
    let answer = run_program(program, &["hook", spec.name], place.path(), &event)?;
    // Some agents take silence where there is nothing to say.
    let silence = (spec.encode_response)(EventName::UserPromptSubmit, &HookResponse::default());
    if answer.trim() != silence && serde_json::from_str::<Value>(answer.trim()).is_err() {
        return Err(format!(
            "the hook answered with something else than JSON: {answer}"
        ));
    }
    run_program(program, &["worker", "drain"], place.path(), b"")?;
    let found = run_program(
        program,
        &["search", "--all", "--json", mark],
        place.path(),
        b"",
    );
    let ended = run_program(program, &["worker", "stop"], place.path(), b"");
    if !found?.contains(mark) {
        return Err("the event was captured, but is not found".to_owned());
    }
    ended.map(drop)
}

fn run_program(program: &Path, args: &[&str], home: &Path, input: &[u8]) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("`remora {}`: {e}", args.join(" "));
    let mut child = Command::new(program)
        .args(args)
        .current_dir(home)
        .env("REMORA_HOME", home.join("data"))
        .env_remove("REMORA_OFF")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that does not want it says so in its exit code.
        let _ = stdin.write_all(input);
    }
    let done = child.wait_with_output().map_err(failed)?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(format!(
            "`remora {}` failed: {}",
            args.join(" "),
            why.trim()
        ));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
