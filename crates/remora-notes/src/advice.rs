//! Advice for a user who saves something that had better not be a memory. Never
//! more than advice: the words are the user's, and saving goes on. Pure.

mod dates;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::{MemoryScope, SecretFinder};
use remora_instructions::frontmatter::split_frontmatter;
use remora_wording::{ComparableStatement, InstructionStatement, Relation, parse_statements};

pub(crate) use self::dates::days_of;

/// This many paths in one memory are a map of the code.
const MANY_PATHS: usize = 3;
/// This many list items in one memory are more than one fact.
const MANY_ITEMS: usize = 4;

/// How often the same advice is repeated; more would not be read.
const MAX_REPEATS: usize = 3;

/// What is the matter with a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdviceTopic {
    /// It holds a secret.
    Secret,
    /// An instruction file says it already.
    AlreadySaid,
    /// An instruction file says otherwise.
    Contradicts,
    /// The code shows it.
    CodeShows,
    /// The history of the repository shows it.
    History,
    /// It will not matter tomorrow.
    Momentary,
    /// A date that means another day tomorrow.
    RelativeDate,
    /// More than one fact in a file that is shared.
    ManyFacts,
}

impl AdviceTopic {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::AlreadySaid => "already_said",
            Self::Contradicts => "contradicts",
            Self::CodeShows => "code_shows",
            Self::History => "history",
            Self::Momentary => "momentary",
            Self::RelativeDate => "relative_date",
            Self::ManyFacts => "many_facts",
        }
    }
}

/// One piece of advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What is the matter.
    pub matter: AdviceTopic,
    /// What to do, in a sentence.
    pub text: String,
}

/// An instruction file that is loaded anyway.
#[derive(Debug, Clone, Copy)]
pub struct LoadedInstruction<'a> {
    /// The instruction file.
    pub path: &'a Path,
    /// The file's text.
    pub text: &'a str,
}

/// A memory that is about to be saved.
#[derive(Debug, Clone, Copy)]
pub struct AdviceRequest<'a> {
    /// The scope that it is to be saved in.
    pub scope: MemoryScope,
    /// The fact as the user worded it.
    pub body: &'a str,
    /// The current time, as `2026-11-15T08:30:00Z`.
    pub now: &'a str,
    /// What is loaded anyway.
    pub known: &'a [LoadedInstruction<'a>],
}

/// Everything there is to say about a memory, the gravest first.
pub fn list_advice(saving: &AdviceRequest<'_>, secrets: SecretFinder<'_>) -> Vec<Advice> {
    let mut found = Vec::new();
    let mut say = |matter, text: String| found.push(Advice { matter, text });
    for secret in secrets(saving.body) {
        say(
            AdviceTopic::Secret,
            format!(
                "it holds {secret}, and every model that reads memories would see it; keep it elsewhere"
            ),
        );
    }
    let said = parse_statements(saving.body, split_frontmatter(saving.body).1);
    compare_with_instructions(&said, saving.known, &mut say);
    let lower = saving.body.to_lowercase();
    if shows_code(&lower, &said) {
        say(
            AdviceTopic::CodeShows,
            "it describes where things are in the code; the code shows that itself, and is right longer".to_owned(),
        );
    }
    if let Some(phrase) = find_history_phrase(&lower) {
        say(
            AdviceTopic::History,
            format!(
                "it says what was changed or fixed (\"{phrase}\"); the repository's history does that"
            ),
        );
    }
    if let Some(phrase) = first_phrase(&lower, MOMENTARY_PHRASES) {
        say(
            AdviceTopic::Momentary,
            format!(
                "\"{phrase}\" is about the current work; a memory should still matter in a month"
            ),
        );
    }
    for date in dates::find_relative_dates(&lower, saving.now) {
        say(
            AdviceTopic::RelativeDate,
            match date.absolute {
                Some(day) => format!("\"{}\" means another day tomorrow; write {day}", date.words),
                None => format!(
                    "\"{}\" means another time later; write the date",
                    date.words
                ),
            },
        );
    }
    if saving.scope == MemoryScope::Team && is_many(saving.body) {
        say(
            AdviceTopic::ManyFacts,
            "it looks like several facts; a shared file should hold one, so that two people can change two facts without a conflict".to_owned(),
        );
    }
    // `AdviceTopic` is declared in order of gravity.
    found.sort_by_key(|advice| advice.matter);
    let mut before: Vec<AdviceTopic> = Vec::new();
    found.retain(|advice| {
        before.push(advice.matter);
        before
            .iter()
            .filter(|matter| **matter == advice.matter)
            .count()
            <= MAX_REPEATS
    });
    found
}

/// What instruction files say to the same matter.
fn compare_with_instructions(
    said: &[InstructionStatement],
    known: &[LoadedInstruction<'_>],
    say: &mut impl FnMut(AdviceTopic, String),
) {
    let mine: Vec<ComparableStatement> = said
        .iter()
        .map(|s| ComparableStatement::from_text(&s.text))
        .collect();
    for known in known {
        for statement in parse_statements(known.text, split_frontmatter(known.text).1) {
            let theirs = ComparableStatement::from_text(&statement.text);
            // A statement of one common word would match far too much.
            if !theirs.is_comparable() {
                continue;
            }
            let place = format!("{} line {}", known.path.display(), statement.line);
            let relations = || mine.iter().map(|mine| mine.compare_with(&theirs));
            let mut pairs = said.iter().zip(relations());
            if relations().any(|relation| relation == Relation::Same) {
                say(
                    AdviceTopic::AlreadySaid,
                    format!("{place} says it already, and is loaded in every session"),
                );
            } else if pairs.any(|(said, relation)| {
                matches!(relation, Relation::Conflict(_)) && said.has_same_subject(&statement)
            }) {
                say(
                    AdviceTopic::Contradicts,
                    format!("{place} seems to say otherwise: \"{}\"", statement.text),
                );
            }
        }
    }
}

const LOCATION_PHRASES: &[&str] = &[
    "is defined in",
    "are defined in",
    "is implemented in",
    "are implemented in",
    "is located in",
    "are located in",
    "is located at",
    "lives in",
    "live in",
    "can be found in",
    "is found in",
    "is in the file",
    "is declared in",
    "entry point is",
    "calls into",
];

const STRUCTURE_PHRASES: &[&str] = &[
    "directory structure",
    "folder structure",
    "file structure",
    "project structure",
    "directory layout",
    "folder layout",
    "repo layout",
    "repository layout",
    "code structure",
    "file layout",
];

const MOMENTARY_PHRASES: &[&str] = &[
    "currently working on",
    "working on right now",
    "in progress",
    "next step",
    "next steps",
    "todo",
    "wip",
    "right now",
    "at the moment",
    "this session",
    "this task",
    "this conversation",
    "still need to",
    "still needs to",
    "left to do",
    "half done",
    "so far",
    "as of now",
    "we just",
    "i just",
];

const CHANGE_PHRASES: &[&str] = &[
    "the bug was",
    "root cause was",
    "was caused by",
    "the fix was",
    "reverted",
    "was refactored",
    "were refactored",
    "we refactored",
    "i refactored",
    "was renamed",
    "we renamed",
    "got renamed",
    "merged pr",
    "was merged",
    "were merged",
    "has been fixed",
    "was fixed",
    "were fixed",
    "is fixed now",
    "fixed by",
    "fixed in",
];

const PROBLEM_WORDS: &[&str] = &[
    "bug",
    "issue",
    "error",
    "crash",
    "leak",
    "race",
    "test",
    "tests",
    "failure",
    "typo",
    "regression",
    "warning",
];

fn shows_code(lower: &str, said: &[InstructionStatement]) -> bool {
    let drawn = lower.contains("├──") || lower.contains("└──") || lower.contains("|-- ");
    let paths = lower
        .split_whitespace()
        .filter(|word| is_path(word))
        .count();
    let placed = said.iter().any(|statement| {
        let text = statement.text.to_lowercase();
        first_phrase(&text, LOCATION_PHRASES).is_some() && text.split_whitespace().any(is_path)
    });
    drawn || placed || paths >= MANY_PATHS || first_phrase(lower, STRUCTURE_PHRASES).is_some()
}

/// A file or folder of the project: not an address, not a fraction.
fn is_path(word: &str) -> bool {
    let word =
        word.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '~')));
    let word = word.trim_end_matches('.');
    let outside = word.contains("://")
        || word.starts_with("www.")
        || word.starts_with('~')
        || word.starts_with('/');
    let last = word.rsplit('/').next().unwrap_or_default();
    let file = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=4).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let letters = word.chars().filter(|c| c.is_alphabetic()).count() >= 3;
    let deep = word.matches('/').count() >= 2 || word.ends_with('/');
    !outside && letters && word.contains('/') && (file || deep)
}

fn find_history_phrase(lower: &str) -> Option<String> {
    if let Some(phrase) = first_phrase(lower, CHANGE_PHRASES) {
        return Some(phrase.to_owned());
    }
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '#')))
        .collect();
    words
        .windows(2)
        .find_map(|pair| {
            let hash = pair[1].len() >= 7
                && pair[1].len() <= 40
                && pair[1].bytes().all(|b| b.is_ascii_hexdigit())
                && pair[1].bytes().any(|b| b.is_ascii_digit());
            let refers = match pair[0] {
                "commit" | "sha" => hash,
                "pr" | "mr" | "request" => pair[1].starts_with('#'),
                _ => false,
            };
            refers.then(|| pair.join(" "))
        })
        .or_else(|| {
            // "fixed the flaky login test": a fault within a few words.
            let at = words
                .iter()
                .position(|word| matches!(*word, "fixed" | "patched" | "resolved"))?;
            let near = &words[at + 1..words.len().min(at + 7)];
            let fault = near.iter().position(|word| PROBLEM_WORDS.contains(word))?;
            Some(words[at..=at + 1 + fault].join(" "))
        })
}

/// The first of some phrases that a text holds as whole words.
fn first_phrase<'a>(lower: &str, phrases: &[&'a str]) -> Option<&'a str> {
    phrases
        .iter()
        .copied()
        .find(|phrase| has_phrase(lower, phrase))
}

fn has_phrase(lower: &str, phrase: &str) -> bool {
    lower.match_indices(phrase).any(|(at, _)| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        !lower[..at].ends_with(letter) && !lower[at + phrase.len()..].starts_with(letter)
    })
}

fn is_many(body: &str) -> bool {
    let headings = body.lines().filter(|line| line.starts_with('#')).count();
    let items = body
        .lines()
        .filter(|line| line.starts_with("- ") || line.starts_with("* "))
        .count();
    headings > 1 || items >= MANY_ITEMS
}
