//! Statements that say the same in two places, or contradict each other.

use std::collections::HashSet;

use remora_instructions::InstructionKind;

use super::super::{Memory, MemoryScope};
use super::facts::{ReviewStatements, StatementSource};
use super::{EditPlan, ProposalAction, ProposalDraft, ReviewInput, format_memory, truncate_text};
use remora_wording::Relation;

/// Memories and lines that are said elsewhere, too.
pub(super) fn find_duplicates(
    material: &ReviewInput<'_>,
    facts: &ReviewStatements,
) -> Vec<ProposalDraft> {
    let mut found = Vec::new();
    let mut gone: HashSet<usize> = HashSet::new();
    for at in 0..material.saved.len() {
        let memory = material.saved[at].memory;
        // Instruction files before other memories: they are always read, memories are not.
        if let Some(place) = covered_by_layers(material, facts, at) {
            gone.insert(at);
            found.push(draft_removal(
                material,
                at,
                format!("{place} says it already"),
            ));
            continue;
        }
        let twin = covered_by_memory(facts, at)
            .into_iter()
            // Of three equal memories one must stay.
            .filter(|twin| !gone.contains(twin))
            .find(|twin| {
                let other = material.saved[*twin].memory;
                // Where both say the same, only the weaker one goes.
                !covered_by_memory(facts, *twin).contains(&at) || is_weaker(memory, other)
            });
        if let Some(twin) = twin {
            gone.insert(at);
            let other = material.saved[twin].memory;
            found.push(draft_removal(
                material,
                at,
                format!("{} says it, too", other.uri),
            ));
        }
    }
    found.extend(layer_duplicates(material, facts));
    found
}

fn draft_removal(material: &ReviewInput<'_>, at: usize, why: String) -> ProposalDraft {
    let memory = material.saved[at].memory;
    ProposalDraft {
        about: Some(at),
        action: ProposalAction::RemoveDuplicate,
        what: format_memory(memory),
        why,
        plan: EditPlan::Remove,
    }
}

/// The first place of a layer, if layers say all that a memory does.
fn covered_by_layers(
    material: &ReviewInput<'_>,
    facts: &ReviewStatements,
    memory: usize,
) -> Option<String> {
    let mut place = None;
    for fact in facts.of_memory(memory) {
        let same = facts
            .list_related(fact)
            .iter()
            .find(|(other, relation)| {
                *relation == Relation::Same
                    && matches!(facts.all[*other].source, StatementSource::Layer(_))
            })?
            .0;
        place.get_or_insert_with(|| format_location(material, facts, same));
    }
    place
}

/// Memories that say all that this one does.
fn covered_by_memory(facts: &ReviewStatements, memory: usize) -> Vec<usize> {
    let mut common: Option<Vec<usize>> = None;
    for fact in facts.of_memory(memory) {
        let mut here: Vec<usize> = facts
            .list_related(fact)
            .iter()
            .filter(|(_, relation)| *relation == Relation::Same)
            .filter_map(|(other, _)| match facts.all[*other].source {
                StatementSource::Memory(other) => Some(other),
                StatementSource::Layer(_) => None,
            })
            .collect();
        here.dedup();
        // One memory must say all of it; pieces in several do not make a duplicate.
        common = Some(match common {
            None => here,
            Some(before) => before.into_iter().filter(|at| here.contains(at)).collect(),
        });
    }
    common.unwrap_or_default()
}

/// Whether the first of two like memories is the one to go.
fn is_weaker(one: &Memory, other: &Memory) -> bool {
    let reach = |memory: &Memory| match memory.uri.scope {
        MemoryScope::Team => 2,
        MemoryScope::User => 1,
        MemoryScope::Project => 0,
    };
    let rank = |memory: &Memory| {
        (
            reach(memory),
            5 - memory.priority.min(5),
            memory.modified.clone(),
            memory.body.len(),
        )
    };
    // The address breaks ties, so that of two equal memories the same one goes every time.
    (rank(one), &one.uri) < (rank(other), &other.uri)
}

/// Lines of one layer that another one says, too.
fn layer_duplicates(material: &ReviewInput<'_>, facts: &ReviewStatements) -> Vec<ProposalDraft> {
    let mut found = Vec::new();
    let mut gone: HashSet<usize> = HashSet::new();
    for (at, fact) in facts.all.iter().enumerate() {
        let StatementSource::Layer(here) = fact.source else {
            continue;
        };
        for &(other, relation) in facts.list_related(at) {
            let StatementSource::Layer(there) = facts.all[other].source else {
                continue;
            };
            let kinds = (material.layers[here].kind, material.layers[there].kind);
            if relation != Relation::Same
                || !should_remove_line(kinds, here, there)
                || gone.contains(&other)
            {
                continue;
            }
            gone.insert(at);
            found.push(ProposalDraft {
                about: None,
                action: ProposalAction::RemoveDuplicate,
                what: format_quote(material, facts, at),
                why: format!("{} says it, too", format_location(material, facts, other)),
                plan: EditPlan::Line {
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

/// Whether the first of two layers is the one to lose a line. A line that the user
/// keeps for all projects and the same line of a shared project both stay: each
/// reaches readers whom the other does not.
fn should_remove_line(
    kinds: (InstructionKind, InstructionKind),
    here: usize,
    there: usize,
) -> bool {
    match kinds {
        (InstructionKind::Managed, _) => false,
        (_, InstructionKind::Managed)
        | (InstructionKind::Local, InstructionKind::Project | InstructionKind::User) => true,
        (one, other) => one == other && here > there,
    }
}

/// Statements that cannot both be followed.
pub(super) fn find_conflicts(
    material: &ReviewInput<'_>,
    facts: &ReviewStatements,
) -> Vec<ProposalDraft> {
    let mut found = Vec::new();
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    for at in 0..facts.all.len() {
        for &(other, relation) in facts.list_related(at) {
            let Relation::Conflict(clash) = relation else {
                continue;
            };
            // Relations are stored for both sides.
            if !seen.insert((at.min(other), at.max(other))) {
                continue;
            }
            // Even if nothing is removed, the proposal has to name one of the two as its subject.
            let (loser, winner) = order_loser_first(material, facts, at, other);
            let about = match facts.all[loser].source {
                StatementSource::Memory(memory) => Some(memory),
                StatementSource::Layer(_) => None,
            };
            found.push(ProposalDraft {
                about,
                action: ProposalAction::Conflict,
                what: format_quote(material, facts, loser),
                why: format!(
                    "{}: {}",
                    clash.as_str(),
                    format_quote(material, facts, winner)
                ),
                plan: if about.is_some_and(|memory| is_decided(material, facts, winner, memory)) {
                    EditPlan::Remove
                } else {
                    EditPlan::Nothing
                },
            });
        }
    }
    found
}

/// Which of two contradicting statements would go: a memory before a layer,
/// the older memory before the newer.
fn order_loser_first(
    material: &ReviewInput<'_>,
    facts: &ReviewStatements,
    one: usize,
    other: usize,
) -> (usize, usize) {
    match (facts.all[one].source, facts.all[other].source) {
        (StatementSource::Memory(a), StatementSource::Memory(b)) => {
            let date = |at: usize| material.saved[at].memory.modified.as_deref();
            if date(a) <= date(b) {
                (one, other)
            } else {
                (other, one)
            }
        }
        (StatementSource::Layer(_), StatementSource::Memory(_)) => (other, one),
        _ => (one, other),
    }
}

/// Whether there is a reason to remove the memory: an instruction file contradicts
/// it, or a memory that is certainly newer.
fn is_decided(
    material: &ReviewInput<'_>,
    facts: &ReviewStatements,
    winner: usize,
    loser: usize,
) -> bool {
    match facts.all[winner].source {
        StatementSource::Layer(_) => true,
        StatementSource::Memory(winner) => {
            let date = |at: usize| material.saved[at].memory.modified.as_deref();
            date(loser).is_some() && date(loser) < date(winner)
        }
    }
}

/// Memories that come close to what is said elsewhere, or say it in part.
/// What another proposal deals with already counts no more.
pub(super) fn find_partial_duplicates(
    material: &ReviewInput<'_>,
    facts: &ReviewStatements,
    settled: &[bool],
) -> Vec<ProposalDraft> {
    let stays = |other: usize| match facts.all[other].source {
        StatementSource::Memory(memory) => !settled[memory],
        StatementSource::Layer(_) => true,
    };
    let mut found = Vec::new();
    for at in 0..material.saved.len() {
        let close = facts.of_memory(at).find_map(|fact| {
            facts.list_related(fact).iter().find(|(other, relation)| {
                matches!(relation, Relation::Same | Relation::Near) && stays(*other)
            })
        });
        if let Some(&(other, _)) = close {
            found.push(ProposalDraft {
                about: Some(at),
                action: ProposalAction::Ambiguous,
                what: format_memory(material.saved[at].memory),
                why: format!(
                    "it is close to {}; join them or keep both",
                    format_quote(material, facts, other)
                ),
                plan: EditPlan::Nothing,
            });
        }
    }
    found
}

fn format_location(material: &ReviewInput<'_>, facts: &ReviewStatements, at: usize) -> String {
    let fact = &facts.all[at];
    match fact.source {
        StatementSource::Layer(layer) => {
            format!(
                "{} line {}",
                material.layers[layer].path.display(),
                fact.statement.line
            )
        }
        StatementSource::Memory(memory) => material.saved[memory].memory.uri.to_string(),
    }
}

fn format_quote(material: &ReviewInput<'_>, facts: &ReviewStatements, at: usize) -> String {
    format!(
        "{} \"{}\"",
        format_location(material, facts, at),
        truncate_text(&facts.all[at].statement.text)
    )
}
