//! Statements that say the same in two places, or contradict each other.

use std::collections::HashSet;

use crate::file::Kind;

use super::super::{Memory, Scope};
use super::facts::{Facts, Source};
use super::{Action, Draft, Material, Plan, named, short};
use crate::wording::Relation;

/// Memories and lines that are said elsewhere, too.
pub(super) fn duplicates(material: &Material<'_>, facts: &Facts) -> Vec<Draft> {
    let mut found = Vec::new();
    let mut gone: HashSet<usize> = HashSet::new();
    for at in 0..material.saved.len() {
        let memory = material.saved[at].memory;
        if let Some(place) = covered_by_layers(material, facts, at) {
            gone.insert(at);
            found.push(removal(material, at, format!("{place} says it already")));
            continue;
        }
        let twin = covered_by_memory(facts, at)
            .into_iter()
            .filter(|twin| !gone.contains(twin))
            .find(|twin| {
                let other = material.saved[*twin].memory;
                // Where both say the same, only the weaker one goes.
                !covered_by_memory(facts, *twin).contains(&at) || weaker(memory, other)
            });
        if let Some(twin) = twin {
            gone.insert(at);
            let other = material.saved[twin].memory;
            found.push(removal(material, at, format!("{} says it, too", other.uri)));
        }
    }
    found.extend(layer_duplicates(material, facts));
    found
}

fn removal(material: &Material<'_>, at: usize, why: String) -> Draft {
    let memory = material.saved[at].memory;
    Draft {
        about: Some(at),
        action: Action::RemoveDuplicate,
        what: named(memory),
        why,
        plan: Plan::Remove,
    }
}

/// The first place of a layer, if layers say all that a memory does.
fn covered_by_layers(material: &Material<'_>, facts: &Facts, memory: usize) -> Option<String> {
    let mut place = None;
    for fact in facts.of_memory(memory) {
        let same = facts
            .related(fact)
            .iter()
            .find(|(other, relation)| {
                *relation == Relation::Same && matches!(facts.all[*other].source, Source::Layer(_))
            })?
            .0;
        place.get_or_insert_with(|| placed(material, facts, same));
    }
    place
}

/// Memories that say all that this one does.
fn covered_by_memory(facts: &Facts, memory: usize) -> Vec<usize> {
    let mut common: Option<Vec<usize>> = None;
    for fact in facts.of_memory(memory) {
        let mut here: Vec<usize> = facts
            .related(fact)
            .iter()
            .filter(|(_, relation)| *relation == Relation::Same)
            .filter_map(|(other, _)| match facts.all[*other].source {
                Source::Memory(other) => Some(other),
                Source::Layer(_) => None,
            })
            .collect();
        here.dedup();
        common = Some(match common {
            None => here,
            Some(before) => before.into_iter().filter(|at| here.contains(at)).collect(),
        });
    }
    common.unwrap_or_default()
}

/// Whether the first of two like memories is the one to go.
fn weaker(one: &Memory, other: &Memory) -> bool {
    let reach = |memory: &Memory| match memory.uri.scope {
        Scope::Team => 2,
        Scope::User => 1,
        Scope::Project => 0,
    };
    let rank = |memory: &Memory| {
        (
            reach(memory),
            5 - memory.priority.min(5),
            memory.modified.clone(),
            memory.body.len(),
        )
    };
    (rank(one), &one.uri) < (rank(other), &other.uri)
}

/// Lines of one layer that another one says, too.
fn layer_duplicates(material: &Material<'_>, facts: &Facts) -> Vec<Draft> {
    let mut found = Vec::new();
    let mut gone: HashSet<usize> = HashSet::new();
    for (at, fact) in facts.all.iter().enumerate() {
        let Source::Layer(here) = fact.source else {
            continue;
        };
        for &(other, relation) in facts.related(at) {
            let Source::Layer(there) = facts.all[other].source else {
                continue;
            };
            let kinds = (material.layers[here].kind, material.layers[there].kind);
            if relation != Relation::Same || !goes(kinds, here, there) || gone.contains(&other) {
                continue;
            }
            gone.insert(at);
            found.push(Draft {
                about: None,
                action: Action::RemoveDuplicate,
                what: quoted(material, facts, at),
                why: format!("{} says it, too", placed(material, facts, other)),
                plan: Plan::Line {
                    layer: here,
                    line: fact.statement.line,
                    text: fact.statement.text.clone(),
                },
            });
            break;
        }
    }
    found
}

/// Whether the first of two layers is the one to lose a line. What a person
/// says for all projects, and what a project says to everyone, both stay.
fn goes(kinds: (Kind, Kind), here: usize, there: usize) -> bool {
    match kinds {
        (Kind::Managed, _) => false,
        (_, Kind::Managed) | (Kind::Local, Kind::Project | Kind::User) => true,
        (one, other) => one == other && here > there,
    }
}

/// Statements that cannot both be followed.
pub(super) fn conflicts(material: &Material<'_>, facts: &Facts) -> Vec<Draft> {
    let mut found = Vec::new();
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    for at in 0..facts.all.len() {
        for &(other, relation) in facts.related(at) {
            let Relation::Conflict(clash) = relation else {
                continue;
            };
            if !seen.insert((at.min(other), at.max(other))) {
                continue;
            }
            let (loser, winner) = sides(material, facts, at, other);
            let about = match facts.all[loser].source {
                Source::Memory(memory) => Some(memory),
                Source::Layer(_) => None,
            };
            found.push(Draft {
                about,
                action: Action::Conflict,
                what: quoted(material, facts, loser),
                why: format!("{}: {}", clash.as_str(), quoted(material, facts, winner)),
                plan: if about.is_some_and(|memory| is_decided(material, facts, winner, memory)) {
                    Plan::Remove
                } else {
                    Plan::Nothing
                },
            });
        }
    }
    found
}

/// Which of two contradicting statements would go: a memory before a layer,
/// the older memory before the newer.
fn sides(material: &Material<'_>, facts: &Facts, one: usize, other: usize) -> (usize, usize) {
    match (facts.all[one].source, facts.all[other].source) {
        (Source::Memory(a), Source::Memory(b)) => {
            let date = |at: usize| material.saved[at].memory.modified.as_deref();
            if date(a) <= date(b) {
                (one, other)
            } else {
                (other, one)
            }
        }
        (Source::Layer(_), Source::Memory(_)) => (other, one),
        _ => (one, other),
    }
}

/// Whether there is a reason to let the memory go: a file that people keep
/// stands against it, or a memory that is newer for sure.
fn is_decided(material: &Material<'_>, facts: &Facts, winner: usize, loser: usize) -> bool {
    match facts.all[winner].source {
        Source::Layer(_) => true,
        Source::Memory(winner) => {
            let date = |at: usize| material.saved[at].memory.modified.as_deref();
            date(loser).is_some() && date(loser) < date(winner)
        }
    }
}

/// Memories that come close to what is said elsewhere, or say it in part.
/// What another proposal deals with already counts no more.
pub(super) fn partly(material: &Material<'_>, facts: &Facts, settled: &[bool]) -> Vec<Draft> {
    let stays = |other: usize| match facts.all[other].source {
        Source::Memory(memory) => !settled[memory],
        Source::Layer(_) => true,
    };
    let mut found = Vec::new();
    for at in 0..material.saved.len() {
        let close = facts.of_memory(at).find_map(|fact| {
            facts.related(fact).iter().find(|(other, relation)| {
                matches!(relation, Relation::Same | Relation::Near) && stays(*other)
            })
        });
        if let Some(&(other, _)) = close {
            found.push(Draft {
                about: Some(at),
                action: Action::Ambiguous,
                what: named(material.saved[at].memory),
                why: format!(
                    "it is close to {}; join them or keep both",
                    quoted(material, facts, other)
                ),
                plan: Plan::Nothing,
            });
        }
    }
    found
}

fn placed(material: &Material<'_>, facts: &Facts, at: usize) -> String {
    let fact = &facts.all[at];
    match fact.source {
        Source::Layer(layer) => {
            format!(
                "{} line {}",
                material.layers[layer].path.display(),
                fact.statement.line
            )
        }
        Source::Memory(memory) => material.saved[memory].memory.uri.to_string(),
    }
}

fn quoted(material: &Material<'_>, facts: &Facts, at: usize) -> String {
    format!(
        "{} \"{}\"",
        placed(material, facts, at),
        short(&facts.all[at].statement.text)
    )
}
