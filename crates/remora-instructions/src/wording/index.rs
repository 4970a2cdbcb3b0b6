//! Finds the statements that one could stand in a relation to, by the rarest
//! of the words they share. Many like statements are compared as a few.

use std::collections::HashMap;

use super::{Wording, oppose};

/// By how many of its rarest words a statement looks for others.
const RAREST: usize = 4;
/// Statements that are kept for one word.
const MOST: usize = 80;

/// Places of statements, by their words.
#[derive(Debug, Default)]
pub(crate) struct Index {
    by_key: HashMap<u64, Vec<usize>>,
}

impl Index {
    /// Takes a statement in, under its place in a list of the caller's.
    pub(crate) fn add(&mut self, at: usize, wording: &Wording) {
        for key in wording.weighed.keys().chain(claimed(wording)) {
            let places = self.by_key.entry(key).or_default();
            if places.len() < MOST && places.last() != Some(&at) {
                places.push(at);
            }
        }
    }

    /// Places of statements to compare this one with, in order.
    pub(crate) fn near(&self, wording: &Wording) -> Vec<usize> {
        let places = |key: u64| self.by_key.get(&key).map_or(&[][..], Vec::as_slice);
        let mut words: Vec<u64> = wording.weighed.keys().collect();
        words.sort_by_key(|word| places(*word).len());
        words.truncate(RAREST);
        let mut found: Vec<usize> = words
            .into_iter()
            .chain(claimed(wording))
            .flat_map(places)
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Keys that two statements share which ask for things that can be opposed.
fn claimed(wording: &Wording) -> impl Iterator<Item = u64> {
    wording.claims.iter().flat_map(oppose::keys)
}
