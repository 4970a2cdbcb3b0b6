//! Whether two statements say the same, or cannot both be followed. By their
//! words alone, and careful rather than complete: who is warned for nothing
//! stops reading. Contradictions are sought in two ways, by what each
//! statement asks for and by which words are denied or stand in one place.
//! English only; pure.

mod claim;
mod index;
mod oppose;
pub(crate) mod subject;
#[cfg(test)]
mod tests;
mod weigh;
mod words;

use claim::Claim;
use weigh::{Shared, Weighed};

pub(crate) use index::Index;

/// Shares of words that make a pair; set on a labelled table.
const SAME: f64 = 0.7;
const NEAR: f64 = 0.5;
/// How much of the shorter statement the longer one must hold.
const WITHIN: f64 = 0.9;
/// What the shorter one must weigh for that to mean anything.
const ENOUGH: f64 = 3.0;
/// How much longer the longer one may be; a long one holds anything.
const LONGER: f64 = 2.5;

/// How two statements stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// They say the same, or one says all that the other does.
    Same,
    /// Who follows one breaks the other.
    Conflict(Clash),
    /// They are close, but it takes a person to tell.
    Near,
    /// They are about different things.
    Apart,
}

/// What makes a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clash {
    /// One denies what the other asks for.
    Denied,
    /// Words that exclude each other, such as tabs and spaces.
    Opposite,
    /// Two values for the same thing.
    Value,
}

impl Clash {
    /// In plain words.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "one denies what the other asks for",
            Self::Opposite => "they ask for opposite things",
            Self::Value => "they give different values for the same thing",
        }
    }
}

/// A contradiction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) clash: Clash,
    /// What it is about, where that can be named.
    pub(crate) about: Option<String>,
}

/// A statement, read once and compared often.
#[derive(Debug, Clone)]
pub(crate) struct Wording {
    weighed: Weighed,
    claims: Vec<Claim>,
    /// It asks for nothing, so it cannot be contradicted.
    tale: bool,
}

impl Wording {
    /// Reads a statement.
    pub(crate) fn read(text: &str) -> Self {
        let tale = claim::is_tale(text);
        Self {
            weighed: Weighed::read(text),
            claims: if tale { Vec::new() } else { claim::read(text) },
            tale,
        }
    }

    /// Whether there is enough in it to compare at all.
    pub(crate) fn is_telling(&self) -> bool {
        self.weighed.weight >= 1.4
    }

    /// How it stands to another one.
    pub(crate) fn relation(&self, other: &Self) -> Relation {
        let shared = self.weighed.shared(&other.weighed);
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
        let within = shared.weight / less >= WITHIN && less >= ENOUGH && more / less <= LONGER;
        if alike >= SAME || within {
            Relation::Same
        } else if alike >= NEAR {
            Relation::Near
        } else {
            Relation::Apart
        }
    }

    /// Whether they cannot both be followed, and why.
    pub(crate) fn contradiction(&self, other: &Self) -> Option<Contradiction> {
        self.contradiction_in(other, &self.weighed.shared(&other.weighed))
    }

    fn contradiction_in(&self, other: &Self, shared: &Shared) -> Option<Contradiction> {
        if self.tale || other.tale {
            return None;
        }
        let asked = self.claims.iter().flat_map(|one| {
            let theirs = other.claims.iter();
            theirs.filter_map(move |two| oppose::contradiction(one, two))
        });
        asked.into_iter().next().or_else(|| {
            if shared.weight < 1.0 {
                return None;
            }
            let clash = self.weighed.clash(&other.weighed, shared)?;
            Some(Contradiction { clash, about: None })
        })
    }
}
