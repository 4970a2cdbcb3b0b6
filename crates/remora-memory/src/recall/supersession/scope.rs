//! The scope of a statement: a thing that is given up in one place may well stay
//! in another.

use std::sync::LazyLock;

use super::cues::{CHOICE_CUES, CLAUSE_STOPS, MOVE_VERBS};
use super::{CueText, find_distinctive_words, sentence_end};
use crate::words::{self, TermSplitter};

/// Before a place or a purpose.
const SCOPE_PREPOSITIONS: &[&str] = &[
    "at", "during", "for", "from", "für", "in", "inside", "on", "within",
];
/// Before the thing that replaces another.
const REPLACEMENT_PREPOSITIONS: &[&str] = &["by", "durch", "to", "with"];
/// At the beginning of a place: "in Postgres" may be a part of the new thing, "in
/// the emails" is not.
const SCOPE_OPENINGS: &[&str] = &[
    "all",
    "ci",
    "dev",
    "development",
    "integration",
    "our",
    "prod",
    "production",
    "staging",
    "test",
    "tests",
    "the",
    "unit",
];
/// Verbs with a preposition of their own.
const PREPOSITIONAL_VERBS: &[&str] = &[
    "based", "build", "decide", "decided", "go", "going", "opt", "opted", "rely", "settle",
    "settled", "went",
];
/// Where another thought begins.
const TAIL_WORDS: &[&str] = &[
    "and", "because", "but", "instead", "rather", "since", "so", "when",
];
/// What names no place or purpose of its own.
const VAGUE_WORDS: &str = "anything away back being case code codebase completely end ever everybody everyone \
    everything fully future general good moment over performance project reason \
    reasons repo repository second security simplicity speed start team thought thoughts time \
    today tomorrow whole";

/// The words for where or for what a thing is given up, from the parts of a
/// sentence that may say so.
pub(super) fn scope_words(parts: [&str; 3], splitter: &mut TermSplitter) -> Vec<String> {
    static VAGUE_TERMS: LazyLock<Vec<String>> = LazyLock::new(|| {
        words::split_terms(VAGUE_WORDS)
            .split(' ')
            .map(str::to_owned)
            .collect()
    });
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let mut found: Vec<String> = parts
        .flat_map(|part| find_distinctive_words(part, splitter))
        .collect();
    found.retain(|word| !VAGUE_TERMS.contains(word));
    found
}

/// The place at the beginning of a text.
pub(super) fn leading_scope(text: &str) -> &str {
    let first = text.split_whitespace().next().unwrap_or_default();
    if SCOPE_PREPOSITIONS.contains(&first) {
        first_clause(text)
    } else {
        ""
    }
}

/// The place in a clause before the cue.
pub(super) fn scope_before(clause: &str) -> &str {
    find_scope(clause, LastNamed::New)
}

/// What is moved, in the clause before "from" or "off".
pub(super) fn moved_subject(clause: &str) -> &str {
    let heard = CueText::from_text(clause);
    let ends = |cue: &&str| heard.find_cue(cue).next().map(|at| at + cue.len());
    let end = MOVE_VERBS.iter().filter_map(ends).min();
    &clause[end.unwrap_or(clause.len())..]
}

/// The place in the rest of a clause after the thing that is given up.
pub(super) fn scope_after(rest: &str) -> &str {
    find_scope(first_clause(rest), LastNamed::Gone)
}

fn first_clause(text: &str) -> &str {
    let end = text
        .find(CLAUSE_STOPS)
        .into_iter()
        .chain(sentence_end(text))
        .min();
    &text[..end.unwrap_or(text.len())]
}

/// Which thing was named last: a place after it belongs to it.
#[derive(PartialEq, Eq)]
enum LastNamed {
    Gone,
    New,
}

fn find_scope(clause: &str, mut named: LastNamed) -> &str {
    let mut at = 0;
    let mut last = "";
    for word in clause.split(' ') {
        at += word.len();
        let rest = &clause[at..];
        if TAIL_WORDS.contains(&word) {
            return "";
        }
        if REPLACEMENT_PREPOSITIONS.contains(&word) {
            named = LastNamed::New;
        } else if SCOPE_PREPOSITIONS.contains(&word) && !PREPOSITIONAL_VERBS.contains(&last) {
            let next = rest.split_whitespace().next().unwrap_or_default();
            // "in favour of Y" names the new thing, no place.
            if next.starts_with("favo") {
                named = LastNamed::New;
            } else if named == LastNamed::Gone || word == "for" || SCOPE_OPENINGS.contains(&next) {
                return until_tail(rest);
            }
        }
        last = word;
        at += 1;
    }
    ""
}

fn until_tail(text: &str) -> &str {
    let mut at = 0;
    for word in text.split(' ') {
        if TAIL_WORDS.contains(&word) {
            return &text[..at];
        }
        at += word.len() + 1;
    }
    text
}

/// The words of what was chosen, without reasons and asides; those of the whole
/// text if no clause says it.
pub(super) fn find_chosen_words(lower: &str, splitter: &mut TermSplitter) -> Vec<String> {
    let stops: &[char] = &[
        ',', ';', '!', '?', '(', ')', '\n', '。', '，', '；', '！', '？',
    ];
    let clauses = lower.split(stops).flat_map(|part| part.split(". "));
    let clauses: Vec<&str> = clauses.map(without_reason).collect();
    let mut found = Vec::new();
    for clause in &clauses {
        let heard = CueText::from_text(clause);
        let ends = |cue: &&str| heard.find_cue(cue).next().map(|at| at + cue.len());
        if let Some(from) = CHOICE_CUES.iter().filter_map(ends).min() {
            found.extend(find_distinctive_words(first_of_two(clause, from), splitter));
        }
    }
    let mut rest = clauses
        .iter()
        .filter(|clause| leading_scope(clause).is_empty());
    while found.is_empty() {
        let Some(clause) = rest.next() else {
            return find_distinctive_words(lower, splitter);
        };
        found = find_distinctive_words(first_of_two(clause, 0), splitter);
    }
    found
}

fn without_reason(clause: &str) -> &str {
    let ends = [" because ", " since "];
    let end = ends.iter().filter_map(|end| clause.find(end)).min();
    &clause[..end.unwrap_or(clause.len())]
}

/// "The one in Rust and the other in Go" says two things, "lint and format with
/// ruff" one.
fn first_of_two(clause: &str, from: usize) -> &str {
    let whole = |part: &str| {
        let mut words = part.split_whitespace();
        words.any(|word| word == "with" || SCOPE_PREPOSITIONS.contains(&word))
    };
    let mut ends = clause[from..].match_indices(" and ");
    let end = ends.find(|(at, _)| whole(&clause[from..from + at]));
    &clause[..end.map_or(clause.len(), |(at, _)| from + at)]
}
