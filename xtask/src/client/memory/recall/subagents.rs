//! Subagents: each begins with what memory has for its own task, which the client names only in
//! the call that starts it; several at the same time too.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::super::MemoryCase;
use super::super::kept::format_items;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::{InjectedText, collect_injected, list_injected};
use super::{
    CHOICE_WORDS, FOGHORN_CONCLUSION, MOLES_CONCLUSION, REASON_WORDS, check_nothing_twice,
    find_item_ref, text_reply, two_sessions_before,
};

/// Found by the subagent.
const RESULT_TEXT: &str = "The limpet gauge reads 412 millimetres at low water.";
/// What the user asks for; it says nothing of the tasks.
const USER_PROMPT: &str = "Get ready for the inspection.";
/// Tasks for which memory has something.
const MOLES_TASK: &str = "Find out whether the moles of the harbour could be read from a csv file.";
const FOGHORN_TASK: &str = "Make the foghorn sound every 90 seconds.";
const HEIGHTS_TASK: &str = "Print the tide heights in metres instead of millimetres.";
/// One for which it has nothing.
const UNRELATED_TASK: &str = "Bake a loaf of sourdough bread.";

fn launch_call(id: &str, kind: Option<&str>, task: &str) -> Value {
    let mut input = json!({
        "description": "Look into it", "prompt": task, "run_in_background": false,
    });
    if let Some(kind) = kind {
        input["subagent_type"] = kind.into();
    }
    json!({"id": id, "name": "Agent", "input": input})
}

fn answer_reply(words: &str) -> Value {
    json!({"agent": true, "text": words})
}

/// What was injected into the first request of the subagent with this task.
fn find_briefing(session: &TalkResult, task: &str) -> Result<Vec<InjectedText>> {
    let mut requests = session.others.agents.iter();
    let own = requests.find(|body| body["messages"].to_string().contains(task));
    let own = own.with_context(|| format!("no request of a subagent holds `{task}`"))?;
    Ok(collect_injected(own))
}

pub(in super::super) fn play_one(case: &mut MemoryCase) -> Result<()> {
    two_sessions_before(case)?;
    let decision = find_item_ref(case, CHOICE_WORDS, "decision")?;
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: USER_PROMPT,
        turns: &[
            json!({"tools": [launch_call("toolu_limpet", None, HEIGHTS_TASK)]}),
            answer_reply(RESULT_TEXT),
            text_reply("It was read."),
        ],
        ..TalkRequest::default()
    })?;
    let texts = find_briefing(&talk, HEIGHTS_TASK)?;
    let shows_item = |injected: &InjectedText| {
        injected.event_name() == "SubagentStart" && injected.text.contains(REASON_WORDS)
    };
    case.check_that(texts.len() == 1 && texts.iter().all(shows_item), || {
        format!("the subagent gets {texts:?}, not {decision}")
    });
    case.house.drain_spool()?;
    let parent = talk.session_id()?;
    let items = case
        .house
        .find_matching_items("project", "limpet gauge 412")?;
    case.check_that(
        items.len() == 1 && items.iter().all(|item| item["session"] == parent),
        || {
            format!(
                "the subagent's result is not the parent's: {}",
                format_items(&items)
            )
        },
    );
    let args = ["ledger", "--json", "--session", &parent, "--limit", "200"];
    let ledger = case.house.run_remora_json("project", &args)?;
    let lines = ledger["lines"].as_array().into_iter().flatten();
    let to_it = |line: &&Value| line["moment"] == "subagent" && line["subagent"].is_string();
    let noted = lines.filter(to_it).map(|line| line["item"].as_str());
    let noted: BTreeSet<String> = noted.flatten().map(str::to_owned).collect();
    let cited: BTreeSet<String> = texts.iter().flat_map(InjectedText::cited_items).collect();
    case.check_equal("the subagent's items in the ledger", &noted, &cited);
    check_nothing_twice(case, "the parent", &list_injected(&talk));
    Ok(())
}

pub(in super::super) fn play_parallel(case: &mut MemoryCase) -> Result<()> {
    two_sessions_before(case)?;
    let talk = launch_all(
        case,
        &[
            launch_call("toolu_moles_task", Some("general-purpose"), MOLES_TASK),
            launch_call("toolu_horn_task", Some("Explore"), FOGHORN_TASK),
            launch_call("toolu_bread_task", Some("Plan"), UNRELATED_TASK),
        ],
    )?;
    // Each kind is known, so each has its own.
    for (task, wanted, others) in [
        (
            MOLES_TASK,
            Some(MOLES_CONCLUSION.answer),
            vec![FOGHORN_CONCLUSION.answer, REASON_WORDS],
        ),
        (
            FOGHORN_TASK,
            Some(FOGHORN_CONCLUSION.answer),
            vec![MOLES_CONCLUSION.answer, REASON_WORDS],
        ),
        (
            UNRELATED_TASK,
            None,
            vec![
                FOGHORN_CONCLUSION.answer,
                MOLES_CONCLUSION.answer,
                REASON_WORDS,
            ],
        ),
    ] {
        let texts = find_briefing(&talk, task)?;
        let all: String = texts
            .iter()
            .map(|injected| injected.text.as_str())
            .collect();
        case.check_equal(task, &texts.len(), &usize::from(wanted.is_some()));
        case.check_that(wanted.is_none_or(|words| all.contains(words)), || {
            format!("`{task}` brings {texts:?}")
        });
        for words in others {
            case.check_that(!all.contains(words), || {
                format!("`{task}` brings another one's: {texts:?}")
            });
        }
    }
    // Of one kind they may begin in any order, but no task is lost and none comes twice.
    let talk = launch_all(
        case,
        &[
            launch_call("toolu_moles_again", None, MOLES_TASK),
            launch_call("toolu_horn_again", Some("general-purpose"), FOGHORN_TASK),
        ],
    )?;
    let mut all = find_briefing(&talk, MOLES_TASK)?;
    all.extend(find_briefing(&talk, FOGHORN_TASK)?);
    for words in [MOLES_CONCLUSION.answer, FOGHORN_CONCLUSION.answer] {
        let count = all
            .iter()
            .filter(|injected| injected.text.contains(words))
            .count();
        case.check_equal(words, &count, &1);
    }
    Ok(())
}

/// A session that starts these at once.
fn launch_all(case: &mut MemoryCase, calls: &[Value]) -> Result<TalkResult> {
    let mut turns = vec![json!({ "tools": calls })];
    turns.extend(calls.iter().map(|_| answer_reply("Done.")));
    turns.push(text_reply("All are done."));
    case.run_talk(&TalkRequest {
        project: "project",
        prompt: USER_PROMPT,
        turns: &turns,
        ..TalkRequest::default()
    })
}
