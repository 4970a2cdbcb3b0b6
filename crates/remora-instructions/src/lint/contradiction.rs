//! Two statements in texts of the same prompt that cannot both be followed.

use std::collections::HashSet;

use remora_wording::{
    ComparableStatement, InstructionStatement, StatementIndex, statements_of_body,
};

/// A text to compare.
#[derive(Debug, Clone, Copy)]
pub(super) struct ComparedText<'a> {
    /// The file's name, without folder.
    pub(super) name: &'a str,
    pub(super) body: &'a str,
    /// Only texts of the same group are compared: those that are in a prompt
    /// at the same time.
    pub(super) group: usize,
}

/// Two sentences that oppose each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConflictingPair {
    pub(super) first: QuotedStatement,
    pub(super) second: QuotedStatement,
    /// What they disagree on.
    pub(super) about: String,
}

/// One of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuotedStatement {
    /// Which text.
    pub(super) text: usize,
    /// Line of its body, from 1.
    pub(super) line: usize,
    pub(super) words: String,
}

/// Contradictions that are reported at most.
const MAX_CONTRADICTIONS: usize = 50;

struct IndexedStatement {
    text: usize,
    group: usize,
    statement: InstructionStatement,
    wording: ComparableStatement,
}

/// All clashes between the texts, in order.
pub(super) fn find_conflicts(texts: &[ComparedText<'_>]) -> Vec<ConflictingPair> {
    let mut entries = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let statements = statements_of_body(text.body, text.name);
        entries.extend(statements.into_iter().map(|statement| IndexedStatement {
            text: at,
            group: text.group,
            wording: ComparableStatement::from_text(&statement.text),
            statement,
        }));
    }
    let lines = entries.iter().map(|e| (e.text, e.statement.text.as_str()));
    let lines = Lines(lines.collect());
    let mut index = StatementIndex::default();
    let mut clashes = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        for other in index.find_candidates(&entry.wording) {
            let other = &entries[other];
            if let Some(about) = find_conflict(other, entry, &lines) {
                push_conflict(&mut clashes, other, entry, about);
            }
            if clashes.len() >= MAX_CONTRADICTIONS {
                return clashes;
            }
        }
        // Added after the search, so each pair is compared once.
        index.add_statement(at, &entry.wording);
    }
    clashes.sort_by_key(|c| (c.first.text, c.first.line, c.second.text, c.second.line));
    clashes
}

fn push_conflict(
    clashes: &mut Vec<ConflictingPair>,
    first: &IndexedStatement,
    second: &IndexedStatement,
    about: String,
) {
    let side = |entry: &IndexedStatement| QuotedStatement {
        text: entry.text,
        line: entry.statement.line,
        words: entry.statement.text.trim_end_matches('.').to_owned(),
    };
    let clash = ConflictingPair {
        first: side(first),
        second: side(second),
        about,
    };
    let known = |c: &ConflictingPair| c.first == clash.first && c.second == clash.second;
    if !clashes.iter().any(known) {
        clashes.push(clash);
    }
}

/// The lines of each text.
struct Lines<'a>(HashSet<(usize, &'a str)>);

impl Lines<'_> {
    /// Whether the text of one statement also says the other one.
    fn contains_statement(&self, of: &IndexedStatement, other: &IndexedStatement) -> bool {
        self.0.contains(&(of.text, other.statement.text.as_str()))
    }
}

fn find_conflict(a: &IndexedStatement, b: &IndexedStatement, lines: &Lines<'_>) -> Option<String> {
    if a.group != b.group {
        return None;
    }
    // Within one file, statements under different headings are about different things.
    let (x, y) = (&a.statement, &b.statement);
    if a.text == b.text && (!x.shares_headings(y) || x.text == y.text) {
        return None;
    }
    let found = a.wording.find_contradiction(&b.wording)?;
    let about = match found.about {
        Some(about) => about,
        // A file that contains both lines means both: items of one list are alike on
        // purpose.
        None if lines.contains_statement(a, b) || lines.contains_statement(b, a) => return None,
        None => found.clash.as_str().to_owned(),
    };
    x.has_same_subject(y).then_some(about)
}

#[cfg(test)]
mod tests;
