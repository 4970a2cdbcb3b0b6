//! Finds the statements that one may be related to, by the rarest of the words
//! they share. Comparing all pairs would be quadratic.

use std::collections::HashMap;

use super::{ComparableStatement, oppose};

/// By how many of its rarest words a statement looks for others.
const MAX_RAREST_WORDS: usize = 4;
/// Statements that are kept for one word: a word of more statements than this
/// says little about any of them.
const MAX_STATEMENTS_PER_WORD: usize = 80;

/// Places of statements, by their words.
#[derive(Debug, Default)]
pub struct StatementIndex {
    by_key: HashMap<u64, Vec<usize>>,
}

impl StatementIndex {
    /// Takes a statement in, under its place in a list of the caller's.
    pub fn add_statement(&mut self, at: usize, wording: &ComparableStatement) {
        for key in wording
            .weighed
            .word_keys()
            .chain(list_all_claim_keys(wording))
        {
            let places = self.by_key.entry(key).or_default();
            if places.len() < MAX_STATEMENTS_PER_WORD && places.last() != Some(&at) {
                places.push(at);
            }
        }
    }

    /// Places of statements to compare this one with, in order.
    pub fn find_candidates(&self, wording: &ComparableStatement) -> Vec<usize> {
        let places = |key: u64| self.by_key.get(&key).map_or(&[][..], Vec::as_slice);
        let mut words: Vec<u64> = wording.weighed.word_keys().collect();
        words.sort_by_key(|word| places(*word).len());
        words.truncate(MAX_RAREST_WORDS);
        let mut found: Vec<usize> = words
            .into_iter()
            .chain(list_all_claim_keys(wording))
            .flat_map(places)
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Keys that two statements share which ask for things that can be opposed.
fn list_all_claim_keys(wording: &ComparableStatement) -> impl Iterator<Item = u64> {
    wording.claims.iter().flat_map(oppose::list_claim_keys)
}
