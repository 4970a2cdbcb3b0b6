//! Two claims that cannot both be followed: one for and one against the same,
//! the same with another number, or two things of which a project uses one.

use super::claim::{Applicability, Bound, Choice, Side, StatementClaim, Tone};
use super::words::hash_word;
use super::{ConflictKind, Contradiction};

/// What two claims must share to be compared at all.
pub(super) fn list_claim_keys(claim: &StatementClaim) -> impl Iterator<Item = u64> {
    let choice = claim.choice.as_ref();
    let choice = choice.map(|choice| hash_word(&format!("choice {}", choice.set)));
    [claim.key].into_iter().chain(choice)
}

/// Whether two claims cannot both be followed, and why.
pub(super) fn find_contradiction(a: &StatementClaim, b: &StatementClaim) -> Option<Contradiction> {
    let conflict = |clash: ConflictKind| {
        move |about| Contradiction {
            clash,
            about: Some(about),
        }
    };
    find_opposite_sides(a, b)
        .map(conflict(ConflictKind::Denied))
        .or_else(|| find_different_numbers(a, b).map(conflict(ConflictKind::Value)))
        .or_else(|| find_exclusive_choices(a, b).map(conflict(ConflictKind::Value)))
}

fn same_core(a: &StatementClaim, b: &StatementClaim) -> bool {
    a.key == b.key && (a.core == b.core || !(a.ordered || b.ordered))
}

fn same_verb(a: &StatementClaim, b: &StatementClaim) -> bool {
    match (a.verb, b.verb) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// One for, one against the same.
fn find_opposite_sides(a: &StatementClaim, b: &StatementClaim) -> Option<String> {
    if a.side == b.side || a.core.is_empty() || !same_core(a, b) || !same_verb(a, b) {
        return None;
    }
    if a.number != b.number {
        return None;
    }
    let (yes, no) = if a.side == Side::For { (a, b) } else { (b, a) };
    let whole = match (yes.holds, no.holds) {
        (Applicability::Always, Applicability::Always) => true,
        // "Never" also excludes "if ..".
        (Applicability::Sometimes, Applicability::Always) => no.strict,
        // "Always" leaves no room for an exception.
        (Applicability::Always, Applicability::Unless) => yes.strict,
        _ => false,
    };
    // A description forbids nothing, and a single word must be something one can do.
    let binding = no.tone == Tone::Rule && yes.tone > Tone::Tale;
    let many = a.core.iter().any(|word| *word != a.core[0]);
    let weighty = binding && (many || yes.verb.is_some() || yes.strict);
    (whole && weighty).then(|| format!("one asks for what the other forbids ({})", yes.named))
}

/// The same, with another number.
fn find_different_numbers(a: &StatementClaim, b: &StatementClaim) -> Option<String> {
    let (x, y) = (a.number.as_ref()?, b.number.as_ref()?);
    let units = match (&x.unit, &y.unit) {
        (Some(x), Some(y)) => x == y,
        _ => true,
    };
    let bounds = x.bound == y.bound || x.bound == Bound::None || y.bound == Bound::None;
    let always = a.holds == Applicability::Always && b.holds == Applicability::Always;
    let same = same_core(a, b) && same_verb(a, b) && a.side == b.side;
    let named = a.core.iter().any(|word| !super::claim::is_vague(word));
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
fn find_exclusive_choices(a: &StatementClaim, b: &StatementClaim) -> Option<String> {
    let (x, y) = (a.choice.as_ref()?, b.choice.as_ref()?);
    if x.set != y.set || a.holds != Applicability::Always || b.holds != Applicability::Always {
        return None;
    }
    // A bare word in a list is no choice.
    let binds = |claim: &StatementClaim| match claim.tone {
        Tone::Rule => true,
        Tone::Order => claim.core.len() > 1,
        Tone::Tale => false,
    };
    if !binds(a) || !binds(b) {
        return None;
    }
    let prefers =
        |claim: &StatementClaim, choice: &Choice| claim.side == Side::For && !choice.command;
    if x.member == y.member {
        // Forbidden here, run there.
        let run = |no: (&StatementClaim, &Choice), yes: (&StatementClaim, &Choice)| {
            no.0.side == Side::Against
                && no.1.rest.is_empty()
                && yes.0.side == Side::For
                && yes.1.command
        };
        return (run((a, x), (b, y)) || run((b, y), (a, x)))
            .then(|| format!("one forbids {}, the other runs it", x.member));
    }
    if a.side != Side::For || b.side != Side::For {
        return None;
    }
    let both = prefers(a, x) && prefers(b, y) && x.rest == y.rest;
    let named = |choice: &Choice| choice.rest.is_empty();
    let run = (prefers(a, x) && named(x) && y.command) || (prefers(b, y) && named(y) && x.command);
    (both || run).then(|| format!("{} or {} ({})", x.member, y.member, x.set))
}
