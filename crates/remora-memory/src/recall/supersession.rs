//! Statements that a later one has superseded: injected again they would mislead.
//! A later one either chooses otherwise on the same subject, or names what goes.
//! Decided at recall and not when a statement is stored, so that better rules also
//! apply to what was stored before (docs/design/0014).

mod cues;
mod scope;

use std::cell::{OnceCell, RefCell};

use remora_core::detail::{DetailList, DetailText};
use remora_core::ids::{ItemUid, ProjectKey, SessionId};
use remora_core::record::{Item, Kind};

use self::cues::{
    CHANGE_ENDINGS, CHOICE_CUES, CLAUSE_STOPS, DENIAL_ENDINGS, DROP_CUES, LEAVING_PREPOSITIONS,
    MANNER_TERMS, MOVE_VERBS, NEGATION_WORDS, SUBJECT_END_WORDS, TRAILING_DROP_CUES,
    WITHDRAWAL_CUES,
};
use super::reader::RecallReader;
use super::{RecallContext, item_line};
use crate::store::{Filter, PageRequest, Result};
use crate::words::{BytePairs, TermSplitter, WordHashes, is_stop};

/// Newest statements of a project that may supersede others.
pub(super) const MAX_COMPARED_STATEMENTS: usize = 60;
/// Words of a thing that is given up.
const MAX_SUBJECT_WORDS: usize = 4;

/// Characters of that sentence.
const MAX_SENTENCE_CHARS: usize = 200;

/// Marks a summary whose request was taken back.
const WITHDRAWN_NOTE: &str = "(taken back later)";

/// The first sentence that takes something back, if one does.
pub(crate) fn find_withdrawal(text: &str) -> Option<String> {
    let ends = ['.', '!', '?', '\n', '。', '！', '？'];
    let takes_back = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        let heard = CueText::from_text(&lower);
        let cues = [
            DROP_CUES,
            TRAILING_DROP_CUES,
            WITHDRAWAL_CUES,
            DENIAL_ENDINGS,
        ];
        let leaves = || {
            LEAVING_PREPOSITIONS
                .iter()
                .any(|cue| heard.find_leaving_cue(cue).next().is_some())
        };
        cues.iter().any(|cues| heard.contains_any(cues)) || leaves()
    };
    let sentence = text.split(ends).find(takes_back)?;
    Some(sentence.trim().chars().take(MAX_SENTENCE_CHARS).collect())
}

/// The things that a text gives up, each as the words of its name.
pub(crate) fn dropped_things(text: &str) -> Vec<Vec<String>> {
    let mut splitter = TermSplitter::default();
    let ends = ['.', '!', '?', '\n', '。', '！', '？'];
    let lower = text.to_lowercase();
    let sentences = lower.split_inclusive(ends);
    sentences
        .flat_map(|sentence| find_dropped_subjects(&CueText::from_text(sentence), &mut splitter))
        .map(|gone| gone.thing)
        .collect()
}

/// The words of what a text chooses, without its reasons and asides.
pub(crate) fn chosen_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    if !CueText::from_text(&lower).contains_any(CHOICE_CUES) {
        return Vec::new();
    }
    scope::find_chosen_words(&lower, &mut TermSplitter::default())
}

/// Whether it is a kind of statement.
pub(super) fn is_stated(kind: Kind) -> bool {
    STATEMENT_KINDS.contains(&kind)
}

pub(super) const STATEMENT_KINDS: &[Kind] = &[Kind::Correction, Kind::Preference, Kind::Decision];

/// The filter for all statements of a project.
pub(super) fn stated_in(project: &ProjectKey) -> Filter {
    Filter {
        project: Some(project.clone()),
        kinds: STATEMENT_KINDS.to_vec(),
        ..Filter::default()
    }
}

/// Statements that may have superseded others.
#[derive(Debug, Default)]
pub(super) struct Supersessions {
    stated: Vec<StatedItem>,
    splitter: RefCell<TermSplitter>,
}

impl Supersessions {
    /// The newest statements of the project.
    pub(super) fn of_project(store: &RecallReader<'_>, scene: &RecallContext<'_>) -> Result<Self> {
        let filter = stated_in(scene.project);
        let rows = store.list_uncorrected(&filter, PageRequest::newest(MAX_COMPARED_STATEMENTS))?;
        Ok(Self::of_rows(store, &rows))
    }

    /// The same from statements that were listed before, the newest first.
    pub(super) fn of_rows(store: &RecallReader<'_>, rows: &[Item]) -> Self {
        let rows = store.correct_with_ended(&rows[..rows.len().min(MAX_COMPARED_STATEMENTS)]);
        let stated = rows.iter().filter_map(|(item, has_ended)| {
            let has_ended = *has_ended;
            Some(StatedItem {
                has_ended,
                ..StatedItem::from_item(item)?
            })
        });
        Self {
            stated: stated.collect(),
            splitter: RefCell::default(),
        }
    }

    pub(super) fn from_items<'a>(items: impl IntoIterator<Item = &'a Item>) -> Self {
        Self {
            stated: items
                .into_iter()
                .filter_map(StatedItem::from_item)
                .collect(),
            splitter: RefCell::default(),
        }
    }

    /// Whether a later one supersedes this statement.
    pub(super) fn is_superseded(&self, item: &Item) -> bool {
        self.superseding_id(item).is_some()
    }

    /// The id of the first one that supersedes this statement.
    pub(super) fn superseding_id(&self, item: &Item) -> Option<i64> {
        let this = StatedItem::from_item(item).filter(|this| self.any_after(this.time))?;
        // If it is one of the list, its words may have been parsed already.
        let known = self.stated.iter().find(|known| known.uid == this.uid);
        let this = known.unwrap_or(&this).parse_statement(&self.splitter);
        self.list_superseding(this).next().map(|later| later.id)
    }

    /// The id of a later one if all statements of this turn are superseded; `None`
    /// if one of them still holds, or there were none.
    pub(super) fn replacing_turn(&self, item: &Item) -> Option<i64> {
        let turn = (item.session.clone(), item.prompt);
        let stated = self.stated.iter().filter(|stated| stated.turn == turn);
        let mut last = None;
        for stated in stated {
            let this = stated.parse_statement(&self.splitter);
            // A turn that repeats its own statement does not supersede it.
            let mut later = self
                .list_superseding(this)
                .filter(|later| later.turn != turn);
            last = Some(later.next()?.id);
        }
        last
    }

    /// Removes superseded entries from a summary and returns whether something is
    /// left of it.
    pub(super) fn clear(&self, summary: &mut Item) -> bool {
        let time = summary.time;
        let mut cleared = false;
        if let Some(detail) = &mut summary.detail {
            for list in [DetailList::Notes, DetailList::Learned] {
                cleared |= detail.retain_entries(list, |said| !self.replace_said(said, time));
            }
        }
        let has_list = |list| summary.has_listed(list);
        let lists = [
            DetailList::Notes,
            DetailList::Completed,
            DetailList::Learned,
            DetailList::OpenSteps,
        ];
        let only_asked = summary.kind == Kind::Summary && !lists.into_iter().any(has_list);
        if cleared {
            // The text repeats the request and the lists, also what was removed.
            summary.text.clear();
        }
        if !(cleared || only_asked) || !self.replace_said(&summary.title, time) {
            return true;
        }
        summary.text.clear();
        summary.title = format!("{} {WITHDRAWN_NOTE}", summary.title);
        item_line::has_more(summary)
    }

    fn replace_said(&self, said: &str, time: i64) -> bool {
        let read = || ParsedStatement::from_text(said, "", time, &mut self.splitter.borrow_mut());
        self.any_after(time) && self.list_superseding(&read()).next().is_some()
    }

    fn any_after(&self, time: i64) -> bool {
        self.stated.iter().any(|stated| stated.time > time)
    }

    fn list_superseding(&self, this: &ParsedStatement) -> impl Iterator<Item = &StatedItem> {
        let later = self.stated.iter().filter(|later| later.time > this.time);
        later.filter(|later| {
            let read = later.parse_statement(&self.splitter);
            // A temporary replacement that has ended gives way to the original again;
            // one that said until when the same thing holds has ended it.
            read.supersedes_other(this) && (!later.has_ended || read.names_all_of(this))
        })
    }
}

/// A statement whose words are parsed when it is first compared, which most never
/// are.
#[derive(Debug)]
struct StatedItem {
    id: i64,
    uid: ItemUid,
    time: i64,
    /// The session, and the number of the prompt in it.
    turn: (SessionId, Option<u32>),
    title: String,
    taken_back: String,
    /// Whether it is past its end date.
    has_ended: bool,
    read: OnceCell<ParsedStatement>,
}

impl StatedItem {
    /// From an item; `None` if it is no statement.
    fn from_item(item: &Item) -> Option<Self> {
        let taken_back = item.detail_text(DetailText::TakesBack);
        is_stated(item.kind).then(|| Self {
            id: item.id,
            uid: item.uid.clone(),
            time: item.time.max(item.last_time),
            turn: (item.session.clone(), item.prompt),
            title: item.title.clone(),
            taken_back: taken_back.unwrap_or_default().to_owned(),
            has_ended: false,
            read: OnceCell::new(),
        })
    }

    fn parse_statement(&self, splitter: &RefCell<TermSplitter>) -> &ParsedStatement {
        self.read.get_or_init(|| {
            let splitter = &mut splitter.borrow_mut();
            ParsedStatement::from_text(&self.title, &self.taken_back, self.time, splitter)
        })
    }
}

/// A statement with the words of its subject.
#[derive(Debug)]
struct ParsedStatement {
    time: i64,
    /// Its text in lower case.
    lower: String,
    /// The words of its subject, in order.
    words: Vec<String>,
    /// The same as hashes, by which two statements about different things are told
    /// apart quickly.
    numbers: WordHashes,
    /// The words of what was chosen, found on first use: most are never needed.
    chosen: OnceCell<Vec<String>>,
    /// The things that it gives up.
    drops: Vec<DroppedSubject>,
}

impl ParsedStatement {
    /// Parses a statement, with the sentence that takes something back if it is
    /// another one.
    fn from_text(text: &str, taken_back: &str, time: i64, splitter: &mut TermSplitter) -> Self {
        let lower = text.to_lowercase();
        let heard = CueText::from_text(&lower);
        let mut drops = find_dropped_subjects(&heard, splitter);
        if !taken_back.is_empty() {
            drops.extend(self::find_dropped_subjects(
                &CueText::from_text(&taken_back.to_lowercase()),
                splitter,
            ));
        }
        let words = find_distinctive_words(text, splitter);
        Self {
            time,
            numbers: words.iter().collect(),
            words,
            chosen: OnceCell::new(),
            drops,
            lower,
        }
    }

    /// The words of what was chosen, without reasons and asides.
    fn chosen(&self) -> &[String] {
        let chosen = || scope::find_chosen_words(&self.lower, &mut TermSplitter::default());
        self.chosen.get_or_init(chosen)
    }

    /// Whether it chooses something.
    fn chooses(&self) -> bool {
        CueText::from_text(&self.lower).contains_any(CHOICE_CUES)
    }

    /// Whether it says that something is different from now on.
    fn turns(&self) -> bool {
        let heard = CueText::from_text(&self.lower);
        CHANGE_ENDINGS
            .iter()
            .any(|cue| heard.find_closing_cue(cue).next().is_some())
    }

    /// Whether this one, being later, supersedes the other.
    fn supersedes_other(&self, other: &Self) -> bool {
        self.drops_what(other) || self.is_about_the_same(other)
    }

    /// Whether this one mentions everything that the other chose.
    fn names_all_of(&self, other: &Self) -> bool {
        let named = |word| self.words.contains(word);
        !other.chosen().is_empty() && other.chosen().iter().all(named)
    }

    fn drops_what(&self, other: &Self) -> bool {
        let held =
            |gone: &DroppedSubject| gone.thing.iter().all(|word| other.chosen().contains(word));
        // A statement that gives up the same thing agrees with this one.
        let said = |gone: &DroppedSubject| other.drops.iter().any(|own| own.thing == gone.thing);
        self.drops
            .iter()
            .any(|gone| held(gone) && !said(gone) && !gone.is_elsewhere(other))
    }

    /// Whether one contains all words of the other, or they share most of their
    /// words and both choose something or the later one changes it; two shared words
    /// must be adjacent. Two rules for one part of a program are no alternatives.
    fn is_about_the_same(&self, other: &Self) -> bool {
        // The cheap test first: fewer than two shared words decide it.
        if self.numbers.count_shared(&other.numbers) < 2 {
            return false;
        }
        let elsewhere = |word| {
            let mut drops = self.drops.iter();
            drops.any(|gone| gone.thing.contains(word) && gone.is_elsewhere(other))
        };
        let shared = self.words.iter().filter(|word| other.words.contains(word));
        let shared = shared.filter(|word| !elsewhere(word)).count();
        let least = self.words.len().min(other.words.len());
        let another = || self.turns() || self.chooses() && other.chooses();
        let enough = shared == least || shared * 3 >= least * 2 && another();
        let side_by_side = |pair: &[String]| self.words.windows(2).any(|own| own == pair);
        shared >= 2 && enough && other.chosen().windows(2).any(side_by_side)
    }
}

/// A thing that is given up.
#[derive(Debug, PartialEq, Eq)]
struct DroppedSubject {
    thing: Vec<String>,
    /// Where or for what it is given up; empty if everywhere.
    scope: Vec<String>,
}

impl DroppedSubject {
    /// Whether it is given up in a place that the other statement is not about:
    /// "drop Redis in the tests" leaves Redis in production.
    fn is_elsewhere(&self, other: &ParsedStatement) -> bool {
        let beside = |word: &&String| !self.thing.contains(word);
        let mut scope = self.scope.iter().filter(beside).peekable();
        scope.peek().is_some()
            && other.words.iter().any(|word| beside(&word))
            && !scope.any(|word| other.words.contains(word))
    }
}

/// A text in lower case in which many cues are searched for.
struct CueText<'a> {
    text: &'a str,
    pairs: BytePairs,
}

impl<'a> CueText<'a> {
    fn from_text(text: &'a str) -> Self {
        Self {
            text,
            pairs: BytePairs::of(text),
        }
    }

    fn contains_any(&self, cues: &[&str]) -> bool {
        cues.iter().any(|cue| self.find_cue(cue).next().is_some())
    }

    /// Where a cue occurs as whole words.
    fn find_cue<'b>(&'b self, cue: &'b str) -> impl Iterator<Item = usize> + 'b {
        let text = self.text;
        // Building a searcher costs more than all else here, so cues that do not occur
        // are skipped; `contains` builds none for text of this length.
        let occurs = self.pairs.may_hold(cue) && text.contains(cue);
        let found = occurs.then(|| text.match_indices(cue));
        let found = found.into_iter().flatten().map(|(at, _)| at);
        found.filter(move |at| {
            let before = text[..*at].chars().next_back();
            let after = text[at + cue.len()..].chars().next();
            let part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let first = cue.chars().next();
            let within = part(before) && part(first);
            // Scripts without spaces have no words to go by.
            let is_cut = within || cue.is_ascii() && part(after);
            !first.is_some_and(|c| c.is_ascii()) || !is_cut
        })
    }

    /// Where a cue ends a clause.
    fn find_closing_cue<'b>(&'b self, cue: &'b str) -> impl Iterator<Item = usize> + 'b {
        self.find_cue(cue).filter(|at| {
            let after = self.text[at + cue.len()..].trim_start();
            after.is_empty() || after.starts_with(CLAUSE_STOPS) || after.starts_with('.')
        })
    }

    /// Where a preposition after a verb of moving says what is left behind.
    fn find_leaving_cue<'b>(&'b self, cue: &'b str) -> impl Iterator<Item = usize> + 'b {
        self.find_cue(cue).filter(|at| {
            let clause = clause_before(self.text, *at);
            let mut words = clause.split(|c: char| !c.is_alphanumeric());
            words.any(|word| MOVE_VERBS.contains(&word))
        })
    }
}

fn clause_before(text: &str, at: usize) -> &str {
    text[..at].rsplit(CLAUSE_STOPS).next().unwrap_or_default()
}

/// The things that a text gives up.
fn find_dropped_subjects(heard: &CueText<'_>, splitter: &mut TermSplitter) -> Vec<DroppedSubject> {
    let lower = heard.text;
    let mut found = Vec::new();
    let mut take = |thing: &str, before: &str, rest: &str| {
        let mut thing = find_distinctive_words(thing, splitter);
        thing.truncate(MAX_SUBJECT_WORDS);
        if thing.iter().any(|word| word.chars().count() >= 2) {
            let parts = [
                scope::leading_scope(lower),
                before,
                scope::scope_after(rest),
            ];
            let scope = scope::scope_words(parts, splitter);
            let gone = DroppedSubject { thing, scope };
            if !found.contains(&gone) {
                found.push(gone);
            }
        }
    };
    for cue in DROP_CUES {
        for at in heard.find_cue(cue) {
            let before = lower[..at].split_whitespace().next_back();
            if !before.is_some_and(|word| NEGATION_WORDS.contains(&word)) {
                let (thing, rest) = name_at(&lower[at + cue.len()..]);
                let clause = clause_before(lower, at);
                let before = match *cue {
                    "away from" => scope::moved_subject(clause),
                    _ => scope::scope_before(clause),
                };
                take(thing, before, rest);
            }
        }
    }
    for cue in LEAVING_PREPOSITIONS {
        for at in heard.find_leaving_cue(cue) {
            let (thing, rest) = name_at(&lower[at + cue.len()..]);
            let thing = thing.trim_start();
            // "Move it from the page to the menu" gives up no page.
            let part = ["a ", "an ", "the ", "this ", "that "];
            if !part.iter().any(|article| thing.starts_with(article)) {
                take(thing, scope::moved_subject(clause_before(lower, at)), rest);
            }
        }
    }
    for cue in DENIAL_ENDINGS {
        for at in heard.find_closing_cue(cue) {
            let clause = CueText::from_text(clause_before(lower, at));
            for word in NEGATION_WORDS {
                if let Some(at) = clause.find_cue(word).next() {
                    take(&clause.text[at + word.len()..], "", "");
                }
            }
        }
    }
    for cue in TRAILING_DROP_CUES {
        for at in heard.find_cue(cue) {
            let thing = clause_before(lower, at).trim_start();
            let rest = &lower[at + cue.len()..];
            take(thing.trim_start_matches(['把', '将', '从']), "", rest);
        }
    }
    found
}

/// The name at the beginning of a text, and the rest.
fn name_at(text: &str) -> (&str, &str) {
    let ends = SUBJECT_END_WORDS.iter().filter_map(|end| text.find(end));
    let end = ends
        .chain(text.find(CLAUSE_STOPS))
        .chain(sentence_end(text));
    let (name, rest) = text.split_at(end.min().unwrap_or(text.len()));
    (name.trim_end_matches('了'), rest)
}

/// A full stop that ends a sentence, not one inside a name such as `node.js`.
fn sentence_end(text: &str) -> Option<usize> {
    text.match_indices('.').map(|(at, _)| at).find(|at| {
        text[at + 1..]
            .chars()
            .next()
            .is_none_or(char::is_whitespace)
    })
}

/// The words of a text that name its subject. Numbers are left out, so that "limit
/// 5" supersedes "limit 3".
fn find_distinctive_words(text: &str, splitter: &mut TermSplitter) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    splitter.for_each_term(text, |term, _| {
        let number = term.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let is_manner = || MANNER_TERMS.binary_search(&term).is_ok();
        if !number && !is_stop(term) && !found.iter().any(|word| word == term) && !is_manner() {
            found.push(term.to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests;
