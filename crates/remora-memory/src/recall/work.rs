//! What sessions left behind: of each the checkpoint that tells most, with what
//! is still open and what nobody has taken back since.

use remora_protocol::record::{Item, Kind};
use serde_json::json;

use super::compact::says;
use super::later::Later;
use super::{Scene, other_branch, row};
use crate::store::{Filter, Page, Result, Store};

/// Checkpoints of one session that are looked at.
const CHECKPOINTS: usize = 4;
/// Sessions that are looked at for each one that is told.
const SESSIONS: usize = 2;
/// How a checkpoint says that a command fails.
const FAILING: &str = "Still failing: ";

/// The work of the last sessions, newest first; this branch before others.
pub(super) fn last(
    store: &dyn Store,
    scene: &Scene<'_>,
    since: Option<i64>,
    later: &Later,
) -> Result<Vec<Item>> {
    let most = scene.limits.summaries;
    let of_project = Filter {
        project: Some(scene.project.to_owned()),
        since,
        ..Filter::default()
    };
    let mut done: Vec<String> = Vec::new();
    let mut kept: Vec<Item> = Vec::new();
    for session in store.sessions(&of_project, most * SESSIONS + 1)? {
        if session.id == scene.session || kept.len() == most {
            continue;
        }
        let checkpoints = Filter {
            session: Some(session.id),
            kinds: vec![Kind::Summary],
            ..of_project.clone()
        };
        let rows = store.list(&checkpoints, Page::newest(CHECKPOINTS))?;
        kept.extend(of_session(rows, later, &mut done));
    }
    kept.sort_by_key(|item| (other_branch(item, scene).is_some(), -item.time));
    Ok(kept)
}

/// What one session left; `done` grows by what it did.
fn of_session(rows: Vec<Item>, later: &Later, done: &mut Vec<String>) -> Option<Item> {
    let mut open: Vec<String> = Vec::new();
    for item in &rows {
        for step in row::entries(item, "next_steps") {
            if !is_done(step, done) && !open.iter().any(|known| known == step) {
                open.push(step.to_owned());
            }
        }
        for name in ["completed", "notes", "learned"] {
            done.extend(row::entries(item, name).map(str::to_owned));
        }
    }
    let told = |item: &Item| {
        let count = |name| row::entries(item, name).count();
        2 * count("completed") + count("notes") + count("learned")
    };
    // Of equals the newest; they come newest first.
    let mut best = rows.into_iter().rev().max_by_key(told)?;
    // A question without an answer is no work.
    if told(&best) == 0 && open.is_empty() {
        return None;
    }
    let notes: Vec<String> = row::entries(&best, "notes")
        .filter(|note| !later.replace_note(note, best.time))
        .map(str::to_owned)
        .collect();
    if let Some(detail) = &mut best.detail {
        detail["next_steps"] = json!(open);
        detail["notes"] = json!(notes);
    }
    Some(best)
}

/// Whether later work says that this step was done.
fn is_done(step: &str, done: &[String]) -> bool {
    if let Some((check, _)) = step.strip_prefix(FAILING).and_then(|s| s.split_once(": ")) {
        let passed = |entry: &String| {
            let result = entry.strip_prefix(check).and_then(|s| s.strip_prefix(": "));
            result.is_some_and(|result| !result.contains("fail"))
        };
        return done.iter().any(passed);
    }
    done.iter().any(|entry| says(entry, step)) || says(&done.join("\n"), step)
}
