//! Whole sessions of the real client: handlers in the background, models and servers behind
//! handlers, hooks of skills and agents, watched files, settings that change.
//!
//! Each case was recorded once. The client must do what the record says, and the engine what the
//! client did in the same run. Time is real here, so a case that differs is played again before
//! it counts.

mod book;
mod dispatches;
mod drive;
mod facts;
mod folder;
mod model;
mod replay;
mod runs;
mod serve;
mod session;
mod texts;

use anyhow::Result;

pub(super) use book::{LiveDraft, load_drafts};

use super::{CaseVerdict, Stage};
use dispatches::group_dispatches;
use facts::{list_differences, read_client_facts, read_recorded_facts};
use folder::{LiveFolder, Pauses};
use session::play_client;

/// How often a case is played before it counts as different.
const MAX_PLAYS: usize = 3;
/// The stage is not what it says with fewer cases.
pub(super) const MIN_LIVE_CASES: usize = 25;

/// Plays one case.
pub(super) fn play_case(stage: &Stage, draft: &LiveDraft, verdict: &mut CaseVerdict) -> Result<()> {
    for play in 1..=MAX_PLAYS {
        verdict.sessions += 1;
        let top = stage.work.join(format!("{}-{play}", draft.name));
        let folder = LiveFolder::new(top, draft, &stage.search, stage.options.keep)?;
        let found = play_once(stage, draft, &folder, verdict);
        match found {
            Ok(problems) if problems.is_empty() => return Ok(()),
            Ok(problems) if play == MAX_PLAYS => verdict.problems = problems,
            Err(error) if play == MAX_PLAYS => return Err(error),
            Ok(problems) => verdict.repeats.push(problems.join("; ")),
            Err(error) => verdict.repeats.push(format!("{error:#}")),
        }
    }
    Ok(())
}

fn play_once(
    stage: &Stage,
    draft: &LiveDraft,
    folder: &LiveFolder,
    verdict: &mut CaseVerdict,
) -> Result<Vec<String>> {
    folder.build(Pauses::Slept)?;
    let play = play_client(folder, &stage.client)?;
    let dispatches = group_dispatches(&play.runs);
    let seen = read_client_facts(folder, &play, &dispatches);
    let recorded = read_recorded_facts(folder, &play);
    let found = list_differences("recorded", &recorded, "the client now", &seen);
    if !found.is_empty() {
        return Ok(found);
    }
    verdict.events = dispatches.len();
    verdict.handlers = play.runs.len();
    let Some(engine) = stage.engine.as_deref() else {
        return Ok(found);
    };
    if let Some(why) = &draft.client_only {
        verdict.skipped.push(format!("the engine: {why}"));
        return Ok(found);
    }
    folder.build(Pauses::Gated)?;
    replay::play_engine(folder, engine, &play, &dispatches)
}
