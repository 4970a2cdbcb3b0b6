//! Rows that an agent may be given are listed in the word index a second time,
//! under their project and kinds. A word that half of all rows hold
//! is then found among the few that matter without walking past the others:
//! hooks, which have an agent waiting, ask these lists.

use remora_core::record::{Item, Kind};
use remora_memory::store::{LookTools, LookupItems};

use super::names::kind_code;
use super::scope::ResolvedFilter;

/// The lists, by letter: of all that may be given, and of kinds that are asked
/// for without the rest. Never give a letter to other kinds, because rows stay
/// listed as they were.
const INJECTABLE_GROUPS: &[(char, &[Kind])] = &[
    (
        'r',
        &[
            Kind::Decision,
            Kind::Preference,
            Kind::Correction,
            Kind::Memory,
            Kind::Summary,
            Kind::Fix,
            Kind::Bugfix,
            Kind::Feature,
            Kind::Refactor,
            Kind::Change,
            Kind::Discovery,
            Kind::Task,
            Kind::Message,
        ],
    ),
    (
        's',
        &[
            Kind::Decision,
            Kind::Preference,
            Kind::Correction,
            Kind::Memory,
        ],
    ),
    ('u', &[Kind::Summary]),
    ('f', &[Kind::Fix]),
    ('b', &[Kind::Bugfix]),
    ('p', &[Kind::Prompt]),
    ('c', &[Kind::Commit]),
];

/// What the terms of a list begin with. No word begins with `_`.
fn group_prefix(letter: char, project: i64) -> String {
    format!("_{letter}{project}_")
}

/// Adds the terms once more for each list that the item is in.
pub(crate) fn add_injectable_terms(
    terms: &mut String,
    item: &Item,
    project: i64,
    looks: LookTools,
) {
    if looks.is_look(item) {
        return;
    }
    let mut listed = String::new();
    for (letter, _) in INJECTABLE_GROUPS
        .iter()
        .filter(|(_, kinds)| kinds.contains(&item.kind))
    {
        let sign = group_prefix(*letter, project);
        for term in terms.split(' ').filter(|term| !term.is_empty()) {
            listed.extend([" ", &sign, term]);
        }
    }
    terms.push_str(&listed);
}

/// The signs of the lists that together hold the rows of the scope's project
/// and kinds, and no others; none if there are no such lists.
pub(crate) fn find_group_prefixes(scope: &ResolvedFilter) -> Vec<String> {
    let Some(project) = scope.project.filter(|_| scope.listed) else {
        return Vec::new();
    };
    let mut left = scope.kinds.clone();
    let mut signs = Vec::new();
    for (letter, kinds) in INJECTABLE_GROUPS {
        let whole = kinds.iter().all(|kind| left.contains(&kind_code(*kind)));
        let looks = kinds.contains(&Kind::Discovery) && scope.looks == LookupItems::Kept;
        if whole && !looks {
            left.retain(|code| kinds.iter().all(|kind| kind_code(*kind) != *code));
            signs.push(group_prefix(*letter, project));
        }
    }
    if left.is_empty() { signs } else { Vec::new() }
}

#[cfg(test)]
mod tests;
