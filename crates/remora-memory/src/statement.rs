//! Catches what the user or the assistant states for good: decisions,
//! preferences and corrections, with the reason given. A small classifier that
//! knows what the word rules say decides (see `model`); a question, a step to
//! take now or pasted output is no statement. When in doubt it stays silent: a
//! wrong memory does more harm than none.

mod features;
#[cfg(any(test, feature = "testing"))]
pub mod fitting;
mod han;
mod judge;
mod model;
pub(crate) mod options;
mod purpose;
mod reason;
mod rules;
mod words;

use crate::sentence::{self, BlockKind};
use model::Sort;
use words::Told;

/// Whose words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// What is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatementKind {
    /// A choice that was made.
    Decision,
    /// How things are to be done from now on.
    Preference,
    /// What was wrong, and what holds instead.
    Correction,
}

/// One statement that can be read without its surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What is stated.
    pub kind: StatementKind,
    /// The sentence itself, at most 300 characters.
    pub text: String,
    /// Why, in the speaker's words, at most 300 characters.
    pub reason: Option<String>,
    /// The sentence before, where this one says only "it".
    pub subject: Option<String>,
    /// How sure this reading is, 0 to 100.
    pub confidence: u8,
    /// Whether the user asked for it to be remembered.
    pub on_purpose: bool,
}

impl Statement {
    /// The sentence with what it is about.
    pub(crate) fn told(&self) -> String {
        match &self.subject {
            Some(subject) => sentence::one_line(&format!("{} ({subject})", self.text), LONGEST),
            None => self.text.clone(),
        }
    }
}

/// Where a row's detail says that the user asked for it to be remembered.
pub(crate) const ON_PURPOSE: &str = "on_purpose";

/// The most statements that one text yields.
pub const MOST: usize = 8;
/// The most characters of a statement and of its reason.
pub const LONGEST: usize = 300;

/// Characters of the sentence that tells what a statement is about.
const SUBJECT: usize = 120;
/// Sentences longer than this are data, lists or pasted prose.
const LONGEST_SENTENCE: usize = 900;
/// Of longer texts the two ends are read: people write before and after what
/// they paste, and what they paste is not theirs.
const END: usize = 8_000;
const SURE_ENOUGH: u8 = 50;
/// However sure the model is, a rule that says so comes first.
const SUREST_BY_MODEL: u8 = 90;
/// Words that a sentence must have for the model to read it: the build of a few
/// words ("Question number 12") says nothing of what they mean.
const MIN_MODEL_WORDS: usize = 4;

/// A rule that matched a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    kind: StatementKind,
    confidence: u8,
    /// Whether the sentence only announces what the next one says.
    announces: bool,
}

/// What is looked for in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// All that is stated.
    Everything,
    /// What the user asks to be remembered; needs neither model nor rules.
    OnPurpose,
}

/// Finds the statements of a text, the surest first.
pub fn find(text: &str, speaker: Speaker) -> Vec<Statement> {
    find_wanted(text, speaker, Wanted::Everything)
}

/// Finds what the user asks to be remembered. Cheap enough for a hook: the model
/// is not read.
pub(crate) fn find_on_purpose(prompt: &str) -> Vec<Statement> {
    find_wanted(prompt, Speaker::User, Wanted::OnPurpose)
}

fn find_wanted(text: &str, speaker: Speaker, wanted: Wanted) -> Vec<Statement> {
    if sentence::is_not_spoken(text) {
        return Vec::new();
    }
    let blocks: Vec<(bool, String)> = ends(text)
        .into_iter()
        .flat_map(|part| sentence::blocks(&sentence::without_tagged(part)))
        // Before sentences part a mark from its partner.
        .map(|block| {
            let item = matches!(block.kind, BlockKind::Item { .. });
            (item, sentence::without_emphasis(&block.text))
        })
        .collect();
    let sentences = blocks.iter().map(|(_, text)| sentence::sentences(text));
    let sentences: Vec<Vec<&str>> = sentences.collect();
    let count = sentences.iter().map(Vec::len).sum();
    let mut place = 0;
    let mut found: Vec<Statement> = Vec::new();
    // "Remember:" and a list: each of its items is meant.
    let mut announced = false;
    for ((item, _), sentences) in blocks.iter().zip(&sentences) {
        let block = Block::of(sentences, (place, count), speaker);
        announced = match (announced && *item, sentences.first()) {
            (true, Some(first)) => {
                add(&mut found, kept_on_purpose(first, None));
                true
            }
            _ => block.find(wanted, &mut found),
        };
        place += sentences.len();
    }
    // What somebody wants kept comes before what only sounds like it.
    found.sort_by_key(|s| std::cmp::Reverse((s.on_purpose, s.confidence)));
    found.truncate(MOST);
    found
}

/// Sentences that belong together, and their halves.
struct Block<'a> {
    sentences: &'a [&'a str],
    /// With the number of the sentence each is of.
    halves: Vec<(usize, Unit<'a>)>,
    /// Where the first sentence stands in the text, and how many that has.
    place: (usize, usize),
    speaker: Speaker,
}

impl<'a> Block<'a> {
    fn of(sentences: &'a [&'a str], place: (usize, usize), speaker: Speaker) -> Self {
        let halves = sentences.iter().enumerate();
        let halves =
            halves.flat_map(|(at, text)| units(text).into_iter().map(move |unit| (at, unit)));
        Self {
            sentences,
            halves: halves.collect(),
            place,
            speaker,
        }
    }

    fn half(&self, at: usize) -> Option<&Unit<'a>> {
        self.halves.get(at).map(|(_, unit)| unit)
    }

    fn text_before(&self, half: usize) -> Option<&'a str> {
        let before = half.checked_sub(1)?;
        self.half(before).map(|unit| unit.text)
    }

    /// Adds what is stated here; whether the last sentence only announces what
    /// is to be remembered.
    fn find(&self, wanted: Wanted, found: &mut Vec<Statement>) -> bool {
        let mut announces = false;
        // The first half that was not taken along with another.
        let mut free = 0;
        for (at, text) in self.sentences.iter().enumerate() {
            let own = self.halves.iter().enumerate();
            let own = own.filter(|(half, (of, _))| *of == at && *half >= free);
            let own: Vec<usize> = own.map(|(half, _)| half).collect();
            let Some(last) = own.last() else { continue };
            let next = self.half(last + 1);
            if self.speaker == Speaker::User
                && let Some(kept) = purpose::kept(text)
            {
                let next_said = next.map(|unit| unit.text);
                if let Some(said) = Some(kept).filter(|kept| !kept.is_empty()).or(next_said) {
                    add(found, kept_on_purpose(said, next_said));
                    free = last + if kept.is_empty() { 2 } else { 1 };
                } else {
                    announces = true;
                }
                continue;
            }
            if wanted == Wanted::Everything {
                self.find_in_sentence(at, &own, &mut free, found);
            }
        }
        announces
    }

    /// By the word rules where one holds, else by the model.
    fn find_in_sentence(
        &self,
        at: usize,
        own: &[usize],
        free: &mut usize,
        found: &mut Vec<Statement>,
    ) {
        let text = self.sentences[at];
        let next_of = |half: usize| self.half(half + 1);
        let hits: Vec<(usize, Hit)> = own
            .iter()
            .filter_map(|half| {
                let next = next_of(*half).map(|unit| unit.text);
                Some((*half, hit(self.half(*half)?.text, next, self.speaker)?))
            })
            .collect();
        let mut any = false;
        for (half, hit) in hits {
            let Some(unit) = self.half(half).filter(|_| half >= *free) else {
                continue;
            };
            if let Some((mut statement, along)) = read(unit, next_of(half), hit, self.speaker) {
                statement.subject = subject(&statement.text, self.text_before(half));
                add(found, statement);
                *free = half + if along { 2 } else { 1 };
                any = true;
            }
        }
        let asks = text.trim_end().ends_with(['?', '？']);
        let (Some(first), Some(last)) = (own.first(), own.last()) else {
            return;
        };
        let says_enough = text.split_whitespace().nth(MIN_MODEL_WORDS - 1).is_some()
            || text.chars().any(sentence::is_wide);
        if any || asks || !says_enough || !is_bounded(text) {
            return;
        }
        let reading = self.read_model(text, at);
        if reading.probability < model::threshold(self.speaker) {
            return;
        }
        let whole = Unit {
            text,
            joined: false,
        };
        if let Some(mut statement) = read_by_model(&whole, next_of(*last), reading, self.speaker) {
            statement.subject = subject(&statement.text, self.text_before(*first));
            add(found, statement);
        }
    }

    fn read_model(&self, text: &str, at: usize) -> model::Reading {
        let sentence = features::Sentence {
            text,
            speaker: self.speaker,
            place: (self.place.0 + at, self.place.1),
            hit: None,
        };
        model::read(&sentence)
    }
}

/// The statement that no word rule knows.
fn read_by_model(
    unit: &Unit<'_>,
    next: Option<&Unit<'_>>,
    reading: model::Reading,
    speaker: Speaker,
) -> Option<Statement> {
    let kind = match reading.sort {
        Sort::Kind(kind) => kind,
        Sort::Fact => StatementKind::Decision,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a probability: 0 to 100"
    )]
    let confidence = ((reading.probability * 100.0) as u8).clamp(SURE_ENOUGH, SUREST_BY_MODEL);
    let hit = Hit {
        kind,
        confidence,
        announces: false,
    };
    let (statement, _) = read(unit, next, hit, speaker)?;
    // What is known only, without why, stays in the text of its turn; what an
    // agent found out is in the summary.
    let is_cause = reason::is_cause(unit.text);
    let counts = match speaker {
        Speaker::User => reading.sort != Sort::Fact || statement.reason.is_some() || is_cause,
        // What went wrong, and why, is no choice, whatever the model takes it for.
        Speaker::Assistant => {
            reading.sort != Sort::Fact && !is_cause && !reason::is_failure(unit.text)
        }
    };
    counts.then_some(statement)
}

/// What the user asked to be remembered.
fn kept_on_purpose(said: &str, next: Option<&str>) -> Statement {
    let (body, why) = reason::split(said);
    let why = why.or_else(|| next.and_then(reason::follows));
    let why = why.map(|why| sentence::one_line(bare(&sentence::plain(why)), LONGEST));
    let kind = hit(said, None, Speaker::User).map_or(StatementKind::Preference, |hit| hit.kind);
    Statement {
        kind,
        text: sentence::one_line(&presentable(&sentence::plain(body)), LONGEST),
        reason: why.filter(|why| !why.is_empty()),
        subject: None,
        confidence: 99,
        on_purpose: true,
    }
}

fn ends(text: &str) -> Vec<&str> {
    if text.len() <= 2 * END {
        return vec![text];
    }
    let head = sentence::bounded(text, END);
    let tail = &text[sentence::bounded(text, text.len() - END).len()..];
    vec![
        head.rfind('\n').map_or(head, |at| &head[..at]),
        tail.find('\n').map_or(tail, |at| &tail[at..]),
    ]
}

/// A sentence, or one of the halves that a semicolon joins.
struct Unit<'a> {
    text: &'a str,
    /// Whether it goes on with what the half before says.
    joined: bool,
}

fn units(block: &str) -> Vec<Unit<'_>> {
    let halves = |sentence| {
        let halves = str::split(sentence, "; ").flat_map(|s| s.split('；'));
        let halves = halves.map(str::trim).filter(|s| !s.is_empty());
        halves.enumerate().map(|(at, text)| Unit {
            text,
            joined: at > 0,
        })
    };
    let sentences = sentence::sentences(block).into_iter();
    sentences.flat_map(halves).collect()
}

/// Whether it is short enough for somebody to have said it.
fn is_bounded(unit: &str) -> bool {
    unit.len() <= 4 * LONGEST_SENTENCE && unit.chars().count() <= LONGEST_SENTENCE
}

/// What rules find in a sentence; nothing in data.
fn hit(unit: &str, next: Option<&str>, speaker: Speaker) -> Option<Hit> {
    if !is_bounded(unit) {
        return None;
    }
    let wide = unit.chars().filter(|c| sentence::is_wide(*c)).count();
    if wide >= 2 {
        han::read(unit, next, speaker)
    } else {
        words::read(unit, next, speaker)
    }
}

/// The statement of a sentence, and whether the next one is part of it.
fn read(
    unit: &Unit<'_>,
    next: Option<&Unit<'_>>,
    hit: Hit,
    speaker: Speaker,
) -> Option<(Statement, bool)> {
    let follows = next.map(|unit| unit.text);
    let (body, why) = reason::split(unit.text);
    let mut text = sentence::plain(body);
    let mut why = why.map(sentence::plain);
    let mut along = hit.announces;
    if hit.announces
        && let Some(next) = follows
    {
        let (body, reason) = reason::split(next);
        text = format!("{}: {}", bare(&text), sentence::plain(body));
        why = why.or(reason.map(sentence::plain));
    } else if let Some(next) = next.filter(|next| says_instead(unit, next, speaker)) {
        let (body, reason) = reason::split(next.text);
        let body = sentence::plain(words::without_lead(body));
        text = format!("{}; {}", bare(&text), small(bare(&body)));
        why = why.or(reason.map(sentence::plain));
        along = true;
    } else if why.is_none() {
        why = follows.and_then(reason::follows).map(sentence::plain);
    }
    let text = sentence::one_line(&presentable(&text), LONGEST);
    let reason = why
        .map(|w| sentence::one_line(bare(&w), LONGEST))
        .filter(|w| !w.is_empty());
    let sure = hit.confidence + if reason.is_some() { 8 } else { 0 };
    (sure >= SURE_ENOUGH && text.chars().count() >= 4).then(|| {
        (
            Statement {
                kind: hit.kind,
                text,
                reason,
                subject: None,
                confidence: sure.min(99),
                on_purpose: false,
            },
            along,
        )
    })
}

/// Whether the next sentence says what to do where this one says what not to:
/// "don't use print; use the logger".
fn says_instead(unit: &Unit<'_>, next: &Unit<'_>, speaker: Speaker) -> bool {
    let (body, _) = reason::split(next.text);
    let own = || hit(next.text, None, speaker).is_some();
    words::denies(unit.text)
        && match words::told(body) {
            Told::Instead => true,
            Told::Plainly => next.joined && !own(),
            Told::Nothing => false,
        }
}

/// What a statement is about that only says "it": the sentence before.
fn subject(text: &str, before: Option<&str>) -> Option<String> {
    let before = before.filter(|_| words::ends_in_pronoun(text))?;
    let subject = sentence::one_line(bare(&sentence::plain(before)), SUBJECT);
    (!subject.is_empty()).then_some(subject)
}

/// Without the marks at its ends.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ".,;:!。，；：！—–-".contains(c))
}

/// Beginning as in the middle of a sentence.
fn small(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    first.chain(chars).collect()
}

/// Without the number that it has in a list.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    let rest = rest
        .strip_prefix(['.', ')'])
        .filter(|_| (1..=2).contains(&digits));
    rest.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(text)
}

/// Without what only leads in, and beginning like a sentence.
fn presentable(text: &str) -> String {
    let text = bare(words::without_lead(han::without_lead(bare(
        without_number(text),
    ))));
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first)
            if first_word
                .chars()
                .all(|c| c.is_alphabetic() || "'’,".contains(c)) =>
        {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Adds a statement unless the same was said before; the surer one stays.
fn add(found: &mut Vec<Statement>, new: Statement) {
    let key = |s: &Statement| -> String {
        s.text
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let same = key(&new);
    match found
        .iter_mut()
        .find(|s| s.kind == new.kind && key(s) == same)
    {
        Some(old) if old.confidence < new.confidence => *old = new,
        Some(_) => {}
        None => found.push(new),
    }
}

#[cfg(test)]
mod tests;
