//! Not one session alone: a worktree beside it, another one at the same time.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use anyhow::{Result, anyhow};

use super::super::Case;
use super::super::house::House;
use super::super::talk::{Ask, Talk};
use super::told::{Told, all_told};
use super::{
    CHOICE, Conclusion, FOGHORN, MOLES, STEP, at, nothing_twice, row_of, text, two_sessions_before,
};

pub(in super::super) fn worktree(case: &mut Case) -> Result<()> {
    two_sessions_before(case)?;
    let moles = row_of(case, MOLES.answer, "summary")?;
    case.house.git("project", &["add", "-A"])?;
    case.house
        .git("project", &["commit", "-q", "-m", "gauge"])?;
    let tree = case.house.path("side").display().to_string();
    case.house
        .git("project", &["worktree", "add", "-q", "-b", "side", &tree])?;
    case.house.trust("side")?;
    let texts = super::told_to(case, "side", MOLES.question)?;
    let start = at(&texts, "SessionStart");
    case.check(start.contains(STEP), || {
        format!("`{STEP}` is not told in the worktree: {start}")
    });
    let is_labelled = |text: &str, words: &str| {
        let mut lines = text.lines();
        lines.any(|line| line.contains(words) && line.contains("[branch main]"))
    };
    case.check(is_labelled(start, CHOICE), || {
        format!("the decision of the other branch is not labelled: {start}")
    });
    let asked = at(&texts, "UserPromptSubmit");
    case.check(
        asked.contains(MOLES.answer) && is_labelled(asked, &moles),
        || format!("the turn of the other branch is not told, or not labelled: {asked}"),
    );
    // Back in the main checkout nothing is of another branch.
    let texts = super::told_to(case, "project", "ok")?;
    let text: String = texts.iter().map(|told| told.text.as_str()).collect();
    case.check(
        text.contains(CHOICE) && !text.contains("branch main"),
        || format!("the main checkout is told {texts:?}"),
    );
    Ok(())
}

/// What each of two sessions asks about.
const TOPICS: [&Conclusion; 2] = [&MOLES, &FOGHORN];

fn asks(house: &House, topic: &Conclusion) -> Result<Talk> {
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
    two_sessions_before(case)?;
    let house = &case.house;
    let (left, right) = thread::scope(|scope| {
        let left = scope.spawn(|| asks(house, TOPICS[0]));
        let right = asks(house, TOPICS[1]);
        let left = left.join().map_err(|_| anyhow!("a session's thread died"));
        (left.and_then(|talk| talk), right)
    });
    case.sessions += 2;
    let talks = [left?, right?];
    for (topic, other, talk) in [
        (TOPICS[0], TOPICS[1], &talks[0]),
        (TOPICS[1], TOPICS[0], &talks[1]),
    ] {
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
            let mixed = told.text.contains(other.answer);
            case.check(told.text.contains(topic.answer) && !mixed, || {
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
    let told: BTreeSet<String> = texts.iter().flat_map(Told::cited).collect();
    case.equal("rows in the given file", &items, &told);
    case.check(!told.is_empty(), || "nothing was told".to_owned());
    Ok(())
}
