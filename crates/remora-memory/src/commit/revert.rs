//! Which commits later ones take back. A revert that is itself reverted takes
//! nothing back, so that a change that was brought in again counts again.

use std::collections::HashMap;

use remora_core::detail::{DetailList, DetailText};
use remora_core::record::Item;

use super::message::quoted_subject;
use super::{commit_text, hash_of_key, short_hash};

/// The short hash of the commit that reverts this one, if it is one and its
/// revert is in force.
pub fn reverted_by(item: &Item) -> Option<&str> {
    commit_text(item, DetailText::RevertedBy)
}

/// Works out which of a project's commits are reverted and notes it in each;
/// says which of them changed by that. Needs all commits of the project.
pub fn mark_reverts(items: &mut [Item]) -> Vec<usize> {
    let targets = find_targets(items);
    let mut reverts_of: HashMap<usize, Vec<usize>> = HashMap::new();
    for (revert, target) in targets.iter().copied() {
        reverts_of.entry(target).or_default().push(revert);
    }
    // Whether a revert counts must be known before what it reverts.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|at| measure_revert_depth(*at, &reverts_of));
    let mut by: Vec<Option<usize>> = vec![None; items.len()];
    for at in order {
        let reverts = reverts_of.get(&at).into_iter().flatten();
        by[at] = reverts.copied().find(|revert| by[*revert].is_none());
    }
    let names: Vec<Option<String>> = by
        .iter()
        .map(|revert| revert.and_then(|at| short_hash(&items[at]).map(str::to_owned)))
        .collect();
    let mut changed = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        if reverted_by(&items[at]) != name.as_deref() {
            record_reverted_by(&mut items[at], name);
            changed.push(at);
        }
    }
    changed
}

/// How many reverts of reverts lie above a commit. Names of commits cannot go
/// round in a circle; subjects could, so there is an end.
fn measure_revert_depth(at: usize, reverts_of: &HashMap<usize, Vec<usize>>) -> usize {
    const MAX_DEPTH: usize = 32;
    let mut above = vec![at];
    for depth in 0..MAX_DEPTH {
        let next: Vec<usize> = above
            .iter()
            .filter_map(|at| reverts_of.get(at))
            .flatten()
            .copied()
            .take(MAX_DEPTH)
            .collect();
        if next.is_empty() {
            return depth;
        }
        above = next;
    }
    MAX_DEPTH
}

/// Reverts, each with what it reverts: by hash, else by subject.
fn find_targets(items: &[Item]) -> Vec<(usize, usize)> {
    let mut hashes: Vec<(&str, usize)> = Vec::with_capacity(items.len());
    let mut titles: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        let key = item.key.as_deref();
        hashes.extend(key.and_then(hash_of_key).map(|hash| (hash, at)));
        titles.entry(&item.title).or_default().push(at);
    }
    hashes.sort_unstable();
    // Hashes are often shortened.
    let by_hash = |hash: &str| {
        let from = hashes.partition_point(|(known, _)| *known < hash);
        let mut found = hashes[from..]
            .iter()
            .take_while(|(known, _)| known.starts_with(hash));
        match (found.next(), found.next()) {
            (Some((_, at)), None) => Some(*at),
            _ => None,
        }
    };
    let mut targets = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let named = item.detail_list(DetailList::Reverts);
        let mut found: Vec<usize> = named
            .filter_map(by_hash)
            .filter(|target| *target != at)
            .collect();
        if found.is_empty()
            && let Some(subject) = quoted_subject(&item.title)
        {
            // A rebase gives commits other names; the last one before it is meant.
            let same = titles.get(subject).into_iter().flatten().copied();
            let before = same.filter(|other| *other != at && items[*other].time <= item.time);
            found.extend(before.max_by_key(|other| items[*other].time));
        }
        targets.extend(found.into_iter().map(|target| (at, target)));
    }
    targets
}

fn record_reverted_by(item: &mut Item, name: Option<String>) {
    let Some(detail) = &mut item.detail else {
        return;
    };
    match name {
        Some(name) => detail.set_text(DetailText::RevertedBy, &name),
        None => detail.remove_text(DetailText::RevertedBy),
    }
}
