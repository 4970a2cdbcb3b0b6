//! Catches what the user or the assistant states for good: decisions,
//! preferences and corrections, with the reason given. Works on the words
//! alone; a question, a step to take now or pasted output is no statement.
//! When in doubt it stays silent: a wrong memory does more harm than none.

mod han;
mod judge;
mod reason;
mod rules;
mod words;

use crate::sentence;
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

/// A rule that matched a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    kind: StatementKind,
    confidence: u8,
    /// Whether the sentence only announces what the next one says.
    announces: bool,
}

/// Finds the statements of a text, the surest first.
pub fn find(text: &str, speaker: Speaker) -> Vec<Statement> {
    if sentence::is_not_spoken(text) {
        return Vec::new();
    }
    let mut found: Vec<Statement> = Vec::new();
    for part in ends(text) {
        for block in sentence::blocks(&sentence::without_tagged(part)) {
            // Before sentences part a mark from its partner.
            let text = sentence::without_emphasis(&block.text);
            let units = units(&text);
            let mut at = 0;
            while at < units.len() {
                let before = at.checked_sub(1).map(|at| units[at].text);
                let next = units.get(at + 1);
                let taken = read(&units[at], next, speaker);
                // What the next sentence says was taken along.
                at += if taken.as_ref().is_some_and(|(_, along)| *along) {
                    2
                } else {
                    1
                };
                if let Some((mut statement, _)) = taken {
                    statement.subject = subject(&statement.text, before);
                    add(&mut found, statement);
                }
            }
        }
    }
    found.sort_by_key(|s| std::cmp::Reverse(s.confidence));
    found.truncate(MOST);
    found
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

/// What rules find in a sentence; nothing in data.
fn hit(unit: &str, next: Option<&str>, speaker: Speaker) -> Option<Hit> {
    if unit.len() > 4 * LONGEST_SENTENCE || unit.chars().count() > LONGEST_SENTENCE {
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
fn read(unit: &Unit<'_>, next: Option<&Unit<'_>>, speaker: Speaker) -> Option<(Statement, bool)> {
    let follows = next.map(|unit| unit.text);
    let hit = hit(unit.text, follows, speaker)?;
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

/// Without what only leads in, and beginning like a sentence.
fn presentable(text: &str) -> String {
    let text = bare(words::without_lead(han::without_lead(bare(text))));
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
