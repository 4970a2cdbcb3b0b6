//! A session that goes on: resumed, compacted, cleared; and a subagent in the background.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::MemoryCase;
use super::kept::format_items;
use super::talk::TalkRequest;

pub(super) fn goes_on(case: &mut MemoryCase) -> Result<()> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    let witness = case.house.write_witness(&case.house.user_settings())?;
    let turns = [json!({"text": "Noted."})];
    let settings = ["--settings", witness.as_str()];
    let first = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "The kittiwake nest is on ledge one.",
        turns: &turns,
        args: &settings,
        ..TalkRequest::default()
    })?;
    let id = first.session_id()?;
    let resume = ["--resume", id.as_str(), settings[0], settings[1]];
    let ask = |prompt, args| TalkRequest {
        project: "project",
        prompt,
        turns: &turns,
        args,
        ..TalkRequest::default()
    };
    let second = case.run_talk(&ask("The guillemot nest is on ledge two.", &resume))?;
    case.check_equal("the resumed session", &second.session_id()?, &id);
    let go_on = ["--continue", settings[0], settings[1]];
    let third = case.run_talk(&ask("The razorbill nest is on ledge three.", &go_on))?;
    case.check_equal("the continued session", &third.session_id()?, &id);
    case.house.drain_spool()?;
    check_prompt_count(case, &id, 3)?;
    for (number, bird) in (1..).zip(["kittiwake", "guillemot", "razorbill"]) {
        check_prompt_number(case, bird, &id, number)?;
    }

    case.run_talk(&ask("/compact", &resume))?;
    case.run_talk(&ask("The fulmar nest is on ledge four.", &resume))?;
    case.house.drain_spool()?;
    check_prompt_count(case, &id, 4)?;
    check_prompt_number(case, "fulmar", &id, 4)?;
    let cleared = case.run_talk(&ask("/clear", &resume))?;
    case.check_that(cleared.session_id()? != id, || {
        "`/clear` began no new session".to_owned()
    });
    case.house.drain_spool()?;
    check_prompt_count(case, &id, 4)?;
    let fired = case.house.drain_fired()?;
    let unaccounted = case.house.find_unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    for (event, field, value) in [
        ("SessionStart", "source", "resume"),
        ("SessionStart", "source", "compact"),
        ("SessionStart", "source", "clear"),
        ("SessionEnd", "reason", "clear"),
        ("PreCompact", "trigger", "manual"),
    ] {
        let same = |payload: &Value| payload["hook_event_name"] == event && payload[field] == value;
        case.check_that(fired.iter().any(same), || {
            format!("the client no longer fires {event} with {field} {value}")
        });
    }
    let agents = case.house.search_items("project", "subagent")?;
    case.check_that(!agents.iter().any(|item| item["kind"] == "task"), || {
        format!(
            "compaction was mistaken for a subagent: {}",
            format_items(&agents)
        )
    });
    Ok(())
}

/// The one prompt about this bird is of that session and has that number in it.
fn check_prompt_number(
    case: &mut MemoryCase,
    bird: &str,
    session: &str,
    number: u64,
) -> Result<()> {
    let mut items = case.house.find_items("project", bird)?;
    items.retain(|item| item["kind"] == "prompt");
    let found: Vec<_> = items
        .iter()
        .map(|item| (item["session"].clone(), item["prompt"].clone()))
        .collect();
    let wanted = vec![(json!(session), json!(number))];
    case.check_equal(&format!("prompts about the {bird}"), &found, &wanted);
    Ok(())
}

/// How many prompts the session has.
fn check_prompt_count(case: &mut MemoryCase, id: &str, wanted: u64) -> Result<()> {
    let output = case
        .house
        .run_remora_json("project", &["sessions", "--json"])?;
    let list = output["sessions"].as_array();
    let list =
        list.with_context(|| format!("`remora sessions --json` has no sessions: {output}"))?;
    let mut same = list.iter().filter(|session| session["id"] == id);
    let session = same.next().cloned().unwrap_or_default();
    case.check_that(same.next().is_none(), || {
        "a session is listed twice".to_owned()
    });
    case.check_equal(
        "prompts of the session",
        &session["prompts"],
        &json!(wanted),
    );
    Ok(())
}

pub(super) fn background_agent(case: &mut MemoryCase) -> Result<()> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    let witness = case.house.write_witness(&case.house.user_settings())?;
    let launch = json!({
        "description": "Weigh the dotterel eggs",
        "prompt": "Weigh them.",
        "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "Have the eggs weighed.",
        turns: &[
            json!({"tools": [{"id": "toolu_egg", "name": "Agent", "input": launch}]}),
            json!({"text": "It is being done."}),
            json!({"agent": true, "text": "The dotterel eggs weigh 23 grams each."}),
            json!({"text": "They weigh 23 grams."}),
        ],
        args: &["--settings", &witness],
        ..TalkRequest::default()
    })?;
    case.house.drain_spool()?;
    let fired = case.house.drain_fired()?;
    let notice = |event: &&Value| {
        let prompt = event["prompt"].as_str().unwrap_or_default();
        prompt.starts_with("<task-notification>")
    };
    case.check_equal(
        "task notifications",
        &fired.iter().filter(notice).count(),
        &1,
    );
    let launched = fired
        .iter()
        .any(|event| event["tool_response"]["status"] == "async_launched");
    case.check_that(launched, || {
        format!(
            "the agent was not launched in the background: {:?}",
            talk.call_results()
        )
    });
    let unaccounted = case.house.find_unaccounted(&fired)?;
    case.problems.extend(unaccounted);
    check_prompt_count(case, &talk.session_id()?, 1)?;
    let notices = case.house.search_items("project", "task notification")?;
    let as_prompt = |item: &&Value| item["kind"] == "prompt";
    case.check_that(notices.iter().find(as_prompt).is_none(), || {
        format!("a notification became a prompt: {}", format_items(&notices))
    });
    let results = case
        .house
        .find_matching_items("project", "dotterel 23 grams")?;
    case.check_equal("items with the agent's result", &results.len(), &1);
    let found = case
        .house
        .find_matching_items("project", "internal metadata")?;
    case.check_that(found.is_empty(), || {
        format!(
            "the launch was mistaken for a result: {}",
            format_items(&found)
        )
    });
    Ok(())
}
