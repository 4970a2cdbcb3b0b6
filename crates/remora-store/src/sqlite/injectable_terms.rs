//! Items that may be injected are indexed a second time, by terms that combine a
//! word with their project and kinds. A word that half of all items contain is
//! then found among the few that matter without walking past the others. Hooks,
//! for which an agent waits, search by these terms.

use remora_core::record::{Item, Kind};
use remora_memory::store::{LookTools, LookupItems};

use super::names::kind_code;
use super::scope::ResolvedFilter;

/// The groups by letter: all that may be injected, and kinds that are searched
/// without the rest. Never change the kinds of a letter, because stored items
/// keep the terms they were indexed with. Few groups, because each costs a search
/// as much as a hundred items.
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

/// The prefix of a group's terms. No word begins with `_`.
fn group_prefix(letter: char, project: i64) -> String {
    format!("_{letter}{project}_")
}

/// Adds the terms once more for each group that the item belongs to.
pub(crate) fn add_injectable_terms(
    terms: &mut String,
    item: &Item,
    project: i64,
    looks: LookTools,
) {
    // That a file was read or searched is never injected, and such items are many.
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

/// The prefixes of the groups that together cover exactly the filter's project
/// and kinds; none if there are no such groups. Then plain terms are used, and
/// find the same items.
pub(crate) fn find_group_prefixes(scope: &ResolvedFilter) -> Vec<String> {
    let Some(project) = scope.project.filter(|_| scope.listed) else {
        return Vec::new();
    };
    let mut left = scope.kinds.clone();
    let mut signs = Vec::new();
    for (letter, kinds) in INJECTABLE_GROUPS {
        let whole = kinds.iter().all(|kind| left.contains(&kind_code(*kind)));
        // Lookups have no injectable terms, so a filter that keeps them needs others.
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
