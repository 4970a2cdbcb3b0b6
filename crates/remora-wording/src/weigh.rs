//! A statement as weighted words: which carry it, which only hold it together,
//! and which are denied. Says how alike two statements are, and finds the
//! contradictions that show in that: a denial, opposite words, two values.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use super::ConflictKind;
use super::words::{
    Token, hash_word, is_counted, is_empty, is_forbidden, is_negation, split_tokens, stem_word,
};

/// Verbs and nouns that fit any statement; they count a little.
static WEAK_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = [
        "use used using uses prefer preferred prefers keep kept make write written run runs running",
        "store stored live lives come comes put give add adding adds start starts begin begins happen",
        "happens allow allowed enable enabled before after first new any code max maximum most follow",
        "follows require required requires set go sure ensure directly branch project",
    ];
    words.iter().flat_map(|words| words.split(' ')).collect()
});

/// Turn away from what follows, without forbidding it.
const ALTERNATIVE_WORDS: &[&str] = &["instead", "rather", "dislike", "dislikes"];

/// Leave something out of what a statement says.
const EXCLUSION_WORDS: &[&str] = &["outside", "except", "elsewhere", "besides", "other"];

/// What is forbidden up to such a word is allowed behind it.
const EXCEPTION_WORDS: &[&str] = &["without", "unless", "until", "before", "except", "outside"];

/// Make all of a statement depend on something.
const CONDITION_WORDS: &[&str] = &["when", "if", "whenever", "while", "once"];

/// Lead up to the one value of something.
const LINKING_WORDS: &[&str] = &["is", "are", "be", "at", "in", "on", "use", "uses"];

/// Begin statements of which many can hold at once.
const ADDITIVE_VERBS: &[&str] = &[
    "run", "runs", "ask", "add", "check", "read", "see", "update", "create", "look", "remember",
    "include",
];

/// Exclude each other where either is possible.
const OPPOSITE_WORDS: &[(&str, &str)] = &[
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
const MAX_STATEMENT_WORDS: usize = 80;
/// The longest statement that can set a value, in words that count.
const MAX_BRIEF_WORDS: usize = 8;

/// How much two statements must share for one to deny the other.
const MIN_DENIAL_SHARE: f64 = 0.45;
/// How much of the shorter one must be the same around two opposite words,
/// and how much of both together.
const MIN_OPPOSITE_SHARE: f64 = 0.6;
const MIN_OPPOSITE_CONTEXT_SHARE: f64 = 0.35;
/// Below this the words before two numbers must agree.
const MIN_FIRM_WEIGHT: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordRole {
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
struct WeightedWord {
    /// A hash of the word's stem, or of a value as it is.
    key: u64,
    weight: f64,
    role: WordRole,
    denied: bool,
    /// Whether it is what the sentence begins with.
    first: bool,
    /// The key of the word before it, whatever that is.
    after: u64,
    /// Whether that word leads up to it: "is", "in", "use".
    linked: bool,
}

impl WeightedWord {
    fn is_value(&self) -> bool {
        matches!(
            self.role,
            WordRole::Number | WordRole::Value | WordRole::Place
        )
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
static OPPOSITES_BY_KEY: LazyLock<BTreeMap<u64, Vec<u64>>> = LazyLock::new(|| {
    let mut table: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (one, other) in OPPOSITE_WORDS {
        let (one, other) = (hash_word(&stem_word(one)), hash_word(&stem_word(other)));
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
pub(super) struct WeightedStatement {
    /// By key; no key twice.
    words: Vec<WeightedWord>,
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
pub(super) struct SharedWords {
    pub(super) weight: f64,
    /// A word that one of them denies.
    pub(super) opposed: bool,
    /// A word that both deny.
    pub(super) both_denied: bool,
}

/// The state while a statement is read.
#[derive(Default)]
struct StatementBuilder {
    words: BTreeMap<u64, WeightedWord>,
    denials: Vec<Denial>,
    /// Whether the last denial is open.
    denied: bool,
    /// The words of the clause so far.
    clause: Vec<u64>,
}

impl StatementBuilder {
    fn open_denial(&mut self, plain: &str) {
        self.denied = true;
        self.denials.push(Denial {
            words: self.clause.clone(),
            strict: plain == "never",
            ..Denial::default()
        });
    }

    fn forbid_clause(&mut self) {
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
    fn excuse_denial(&mut self) {
        self.denied = false;
        if let Some(open) = self.denials.last_mut() {
            open.excused = true;
        }
    }

    fn add_word(&mut self, word: WeightedWord) {
        if word.role != WordRole::Weak {
            self.clause.push(word.key);
            if let Some(open) = self.denials.last_mut().filter(|_| self.denied) {
                if open.heads.is_empty() {
                    open.heads.push(word.key);
                }
                open.words.push(word.key);
            }
        }
        // A word that occurs denied and not denied counts as not denied.
        self.words.entry(word.key).or_insert(word).denied &= word.denied;
    }

    fn has_denied(&self) -> bool {
        let open = self.denials.last().filter(|_| self.denied);
        open.is_some_and(|open| !open.heads.is_empty())
    }
}

impl WeightedStatement {
    pub(super) fn from_text(text: &str) -> Self {
        let mut scale = StatementBuilder::default();
        let mut weighed = Self::default();
        let mut prefers = false;
        let mut last = String::new();
        for (at, token) in split_tokens(text)
            .into_iter()
            .take(MAX_STATEMENT_WORDS)
            .enumerate()
        {
            let plain = token.text.as_str();
            weighed.only |= plain == "only";
            weighed.excepts |= EXCLUSION_WORDS.contains(&plain);
            let depends = CONDITION_WORDS.contains(&plain) || (at == 0 && plain == "without");
            if token.target || (depends && !token.code) {
                weighed.stance = Stance::Loose;
            } else if at == 0 && ADDITIVE_VERBS.contains(&plain) {
                weighed.stance = Stance::Additive;
            }
            // "never merge without review": merging is denied only in part, reviewing not at all.
            if !token.code && EXCEPTION_WORDS.contains(&plain) && scale.has_denied() {
                scale.excuse_denial();
            }
            // "prefer x over y" turns away from y; a plain "over" is a preposition.
            let turns = ALTERNATIVE_WORDS.contains(&plain) || (plain == "over" && prefers);
            let excused = plain == "without" && scale.denials.last().is_some_and(|d| d.excused);
            if !token.code && (turns || is_negation(plain)) && !excused {
                scale.open_denial(plain);
                prefers = false;
            } else if !token.code && is_forbidden(plain) && !scale.denied {
                scale.forbid_clause();
            } else if token.code || WEAK_WORDS.contains(plain) || !is_empty(&stem_word(plain)) {
                prefers |= plain.starts_with("prefer");
                scale.add_word(WeightedWord {
                    denied: scale.denied,
                    first: at == 0,
                    after: hash_word(&last),
                    linked: LINKING_WORDS.contains(&last.as_str()),
                    ..classify_word(&token, &last)
                });
            }
            // A denial ends with its clause.
            if token.mark.is_some() {
                scale.denied = false;
                scale.clause.clear();
            }
            last = token.text;
        }
        weighed.weight = scale.words.values().map(|word| word.weight).sum();
        // Sorted by key, which `get` and `find_shared_words` rely on.
        weighed.words = scale.words.into_values().collect();
        weighed.denials = scale.denials;
        weighed
    }

    pub(super) fn word_keys(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| word.key)
    }

    fn get(&self, key: u64) -> Option<&WeightedWord> {
        let at = self
            .words
            .binary_search_by_key(&key, |word| word.key)
            .ok()?;
        self.words.get(at)
    }

    /// The words that count and that the other one lacks.
    fn list_extra_words<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a WeightedWord> {
        self.words
            .iter()
            .filter(|word| word.role != WordRole::Weak && other.get(word.key).is_none())
    }

    pub(super) fn find_shared_words(&self, other: &Self) -> SharedWords {
        let mut shared = SharedWords::default();
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
    pub(super) fn find_conflict(&self, other: &Self, shared: &SharedWords) -> Option<ConflictKind> {
        // "Never x outside y" and "only y does x" agree.
        let agree = (self.excepts && other.only) || (other.excepts && self.only);
        let loose = |one: &Self| one.stance == Stance::Loose;
        if agree || loose(self) || loose(other) {
            return None;
        }
        let less = self.weight.min(other.weight);
        let union = self.weight + other.weight - shared.weight;
        // Two statements that share little are about different things, whatever one denies.
        let about = shared.weight / union;
        if !shared.both_denied
            && about >= MIN_DENIAL_SHARE
            && (self.denies_statement(other) || other.denies_statement(self))
        {
            return Some(ConflictKind::Denied);
        }
        if shared.opposed || shared.both_denied {
            return None;
        }
        if let Some((one, against)) = self.find_opposites(other) {
            let rest = less - one.max(against);
            let around = shared.weight / (union - one - against);
            if rest > 0.0
                && shared.weight / rest >= MIN_OPPOSITE_SHARE
                && around >= MIN_OPPOSITE_CONTEXT_SHARE
            {
                return Some(ConflictKind::Opposite);
            }
        }
        self.one_value_each(other, shared)
            .then_some(ConflictKind::Value)
    }

    /// Whether it denies all of what the other one says. A weak denial leaves
    /// room for what is said in particular.
    fn denies_statement(&self, other: &Self) -> bool {
        // "avoid x" next to "use x for y and z" is a rule and its exception, no contradiction.
        let more = other.list_extra_words(self).count();
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
    fn find_opposites(&self, other: &Self) -> Option<(f64, f64)> {
        self.words.iter().find_map(|word| {
            let against = OPPOSITES_BY_KEY
                .get(&word.key)?
                .iter()
                .find_map(|against| other.get(*against))?;
            // A statement that names both words compares them.
            let both_have = other.get(word.key).is_some();
            (!both_have).then_some((word.weight, against.weight))
        })
    }

    /// Whether all but one word are the same, and that word is in a position that
    /// only one thing can fill.
    fn one_value_each(&self, other: &Self, shared: &SharedWords) -> bool {
        let only = |one: &Self, other: &Self| {
            let mut words = one.list_extra_words(other).copied();
            let first = words.next();
            first.filter(|_| words.next().is_none())
        };
        let (Some(mine), Some(theirs)) = (only(self, other), only(other, self)) else {
            return false;
        };
        let place = mine.role == WordRole::Place || theirs.role == WordRole::Place;
        // In a long statement a differing word is rarely its value.
        if place || mine.denied || theirs.denied || !self.is_brief() || !other.is_brief() {
            return false;
        }
        let same_predecessor = mine.after == theirs.after;
        if mine.role == WordRole::Number && theirs.role == WordRole::Number {
            return same_predecessor || shared.weight >= MIN_FIRM_WEIGHT;
        }
        let linked = same_predecessor && mine.linked && theirs.linked;
        let exclusive = |one: &Self| one.stance == Stance::Exclusive;
        linked && !mine.first && !theirs.first && exclusive(self) && exclusive(other)
    }

    fn is_brief(&self) -> bool {
        let carry = self.words.iter().filter(|word| word.role != WordRole::Weak);
        carry.count() <= MAX_BRIEF_WORDS
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

fn classify_word(token: &Token, last: &str) -> WeightedWord {
    let plain = token.text.as_str();
    let marked = |c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '_' | '+' | '=');
    let weak = WEAK_WORDS.contains(plain);
    let number = plain.starts_with(|c: char| c.is_ascii_digit());
    let (role, weight) = if token.target || (number && is_counted(last)) {
        (WordRole::Place, 1.2)
    } else if number {
        (WordRole::Number, 1.2)
    } else if plain.contains(marked) || (token.code && !weak) {
        (WordRole::Value, 1.2)
    } else if weak {
        (WordRole::Weak, 0.3)
    } else {
        (WordRole::Plain, 1.0)
    };
    let key = match role {
        // Names are compared as written: a stem would make `tests` and `test` one folder.
        WordRole::Number | WordRole::Value | WordRole::Place => hash_word(plain),
        WordRole::Weak | WordRole::Plain => hash_word(&stem_word(plain)),
    };
    WeightedWord {
        key,
        weight,
        role,
        denied: false,
        first: false,
        after: 0,
        linked: false,
    }
}
