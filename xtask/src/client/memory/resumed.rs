//! A session that goes on: resumed, compacted, cleared; and a subagent in the background.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Case;
use super::kept::brief;
use super::talk::Ask;

pub(super) fn goes_on(case: &mut Case) -> Result<()> {
    case.house.remora("project", &["install", "claude-code"])?;
    let witness = case.house.witness(&case.house.user_settings())?;
    let turns = [json!({"text": "Noted."})];
    let settings = ["--settings", witness.as_str()];
    let first = case.talk(&Ask {
        project: "project",
        prompt: "The kittiwake nest is on ledge one.",
        turns: &turns,
        args: &settings,
        ..Ask::default()
    })?;
    let id = first.session()?;
    let resume = ["--resume", id.as_str(), settings[0], settings[1]];
    let ask = |prompt, args| Ask {
        project: "project",
        prompt,
        turns: &turns,
        args,
        ..Ask::default()
    };
    let second = case.talk(&ask("The guillemot nest is on ledge two.", &resume))?;
    case.equal("the resumed session", &second.session()?, &id);
    let go_on = ["--continue", settings[0], settings[1]];
    let third = case.talk(&ask("The razorbill nest is on ledge three.", &go_on))?;
    case.equal("the continued session", &third.session()?, &id);
    case.house.drain()?;
    prompts(case, &id, 3)?;
    for (number, bird) in (1..).zip(["kittiwake", "guillemot", "razorbill"]) {
        numbered(case, bird, &id, number)?;
    }

    case.talk(&ask("/compact", &resume))?;
    case.talk(&ask("The fulmar nest is on ledge four.", &resume))?;
    case.house.drain()?;
    prompts(case, &id, 4)?;
    numbered(case, "fulmar", &id, 4)?;
    let cleared = case.talk(&ask("/clear", &resume))?;
    case.check(cleared.session()? != id, || {
        "`/clear` began no new session".to_owned()
    });
    case.house.drain()?;
    prompts(case, &id, 4)?;
    let fired = case.house.fired()?;
    let unaccounted = case.house.unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    for (event, field, value) in [
        ("SessionStart", "source", "resume"),
        ("SessionStart", "source", "compact"),
        ("SessionStart", "source", "clear"),
        ("SessionEnd", "reason", "clear"),
        ("PreCompact", "trigger", "manual"),
    ] {
        let same = |given: &Value| given["hook_event_name"] == event && given[field] == value;
        case.check(fired.iter().any(same), || {
            format!("the client no longer fires {event} with {field} {value}")
        });
    }
    let agents = case.house.search("project", "subagent")?;
    case.check(!agents.iter().any(|row| row["kind"] == "task"), || {
        format!("compaction was taken for a subagent: {}", brief(&agents))
    });
    Ok(())
}

/// The one prompt about this bird is of that session and has that number in it.
fn numbered(case: &mut Case, bird: &str, session: &str, number: u64) -> Result<()> {
    let mut items = case.house.items("project", bird)?;
    items.retain(|item| item["kind"] == "prompt");
    let found: Vec<_> = items
        .iter()
        .map(|item| (item["session"].clone(), item["prompt"].clone()))
        .collect();
    let wanted = vec![(json!(session), json!(number))];
    case.equal(&format!("prompts about the {bird}"), &found, &wanted);
    Ok(())
}

/// How many prompts the session has.
fn prompts(case: &mut Case, id: &str, wanted: u64) -> Result<()> {
    let told = case.house.ask("project", &["sessions", "--json"])?;
    let list = told["sessions"].as_array();
    let list = list.with_context(|| format!("`remora sessions --json` has no sessions: {told}"))?;
    let mut same = list.iter().filter(|session| session["id"] == id);
    let session = same.next().cloned().unwrap_or_default();
    case.check(same.next().is_none(), || {
        "a session is listed twice".to_owned()
    });
    case.equal(
        "prompts of the session",
        &session["prompts"],
        &json!(wanted),
    );
    Ok(())
}

pub(super) fn background_agent(case: &mut Case) -> Result<()> {
    case.house.remora("project", &["install", "claude-code"])?;
    let witness = case.house.witness(&case.house.user_settings())?;
    let launch = json!({
        "description": "Weigh the dotterel eggs",
        "prompt": "Weigh them.",
        "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    let talk = case.talk(&Ask {
        project: "project",
        prompt: "Have the eggs weighed.",
        turns: &[
            json!({"tools": [{"id": "toolu_egg", "name": "Agent", "input": launch}]}),
            json!({"text": "It is being done."}),
            json!({"agent": true, "text": "The dotterel eggs weigh 23 grams each."}),
            json!({"text": "They weigh 23 grams."}),
        ],
        args: &["--settings", &witness],
        ..Ask::default()
    })?;
    case.house.drain()?;
    let fired = case.house.fired()?;
    let notice = |event: &&Value| {
        let prompt = event["prompt"].as_str().unwrap_or_default();
        prompt.starts_with("<task-notification>")
    };
    case.equal(
        "task notifications",
        &fired.iter().filter(notice).count(),
        &1,
    );
    let launched = fired
        .iter()
        .any(|event| event["tool_response"]["status"] == "async_launched");
    case.check(launched, || {
        format!(
            "the agent was not launched in the background: {:?}",
            talk.calls()
        )
    });
    let unaccounted = case.house.unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    prompts(case, &talk.session()?, 1)?;
    let notices = case.house.search("project", "task notification")?;
    let as_prompt = |row: &&Value| row["kind"] == "prompt";
    case.check(notices.iter().find(as_prompt).is_none(), || {
        format!("a notification became a prompt: {}", brief(&notices))
    });
    let results = case.house.rows_of("project", "dotterel 23 grams")?;
    case.equal("rows with the agent's result", &results.len(), &1);
    let told = case.house.rows_of("project", "internal metadata")?;
    case.check(told.is_empty(), || {
        format!("the launch was taken for a result: {}", brief(&told))
    });
    Ok(())
}
