//! Two sessions at once, and two installations at once: everything once, one worker.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use super::Case;
use super::house::{House, said};
use super::talk::{Ask, Talk};
use crate::client::process::finish;

const CALLS: usize = 8;
/// A client that waits for a pipe of ours would wait for the worker's idle time.
const PROMPT_END: Duration = Duration::from_secs(40);

/// A session of several calls about one bird.
fn session(house: &House, bird: &str, witness: &str) -> Result<Talk> {
    let call = |number: usize| {
        let command = format!("echo {bird}{number} seen");
        json!({"tools": [{
            "id": format!("toolu_{bird}_{number}"), "name": "Bash",
            "input": {"command": command, "description": format!("Watch {bird}{number}")},
        }]})
    };
    let mut turns: Vec<Value> = (0..CALLS).map(call).collect();
    turns.push(json!({"text": format!("The {bird} was watched.")}));
    house.talk(&Ask {
        project: "project",
        prompt: &format!("Watch the {bird}."),
        turns: &turns,
        args: &["--settings", witness],
        ..Ask::default()
    })
}

/// Each of the calls has one row.
fn each_once(case: &mut Case, bird: &str) -> Result<()> {
    for number in 0..CALLS {
        let word = format!("{bird}{number}");
        let rows = case.house.rows_of("project", &word)?;
        case.equal(&format!("rows about {word}"), &rows.len(), &1);
    }
    Ok(())
}

pub(super) fn two_sessions(case: &mut Case) -> Result<()> {
    case.house.remora("project", &["install", "claude-code"])?;
    let witness = case.house.witness(&case.house.user_settings())?;
    let house = &case.house;
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(|| session(house, "bittern", &witness));
        let right = session(house, "avocet", &witness);
        let left = left.join().map_err(|_| anyhow!("a session's thread died"));
        (left.and_then(|talk| talk), right)
    });
    case.sessions += 2;
    let (left, right) = (left?, right?);
    for talk in [&left, &right] {
        case.fine(talk)?;
        case.check(talk.took < PROMPT_END, || {
            format!("the client needed {:?}: who holds its pipes?", talk.took)
        });
    }
    let workers = case.house.workers();
    case.equal("workers after the clients' end", &workers.len(), &1);
    for id in workers {
        detached(case, id)?;
    }
    case.house.drain()?;
    let fired = case.house.fired()?;
    let unaccounted = case.house.unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    each_once(case, "bittern")?;
    each_once(case, "avocet")?;
    let sessions: BTreeSet<String> = [left.session()?, right.session()?].into();
    let mut stored = BTreeSet::new();
    for word in ["bittern", "avocet"] {
        for row in case.house.search("project", word)? {
            stored.insert(row["session"].as_str().unwrap_or_default().to_owned());
        }
    }
    case.equal("sessions in the store", &stored, &sessions);
    let workers = case.house.workers();
    case.equal("workers after draining", &workers.len(), &1);
    Ok(())
}

/// A worker has a session of its own and no pipe or terminal of anybody's.
fn detached(case: &mut Case, id: u32) -> Result<()> {
    let status = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let after = status.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = after.split_whitespace().collect();
    // After the name: state, parent, group, session.
    let session = fields.get(3).copied().unwrap_or_default().to_owned();
    case.equal("the worker's session", &session, &id.to_string());
    for entry in fs::read_dir(format!("/proc/{id}/fd"))?.flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        let target = target.display().to_string();
        case.check(
            !target.starts_with("pipe:") && !target.starts_with("/dev/pts"),
            || format!("the worker holds {target}"),
        );
    }
    Ok(())
}

/// For the user and for the project: each event is stored once.
pub(super) fn installed_twice(case: &mut Case) -> Result<()> {
    case.house.remora("project", &["install", "claude-code"])?;
    let witness = case.house.witness(&case.house.user_settings())?;
    // The same program, which the client runs once; then the same by another name, twice.
    let folder = case.house.path("other");
    fs::create_dir(&folder)?;
    fs::hard_link(case.house.remora_path(), folder.join("remora"))?;
    let mut fired = Vec::new();
    for (program, bird) in [("bin/remora", "curlew"), ("other/remora", "dunlin")] {
        let program = case.house.path(program);
        let mut command = case.house.command(&program, &case.house.path("project"));
        command.args(["install", "claude-code", "--project"]);
        let output = finish(command, None)?;
        case.check(output.status.success(), || said(&output));
        let talk = session(&case.house, bird, &witness)?;
        case.sessions += 1;
        case.fine(&talk)?;
        case.house.drain()?;
        fired.extend(case.house.fired()?);
        each_once(case, bird)?;
        let mut prompts = case.house.search("project", bird)?;
        prompts.retain(|row| row["kind"] == "prompt");
        case.equal(&format!("prompts about the {bird}"), &prompts.len(), &1);
    }
    let logged = case.house.logged()?;
    case.check(logged.len() > fired.len(), || {
        format!(
            "{} events fired, {} came: only one installation ran",
            fired.len(),
            logged.len()
        )
    });
    let unaccounted = case.house.unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    let workers = case.house.workers();
    case.equal("workers", &workers.len(), &1);
    Ok(())
}
