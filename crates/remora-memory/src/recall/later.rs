//! Statements that a later one has replaced: told again they would mislead.
//! Either a later one says something else of the same subject, or it says by
//! name what goes.

use std::cell::RefCell;
use std::sync::LazyLock;

use remora_protocol::record::{Item, Kind};

use super::Scene;
use crate::store::{Filter, Page, Result, Store};
use crate::words::{self, Splitter, is_stop};

/// Statements of a project that are looked at for later words.
const LOOK: usize = 60;
/// Words of a thing that is taken back.
const THING: usize = 4;

/// How somebody says what goes; its name follows.
const DROPS: &[&str] = &[
    "away from",
    "do not use",
    "don't use",
    "don’t use",
    "drop",
    "dropped",
    "dropping",
    "drops",
    "get rid of",
    "instead of",
    "let go of",
    "migrate from",
    "migrated from",
    "move from",
    "moved from",
    "moving from",
    "never use",
    "no longer",
    "no longer use",
    "no longer using",
    "not to use",
    "not use",
    "rather than",
    "remove",
    "removed",
    "removing",
    "replace",
    "replaced",
    "replacing",
    "revert",
    "reverted",
    "stop using",
    "stopped using",
    "switch from",
    "switched from",
    "switching from",
    "不再",
    "不要用",
    "别用",
    "去掉",
    "弃用",
    "移除",
];
/// The same with the name before it.
const GOES: &[&str] = &[
    "goes away",
    "is gone",
    "换成",
    "换回",
    "改为",
    "改成",
    "改用",
];
/// Other ways to take something back, without a name.
const TURNS: &[&str] = &["anymore", "any more", "back to", "instead", "switch"];
/// How somebody says what is to be taken for something.
const CHOICES: &[&str] = &[
    "adopt",
    "choose",
    "chose",
    "go for",
    "go with",
    "going with",
    "move",
    "moved",
    "pick",
    "picked",
    "prefer",
    "settle on",
    "switch",
    "take",
    "use",
    "used",
    "uses",
    "using",
    "went with",
    "使用",
    "改用",
    "用",
    "选",
];
/// Where the name of a thing ends.
const ENDS: &[&str] = &[
    " and ",
    " any ",
    " anymore",
    " as ",
    " because ",
    " but ",
    " by ",
    " everywhere",
    " for ",
    " from ",
    " in ",
    " on ",
    " since ",
    " to ",
    " when ",
    " with ",
];
const STOPS: &[char] = &[
    ',', ';', ':', '!', '?', '(', ')', '\n', '。', '，', '；', '！', '？',
];
/// How people begin to say what should be so: not what it is about.
const MANNER: &str = "actually add added agree agreed always any avoid choose chose chosen correct \
    decide decided deciding decision directly do done ensure every everywhere from get go going \
    instead just keep kept let lets longer make makes made must need needs never new no not note \
    now only pick picked please prefer preferred put remember replace right run set should stick \
    stop switch thing things use used uses using want wants way went will with work \
    使用 我们 决定 以后 总是 一律";

/// Where a statement's detail says what it takes back.
pub(crate) const TAKES_BACK: &str = "takes_back";
/// Characters of it.
const SENTENCE: usize = 200;

/// The sentence that takes something back, if one does.
pub(crate) fn reversal(text: &str) -> Option<String> {
    let ends = ['.', '!', '?', '\n', '。', '！', '？'];
    let takes_back = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        let mut cues = DROPS.iter().chain(GOES).chain(TURNS);
        cues.any(|cue| places(&lower, cue).next().is_some())
    };
    let sentence = text.split(ends).find(takes_back)?;
    Some(sentence.trim().chars().take(SENTENCE).collect())
}

/// Whether it is something that somebody said should be so.
pub(super) fn is_stated(kind: Kind) -> bool {
    STATED.contains(&kind)
}

pub(super) const STATED: &[Kind] = &[Kind::Correction, Kind::Preference, Kind::Decision];

/// Statements that may have replaced others.
#[derive(Debug, Default)]
pub(super) struct Later {
    statements: Vec<Statement>,
    splitter: RefCell<Splitter>,
}

impl Later {
    /// The last ones of the project.
    pub(super) fn of_project(store: &dyn Store, scene: &Scene<'_>) -> Result<Self> {
        let filter = Filter {
            project: Some(scene.project.to_owned()),
            kinds: STATED.to_vec(),
            ..Filter::default()
        };
        let rows = store.list(&filter, Page::newest(LOOK))?;
        Ok(Self::among(&rows))
    }

    pub(super) fn among<'a>(items: impl IntoIterator<Item = &'a Item>) -> Self {
        let mut splitter = Splitter::new();
        let of = |item| Statement::of(item, &mut splitter);
        Self {
            statements: items.into_iter().filter_map(of).collect(),
            splitter: RefCell::new(splitter),
        }
    }

    /// Whether a later one leaves nothing of this row.
    pub(super) fn replace(&self, item: &Item) -> bool {
        let this = Statement::of(item, &mut self.splitter.borrow_mut());
        this.is_some_and(|this| self.replaces(&this))
    }

    /// Takes from a summary's notes what a later one leaves nothing of.
    pub(super) fn clear_notes(&self, summary: &mut Item) {
        let time = summary.time;
        let notes = summary.detail.as_mut();
        let notes = notes.and_then(|detail| detail.get_mut("notes")?.as_array_mut());
        if let Some(notes) = notes {
            notes.retain(|note| {
                !note
                    .as_str()
                    .is_some_and(|note| self.replace_note(note, time))
            });
        }
    }

    fn replace_note(&self, note: &str, time: i64) -> bool {
        self.replaces(&Statement::said(
            note,
            time,
            &mut self.splitter.borrow_mut(),
        ))
    }

    fn replaces(&self, this: &Statement) -> bool {
        self.statements.iter().any(|later| later.replaces(this))
    }
}

/// A statement and what it is about.
#[derive(Debug)]
struct Statement {
    time: i64,
    /// What it is about, in the order of its words.
    words: Vec<String>,
    /// The things that it takes back.
    drops: Vec<Vec<String>>,
    /// Whether it says what to take for something.
    chooses: bool,
}

impl Statement {
    /// Of a row; `None` if it states nothing.
    fn of(item: &Item, splitter: &mut Splitter) -> Option<Self> {
        if !is_stated(item.kind) {
            return None;
        }
        let detail = item.detail.as_ref();
        let taken_back = detail.and_then(|detail| detail.get(TAKES_BACK)?.as_str());
        let mut this = Self::said(&item.title, item.time.max(item.last_time), splitter);
        let taken_back = taken_back.unwrap_or_default().to_lowercase();
        this.drops.extend(drops(&taken_back, splitter));
        Some(this)
    }

    fn said(text: &str, time: i64, splitter: &mut Splitter) -> Self {
        let lower = text.to_lowercase();
        let chooses = CHOICES
            .iter()
            .any(|cue| places(&lower, cue).next().is_some());
        Self {
            time,
            words: telling(text, splitter),
            drops: drops(&lower, splitter),
            chooses,
        }
    }

    /// Whether this one, being later, leaves nothing of the other.
    fn replaces(&self, other: &Self) -> bool {
        self.time > other.time && (self.drops_what(other) || self.is_about_the_same(other))
    }

    fn drops_what(&self, other: &Self) -> bool {
        let held = |thing: &Vec<String>| thing.iter().all(|word| other.words.contains(word));
        // Who takes the same thing back says the same.
        self.drops
            .iter()
            .any(|thing| held(thing) && !other.drops.contains(thing))
    }

    /// The one holds all words of the other, or both choose something and most
    /// of their words are the same; two of them side by side. Two rules for one
    /// part of a program are no choice between them.
    fn is_about_the_same(&self, other: &Self) -> bool {
        let shared = self.words.iter().filter(|word| other.words.contains(word));
        let shared = shared.count();
        let least = self.words.len().min(other.words.len());
        let enough = shared == least || self.chooses && other.chooses && shared * 3 >= least * 2;
        let side_by_side = |pair: &[String]| self.words.windows(2).any(|own| own == pair);
        shared >= 2 && enough && other.words.windows(2).any(side_by_side)
    }
}

/// The things that a text, in lower case, says go.
fn drops(lower: &str, splitter: &mut Splitter) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut take = |thing: &str| {
        let mut words = telling(thing, splitter);
        words.truncate(THING);
        let names = words.iter().any(|word| word.chars().count() >= 2);
        if names && !found.contains(&words) {
            found.push(words);
        }
    };
    for cue in DROPS {
        for at in places(lower, cue) {
            let after = &lower[at + cue.len()..];
            let ends = ENDS.iter().filter_map(|end| after.find(end));
            let end = ends.chain(after.find(STOPS)).chain(sentence_end(after));
            take(&after[..end.min().unwrap_or(after.len())]);
        }
    }
    for cue in GOES {
        for at in places(lower, cue) {
            let before = &lower[..at];
            let thing = before.rsplit(STOPS).next().unwrap_or_default();
            take(thing.trim_start().trim_start_matches(['把', '将', '从']));
        }
    }
    found
}

/// A full stop that ends a sentence, not one within a name.
fn sentence_end(text: &str) -> Option<usize> {
    text.match_indices('.').map(|(at, _)| at).find(|at| {
        text[at + 1..]
            .chars()
            .next()
            .is_none_or(char::is_whitespace)
    })
}

/// Where a cue stands as words of its own.
fn places<'a>(text: &'a str, cue: &'a str) -> impl Iterator<Item = usize> + 'a {
    let ascii = cue.is_ascii();
    text.match_indices(cue).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + cue.len()..].chars().next();
        let part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !ascii || (!part(before) && !part(after))
    })
}

/// The words of a text that say what it is about.
fn telling(text: &str, splitter: &mut Splitter) -> Vec<String> {
    static MANNERS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let mut terms: Vec<String> = words::terms(MANNER).split(' ').map(str::to_owned).collect();
        terms.sort_unstable();
        terms
    });
    let mut found: Vec<String> = Vec::new();
    splitter.each(text, |term, _| {
        let number = term.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let manner = MANNERS
            .binary_search_by(|word| word.as_str().cmp(term))
            .is_ok();
        if !number && !manner && !is_stop(term) && !found.iter().any(|word| word == term) {
            found.push(term.to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests;
