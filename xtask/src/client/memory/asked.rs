//! The client's own command line as the model behind prompt handlers: it answers, keeps no
//! session, is gone at the deadline, and never asks itself again.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::MemoryCase;
use super::talk::TalkRequest;
use crate::client::api::{ScriptedModel, point_to};
use crate::client::process::finish_process;

/// The limit of the handler whose model never answers.
const HANDLER_SECONDS: u64 = 3;
/// A group that was killed is gone after this.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// Where the client keeps sessions that can be resumed.
const SESSIONS_FOLDER: &str = "home/.claude/projects";

/// A prompt handler is answered, and the user's list of sessions stays as it is.
pub(super) fn answers_and_keeps_nothing(case: &mut MemoryCase) -> Result<()> {
    choose_command_line(case)?;
    let before = list_projects(case)?;
    let model = ScriptedModel::start(&[give_verdict(false), give_verdict(false)])?;
    for _ in 0..2 {
        let report = run_prompt_handler(case, |command| model.point_client(command), 60)?;
        let why = report["outcome"]["reason"].as_str().unwrap_or_default();
        case.check_that(why.contains("MK-NO"), || {
            format!("the verdict did not arrive: {report}")
        });
    }
    case.check_equal("questions", &model.main_requests().len(), &2);
    let after = list_projects(case)?;
    case.check_equal("projects in the client's state", &after, &before);
    let kept = case.house.path(SESSIONS_FOLDER);
    case.check_that(!kept.exists(), || "the client kept a session".into());
    let left = case.house.list_processes();
    case.check_that(left.is_empty(), || format!("processes are left: {left:?}"));
    Ok(())
}

/// A model that never answers: the handler times out, and nothing of the client is left.
pub(super) fn is_gone_at_the_deadline(case: &mut MemoryCase) -> Result<()> {
    choose_command_line(case)?;
    let before = list_projects(case)?;
    // It takes connections, because the system does, and says nothing.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no loopback port")?;
    let url = format!("http://{}", silent.local_addr()?);
    let report = run_prompt_handler(case, |command| point_to(&url, command), HANDLER_SECONDS)?;
    let status = &report["handlers"][0]["status"];
    case.check_equal("the handler", status, &json!("timeout"));
    let decision = &report["outcome"]["final"];
    case.check_that(decision != "deny", || format!("it decided: {report}"));
    let end = Instant::now() + KILL_TIMEOUT;
    while !case.house.list_processes().is_empty() && Instant::now() < end {
        thread::park_timeout(Duration::from_millis(20));
    }
    let left = case.house.list_processes();
    case.check_that(left.is_empty(), || format!("processes are left: {left:?}"));
    let after = list_projects(case)?;
    case.check_equal("projects in the client's state", &after, &before);
    Ok(())
}

/// A user's hook asks the model behind the command line; that client must not run the hook.
pub(super) fn never_asks_itself(case: &mut MemoryCase) -> Result<()> {
    choose_command_line(case)?;
    let log = case.house.path("witness/asked");
    let hooks = json!({"hooks": {"UserPromptSubmit": [{"hooks": [
        {"type": "prompt", "prompt": "HPROMPT $ARGUMENTS"}]}]}});
    case.house.write_file("asking.json", &hooks.to_string())?;
    let script = format!(
        "#!/bin/sh\necho \"off=${{REMORA_OFF:-}}\" >> '{}'\n\
         exec '{}' hooks run --json --home '{}' --settings '{}' >> '{}'\n",
        log.display(),
        case.house.remora_path().display(),
        // Not the user's: the hook stands in those settings, and would be run again by itself.
        case.house.path("other-home").display(),
        case.house.path("asking.json").display(),
        case.house.path("witness/reports").display(),
    );
    let script = case.house.write_script("bin/asking-hook", &script)?;
    let settings = json!({"hooks": {"UserPromptSubmit": [{"hooks": [
        {"type": "command", "command": script}]}]}});
    fs::write(case.house.user_settings(), settings.to_string())?;
    let turns = [give_verdict(true), json!({"text": "done"})];
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "hello",
        turns: &turns,
        ..TalkRequest::default()
    })?;
    let runs = fs::read_to_string(&log).unwrap_or_default();
    case.check_equal("runs of the hook", &runs, &"off=\n".to_owned());
    // One question of the handler, one of the conversation.
    case.check_equal("requests", &talk.requests.len(), &2);
    let report = fs::read_to_string(case.house.path("witness/reports")).unwrap_or_default();
    let report: Value = serde_json::from_str(&report).unwrap_or_default();
    let mut handlers = report["handlers"].as_array().into_iter().flatten();
    case.check_that(handlers.any(|row| row["answer"]["ok"] == true), || {
        format!("the hook's question was not answered: {report}")
    });
    Ok(())
}

/// What the client calls to give an answer in a given form.
fn give_verdict(ok: bool) -> Value {
    let input = if ok {
        json!({"ok": true, "reason": "fine"})
    } else {
        json!({"ok": false, "reason": "MK-NO"})
    };
    json!({"tools": [{"id": "verdict", "name": "StructuredOutput", "input": input}]})
}

/// The client is on the `PATH`, and asked by choice of the user.
fn choose_command_line(case: &MemoryCase) -> Result<()> {
    let link = case.house.path("bin/claude");
    std::os::unix::fs::symlink(&case.house.client, &link).context("cannot link the client")?;
    let chosen = case
        .house
        .run_remora("project", &["models", "use", "claude-cli"]);
    chosen.map(drop)
}

/// The report of an event with one prompt handler.
fn run_prompt_handler(
    case: &MemoryCase,
    point: impl FnOnce(&mut Command),
    seconds: u64,
) -> Result<Value> {
    let handler = json!({"type": "prompt", "prompt": "HPROMPT $ARGUMENTS", "timeout": seconds});
    let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
    case.house.write_file("asking.json", &hooks.to_string())?;
    let project = case.house.path("project");
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "asked", "cwd": project,
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "call",
    });
    let mut command = case
        .house
        .build_command(&case.house.remora_path(), &project);
    point(&mut command);
    command.args(["hooks", "run", "--json", "--settings"]);
    command.arg(case.house.path("asking.json"));
    let output = finish_process(command, Some(&event.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("`remora hooks run` ended with {}: {errors}", output.status)
    })
}

/// Folders that the client knows, and what it remembers of each.
fn list_projects(case: &MemoryCase) -> Result<Value> {
    let text = fs::read_to_string(case.house.path("home/.claude.json"))?;
    let state: Value = serde_json::from_str(&text).context("the client's state")?;
    let projects = state["projects"].as_object().into_iter().flatten();
    let names: Vec<&String> = projects.map(|(name, _)| name).collect();
    Ok(json!(names))
}
