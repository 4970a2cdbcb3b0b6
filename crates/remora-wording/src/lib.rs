//! Whether two statements say the same, or cannot both be followed. By their
//! words alone, and careful rather than complete: a user who gets false warnings
//! stops reading them. Contradictions are found in two ways: by what each
//! statement asks for, and by words that are denied or replace each other.
//! [`parse_statements`] cuts Markdown into the statements to compare. English
//! only; pure.
//!
//! It is a crate of its own because the lint of instructions and the review of
//! saved memories ask the same question and must get the same answer.
#![forbid(unsafe_code)]

mod claim;
mod index;
mod oppose;
mod statement;
mod subject;
#[cfg(test)]
mod tests;
mod weigh;
mod words;

use claim::StatementClaim;
use weigh::{SharedWords, WeightedStatement};

pub use index::StatementIndex;
pub use statement::{HeadingScope, InstructionStatement, parse_statements, statements_of_body};

/// Shares of words that make a pair; tuned on a labelled table.
const MIN_SAME_SHARE: f64 = 0.7;
const MIN_NEAR_SHARE: f64 = 0.5;
/// How much of the shorter statement the longer one must hold.
const MIN_CONTAINED_SHARE: f64 = 0.9;
/// What the shorter one must weigh for that to mean anything.
const MIN_CONTAINED_WEIGHT: f64 = 3.0;
/// How much longer the longer one may be: a long statement contains anything.
const MAX_WEIGHT_RATIO: f64 = 2.5;

/// How two statements relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They say the same, or one says all that the other does.
    Same,
    /// Following one breaks the other.
    Conflict(ConflictKind),
    /// They are close; a user has to decide.
    Near,
    /// They are about different things.
    Apart,
}

/// What makes a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// One denies what the other asks for.
    Denied,
    /// Words that exclude each other, such as tabs and spaces.
    Opposite,
    /// Two values for the same thing.
    Value,
}

impl ConflictKind {
    /// In plain words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "one denies what the other asks for",
            Self::Opposite => "they ask for opposite things",
            Self::Value => "they give different values for the same thing",
        }
    }
}

/// A contradiction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What makes it one.
    pub clash: ConflictKind,
    /// What it is about, where that can be named.
    pub about: Option<String>,
}

/// A statement, read once and compared often.
#[derive(Debug, Clone)]
pub struct ComparableStatement {
    weighed: WeightedStatement,
    claims: Vec<StatementClaim>,
    /// It asks for nothing, so it cannot be contradicted.
    tale: bool,
}

impl ComparableStatement {
    /// Reads a statement.
    pub fn from_text(text: &str) -> Self {
        let tale = claim::is_tale(text);
        Self {
            weighed: WeightedStatement::from_text(text),
            claims: if tale {
                Vec::new()
            } else {
                claim::parse_claims(text)
            },
            tale,
        }
    }

    /// Whether there is enough in it to compare at all.
    pub fn is_comparable(&self) -> bool {
        self.weighed.weight >= 1.4
    }

    /// How it relates to another one.
    pub fn compare_with(&self, other: &Self) -> Relation {
        let shared = self.weighed.find_shared_words(&other.weighed);
        // First, because a contradiction shares nearly all its words and would pass as a repeat.
        if let Some(found) = self.contradiction_in(other, &shared) {
            return Relation::Conflict(found.clash);
        }
        let (one, two) = (self.weighed.weight, other.weighed.weight);
        let opposed = shared.opposed && !shared.both_denied;
        if shared.weight < 1.0 || opposed || self.weighed.values_differ(&other.weighed) {
            return Relation::Apart;
        }
        let alike = shared.weight / (one + two - shared.weight);
        let (less, more) = (one.min(two), one.max(two));
        let within = shared.weight / less >= MIN_CONTAINED_SHARE
            && less >= MIN_CONTAINED_WEIGHT
            && more / less <= MAX_WEIGHT_RATIO;
        if alike >= MIN_SAME_SHARE || within {
            Relation::Same
        } else if alike >= MIN_NEAR_SHARE {
            Relation::Near
        } else {
            Relation::Apart
        }
    }

    /// Whether they cannot both be followed, and why.
    pub fn find_contradiction(&self, other: &Self) -> Option<Contradiction> {
        self.contradiction_in(other, &self.weighed.find_shared_words(&other.weighed))
    }

    fn contradiction_in(&self, other: &Self, shared: &SharedWords) -> Option<Contradiction> {
        if self.tale || other.tale {
            return None;
        }
        let asked = self.claims.iter().flat_map(|one| {
            let theirs = other.claims.iter();
            theirs.filter_map(move |two| oppose::find_contradiction(one, two))
        });
        // Claims are tried first: they can say what the contradiction is about.
        asked.into_iter().next().or_else(|| {
            if shared.weight < 1.0 {
                return None;
            }
            let clash = self.weighed.find_conflict(&other.weighed, shared)?;
            Some(Contradiction { clash, about: None })
        })
    }
}
