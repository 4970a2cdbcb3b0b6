//! Subagents: each begins with what memory has for its own task, which the client names only in
//! the call that starts it; several at the same time too.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::super::Case;
use super::super::kept::brief;
use super::super::talk::{Ask, Talk};
use super::told::{Told, all_told, told};
use super::{CHOICE, FOGHORN, MOLES, REASON, nothing_twice, row_of, text, two_sessions_before};

/// Found by the subagent.
const RESULT: &str = "The limpet gauge reads 412 millimetres at low water.";
/// What the user asks for; it says nothing of the tasks.
const PROMPT: &str = "Get ready for the inspection.";
/// Tasks for which memory has something.
const OF_MOLES: &str = "Find out whether the moles of the harbour could be read from a csv file.";
const OF_FOGHORN: &str = "Make the foghorn sound every 90 seconds.";
const OF_HEIGHTS: &str = "Print the tide heights in metres instead of millimetres.";
/// One for which it has nothing.
const OF_NOTHING: &str = "Bake a loaf of sourdough bread.";

fn launch(id: &str, kind: Option<&str>, task: &str) -> Value {
    let mut input = json!({
        "description": "Look into it", "prompt": task, "run_in_background": false,
    });
    if let Some(kind) = kind {
        input["subagent_type"] = kind.into();
    }
    json!({"id": id, "name": "Agent", "input": input})
}

fn answer(words: &str) -> Value {
    json!({"agent": true, "text": words})
}

/// What the subagent with this task was told in its first request.
fn briefed(session: &Talk, task: &str) -> Result<Vec<Told>> {
    let mut requests = session.others.agents.iter();
    let own = requests.find(|body| body["messages"].to_string().contains(task));
    let own = own.with_context(|| format!("no request of a subagent holds `{task}`"))?;
    Ok(told(own))
}

pub(in super::super) fn one(case: &mut Case) -> Result<()> {
    two_sessions_before(case)?;
    let decision = row_of(case, CHOICE, "decision")?;
    let talk = case.talk(&Ask {
        project: "project",
        prompt: PROMPT,
        turns: &[
            json!({"tools": [launch("toolu_limpet", None, OF_HEIGHTS)]}),
            answer(RESULT),
            text("It was read."),
        ],
        ..Ask::default()
    })?;
    let texts = briefed(&talk, OF_HEIGHTS)?;
    let tells = |told: &Told| told.event() == "SubagentStart" && told.text.contains(REASON);
    case.check(texts.len() == 1 && texts.iter().all(tells), || {
        format!("the subagent is told {texts:?}, not {decision}")
    });
    case.house.drain()?;
    let parent = talk.session()?;
    let rows = case.house.rows_of("project", "limpet gauge 412")?;
    case.check(
        rows.len() == 1 && rows.iter().all(|row| row["session"] == parent),
        || {
            format!(
                "the subagent's result is not the parent's: {}",
                brief(&rows)
            )
        },
    );
    let args = ["ledger", "--json", "--session", &parent, "--limit", "200"];
    let ledger = case.house.ask("project", &args)?;
    let lines = ledger["lines"].as_array().into_iter().flatten();
    let to_it = |line: &&Value| line["moment"] == "subagent" && line["subagent"].is_string();
    let noted = lines.filter(to_it).map(|line| line["item"].as_str());
    let noted: BTreeSet<String> = noted.flatten().map(str::to_owned).collect();
    let cited: BTreeSet<String> = texts.iter().flat_map(Told::cited).collect();
    case.equal("the subagent's rows in the ledger", &noted, &cited);
    nothing_twice(case, "the parent", &all_told(&talk));
    Ok(())
}

pub(in super::super) fn parallel(case: &mut Case) -> Result<()> {
    two_sessions_before(case)?;
    let talk = launch_all(
        case,
        &[
            launch("toolu_moles_task", Some("general-purpose"), OF_MOLES),
            launch("toolu_horn_task", Some("Explore"), OF_FOGHORN),
            launch("toolu_bread_task", Some("Plan"), OF_NOTHING),
        ],
    )?;
    // Each kind is known, so each has its own.
    for (task, wanted, others) in [
        (OF_MOLES, Some(MOLES.answer), vec![FOGHORN.answer, REASON]),
        (OF_FOGHORN, Some(FOGHORN.answer), vec![MOLES.answer, REASON]),
        (OF_NOTHING, None, vec![FOGHORN.answer, MOLES.answer, REASON]),
    ] {
        let texts = briefed(&talk, task)?;
        let all: String = texts.iter().map(|told| told.text.as_str()).collect();
        case.equal(task, &texts.len(), &usize::from(wanted.is_some()));
        case.check(wanted.is_none_or(|words| all.contains(words)), || {
            format!("`{task}` brings {texts:?}")
        });
        for words in others {
            case.check(!all.contains(words), || {
                format!("`{task}` brings another one's: {texts:?}")
            });
        }
    }
    // Of one kind they may begin in any order, but no task is lost and none comes twice.
    let talk = launch_all(
        case,
        &[
            launch("toolu_moles_again", None, OF_MOLES),
            launch("toolu_horn_again", Some("general-purpose"), OF_FOGHORN),
        ],
    )?;
    let mut all = briefed(&talk, OF_MOLES)?;
    all.extend(briefed(&talk, OF_FOGHORN)?);
    for words in [MOLES.answer, FOGHORN.answer] {
        let count = all.iter().filter(|told| told.text.contains(words)).count();
        case.equal(words, &count, &1);
    }
    Ok(())
}

/// A session that starts these at once.
fn launch_all(case: &mut Case, calls: &[Value]) -> Result<Talk> {
    let mut turns = vec![json!({ "tools": calls })];
    turns.extend(calls.iter().map(|_| answer("Done.")));
    turns.push(text("All are done."));
    case.talk(&Ask {
        project: "project",
        prompt: PROMPT,
        turns: &turns,
        ..Ask::default()
    })
}
