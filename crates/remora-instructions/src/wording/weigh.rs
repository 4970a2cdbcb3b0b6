//! A statement as weighted words: which carry it, which only hold it together,
//! and which are denied. Says how alike two statements are, and finds the
//! contradictions that show in that: a denial, opposite words, two values.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use super::Clash;
use super::words::{Token, denies, is_counted, is_empty, is_forbidden, key, stem, tokens};

/// Verbs and nouns that fit any statement; they count a little.
static WEAK: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = [
        "use used using uses prefer preferred prefers keep kept make write written run runs running",
        "store stored live lives come comes put give add adding adds start starts begin begins happen",
        "happens allow allowed enable enabled before after first new any code max maximum most follow",
        "follows require required requires set go sure ensure directly branch project",
    ];
    words.iter().flat_map(|words| words.split(' ')).collect()
});

/// Turn away from what follows, without forbidding it.
const TURNS: &[&str] = &["instead", "rather", "dislike", "dislikes"];

/// Leave something out of what a statement says.
const EXCEPT: &[&str] = &["outside", "except", "elsewhere", "besides", "other"];

/// What is forbidden up to such a word is allowed behind it.
const UNLESS: &[&str] = &["without", "unless", "until", "before", "except", "outside"];

/// Make all of a statement depend on something.
const WHEN: &[&str] = &["when", "if", "whenever", "while", "once"];

/// Lead up to the one value of something.
const LINKS: &[&str] = &["is", "are", "be", "at", "in", "on", "use", "uses"];

/// Begin statements of which many can hold at once.
const ADDITIVE: &[&str] = &[
    "run", "runs", "ask", "add", "check", "read", "see", "update", "create", "look", "remember",
    "include",
];

/// Exclude each other where both could stand.
const OPPOSITES: &[(&str, &str)] = &[
    ("tabs", "spaces"),
    ("single", "double"),
    ("async", "sync"),
    ("async", "synchronous"),
    ("asynchronous", "sync"),
    ("asynchronous", "synchronous"),
    ("short", "long"),
    ("light", "dark"),
    ("local", "utc"),
    ("capital", "lower"),
    ("upper", "lower"),
    ("uppercase", "lowercase"),
    ("optional", "mandatory"),
    ("eager", "lazy"),
    ("squash", "rebase"),
    ("merge", "rebase"),
    ("mutable", "immutable"),
    ("implicit", "explicit"),
    ("manual", "automatic"),
    ("manually", "automatically"),
    ("terse", "verbose"),
    ("concise", "detailed"),
];

/// The longest statement that is read, in words.
const MOST: usize = 80;
/// The longest statement that gives a thing its value, in words that count.
const BRIEF: usize = 8;

/// How much two statements must share for one to deny the other.
const ABOUT: f64 = 0.45;
/// How much of the shorter one must be the same around two opposite words,
/// and how much of both together.
const OPPOSED: f64 = 0.6;
const AROUND: f64 = 0.35;
/// Below this the words before two numbers must agree.
const FIRM: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Fits anything.
    Weak,
    /// Carries the statement.
    Plain,
    /// A number, a version, a date.
    Number,
    /// A path, a host, a name in code.
    Value,
    /// Where a link leads to, or a number that only counts: two of them are
    /// two places, no conflict.
    Place,
}

#[derive(Debug, Clone, Copy)]
struct Word {
    /// Stands for the word's stem, or for a value as it is.
    key: u64,
    weight: f64,
    role: Role,
    denied: bool,
    /// Whether it is what the sentence begins with.
    first: bool,
    /// The key of the word before it, whatever that is.
    after: u64,
    /// Whether that word leads up to it: "is", "in", "use".
    linked: bool,
}

impl Word {
    fn is_value(&self) -> bool {
        matches!(self.role, Role::Number | Role::Value | Role::Place)
    }
}

/// Something that a statement denies.
#[derive(Debug, Clone, Default)]
struct Denial {
    /// What it is about: the first word, or all before a "forbidden".
    heads: Vec<u64>,
    /// All words that carry it, with those before it in the clause.
    words: Vec<u64>,
    /// It says "never", or as much.
    strict: bool,
    /// It says under which condition not.
    excused: bool,
}

/// The table of opposites in both directions.
static AGAINST: LazyLock<BTreeMap<u64, Vec<u64>>> = LazyLock::new(|| {
    let mut table: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (one, other) in OPPOSITES {
        let (one, other) = (key(&stem(one)), key(&stem(other)));
        table.entry(one).or_default().push(other);
        table.entry(other).or_default().push(one);
    }
    table
});

/// What a statement leaves room for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stance {
    /// No other one with another value.
    #[default]
    Exclusive,
    /// Many like it: "run this", "ask before that".
    Additive,
    /// Anything: it depends on something, or leads elsewhere with a link.
    Loose,
}

/// A statement, weighed.
#[derive(Debug, Clone, Default)]
pub(super) struct Weighed {
    /// By key; no key twice.
    words: Vec<Word>,
    pub(super) weight: f64,
    denials: Vec<Denial>,
    stance: Stance,
    /// It says "only".
    only: bool,
    /// It says "outside" or "except".
    excepts: bool,
}

/// What two statements have in common.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) weight: f64,
    /// A word that one of them denies.
    pub(super) opposed: bool,
    /// A word that both deny.
    pub(super) both_denied: bool,
}

/// The state while a statement is read.
#[derive(Default)]
struct Scale {
    words: BTreeMap<u64, Word>,
    denials: Vec<Denial>,
    /// Whether the last denial is open.
    denied: bool,
    /// The words of the clause so far.
    clause: Vec<u64>,
}

impl Scale {
    fn deny(&mut self, plain: &str) {
        self.denied = true;
        self.denials.push(Denial {
            words: self.clause.clone(),
            strict: plain == "never",
            ..Denial::default()
        });
    }

    fn forbid(&mut self) {
        for key in &self.clause {
            if let Some(word) = self.words.get_mut(key) {
                word.denied = true;
            }
        }
        let heads = std::mem::take(&mut self.clause);
        self.denials.push(Denial {
            words: heads.clone(),
            heads,
            strict: true,
            excused: false,
        });
    }

    /// Behind "never x without", nothing is denied, and x only in part.
    fn excuse(&mut self) {
        self.denied = false;
        if let Some(open) = self.denials.last_mut() {
            open.excused = true;
        }
    }

    fn add(&mut self, word: Word) {
        if word.role != Role::Weak {
            self.clause.push(word.key);
            if let Some(open) = self.denials.last_mut().filter(|_| self.denied) {
                if open.heads.is_empty() {
                    open.heads.push(word.key);
                }
                open.words.push(word.key);
            }
        }
        // What is said twice, once denied and once not, is not denied.
        self.words.entry(word.key).or_insert(word).denied &= word.denied;
    }

    fn has_denied(&self) -> bool {
        let open = self.denials.last().filter(|_| self.denied);
        open.is_some_and(|open| !open.heads.is_empty())
    }
}

impl Weighed {
    pub(super) fn read(text: &str) -> Self {
        let mut scale = Scale::default();
        let mut weighed = Self::default();
        let mut prefers = false;
        let mut last = String::new();
        for (at, token) in tokens(text).into_iter().take(MOST).enumerate() {
            let plain = token.text.as_str();
            weighed.only |= plain == "only";
            weighed.excepts |= EXCEPT.contains(&plain);
            let depends = WHEN.contains(&plain) || (at == 0 && plain == "without");
            if token.target || (depends && !token.code) {
                weighed.stance = Stance::Loose;
            } else if at == 0 && ADDITIVE.contains(&plain) {
                weighed.stance = Stance::Additive;
            }
            if !token.code && UNLESS.contains(&plain) && scale.has_denied() {
                scale.excuse();
            }
            let turns = TURNS.contains(&plain) || (plain == "over" && prefers);
            let excused = plain == "without" && scale.denials.last().is_some_and(|d| d.excused);
            if !token.code && (turns || denies(plain)) && !excused {
                scale.deny(plain);
                prefers = false;
            } else if !token.code && is_forbidden(plain) && !scale.denied {
                scale.forbid();
            } else if token.code || WEAK.contains(plain) || !is_empty(&stem(plain)) {
                prefers |= plain.starts_with("prefer");
                scale.add(Word {
                    denied: scale.denied,
                    first: at == 0,
                    after: key(&last),
                    linked: LINKS.contains(&last.as_str()),
                    ..word(&token, &last)
                });
            }
            if token.mark.is_some() {
                scale.denied = false;
                scale.clause.clear();
            }
            last = token.text;
        }
        weighed.weight = scale.words.values().map(|word| word.weight).sum();
        weighed.words = scale.words.into_values().collect();
        weighed.denials = scale.denials;
        weighed
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| word.key)
    }

    fn get(&self, key: u64) -> Option<&Word> {
        let at = self
            .words
            .binary_search_by_key(&key, |word| word.key)
            .ok()?;
        self.words.get(at)
    }

    /// The words that count and that the other one lacks.
    fn beyond<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Word> {
        self.words
            .iter()
            .filter(|word| word.role != Role::Weak && other.get(word.key).is_none())
    }

    pub(super) fn shared(&self, other: &Self) -> Shared {
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

    /// What makes two statements contradict each other.
    pub(super) fn clash(&self, other: &Self, shared: &Shared) -> Option<Clash> {
        // "Never x outside y" and "only y does x" agree.
        let agree = (self.excepts && other.only) || (other.excepts && self.only);
        let loose = |one: &Self| one.stance == Stance::Loose;
        if agree || loose(self) || loose(other) {
            return None;
        }
        let less = self.weight.min(other.weight);
        let union = self.weight + other.weight - shared.weight;
        let about = shared.weight / union;
        if !shared.both_denied && about >= ABOUT && (self.denies(other) || other.denies(self)) {
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

    /// Whether it denies all of what the other one says. A weak denial leaves
    /// room for what is said in particular.
    fn denies(&self, other: &Self) -> bool {
        let more = other.beyond(self).count();
        self.denials.iter().any(|denial| {
            !denial.excused
                && (denial.strict || more <= 1)
                && denial.words.iter().all(|word| other.get(*word).is_some())
                && denial
                    .heads
                    .iter()
                    .any(|head| other.get(*head).is_some_and(|word| !word.denied))
        })
    }

    /// The weights of two words that exclude each other.
    fn opposites(&self, other: &Self) -> Option<(f64, f64)> {
        self.words.iter().find_map(|word| {
            let against = AGAINST
                .get(&word.key)?
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
            let mut words = one.beyond(other).copied();
            let first = words.next();
            first.filter(|_| words.next().is_none())
        };
        let (Some(mine), Some(theirs)) = (only(self, other), only(other, self)) else {
            return false;
        };
        let place = mine.role == Role::Place || theirs.role == Role::Place;
        if place || mine.denied || theirs.denied || !self.is_brief() || !other.is_brief() {
            return false;
        }
        let beside = mine.after == theirs.after;
        if mine.role == Role::Number && theirs.role == Role::Number {
            return beside || shared.weight >= FIRM;
        }
        let linked = beside && mine.linked && theirs.linked;
        let exclusive = |one: &Self| one.stance == Stance::Exclusive;
        linked && !mine.first && !theirs.first && exclusive(self) && exclusive(other)
    }

    fn is_brief(&self) -> bool {
        let carry = self.words.iter().filter(|word| word.role != Role::Weak);
        carry.count() <= BRIEF
    }

    /// Whether both name numbers or names of things, and not the same ones.
    pub(super) fn values_differ(&self, other: &Self) -> bool {
        let only = |one: &Self, other: &Self| {
            one.words
                .iter()
                .any(|word| word.is_value() && other.get(word.key).is_none())
        };
        only(self, other) && only(other, self)
    }
}

fn word(token: &Token, last: &str) -> Word {
    let plain = token.text.as_str();
    let marked = |c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '_' | '+' | '=');
    let weak = WEAK.contains(plain);
    let number = plain.starts_with(|c: char| c.is_ascii_digit());
    let (role, weight) = if token.target || (number && is_counted(last)) {
        (Role::Place, 1.2)
    } else if number {
        (Role::Number, 1.2)
    } else if plain.contains(marked) || (token.code && !weak) {
        (Role::Value, 1.2)
    } else if weak {
        (Role::Weak, 0.3)
    } else {
        (Role::Plain, 1.0)
    };
    let key = match role {
        Role::Number | Role::Value | Role::Place => key(plain),
        Role::Weak | Role::Plain => key(&stem(plain)),
    };
    Word {
        key,
        weight,
        role,
        denied: false,
        first: false,
        after: 0,
        linked: false,
    }
}
