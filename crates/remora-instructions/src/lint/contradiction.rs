//! Two sentences in two files that cannot both be followed. Careful rather
//! than complete: who is warned for nothing stops reading. English only.

use std::collections::HashMap;

use super::claim::{self, Bound, Choice, Claim, Holds, Side, Tone};
use super::statement::{self, Statement};
use super::words;

/// A text to compare.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    /// The file's name, without folder.
    pub(super) name: &'a str,
    pub(super) body: &'a str,
    /// Only texts of the same group are compared: those that are in a prompt
    /// at the same time.
    pub(super) group: usize,
}

/// Two sentences that oppose each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clash {
    pub(super) first: Quote,
    pub(super) second: Quote,
    /// What they disagree on.
    pub(super) about: String,
}

/// One of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quote {
    /// Which text.
    pub(super) text: usize,
    /// Line of its body, from 1.
    pub(super) line: usize,
    pub(super) words: String,
}

/// Clashes that are told at most.
const MOST: usize = 50;

struct Entry<'a> {
    text: usize,
    group: usize,
    statement: &'a Statement,
    claim: Claim,
}

/// All clashes between the texts, in order.
pub(super) fn find(texts: &[Text<'_>]) -> Vec<Clash> {
    let read: Vec<Vec<Statement>> = texts
        .iter()
        .map(|t| statement::read(t.body, t.name))
        .collect();
    let mut entries = Vec::new();
    for (text, statements) in read.iter().enumerate() {
        for statement in statements {
            let claims = claim::read(&statement.text);
            entries.extend(claims.into_iter().map(|claim| Entry {
                text,
                group: texts[text].group,
                statement,
                claim,
            }));
        }
    }
    let mut buckets: HashMap<String, Vec<usize>> = HashMap::new();
    let mut clashes = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        for key in keys(&entry.claim) {
            let bucket = buckets.entry(key).or_default();
            for other in bucket.iter().map(|other| &entries[*other]) {
                if let Some(about) = clash(other, entry) {
                    push(&mut clashes, other, entry, about);
                }
                if clashes.len() >= MOST {
                    return clashes;
                }
            }
            // One sentence repeated a thousand times is compared as a few.
            if bucket.len() < 64 {
                bucket.push(at);
            }
        }
    }
    clashes.sort_by_key(|c| (c.first.text, c.first.line, c.second.text, c.second.line));
    clashes
}

fn push(clashes: &mut Vec<Clash>, first: &Entry<'_>, second: &Entry<'_>, about: String) {
    let side = |entry: &Entry<'_>| Quote {
        text: entry.text,
        line: entry.statement.line,
        words: entry.statement.text.clone(),
    };
    let clash = Clash {
        first: side(first),
        second: side(second),
        about,
    };
    let known = |c: &Clash| c.first == clash.first && c.second == clash.second;
    if !clashes.iter().any(known) {
        clashes.push(clash);
    }
}

/// What two claims must share to be compared at all.
fn keys(claim: &Claim) -> Vec<String> {
    let mut core = claim.core.clone();
    core.sort();
    core.dedup();
    let mut keys = vec![core.join(" ")];
    if let Some(choice) = &claim.choice {
        keys.push(format!("choice {}", choice.set));
    }
    keys
}

fn clash(a: &Entry<'_>, b: &Entry<'_>) -> Option<String> {
    let (x, y) = (&a.statement.scope, &b.statement.scope);
    if a.group != b.group || !x.meets(y) {
        return None;
    }
    // In one file, another heading is another matter.
    if a.text == b.text && (!x.is_same(y) || a.statement == b.statement) {
        return None;
    }
    let (a, b) = (&a.claim, &b.claim);
    opposite(a, b)
        .or_else(|| numbers(a, b))
        .or_else(|| choices(a, b))
}

fn same_core(a: &Claim, b: &Claim) -> bool {
    if a.ordered || b.ordered {
        return a.core == b.core;
    }
    let sorted = |claim: &Claim| {
        let mut core = claim.core.clone();
        core.sort();
        core.dedup();
        core
    };
    sorted(a) == sorted(b)
}

fn same_verb(a: &Claim, b: &Claim) -> bool {
    match (a.verb, b.verb) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// One for, one against the same.
fn opposite(a: &Claim, b: &Claim) -> Option<String> {
    if a.side == b.side || a.core.is_empty() || !same_core(a, b) || !same_verb(a, b) {
        return None;
    }
    if a.number != b.number {
        return None;
    }
    let (yes, no) = if a.side == Side::For { (a, b) } else { (b, a) };
    let whole = match (yes.holds, no.holds) {
        (Holds::Always, Holds::Always) => true,
        // What is never done is not done on conditions either.
        (Holds::Sometimes, Holds::Always) => no.strict,
        _ => false,
    };
    // A tale forbids nothing; a single word must be something to do.
    let told = no.tone == Tone::Rule && yes.tone > Tone::Tale;
    let many = a.core.iter().any(|word| *word != a.core[0]);
    let weighty = told && (many || yes.verb.is_some() || yes.strict);
    (whole && weighty)
        .then(|| format!("one asks for what the other forbids ({})", a.core.join(" ")))
}

/// The same, with another number.
fn numbers(a: &Claim, b: &Claim) -> Option<String> {
    let (x, y) = (a.number.as_ref()?, b.number.as_ref()?);
    let units = match (&x.unit, &y.unit) {
        (Some(x), Some(y)) => x == y,
        _ => true,
    };
    let bounds = x.bound == y.bound || x.bound == Bound::None || y.bound == Bound::None;
    let always = a.holds == Holds::Always && b.holds == Holds::Always;
    let same = same_core(a, b) && same_verb(a, b) && a.side == b.side;
    let named = a.core.iter().any(|word| !words::VAGUE.has(word));
    let weighty = named
        && [(a, x), (b, y)].iter().all(|(claim, number)| {
            let limit = number.unit.is_some() || number.bound != Bound::None;
            match claim.core.len() {
                0 => false,
                1 => limit || claim.tone == Tone::Rule,
                _ => limit || claim.tone == Tone::Rule || claim.verb.is_some(),
            }
        });
    let differ = x.value != y.value;
    (differ && units && bounds && always && same && weighty)
        .then(|| format!("{} or {}", x.value, y.value))
}

/// Two things that exclude each other, for the same purpose.
fn choices(a: &Claim, b: &Claim) -> Option<String> {
    let (x, y) = (a.choice.as_ref()?, b.choice.as_ref()?);
    if x.set != y.set || a.holds != Holds::Always || b.holds != Holds::Always {
        return None;
    }
    // A lone word in a list chooses nothing.
    let told = |claim: &Claim| match claim.tone {
        Tone::Rule => true,
        Tone::Order => claim.core.len() > 1,
        Tone::Tale => false,
    };
    if !told(a) || !told(b) {
        return None;
    }
    let chosen = |claim: &Claim, choice: &Choice| claim.side == Side::For && !choice.command;
    if x.taken == y.taken {
        // Forbidden here, run there.
        let run = |no: (&Claim, &Choice), yes: (&Claim, &Choice)| {
            no.0.side == Side::Against
                && no.1.rest.is_empty()
                && yes.0.side == Side::For
                && yes.1.command
        };
        return (run((a, x), (b, y)) || run((b, y), (a, x)))
            .then(|| format!("one forbids {}, the other runs it", x.taken));
    }
    if a.side != Side::For || b.side != Side::For {
        return None;
    }
    let both = chosen(a, x) && chosen(b, y) && x.rest == y.rest;
    let named = |choice: &Choice| choice.rest.is_empty();
    let run = (chosen(a, x) && named(x) && y.command) || (chosen(b, y) && named(y) && x.command);
    (both || run).then(|| format!("{} or {} ({})", x.taken, y.taken, x.set))
}

#[cfg(test)]
mod tests;
