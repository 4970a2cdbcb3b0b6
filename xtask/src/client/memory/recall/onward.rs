//! A session that goes on: resumed, compacted, cleared. What the model still knows is not injected
//! again; what it has lost is.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::super::MemoryCase;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::{InjectedText, collect_injected, list_injected};
use super::{
    CHOICE_WORDS, bash_call, check_nothing_twice, first_session, has_first_session, text_reply,
};

/// Stated in the session; the client's summary will leave it out.
const LOST_DECISION: &str =
    "We decided to paint the buoys orange because fog hides the white ones.";
const LOST_WORDS: &str = "paint the buoys orange";
/// Said by the client's summary.
const KEPT_DECISION: &str = "We decided to count buoys from the north because charts do.";
const KEPT_WORDS: &str = "count buoys from the north";
const CLIENT_SUMMARY: &str = "<summary>The person decided to count buoys from the north because charts \
                       do. The task goes on.</summary>";

pub(in super::super) fn goes_on(case: &mut MemoryCase) -> Result<()> {
    first_session(case)?;
    let begun = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "ok",
        turns: &[text_reply("Ready.")],
        ..TalkRequest::default()
    })?;
    case.check_that(has_first_session(&list_injected(&begun)), || {
        format!("there is no briefing: {:?}", list_injected(&begun))
    });
    case.house.drain_spool()?;
    let id = begun.session_id()?;
    let resumed = resume_session(case, &id)?;
    let texts = list_injected(&resumed);
    case.check_equal("texts after resuming", &texts, &list_injected(&begun));

    let drain = format!("{} worker drain", case.house.remora_path().display());
    let buoys = case.house.path("project/src/buoys.py");
    let write = json!({"file_path": buoys, "content": "ORANGE = True\n"});
    let prompt = format!("Write down the buoys. {LOST_DECISION} {KEPT_DECISION}");
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: &prompt,
        then: &["/compact", "yes", "/clear", "ok"],
        turns: &[
            json!({"tools": [{"id": "toolu_buoys", "name": "Write", "input": write}]}),
            bash_call("toolu_drain", &drain),
            text_reply("Written down."),
            text_reply(CLIENT_SUMMARY),
            text_reply("Going on."),
            text_reply("Fresh."),
        ],
        args: &["--resume", &id],
        ..TalkRequest::default()
    })?;
    check_compacted(case, &talk);
    check_cleared(case, &talk)?;
    check_injection_log(case, &id)
}

fn resume_session(case: &mut MemoryCase, id: &str) -> Result<TalkResult> {
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "yes",
        turns: &[text_reply("Still here.")],
        args: &["--resume", id],
        ..TalkRequest::default()
    })?;
    case.check_equal("the resumed session", &talk.session_id()?, &id.to_owned());
    case.house.drain_spool()?;
    Ok(talk)
}

fn list_bodies(talk: &TalkResult) -> impl Iterator<Item = &Value> {
    let others = &talk.others;
    others
        .main
        .iter()
        .chain(&others.agents)
        .chain(&others.aside)
}

/// The request that holds these words of the user as its last ones.
fn request_of<'a>(talk: &'a TalkResult, words: &str) -> Option<&'a Value> {
    let last = |body: &&Value| {
        let messages = body["messages"].as_array().into_iter().flatten();
        let mut said = messages.filter(|message| message["role"] == "user");
        said.next_back()
            .is_some_and(|message| message.to_string().contains(words))
    };
    talk.requests.iter().rev().find(last)
}

fn check_compacted(case: &mut MemoryCase, talk: &TalkResult) {
    let asks = |body: &&Value| {
        let last = body["messages"]
            .as_array()
            .and_then(|messages| messages.last());
        last.is_some_and(|message| message.to_string().contains("Keep in the summary"))
    };
    let asked: Vec<&Value> = list_bodies(talk).filter(asks).collect();
    case.check_equal(
        "requests for a summary with our instructions",
        &asked.len(),
        &1,
    );
    let named = asked.iter().any(|body| {
        let last = body["messages"]
            .as_array()
            .and_then(|messages| messages.last());
        last.is_some_and(|message| message.to_string().contains(LOST_WORDS))
    });
    case.check_that(named, || {
        "the request for a summary lacks what was decided".to_owned()
    });
    let Some(next) = request_of(talk, "yes") else {
        return case.check_that(false, || "no request after the compaction".to_owned());
    };
    let texts = collect_injected(next);
    let lost = |injected: &&InjectedText| injected.text.contains("What was decided:");
    let first = texts.iter().find(lost).cloned();
    case.check_that(texts.len() == 1 && first.is_some(), || {
        format!("after the compaction, more is injected than what was lost: {texts:?}")
    });
    let text = first.map(|injected| injected.text).unwrap_or_default();
    case.check_that(
        text.contains(LOST_WORDS) && text.contains("src/buoys.py"),
        || format!("what the summary leaves out is not injected: {text}"),
    );
    let again = text
        .lines()
        .any(|line| line.contains(KEPT_WORDS) && line.contains("decision"));
    case.check_that(!again, || {
        format!("what the summary says is injected again: {text}")
    });
    let small = |line: &str| line.ends_with(" ok") || line.ends_with(" yes");
    case.check_that(!text.lines().any(small), || {
        format!("small talk is injected as what was asked: {text}")
    });
    case.check_that(!text.contains("Index by day"), || {
        format!("the whole index is injected again: {text}")
    });
}

fn check_cleared(case: &mut MemoryCase, talk: &TalkResult) -> Result<()> {
    let last = talk.requests.last().context("no request")?;
    let texts = collect_injected(last);
    let whole = texts.len() == 1
        && texts
            .iter()
            .all(|injected| injected.event_name() == "SessionStart");
    case.check_that(whole && has_first_session(&texts), || {
        format!("after clearing, the briefing is not injected again: {texts:?}")
    });
    check_nothing_twice(case, "the cleared session", &texts);
    Ok(())
}

/// Each reset is in the injection log of the session that lost its context.
fn check_injection_log(case: &mut MemoryCase, id: &str) -> Result<()> {
    let file = case
        .house
        .data_dir()
        .join(format!("run/sessions/{id}.given"));
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let forgot = text.lines().filter(|line| line.starts_with("-\tcompact"));
    case.check_equal("compactions in the injection log", &forgot.count(), &1);
    case.check_that(text.contains('#'), || {
        format!("nothing of {CHOICE_WORDS} is in {text}")
    });
    Ok(())
}
