//! The items whose embeddings are nearest to the query's, and how unusual each
//! similarity is within the project.

use std::collections::HashMap;

use remora_embed::{Embedding, MODEL_ID};
use remora_memory::store::Result;

use super::SearchRun;
use crate::sqlite::vectors::{self, ScoreDistribution, SimilarityReader};

/// The nearest items, and every other similarity measured in this search.
#[derive(Debug, Default)]
pub(super) struct NearestItems {
    rows: HashMap<i64, f32>,
    /// Items that were measured later; neighbours are asked about several times.
    others: HashMap<i64, f32>,
    spread: Option<ScoreDistribution>,
}

impl NearestItems {
    pub(super) fn find(search: &SearchRun<'_>, meaning: &Embedding) -> Result<Self> {
        let (conn, scope, breadth) = (search.conn, &search.scope, search.reach.near);
        let nearest = vectors::find_nearest(conn, MODEL_ID, meaning, scope, breadth)?;
        Ok(Self {
            rows: nearest.into_iter().collect(),
            others: HashMap::new(),
            spread: vectors::estimate_distribution(conn, MODEL_ID, meaning, scope, breadth)?,
        })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = i64> {
        self.rows.keys().copied()
    }

    pub(super) fn contains_item(&self, id: i64) -> bool {
        self.rows.contains_key(&id)
    }

    /// How similar an item is, and how many deviations that is above the mean;
    /// `None` if it has no vector.
    pub(super) fn find_similarity(
        &mut self,
        measure: &mut SimilarityReader<'_>,
        id: i64,
        meaning: &Embedding,
    ) -> Result<Option<(f32, f64)>> {
        let Some(spread) = self.spread else {
            return Ok(None);
        };
        let likeness = match self.rows.get(&id).or_else(|| self.others.get(&id)) {
            Some(likeness) => Some(*likeness),
            None => measure.find_similarity(id, meaning)?,
        };
        if let Some(likeness) = likeness {
            self.others.insert(id, likeness);
        }
        Ok(likeness.map(|likeness| (likeness, spread.deviations_above(likeness))))
    }
}
