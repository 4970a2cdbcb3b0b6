//! What sessions left behind: of each the checkpoint that tells most, with what
//! is still open.

use remora_protocol::record::{Item, Kind};
use serde_json::json;

use super::reader::Reader;
use super::said::Said;
use super::{Scene, other_branch, row};
use crate::output::takes_in;
use crate::store::{Filter, Page, Result};

/// Checkpoints of one session that are looked at.
const CHECKPOINTS: usize = 8;
/// Sessions that are looked at for each one that is told.
const SESSIONS: usize = 2;
/// Sessions whose steps are compared with what was done since.
pub(super) const OPEN: usize = 4;

/// The work of the last sessions, newest first; this branch before others, and
/// sessions in which something was done before those that only talked.
pub(super) fn last(store: &Reader<'_>, scene: &Scene<'_>, since: Option<i64>) -> Result<Vec<Item>> {
    let most = scene.limits.summaries;
    let of_project = Filter {
        project: Some(scene.project.to_owned()),
        since,
        ..Filter::default()
    };
    let mut done = Done::default();
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
        // Of older sessions hardly more than the title is told.
        let newer = kept.len() < OPEN;
        let look = if newer { CHECKPOINTS } else { CHECKPOINTS / 2 };
        let rows = store.list(&checkpoints, Page::newest(look))?;
        let open = newer.then(|| left_open(&rows, &mut done));
        let Some(mut best) = best(rows) else { continue };
        if let (Some(open), Some(detail)) = (open, &mut best.detail) {
            detail["next_steps"] = json!(open);
        }
        kept.push(best);
    }
    kept.sort_by_key(|item| {
        let elsewhere = other_branch(item, scene).is_some();
        (elsewhere, !has_done(item), -item.time)
    });
    Ok(kept)
}

/// Whether something was done, stated or left to be done: a question with its
/// answer is nothing to go on with.
fn has_done(item: &Item) -> bool {
    let counts = |name| row::entries(item, name).next().is_some();
    let done = ["completed", "next_steps", "notes"];
    !item.files_modified.is_empty() || done.into_iter().any(counts)
}

/// The newest checkpoint that tells of work, else the one that tells most. They
/// come newest first.
fn best(mut rows: Vec<Item>) -> Option<Item> {
    let works = |item: &Item| {
        let counts = |name| row::entries(item, name).next().is_some();
        !item.files_modified.is_empty() || counts("next_steps") || counts("notes")
    };
    if let Some(at) = rows.iter().position(works) {
        return Some(rows.swap_remove(at));
    }
    let told = |item: &Item| {
        let count = |name| row::entries(item, name).count();
        2 * count("completed") + count("notes") + count("learned")
    };
    let best = rows.into_iter().rev().max_by_key(told)?;
    // A question without an answer is no work.
    (told(&best) > 0).then_some(best)
}

/// What these checkpoints of a session left open; `done` grows by what they did.
fn left_open(rows: &[Item], done: &mut Done) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for item in rows {
        // The first steps are commands that fail.
        let mut failing = row::entries(item, "failing");
        for step in row::entries(item, "next_steps") {
            let over = match failing.next() {
                Some(command) => done.settles(command),
                None => done.says(step),
            };
            if !over && !open.iter().any(|known| known == step) {
                open.push(step.to_owned());
            }
        }
        done.take(item);
    }
    open
}

/// What later work did.
#[derive(Default)]
struct Done {
    entries: Vec<String>,
    /// How many of them are in what is said: most are never asked about.
    taken: usize,
    said: Said,
    /// Commands that passed.
    passed: Vec<String>,
    /// Commands that failed: how they fail now is told already.
    failing: Vec<String>,
}

impl Done {
    fn take(&mut self, item: &Item) {
        let of = |name| row::entries(item, name).map(str::to_owned);
        for name in ["completed", "notes", "learned"] {
            self.entries.extend(of(name));
        }
        self.passed.extend(of("passed"));
        self.failing.extend(of("failing"));
    }

    /// Whether this command, which failed, was run again since.
    fn settles(&self, command: &str) -> bool {
        let again = |failing: &String| failing == command && !command.is_empty();
        self.failing.iter().any(again) || self.passed.iter().any(|key| takes_in(key, command))
    }

    /// Whether it did this step.
    fn says(&mut self, step: &str) -> bool {
        for entry in &self.entries[self.taken..] {
            self.said.add(entry);
        }
        self.taken = self.entries.len();
        self.said.says(step)
    }
}
