//! Past sessions of an agent whose hooks were there: recorded runs, with what
//! their hooks were told and the files that the agent wrote.

use std::fs;
use std::path::{Path, PathBuf};

use remora_agents::{AGENTS, AgentSpec};
use serde_json::Value;

use crate::rebuild::exported;
use crate::sandbox::Sandbox;

/// The agent whose runs were recorded with both.
fn agent() -> &'static AgentSpec {
    let mut all = AGENTS.iter().copied();
    all.find(|agent| agent.session_file.is_some()).unwrap()
}

fn recorded(run: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts");
    all.join(agent().name).join(run)
}

/// A sandbox with the files of a run where the agent keeps them.
fn with_files(run: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let args = ["config", "set", "search.background", "false"];
    assert_eq!(sandbox.remora(&args).go().code, Some(0));
    for entry in fs::read_dir(recorded(run)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name != "hooks.jsonl" {
            let text = move_paths(&sandbox, &fs::read_to_string(&path).unwrap());
            let to = format!("home/.{}/sessions/2026/11/18/{name}", agent().name);
            sandbox.write(&to, text);
        }
    }
    sandbox
}

/// The text as if the run had been in the sandbox.
fn move_paths(sandbox: &Sandbox, text: &str) -> String {
    let text = text.replace("/home/agent/app", &sandbox.text("project"));
    text.replace("/home/agent", &sandbox.text("home"))
}

/// Tells hooks what they were told, in the same order, and waits until it is
/// stored.
fn tell_hooks(sandbox: &Sandbox, run: &str) {
    let text = fs::read_to_string(recorded(run).join("hooks.jsonl")).unwrap();
    for line in move_paths(sandbox, &text).lines() {
        let payload: Value = serde_json::from_str(line).unwrap();
        let name = payload["hook_event_name"].as_str().unwrap();
        let registered = agent().registered.iter();
        if registered
            .map(|row| row.event.as_str())
            .any(|row| row == name)
        {
            let call = sandbox.remora(&["hook", agent().name]).stdin(line);
            let done = call
                .environment("REMORA_RECALL", "off")
                .leaving_a_process()
                .go();
            assert_eq!(done.code, Some(0), "{done}");
        }
    }
    let drained = sandbox.remora(&["worker", "drain"]);
    assert_eq!(drained.leaving_a_process().go().code, Some(0));
    assert_eq!(sandbox.remora(&["worker", "stop"]).go().code, Some(0));
}

fn import(sandbox: &Sandbox) -> Value {
    let args = ["import", agent().name, "--no-vectors"];
    let (done, value) = sandbox.remora(&args).json();
    assert_eq!(done.code, Some(0), "{done}");
    value
}

/// Kind, prompt, subagent and title of every row, in one order.
fn rows(sandbox: &Sandbox) -> Vec<String> {
    let lines = exported(sandbox).into_iter().filter_map(|line| {
        let value: Value = serde_json::from_str(&line).unwrap();
        let row = value.get("item")?;
        let subagent = row["subagent"].as_str().map_or("", |_| " (subagent)");
        let (kind, title) = (row["kind"].as_str()?, row["title"].as_str()?);
        Some(format!("{} {kind}{subagent}: {title}", row["prompt"]))
    });
    let mut rows: Vec<String> = lines.collect();
    rows.sort();
    rows
}

/// Runs, and the rows of which hooks were told nothing, neither by themselves nor
/// by the end of the session's file.
const RUNS: &[(&str, &[&str])] = &[
    ("full", &[]),
    ("subagent", &[]),
    ("resume", &[]),
    ("code-mode", &[]),
    ("patch-apply-fail", &[]),
    ("compact", &[]),
    ("compact-manual", &[]),
    ("web-search", &[]),
    ("api-error", &[]),
    ("other-tools", &[]),
];

#[test]
fn an_import_after_hooks_brings_only_what_they_were_not_told() {
    for (run, missed) in RUNS {
        let alone = with_files(run);
        let read = import(&alone);
        let both = with_files(run);
        tell_hooks(&both, run);
        let told = rows(&both);
        let added = import(&both);
        assert_eq!(added["events"], missed.len(), "{run}: {added}");
        assert_eq!(
            added["known"].as_u64(),
            read["events"].as_u64().map(|all| all - missed.len() as u64),
            "{run}: {added}"
        );
        let mut expected = told;
        expected.extend(missed.iter().map(|row| (*row).to_owned()));
        expected.sort();
        assert_eq!(rows(&both), expected, "{run}");
        assert_eq!(rows(&both), rows(&alone), "{run}");
    }
}

#[test]
fn the_task_of_a_subagent_is_no_prompt() {
    let sandbox = with_files("subagent");
    let line = ["import", agent().name, "--dry-run"];
    let (_, looked) = sandbox.remora(&line).json();
    assert_eq!(looked["prompts"], 1, "{looked}");
    assert_eq!(import(&sandbox)["prompts"], 1);
    let (_, listed) = sandbox.remora(&["sessions", "--all"]).json();
    assert_eq!(listed["sessions"][0]["prompts"], 1, "{listed}");
    let prompts = rows(&sandbox);
    let prompts = prompts.iter().filter(|row| row.contains(" prompt: "));
    assert_eq!(prompts.collect::<Vec<_>>(), ["1 prompt: MAINPROMPT"]);
    // As many as the hooks of the same run tell of.
    let hooked = with_files("subagent");
    tell_hooks(&hooked, "subagent");
    let (_, status) = hooked.remora(&["status"]).json();
    assert_eq!(status["prompts"], 1, "{status}");
    let (_, listed) = hooked.remora(&["sessions", "--all"]).json();
    assert_eq!(listed["sessions"][0]["prompts"], 1, "{listed}");
}
