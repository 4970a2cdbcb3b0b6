//! Two sessions at once, and two installations at once: everything once, one worker.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use super::MemoryCase;
use super::house::{ClientSandbox, format_output};
use super::talk::{TalkRequest, TalkResult};
use crate::client::process::finish_process;

const CALL_COUNT: usize = 8;
/// A client that waits for a pipe of ours would wait for the worker's idle time.
const PROMPT_END_TIMEOUT: Duration = Duration::from_secs(40);

/// A session of several calls about one bird.
fn run_session(house: &ClientSandbox, bird: &str, witness: &str) -> Result<TalkResult> {
    let call = |number: usize| {
        let command = format!("echo {bird}{number} seen");
        json!({"tools": [{
            "id": format!("toolu_{bird}_{number}"), "name": "Bash",
            "input": {"command": command, "description": format!("Watch {bird}{number}")},
        }]})
    };
    let mut turns: Vec<Value> = (0..CALL_COUNT).map(call).collect();
    turns.push(json!({"text": format!("The {bird} was watched.")}));
    house.run_client(&TalkRequest {
        project: "project",
        prompt: &format!("Watch the {bird}."),
        turns: &turns,
        args: &["--settings", witness],
        ..TalkRequest::default()
    })
}

/// Each of the calls has one item.
fn each_once(case: &mut MemoryCase, bird: &str) -> Result<()> {
    for number in 0..CALL_COUNT {
        let word = format!("{bird}{number}");
        let items = case.house.find_matching_items("project", &word)?;
        case.check_equal(&format!("items about {word}"), &items.len(), &1);
    }
    Ok(())
}

pub(super) fn two_sessions(case: &mut MemoryCase) -> Result<()> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    let witness = case.house.write_witness(&case.house.user_settings())?;
    let house = &case.house;
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(|| run_session(house, "bittern", &witness));
        let right = run_session(house, "avocet", &witness);
        let left = left.join().map_err(|_| anyhow!("a session's thread died"));
        (left.and_then(|talk| talk), right)
    });
    case.sessions += 2;
    let (left, right) = (left?, right?);
    for talk in [&left, &right] {
        case.check_talk(talk)?;
        case.check_that(talk.took < PROMPT_END_TIMEOUT, || {
            format!("the client needed {:?}: who holds its pipes?", talk.took)
        });
    }
    let workers = case.house.list_workers();
    case.check_equal("workers after the clients' end", &workers.len(), &1);
    for id in workers {
        check_detached(case, id)?;
    }
    case.house.drain_spool()?;
    let fired = case.house.drain_fired()?;
    let unaccounted = case.house.find_unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    each_once(case, "bittern")?;
    each_once(case, "avocet")?;
    let sessions: BTreeSet<String> = [left.session_id()?, right.session_id()?].into();
    let mut stored = BTreeSet::new();
    for word in ["bittern", "avocet"] {
        for item in case.house.search_items("project", word)? {
            stored.insert(item["session"].as_str().unwrap_or_default().to_owned());
        }
    }
    case.check_equal("sessions in the store", &stored, &sessions);
    let workers = case.house.list_workers();
    case.check_equal("workers after draining", &workers.len(), &1);
    Ok(())
}

/// A worker has a session of its own and no pipe or terminal of anybody's.
fn check_detached(case: &mut MemoryCase, id: u32) -> Result<()> {
    let status = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let after = status.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = after.split_whitespace().collect();
    // After the name: state, parent, group, session.
    let session = fields.get(3).copied().unwrap_or_default().to_owned();
    case.check_equal("the worker's session", &session, &id.to_string());
    for entry in fs::read_dir(format!("/proc/{id}/fd"))?.flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        let target = target.display().to_string();
        case.check_that(
            !target.starts_with("pipe:") && !target.starts_with("/dev/pts"),
            || format!("the worker holds {target}"),
        );
    }
    Ok(())
}

/// For the user and for the project: each event is stored once.
pub(super) fn installed_twice(case: &mut MemoryCase) -> Result<()> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    let witness = case.house.write_witness(&case.house.user_settings())?;
    // The same program, which the client runs once; then the same by another name, twice.
    let folder = case.house.path("other");
    fs::create_dir(&folder)?;
    fs::hard_link(case.house.remora_path(), folder.join("remora"))?;
    let mut fired = Vec::new();
    for (program, bird) in [("bin/remora", "curlew"), ("other/remora", "dunlin")] {
        let program = case.house.path(program);
        let mut command = case
            .house
            .build_command(&program, &case.house.path("project"));
        command.args(["install", "claude-code", "--project"]);
        let output = finish_process(command, None)?;
        case.check_that(output.status.success(), || format_output(&output));
        let talk = run_session(&case.house, bird, &witness)?;
        case.sessions += 1;
        case.check_talk(&talk)?;
        case.house.drain_spool()?;
        fired.extend(case.house.drain_fired()?);
        each_once(case, bird)?;
        let mut prompts = case.house.search_items("project", bird)?;
        prompts.retain(|item| item["kind"] == "prompt");
        case.check_equal(&format!("prompts about the {bird}"), &prompts.len(), &1);
    }
    let logged = case.house.read_logged()?;
    case.check_that(logged.len() > fired.len(), || {
        format!(
            "{} events fired, {} came: only one installation ran",
            fired.len(),
            logged.len()
        )
    });
    let unaccounted = case.house.find_unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    let workers = case.house.list_workers();
    case.check_equal("workers", &workers.len(), &1);
    Ok(())
}
