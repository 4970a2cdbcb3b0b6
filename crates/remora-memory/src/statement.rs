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
    /// How sure this reading is, 0 to 100.
    pub confidence: u8,
}

/// The most statements that one text yields.
pub const MOST: usize = 8;
/// The most characters of a statement and of its reason.
pub const LONGEST: usize = 300;

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
            let units = units(&block.text);
            let mut at = 0;
            while at < units.len() {
                let taken = read(units[at], units.get(at + 1).copied(), speaker);
                // What the next sentence says was taken along.
                at += if taken.as_ref().is_some_and(|(_, along)| *along) {
                    2
                } else {
                    1
                };
                if let Some((statement, _)) = taken {
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

/// Sentences, and the halves of those that a semicolon joins.
fn units(block: &str) -> Vec<&str> {
    sentence::sentences(block)
        .into_iter()
        .flat_map(|s| s.split("; "))
        .flat_map(|s| s.split('；'))
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .collect()
}

/// The statement of a sentence, and whether the next one is part of it.
fn read(unit: &str, next: Option<&str>, speaker: Speaker) -> Option<(Statement, bool)> {
    if unit.len() > 4 * LONGEST_SENTENCE || unit.chars().count() > LONGEST_SENTENCE {
        return None;
    }
    let wide = unit.chars().filter(|c| sentence::is_wide(*c)).count();
    let hit = if wide >= 2 {
        han::read(unit, next, speaker)
    } else {
        words::read(unit, next, speaker)
    }?;
    let (body, why) = reason::split(unit);
    let mut text = sentence::plain(body);
    let mut why = why.map(sentence::plain);
    if hit.announces
        && let Some(next) = next
    {
        let (body, reason) = reason::split(next);
        text = format!("{}: {}", bare(&text), sentence::plain(body));
        why = why.or(reason.map(sentence::plain));
    } else if why.is_none() {
        why = next.and_then(reason::follows).map(sentence::plain);
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
                confidence: sure.min(99),
            },
            hit.announces,
        )
    })
}

/// Without the marks at its ends.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ".,;:!。，；：！—–-".contains(c))
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
