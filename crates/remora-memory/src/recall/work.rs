//! Where sessions left off: for each the checkpoint that says most, with the
//! steps that are still open.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use remora_core::detail::DetailList;
use remora_core::record::Item;

use super::card;
use super::reader::RecallReader;
use super::recent::RecentTurns;
use super::word_set::{TellingWords, WordSet, telling_words};
use super::{RecallContext, name_of, other_branch};
use crate::episode::{ComparedTurn, amends_turn};
use crate::output::takes_in;
use crate::sentence;
use crate::store::{Filter, Result};

/// Checkpoints of one session that are read.
const MAX_CHECKPOINTS: usize = 8;
/// Sessions that are read for each one that is shown.
const SCANNED_SESSIONS_PER_SHOWN: usize = 2;
/// The share of a step's words that one entry must contain to prove it done. Two
/// in three: a verb in the past tense may have another stem ("add", "added").
const MIN_EVIDENCE_SHARE: f64 = 0.65;
/// Sessions whose steps are compared with the work done since.
pub(super) const MAX_OPEN_SESSIONS: usize = 4;

/// The work of the last sessions, newest first; this branch before others, and
/// sessions that did something before those that only talked. Checkpoints in
/// `recent` are not read again.
pub(super) fn list_last_work(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    since: Option<i64>,
    recent: &RecentTurns,
) -> Result<Vec<Item>> {
    let most = scene.limits.summaries;
    let of_project = Filter {
        project: Some(scene.project.clone()),
        since,
        ..Filter::default()
    };
    // Sessions come newest first, so at each one `done` holds all later work.
    let mut done = LaterWork::default();
    let mut kept: Vec<Item> = Vec::new();
    for session in store.list_sessions(&of_project, most * SCANNED_SESSIONS_PER_SHOWN + 1)? {
        if session.id == *scene.session || kept.len() == most {
            continue;
        }
        // Of older sessions hardly more than the title is shown.
        let newer = kept.len() < MAX_OPEN_SESSIONS;
        let look = if newer {
            MAX_CHECKPOINTS
        } else {
            MAX_CHECKPOINTS / 2
        };
        let rows = recent.of_session(store, &session.id, &of_project, look)?;
        let best_at = find_best(&rows).filter(|at| !card::tells_nothing(&rows[*at]));
        let holder = best_at.map(|at| rows[at].id);
        let open = newer.then(|| left_open(&rows, holder, &mut done));
        let Some(best) = best_at.and_then(|at| rows.into_iter().nth(at)) else {
            continue;
        };
        let mut best = best.into_owned();
        // Its own list of steps is replaced by what is still open of all checkpoints.
        if let (Some(open), Some(detail)) = (open, &mut best.detail) {
            detail.set_list(DetailList::OpenSteps, open);
        }
        kept.push(best);
    }
    kept.sort_by_key(|item| {
        let elsewhere = other_branch(item, scene).is_some();
        (elsewhere, !has_done(item), -item.time)
    });
    Ok(kept)
}

/// Whether something was done, stated or left to do: a question and its answer
/// are nothing to continue with.
fn has_done(item: &Item) -> bool {
    let counts = |list| item.has_listed(list);
    let done = [
        DetailList::Completed,
        DetailList::OpenSteps,
        DetailList::Notes,
    ];
    !item.files_modified.is_empty() || done.into_iter().any(counts)
}

/// The index of the newest checkpoint that reports work, or else of the one with
/// the most entries. They come newest first.
fn find_best(rows: &[Cow<'_, Item>]) -> Option<usize> {
    let works = |item: &Item| {
        let counts = |list| item.has_listed(list);
        !item.files_modified.is_empty()
            || counts(DetailList::OpenSteps)
            || counts(DetailList::Notes)
    };
    if let Some(at) = rows.iter().position(|item| works(item)) {
        return Some(at);
    }
    let weigh = |item: &Item| {
        let count = |list| item.detail_list(list).count();
        2 * count(DetailList::Completed) + count(DetailList::Notes) + count(DetailList::Learned)
    };
    // `max_by_key` returns the last maximum: reversed, that is the newest.
    let best = rows.iter().enumerate().rev();
    let (at, best) = best.max_by_key(|(_, item)| weigh(item))?;
    // A question without an answer is no work.
    (weigh(best) > 0).then_some(at)
}

/// The steps that these checkpoints left open, with the id of the checkpoint if it
/// is not `holder`; `done` grows by what they did.
fn left_open(rows: &[Cow<'_, Item>], holder: Option<i64>, done: &mut LaterWork) -> Vec<String> {
    let mut open: Vec<(String, WordSet)> = Vec::new();
    let splitter = RefCell::default();
    let read = ComparedTurn::of_all(rows.iter().map(AsRef::as_ref), &splitter);
    for (at, item) in rows.iter().enumerate() {
        let is_amended = || read[..at].iter().any(|later| amends_turn(later, &read[at]));
        // A summary lists failing commands first among its steps, so the two lists
        // run in parallel.
        let mut failing = item.detail_list(DetailList::Failing);
        for step in item.detail_list(DetailList::OpenSteps) {
            let over = match failing.next() {
                Some(command) => done.has_rerun(command),
                None => is_amended() || done.closes_step(step),
            };
            if over {
                continue;
            }
            // A newer checkpoint lists the same step already.
            let words = telling_words(step);
            if open.iter().any(|(_, known)| known.says_words(&words)) {
                continue;
            }
            let text = if holder == Some(item.id) {
                step.to_owned()
            } else {
                format!("{step} ({})", name_of(item))
            };
            open.push((text, WordSet::from_text(step)));
        }
        // After its own steps: a checkpoint closes only what was open before it.
        done.add_item(item);
    }
    open.into_iter().map(|(step, _)| step).collect()
}

/// What later work did. A step is closed by evidence alone: one entry that says it
/// was done, a request for it after which files changed, or a user who drops it.
/// That its words come up again closes nothing.
#[derive(Default)]
struct LaterWork {
    /// Entries on what was done, each by itself: the words of several together
    /// prove nothing.
    deeds: Vec<Evidence>,
    /// Requests of turns that changed files.
    asked: Vec<Evidence>,
    dropped: Vec<String>,
    /// Commands that passed.
    passed: Vec<String>,
    /// Commands that failed later: the newer failure is listed in their place.
    failing: Vec<String>,
}

/// A text that is split into words on first use: most never are.
struct Evidence {
    text: String,
    said: OnceCell<WordSet>,
}

impl Evidence {
    fn from_text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            said: OnceCell::new(),
        }
    }

    fn covers_step(&self, step: &TellingWords) -> bool {
        let said = self.said.get_or_init(|| WordSet::from_text(&self.text));
        said.says_share(step, MIN_EVIDENCE_SHARE)
    }
}

impl LaterWork {
    fn add_item(&mut self, item: &Item) {
        let of = |list| item.detail_list(list);
        self.deeds
            .extend(of(DetailList::Completed).map(Evidence::from_text));
        let asked: Vec<&str> = of(DetailList::Asked)
            .flat_map(sentence::split_sentences)
            .collect();
        let dropped = asked.iter().filter_map(|said| read_dropped(said));
        self.dropped.extend(dropped.map(str::to_owned));
        // A turn that left something red has not done what it was asked.
        if !item.files_modified.is_empty() && of(DetailList::Failing).next().is_none() {
            let wanted = asked.iter().filter(|said| !said.ends_with(['?', '？']));
            self.asked
                .extend(wanted.map(|said| Evidence::from_text(said)));
        }
        add_new(&mut self.passed, of(DetailList::Passed));
        add_new(&mut self.failing, of(DetailList::Failing));
    }

    /// Whether this failed command was run again since.
    fn has_rerun(&self, command: &str) -> bool {
        let again = |failing: &String| failing == command && !command.is_empty();
        self.failing.iter().any(again) || self.passed.iter().any(|key| takes_in(key, command))
    }

    /// Whether this step was done or dropped.
    fn closes_step(&self, step: &str) -> bool {
        // "Not done: the docs" is closed by a turn that did the docs.
        let step = match step.split_once(": ") {
            Some((label, rest)) if label.to_lowercase().starts_with("not ") => rest,
            _ => step,
        };
        let words = telling_words(step);
        let by = |list: &[Evidence]| list.iter().any(|evidence| evidence.covers_step(&words));
        let is_dropped = || {
            if self.dropped.is_empty() {
                return false;
            }
            let said = WordSet::from_text(step);
            self.dropped.iter().any(|thing| said.covers_text(thing))
        };
        by(&self.deeds) || by(&self.asked) || is_dropped()
    }
}

/// Adds what the list does not have yet: the same commands are run over and over,
/// and comparing two takes thousands of steps.
fn add_new<'c>(list: &mut Vec<String>, commands: impl Iterator<Item = &'c str>) {
    for command in commands {
        if !list.iter().any(|known| known == command) {
            list.push(command.to_owned());
        }
    }
}

/// What a user no longer wants: in "forget the chart, fix the header" the chart.
fn read_dropped(sentence: &str) -> Option<&str> {
    const DROP_OPENINGS: &[&str] = &[
        "forget about",
        "forget",
        "never mind",
        "nevermind",
        "no need for",
        "no need to",
        "we don't need",
        "i don't need",
        "don't need",
        "we won't need",
        "we no longer need",
        "i no longer need",
        "skip",
        "drop",
        "scratch",
        "leave out",
        "don't bother with",
        "vergiss",
        "lass",
        "kein",
        "olvida",
        "ya no hace falta",
        "oublie",
        "不用做",
        "不需要",
        "不用",
    ];
    const DROP_ENDINGS: &[&str] = &[
        "brauchen wir nicht mehr",
        "brauche ich nicht mehr",
        "is not needed",
        "isn't needed",
        "are not needed",
        "aren't needed",
        "ya no hace falta",
        "不要了",
        "不用了",
        "は不要",
        "はもういい",
    ];
    const ARTICLES: &[&str] = &[
        "das ", "die ", "der ", "den ", "el ", "la ", "los ", "las ", "le ", "les ",
    ];
    let clauses = sentence.split([',', ';', '，', '、', '；', '.', '。', '!']);
    let mut clauses = clauses.map(str::trim);
    clauses.find_map(|clause| {
        let lower = clause.to_lowercase().replace('’', "'");
        // Offsets found in the folded text are used in the original, which is safe
        // only if folding kept the length.
        if lower.len() != clause.len() {
            return None;
        }
        let lead = [
            "ok ",
            "please ",
            "and ",
            "then ",
            "also ",
            "actually ",
            "bitte ",
        ];
        let skip = lead.iter().find(|lead| lower.starts_with(**lead));
        let skip = skip.map_or(0, |lead| lead.len());
        let before = DROP_OPENINGS.iter().find_map(|open| {
            let rest = lower[skip..].strip_prefix(open)?;
            let is_word = rest.starts_with(' ') || open.chars().any(sentence::is_wide);
            is_word.then(|| &clause[lower.len() - rest.len()..])
        });
        let behind = || {
            // `contains` is quicker than `find`, and most clauses have no such ending.
            let mut ends = DROP_ENDINGS.iter().filter(|end| lower.contains(**end));
            let end = ends.find_map(|end| lower.find(end))?;
            Some(&clause[..end])
        };
        let thing = before.or_else(behind)?.trim();
        let thing = thing
            .trim_end_matches("anymore")
            .trim_end_matches("any more")
            .trim();
        let article = ARTICLES.iter().find_map(|word| thing.strip_prefix(word));
        let thing = article.unwrap_or(thing);
        (!thing.is_empty()).then_some(thing)
    })
}

#[cfg(test)]
mod tests;
