//! Not one session alone: a worktree beside it, another one at the same time.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use anyhow::{Result, anyhow};

use super::super::MemoryCase;
use super::super::house::ClientSandbox;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::{InjectedText, list_injected};
use super::{
    CHOICE_WORDS, FOGHORN_CONCLUSION, MOLES_CONCLUSION, OPEN_STEP, PastConclusion,
    check_nothing_twice, find_item_ref, text_at_event, text_reply, two_sessions_before,
};

pub(in super::super) fn play_worktree(case: &mut MemoryCase) -> Result<()> {
    two_sessions_before(case)?;
    let moles = find_item_ref(case, MOLES_CONCLUSION.answer, "summary")?;
    case.house.run_git("project", &["add", "-A"])?;
    case.house
        .run_git("project", &["commit", "-q", "-m", "gauge"])?;
    let tree = case.house.path("side").display().to_string();
    case.house
        .run_git("project", &["worktree", "add", "-q", "-b", "side", &tree])?;
    case.house.trust_folder("side")?;
    let texts = super::run_and_list_injected(case, "side", MOLES_CONCLUSION.question)?;
    let start = text_at_event(&texts, "SessionStart");
    case.check_that(start.contains(OPEN_STEP), || {
        format!("`{OPEN_STEP}` is not injected in the worktree: {start}")
    });
    let is_labelled = |text: &str, words: &str| {
        let mut lines = text.lines();
        lines.any(|line| line.contains(words) && line.contains("[branch main]"))
    };
    case.check_that(is_labelled(start, CHOICE_WORDS), || {
        format!("the decision of the other branch is not labelled: {start}")
    });
    let asked = text_at_event(&texts, "UserPromptSubmit");
    case.check_that(
        asked.contains(MOLES_CONCLUSION.answer) && is_labelled(asked, &moles),
        || format!("the turn of the other branch is not injected, or not labelled: {asked}"),
    );
    // Back in the main checkout nothing is of another branch.
    let texts = super::run_and_list_injected(case, "project", "ok")?;
    let text: String = texts
        .iter()
        .map(|injected| injected.text.as_str())
        .collect();
    case.check_that(
        text.contains(CHOICE_WORDS) && !text.contains("branch main"),
        || format!("the main checkout gets {texts:?}"),
    );
    Ok(())
}

/// What each of two sessions asks about.
const TOPIC_CONCLUSIONS: [&PastConclusion; 2] = [&MOLES_CONCLUSION, &FOGHORN_CONCLUSION];

fn ask_topic(house: &ClientSandbox, topic: &PastConclusion) -> Result<TalkResult> {
    house.run_client(&TalkRequest {
        project: "project",
        prompt: "ok",
        then: &[topic.question, "Thanks!", topic.question],
        turns: &[
            text_reply("Ready."),
            text_reply("So it is."),
            text_reply("Welcome."),
            text_reply("As before."),
        ],
        ..TalkRequest::default()
    })
}

pub(in super::super) fn two_sessions(case: &mut MemoryCase) -> Result<()> {
    two_sessions_before(case)?;
    let house = &case.house;
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(|| ask_topic(house, TOPIC_CONCLUSIONS[0]));
        let right = ask_topic(house, TOPIC_CONCLUSIONS[1]);
        let left = left.join().map_err(|_| anyhow!("a session's thread died"));
        (left.and_then(|talk| talk), right)
    });
    case.sessions += 2;
    let talks = [left?, right?];
    for (topic, other, talk) in [
        (TOPIC_CONCLUSIONS[0], TOPIC_CONCLUSIONS[1], &talks[0]),
        (TOPIC_CONCLUSIONS[1], TOPIC_CONCLUSIONS[0], &talks[1]),
    ] {
        case.check_talk(talk)?;
        let texts = list_injected(talk);
        check_nothing_twice(case, topic.question, &texts);
        let count = |event: &str| {
            texts
                .iter()
                .filter(|injected| injected.event_name() == event)
                .count()
        };
        let counts = (count("SessionStart"), count("UserPromptSubmit"));
        case.check_equal(topic.question, &counts, &(1, 1));
        let asked = texts
            .iter()
            .filter(|injected| injected.event_name() == "UserPromptSubmit");
        for injected in asked {
            let mixed = injected.text.contains(other.answer);
            case.check_that(injected.text.contains(topic.answer) && !mixed, || {
                format!("`{}` brings {injected:?}", topic.question)
            });
        }
        check_written(case, talk, &texts)?;
    }
    Ok(())
}

/// The file of the session names what its requests hold, and nothing of the other's.
fn check_written(case: &mut MemoryCase, talk: &TalkResult, texts: &[InjectedText]) -> Result<()> {
    let file = format!("run/sessions/{}.given", talk.session_id()?);
    let text = fs::read_to_string(case.house.data_dir().join(file))?;
    let items = text.lines().filter_map(|line| line.split('\t').next());
    let items: BTreeSet<String> = items
        .filter(|item| item.starts_with(['#', 'm']))
        .map(str::to_owned)
        .collect();
    let injected: BTreeSet<String> = texts.iter().flat_map(InjectedText::cited_items).collect();
    case.check_equal("items in the injection log", &items, &injected);
    case.check_that(!injected.is_empty(), || "nothing was injected".to_owned());
    Ok(())
}
