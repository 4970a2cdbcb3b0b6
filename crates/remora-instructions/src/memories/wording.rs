//! Whether two statements say the same, or cannot both be followed. By their
//! words alone: which ones they share, which of them are denied, and which
//! values stand in the same place. Pure, and careful rather than complete.

#[cfg(test)]
mod tests;
mod words;

use self::words::{Role, Word};

/// Shares of words that make a pair; set on a labelled table.
const SAME: f64 = 0.7;
const NEAR: f64 = 0.5;
/// How much of the shorter statement the longer one must hold.
const WITHIN: f64 = 0.9;
/// What the shorter one must weigh for that to mean anything.
const ENOUGH: f64 = 3.0;
/// How much longer the longer one may be; a long one holds anything.
const LONGER: f64 = 2.5;
/// How much two statements must share for one to deny the other.
const ABOUT: f64 = 0.45;
/// How much of the shorter one must be the same around two opposite words,
/// and how much of both together.
const OPPOSED: f64 = 0.6;
const AROUND: f64 = 0.35;
/// Below this the words before two values must agree, and lead up to them.
const FIRM: f64 = 2.0;

/// How two statements stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
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
pub enum Clash {
    /// One denies what the other asks for.
    Denied,
    /// Words that exclude each other, such as tabs and spaces.
    Opposite,
    /// Two values for the same thing.
    Value,
}

impl Clash {
    /// In plain words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "one denies what the other asks for",
            Self::Opposite => "they ask for opposite things",
            Self::Value => "they give different values for the same thing",
        }
    }
}

/// A statement, read once and compared often.
#[derive(Debug, Clone)]
pub struct Wording {
    /// By key; no key twice.
    words: Vec<Word>,
    weight: f64,
    /// Keys of the words that a denial is about.
    heads: Vec<u64>,
    exclusive: bool,
    /// It says "only".
    only: bool,
    /// It says "outside" or "except".
    excepts: bool,
}

impl Wording {
    /// Reads a statement.
    pub fn read(text: &str) -> Self {
        words::read(text)
    }

    /// Keys of its words: related statements share at least one.
    pub fn keys(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| word.key)
    }

    fn get(&self, key: u64) -> Option<&Word> {
        let at = self
            .words
            .binary_search_by_key(&key, |word| word.key)
            .ok()?;
        self.words.get(at)
    }

    /// Whether there is enough in it to compare at all.
    pub fn is_telling(&self) -> bool {
        self.weight >= 1.4
    }

    /// How it stands to another one.
    pub fn relation(&self, other: &Self) -> Relation {
        let shared = self.shared(other);
        if shared.weight < 1.0 {
            return Relation::Apart;
        }
        if let Some(clash) = self.clash(other, &shared) {
            return Relation::Conflict(clash);
        }
        let union = self.weight + other.weight - shared.weight;
        let alike = shared.weight / union;
        let less = self.weight.min(other.weight);
        let more = self.weight.max(other.weight);
        let within = shared.weight / less >= WITHIN && less >= ENOUGH && more / less <= LONGER;
        let opposed = shared.opposed && !shared.both_denied;
        if opposed || self.values_differ(other) {
            return Relation::Apart;
        }
        if alike >= SAME || within {
            Relation::Same
        } else if alike >= NEAR {
            Relation::Near
        } else {
            Relation::Apart
        }
    }

    fn shared(&self, other: &Self) -> Shared {
        let mut shared = Shared::default();
        let mut theirs = other.words.iter().peekable();
        for word in &self.words {
            while theirs.next_if(|their| their.key < word.key).is_some() {}
            if let Some(same) = theirs.next_if(|their| their.key == word.key) {
                shared.weight += word.weight.min(same.weight);
                shared.opposed |= word.denied != same.denied;
                shared.both_denied |= word.denied && same.denied;
            }
        }
        shared
    }

    fn clash(&self, other: &Self, shared: &Shared) -> Option<Clash> {
        let less = self.weight.min(other.weight);
        let union = self.weight + other.weight - shared.weight;
        let denies = |one: &Self, other: &Self| {
            one.heads
                .iter()
                .any(|head| other.get(*head).is_some_and(|word| !word.denied))
        };
        // "Never x outside y" and "only y does x" agree.
        if (self.excepts && other.only) || (other.excepts && self.only) {
            return None;
        }
        let about = shared.weight / union;
        if !shared.both_denied && about >= ABOUT && (denies(self, other) || denies(other, self)) {
            return Some(Clash::Denied);
        }
        if shared.opposed || shared.both_denied {
            return None;
        }
        if let Some((one, against)) = self.opposites(other) {
            let rest = less - one.max(against);
            let around = shared.weight / (union - one - against);
            if rest > 0.0 && shared.weight / rest >= OPPOSED && around >= AROUND {
                return Some(Clash::Opposite);
            }
        }
        self.one_value_each(other, shared).then_some(Clash::Value)
    }

    /// The weights of two words that exclude each other.
    fn opposites(&self, other: &Self) -> Option<(f64, f64)> {
        self.words.iter().find_map(|word| {
            let against = words::opposites(word.key)
                .iter()
                .find_map(|against| other.get(*against))?;
            let both_have = other.get(word.key).is_some();
            (!both_have).then_some((word.weight, against.weight))
        })
    }

    /// Whether everything is the same but one word, which stands where only
    /// one thing can stand.
    fn one_value_each(&self, other: &Self, shared: &Shared) -> bool {
        let only = |one: &Self, other: &Self| {
            let mut words = one
                .words
                .iter()
                .filter(|word| word.role != Role::Weak && other.get(word.key).is_none())
                .copied();
            let first = words.next();
            first.filter(|_| words.next().is_none())
        };
        let (Some(mine), Some(theirs)) = (only(self, other), only(other, self)) else {
            return false;
        };
        if mine.role == Role::Target || theirs.role == Role::Target {
            return false;
        }
        let numbers = mine.role == Role::Number && theirs.role == Role::Number;
        let places = !mine.first && !theirs.first && self.exclusive && other.exclusive;
        let alike = mine.after == theirs.after && (numbers || (mine.linked && theirs.linked));
        let firm = shared.weight >= FIRM || alike;
        firm && !mine.denied && !theirs.denied && (numbers || places)
    }

    /// Whether both name numbers or names of things, and not the same ones.
    fn values_differ(&self, other: &Self) -> bool {
        let only = |one: &Self, other: &Self| {
            one.words
                .iter()
                .any(|word| word.is_value() && other.get(word.key).is_none())
        };
        only(self, other) && only(other, self)
    }
}

#[derive(Default)]
struct Shared {
    weight: f64,
    opposed: bool,
    both_denied: bool,
}

/// How two texts stand to each other.
pub fn relation(one: &str, other: &str) -> Relation {
    Wording::read(one).relation(&Wording::read(other))
}
