//! Which rows are worth ranking: those with all words first, then those with
//! most of the rarest ones, never more than a fixed number.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use remora_memory::store::{Page, Result};

use super::Search;
use super::word::{DEEP, Word};
use crate::sqlite::read::list_ids;
use crate::sqlite::weigh::Same;

/// How many common words are asked for in several combinations.
const SUBSETS: usize = 5;
/// How many words are asked for at once by whoever waits.
const RAREST: usize = 3;
/// How many rows a session or a file gives.
const DRIVEN: usize = 20_000;

/// For each row, how much the words count that it holds.
type Sums = HashMap<i64, f64, BuildHasherDefault<Same>>;

/// Rows that may be hits.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The rows.
    pub(super) ids: Vec<i64>,
    /// Rows among them that hold every word somewhere in a long text, sorted.
    pub(super) whole: Vec<i64>,
}

impl Search<'_> {
    /// The rows worth ranking.
    pub(super) fn candidates(&self, words: &[Word]) -> Result<Candidates> {
        if self.scope.session.is_some() || self.scope.paths.is_some() {
            let page = Page::newest(DRIVEN);
            return Ok(Candidates {
                ids: list_ids(self.conn, &self.scope, page)?,
                whole: Vec::new(),
            });
        }
        let most: usize = words.iter().map(|word| word.rows.len()).sum();
        let mut sums = Sums::with_capacity_and_hasher(most, BuildHasherDefault::default());
        for word in words {
            for id in &word.rows {
                *sums.entry(*id).or_insert(0.0) += word.idf;
            }
            for id in &word.deep {
                *sums.entry(*id).or_insert(0.0) += word.idf * DEEP;
            }
        }
        let mut whole = self.together(words, &mut sums)?;
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

    /// Rows that hold several words at once, however old they are. The rows of
    /// a rare word are known already, all of them; those of common words are
    /// only found by asking for the words together: first all, then all but
    /// one, then pairs of the rarest. Returns the rows whose whole text holds
    /// all words.
    fn together(&self, words: &[Word], sums: &mut Sums) -> Result<Vec<i64>> {
        let held: Vec<&Word> = words
            .iter()
            .filter(|word| !word.rows.is_empty() || !word.deep.is_empty())
            .collect();
        let mut whole = Vec::new();
        if self.reach.recent.is_some() {
            self.briefly(held, sums)?;
            return Ok(whole);
        }
        if held.len() > 1 {
            if self.sum(&held, sums)?.len() >= self.limit {
                return Ok(whole);
            }
            if held.len() == words.len() {
                let all: Vec<&str> = held.iter().map(|word| word.anywhere.as_str()).collect();
                whole = self.ask(&all.join(" AND "), self.reach.together)?;
                // Enough to be ranked among rows that have most of the words.
                let half = held.iter().map(|word| word.idf).sum::<f64>() / 2.0;
                for id in &whole {
                    let sum = sums.entry(*id).or_insert(0.0);
                    *sum = sum.max(half);
                }
            }
        }
        let sample = self.reach.sample;
        let mut common: Vec<&Word> = held
            .into_iter()
            .filter(|word| word.is_common(sample))
            .collect();
        common.sort_by(|a, b| a.common.total_cmp(&b.common));
        common.truncate(SUBSETS);
        let mut found = 0;
        if (2..words.len()).contains(&common.len()) {
            found += self.sum(&common, sums)?.len();
        }
        if common.len() > 2 && found < self.limit {
            for left_out in (0..common.len()).rev() {
                let mut some = common.clone();
                some.remove(left_out);
                found += self.sum(&some, sums)?.len();
            }
        }
        if common.len() > 3 && found < self.limit {
            for pair in [[0, 1], [0, 2], [1, 2]] {
                self.sum(&pair.map(|at| common[at]), sums)?;
            }
        }
        Ok(whole)
    }

    /// The same for whoever waits: rows with the rarest words, the newer ones
    /// first; only if there are none, newer rows with two of them. What else a
    /// row holds is seen when it is ranked.
    fn briefly(&self, mut held: Vec<&Word>, sums: &mut Sums) -> Result<()> {
        held.sort_by(|a, b| a.common.total_cmp(&b.common));
        held.truncate(RAREST);
        if held.len() < 2 {
            return Ok(());
        }
        let newer = self.newer()?;
        let mut found = self.sum_from(newer, &held, sums)?;
        // All rows of a word that is not common are known already.
        if !found.is_empty() || !held[0].is_common(self.reach.sample) {
            return Ok(());
        }
        if newer > 0 {
            found = self.sum(&held, sums)?;
        }
        if found.is_empty() && held.len() == RAREST {
            for left_out in 0..RAREST {
                let mut some = held.clone();
                some.remove(left_out);
                self.sum_from(newer, &some, sums)?;
            }
        }
        Ok(())
    }

    /// Asks for rows with all of these words, counts them and returns them.
    fn sum(&self, words: &[&Word], sums: &mut Sums) -> Result<Vec<i64>> {
        self.sum_from(0, words, sums)
    }

    /// The same from this number on.
    fn sum_from(&self, from: i64, words: &[&Word], sums: &mut Sums) -> Result<Vec<i64>> {
        let all: Vec<&str> = words.iter().map(|word| word.expression.as_str()).collect();
        let total: f64 = words.iter().map(|word| word.idf).sum();
        let rows = self.ask_from(from, &all.join(" AND "), self.reach.together)?;
        for id in &rows {
            let sum = sums.entry(*id).or_insert(0.0);
            *sum = sum.max(total);
        }
        Ok(rows)
    }
}
