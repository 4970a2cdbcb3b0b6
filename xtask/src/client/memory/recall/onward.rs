//! A session that goes on: resumed, compacted, cleared. What the model still knows is not told
//! again; what it has lost is.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::super::Case;
use super::super::talk::{Ask, Talk};
use super::told::{Told, all_told, told};
use super::{CHOICE, bash, first_session, knows, nothing_twice, text};

/// Stated in the session; the client's summary will leave it out.
const LOST: &str = "We decided to paint the buoys orange because fog hides the white ones.";
const LOST_WORDS: &str = "paint the buoys orange";
/// Said by the client's summary.
const KEPT: &str = "We decided to count buoys from the north because charts do.";
const KEPT_WORDS: &str = "count buoys from the north";
const SUMMARY: &str = "<summary>The person decided to count buoys from the north because charts \
                       do. The task goes on.</summary>";

pub(in super::super) fn goes_on(case: &mut Case) -> Result<()> {
    first_session(case)?;
    let begun = case.talk(&Ask {
        project: "project",
        prompt: "ok",
        turns: &[text("Ready.")],
        ..Ask::default()
    })?;
    case.check(knows(&all_told(&begun)), || {
        format!("the start is not told: {:?}", all_told(&begun))
    });
    case.house.drain()?;
    let id = begun.session()?;
    let resumed = resume(case, &id)?;
    let texts = all_told(&resumed);
    case.equal("texts after resuming", &texts, &all_told(&begun));

    let drain = format!("{} worker drain", case.house.remora_path().display());
    let buoys = case.house.path("project/src/buoys.py");
    let write = json!({"file_path": buoys, "content": "ORANGE = True\n"});
    let prompt = format!("Write down the buoys. {LOST} {KEPT}");
    let talk = case.talk(&Ask {
        project: "project",
        prompt: &prompt,
        then: &["/compact", "yes", "/clear", "ok"],
        turns: &[
            json!({"tools": [{"id": "toolu_buoys", "name": "Write", "input": write}]}),
            bash("toolu_drain", &drain),
            text("Written down."),
            text(SUMMARY),
            text("Going on."),
            text("Fresh."),
        ],
        args: &["--resume", &id],
        ..Ask::default()
    })?;
    compacted(case, &talk);
    cleared(case, &talk)?;
    given(case, &id)
}

fn resume(case: &mut Case, id: &str) -> Result<Talk> {
    let talk = case.talk(&Ask {
        project: "project",
        prompt: "yes",
        turns: &[text("Still here.")],
        args: &["--resume", id],
        ..Ask::default()
    })?;
    case.equal("the resumed session", &talk.session()?, &id.to_owned());
    case.house.drain()?;
    Ok(talk)
}

fn bodies(talk: &Talk) -> impl Iterator<Item = &Value> {
    let others = &talk.others;
    others
        .main
        .iter()
        .chain(&others.agents)
        .chain(&others.aside)
}

/// The request that holds these words of the person as its last ones.
fn request_of<'a>(talk: &'a Talk, words: &str) -> Option<&'a Value> {
    let last = |body: &&Value| {
        let messages = body["messages"].as_array().into_iter().flatten();
        let mut said = messages.filter(|message| message["role"] == "user");
        said.next_back()
            .is_some_and(|message| message.to_string().contains(words))
    };
    talk.requests.iter().rev().find(last)
}

fn compacted(case: &mut Case, talk: &Talk) {
    let asks = |body: &&Value| {
        let last = body["messages"]
            .as_array()
            .and_then(|messages| messages.last());
        last.is_some_and(|message| message.to_string().contains("Keep in the summary"))
    };
    let asked: Vec<&Value> = bodies(talk).filter(asks).collect();
    case.equal(
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
    case.check(named, || {
        "whoever sums up is not told what was decided".to_owned()
    });
    let Some(next) = request_of(talk, "yes") else {
        return case.check(false, || "no request after the compaction".to_owned());
    };
    let texts = told(next);
    let lost = |told: &&Told| told.text.contains("What was decided:");
    let first = texts.iter().find(lost).cloned();
    case.check(texts.len() == 1 && first.is_some(), || {
        format!("after the compaction, not only what was lost is told: {texts:?}")
    });
    let text = first.map(|told| told.text).unwrap_or_default();
    case.check(
        text.contains(LOST_WORDS) && text.contains("src/buoys.py"),
        || format!("what the summary leaves out is not told: {text}"),
    );
    let again = text
        .lines()
        .any(|line| line.contains(KEPT_WORDS) && line.contains("decision"));
    case.check(!again, || {
        format!("what the summary says is told again: {text}")
    });
    let small = |line: &str| line.ends_with(" ok") || line.ends_with(" yes");
    case.check(!text.lines().any(small), || {
        format!("small talk is told as what was asked: {text}")
    });
    case.check(!text.contains("Index by day"), || {
        format!("the whole index is told again: {text}")
    });
}

fn cleared(case: &mut Case, talk: &Talk) -> Result<()> {
    let last = talk.requests.last().context("no request")?;
    let texts = told(last);
    let whole = texts.len() == 1 && texts.iter().all(|told| told.event() == "SessionStart");
    case.check(whole && knows(&texts), || {
        format!("after clearing, the start is not told anew: {texts:?}")
    });
    nothing_twice(case, "the cleared session", &texts);
    Ok(())
}

/// Each forgetting stands in the file of the session that forgot.
fn given(case: &mut Case, id: &str) -> Result<()> {
    let file = case.house.data().join(format!("run/sessions/{id}.given"));
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let forgot = text.lines().filter(|line| line.starts_with("-\tcompact"));
    case.equal("compactions in the given file", &forgot.count(), &1);
    case.check(text.contains('#'), || {
        format!("nothing of {CHOICE} is in {text}")
    });
    Ok(())
}
