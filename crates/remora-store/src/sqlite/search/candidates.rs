//! Which items are worth ranking: those with all words first, then those with
//! most of the rarest ones, never more than a fixed number.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use remora_memory::store::{PageRequest, Result};

use super::SearchRun;
use super::word::{BEYOND_LEAD_WEIGHT, QueryWord};
use crate::sqlite::read::list_ids;
use remora_memory::term_weights::IdentityHasher;

/// How many common words are combined.
const MAX_COMBINED_WORDS: usize = 5;
/// How many words a quick search combines.
const MAX_RAREST_WORDS: usize = 3;
/// How many items of a session or a file are ranked.
const MAX_LISTED_ITEMS: usize = 20_000;

/// For each item, the sum of the weights of the words it contains.
type CandidateScores = HashMap<i64, f64, BuildHasherDefault<IdentityHasher>>;

/// Items that may be hits.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The items.
    pub(super) ids: Vec<i64>,
    /// Items among them that contain every word somewhere in a long text, sorted.
    pub(super) whole: Vec<i64>,
}

impl SearchRun<'_> {
    /// The items worth ranking.
    pub(super) fn find_candidates(&self, words: &[QueryWord]) -> Result<Candidates> {
        // The index knows neither sessions nor files; their items are few and can all
        // be ranked.
        if self.scope.session.is_some() || self.scope.paths.is_some() {
            let page = PageRequest::newest(MAX_LISTED_ITEMS);
            return Ok(Candidates {
                ids: list_ids(self.conn, &self.scope, page)?,
                whole: Vec::new(),
            });
        }
        let most: usize = words.iter().map(|word| word.rows.len()).sum();
        let mut sums =
            CandidateScores::with_capacity_and_hasher(most, BuildHasherDefault::default());
        for word in words {
            for id in &word.rows {
                *sums.entry(*id).or_insert(0.0) += word.idf;
            }
            for id in &word.deep {
                *sums.entry(*id).or_insert(0.0) += word.idf * BEYOND_LEAD_WEIGHT;
            }
        }
        let mut whole = self.find_joint_matches(words, &mut sums)?;
        whole.sort_unstable();
        let mut best: Vec<(f64, i64)> = sums.into_iter().map(|(id, sum)| (sum, id)).collect();
        let most = self.reach.ranked;
        if best.len() > most {
            best.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            best.truncate(most);
        }
        Ok(Candidates {
            ids: best.into_iter().map(|(_, id)| id).collect(),
            whole,
        })
    }

    /// Items that contain several words at once, however old they are. All items
    /// of a rare word are in its sample; those of common words are found only by
    /// querying for the words together: first all, then all but one, then pairs of
    /// the rarest. Returns the items whose whole text contains all words.
    fn find_joint_matches(
        &self,
        words: &[QueryWord],
        sums: &mut CandidateScores,
    ) -> Result<Vec<i64>> {
        let held: Vec<&QueryWord> = words
            .iter()
            .filter(|word| !word.rows.is_empty() || !word.deep.is_empty())
            .collect();
        let mut whole = Vec::new();
        if self.reach.recent.is_some() {
            self.find_rarest_matches(held, sums)?;
            return Ok(whole);
        }
        if held.len() > 1 {
            if self.add_matches(&held, sums)?.len() >= self.limit {
                return Ok(whole);
            }
            if held.len() == words.len() {
                let all: Vec<&str> = held.iter().map(|word| word.anywhere.as_str()).collect();
                whole = self.match_items(&all.join(" AND "), self.reach.together)?;
                // Enough to be ranked among items that have most of the words in their
                // lead.
                let half = held.iter().map(|word| word.idf).sum::<f64>() / 2.0;
                for id in &whole {
                    let sum = sums.entry(*id).or_insert(0.0);
                    *sum = sum.max(half);
                }
            }
        }
        let sample = self.reach.sample;
        let mut common: Vec<&QueryWord> = held
            .into_iter()
            .filter(|word| word.is_common(sample))
            .collect();
        common.sort_by(|a, b| a.common.total_cmp(&b.common));
        common.truncate(MAX_COMBINED_WORDS);
        let mut found = 0;
        if (2..words.len()).contains(&common.len()) {
            found += self.add_matches(&common, sums)?.len();
        }
        if common.len() > 2 && found < self.limit {
            for left_out in (0..common.len()).rev() {
                let mut some = common.clone();
                some.remove(left_out);
                found += self.add_matches(&some, sums)?.len();
            }
        }
        if common.len() > 3 && found < self.limit {
            for pair in [[0, 1], [0, 2], [1, 2]] {
                self.add_matches(&pair.map(|at| common[at]), sums)?;
            }
        }
        Ok(whole)
    }

    /// The same for a quick search: items with the rarest words, the newer ones
    /// first; only if there are none, newer items with two of them. What else an
    /// item contains is seen when it is ranked.
    fn find_rarest_matches(
        &self,
        mut held: Vec<&QueryWord>,
        sums: &mut CandidateScores,
    ) -> Result<()> {
        held.sort_by(|a, b| a.common.total_cmp(&b.common));
        held.truncate(MAX_RAREST_WORDS);
        if held.len() < 2 {
            return Ok(());
        }
        let newer = self.first_newer_id()?;
        let mut found = self.sum_from(newer, &held, sums)?;
        // All items of a word that is not common are in its sample already.
        if !found.is_empty() || !held[0].is_common(self.reach.sample) {
            return Ok(());
        }
        if newer > 0 {
            found = self.add_matches(&held, sums)?;
        }
        if found.is_empty() && held.len() == MAX_RAREST_WORDS {
            for left_out in 0..MAX_RAREST_WORDS {
                let mut some = held.clone();
                some.remove(left_out);
                self.sum_from(newer, &some, sums)?;
            }
        }
        Ok(())
    }

    /// Finds items with all of these words, adds their weights and returns them.
    fn add_matches(&self, words: &[&QueryWord], sums: &mut CandidateScores) -> Result<Vec<i64>> {
        self.sum_from(0, words, sums)
    }

    /// The same from this id on.
    fn sum_from(
        &self,
        from: i64,
        words: &[&QueryWord],
        sums: &mut CandidateScores,
    ) -> Result<Vec<i64>> {
        let all: Vec<&str> = words.iter().map(|word| word.expression.as_str()).collect();
        let total: f64 = words.iter().map(|word| word.idf).sum();
        let rows = self.ask_from(from, &all.join(" AND "), self.reach.together)?;
        for id in &rows {
            let sum = sums.entry(*id).or_insert(0.0);
            // Not added up: the words may have been counted for this item already.
            *sum = sum.max(total);
        }
        Ok(rows)
    }
}
