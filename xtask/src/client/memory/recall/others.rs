//! Not one session alone: a subagent of it, a worktree beside it, another one at the same time.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use super::super::Case;
use super::super::house::House;
use super::super::kept::brief;
use super::super::talk::{Ask, Talk};
use super::told::{Told, all_told, told};
use super::{CHOICE, QUESTION, STEP, bash, first_session, nothing_twice, row_of, text};

/// Found by the subagent.
const RESULT: &str = "The limpet gauge reads 412 millimetres at low water.";

pub(in super::super) fn subagent(case: &mut Case) -> Result<()> {
    first_session(case)?;
    let decision = row_of(case, CHOICE, "decision")?;
    let launch = json!({
        "description": "Read the limpet gauge",
        "prompt": "Read it and report.",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let drain = format!("{} worker drain", case.house.remora_path().display());
    let talk = case.talk(&Ask {
        project: "project",
        prompt: "Have the tide heights of the gauge read in millimetres.",
        turns: &[
            // The brief is about what was asked, which must be stored by then.
            bash("toolu_drain", &drain),
            json!({"tools": [{"id": "toolu_limpet", "name": "Agent", "input": launch}]}),
            json!({"agent": true, "text": RESULT}),
            text("It was read."),
        ],
        ..Ask::default()
    })?;
    let first = talk
        .others
        .agents
        .first()
        .context("no request of a subagent")?;
    let texts = told(first);
    let briefed = |told: &Told| told.event() == "SubagentStart" && told.rows().contains(&decision);
    case.check(texts.len() == 1 && texts.iter().all(briefed), || {
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
    let items: Vec<&Value> = lines.filter(to_it).map(|line| &line["item"]).collect();
    case.check(items.contains(&&json!(decision)), || {
        format!("the ledger does not say what the subagent was given: {ledger}")
    });
    nothing_twice(case, "the parent", &all_told(&talk));
    Ok(())
}

pub(in super::super) fn worktree(case: &mut Case) -> Result<()> {
    first_session(case)?;
    case.house.git("project", &["add", "-A"])?;
    case.house
        .git("project", &["commit", "-q", "-m", "gauge"])?;
    let tree = case.house.path("side").display().to_string();
    case.house
        .git("project", &["worktree", "add", "-q", "-b", "side", &tree])?;
    case.house.trust("side")?;
    let texts = super::told_to(case, "side", QUESTION)?;
    let start: Vec<&Told> = texts
        .iter()
        .filter(|told| told.event() == "SessionStart")
        .collect();
    let text: String = start.iter().map(|told| told.text.as_str()).collect();
    for words in [CHOICE, STEP, "branch main"] {
        case.check(text.contains(words), || {
            format!("`{words}` is not told in the worktree: {texts:?}")
        });
    }
    let asked = texts.iter().find(|told| told.event() == "UserPromptSubmit");
    let labelled = asked.is_some_and(|told| {
        let mut lines = told.text.lines();
        lines.any(|line| line.contains(CHOICE) && line.contains("[branch main]"))
    });
    case.check(labelled, || {
        format!("the decision of the other branch is not labelled: {texts:?}")
    });
    // Back in the main checkout nothing is of another branch.
    let texts = super::told_to(case, "project", "ok")?;
    let text: String = texts.iter().map(|told| told.text.as_str()).collect();
    case.check(
        text.contains(CHOICE) && !text.contains("branch main"),
        || format!("the main checkout is told {texts:?}"),
    );
    Ok(())
}

/// What a session of two is about: what was decided, a question about it, words of the answer.
struct Topic {
    question: &'static str,
    words: &'static str,
    other: &'static str,
}

const TOPICS: [Topic; 2] = [
    Topic {
        question: QUESTION,
        words: "floats drifted",
        other: "gulls prefer",
    },
    Topic {
        question: "What was the reason to build nest boxes of limestone?",
        words: "gulls prefer",
        other: "floats drifted",
    },
];

fn asks(house: &House, topic: &Topic) -> Result<Talk> {
    house.talk(&Ask {
        project: "project",
        prompt: "ok",
        then: &[topic.question, "Thanks!", topic.question],
        turns: &[
            text("Ready."),
            text("So it is."),
            text("Welcome."),
            text("As before."),
        ],
        ..Ask::default()
    })
}

pub(in super::super) fn two_sessions(case: &mut Case) -> Result<()> {
    first_session(case)?;
    let decided = "We decided to build the nest boxes of limestone because gulls prefer it.";
    super::told_to(case, "project", decided)?;
    case.house.drain()?;
    let house = &case.house;
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(|| asks(house, &TOPICS[0]));
        let right = asks(house, &TOPICS[1]);
        let left = left.join().map_err(|_| anyhow!("a session's thread died"));
        (left.and_then(|talk| talk), right)
    });
    case.sessions += 2;
    let talks = [left?, right?];
    for (topic, talk) in TOPICS.iter().zip(&talks) {
        case.fine(talk)?;
        let texts = all_told(talk);
        nothing_twice(case, topic.question, &texts);
        let count = |event: &str| texts.iter().filter(|told| told.event() == event).count();
        let counts = (count("SessionStart"), count("UserPromptSubmit"));
        case.equal(topic.question, &counts, &(1, 1));
        let asked = texts
            .iter()
            .filter(|told| told.event() == "UserPromptSubmit");
        for told in asked {
            let mixed = told.text.contains(topic.other);
            case.check(told.text.contains(topic.words) && !mixed, || {
                format!("`{}` brings {told:?}", topic.question)
            });
        }
        written(case, talk, &texts)?;
    }
    Ok(())
}

/// The file of the session names what its requests hold, and nothing of the other's.
fn written(case: &mut Case, talk: &Talk, texts: &[Told]) -> Result<()> {
    let file = format!("run/sessions/{}.given", talk.session()?);
    let text = fs::read_to_string(case.house.data().join(file))?;
    let items = text.lines().filter_map(|line| line.split('\t').next());
    let items: BTreeSet<String> = items
        .filter(|item| item.starts_with(['#', 'm']))
        .map(str::to_owned)
        .collect();
    let told: BTreeSet<String> = texts.iter().flat_map(Told::rows).collect();
    case.equal("rows in the given file", &items, &told);
    case.check(!told.is_empty(), || "nothing was told".to_owned());
    Ok(())
}
