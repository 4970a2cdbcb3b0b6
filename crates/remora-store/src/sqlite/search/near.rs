//! The rows whose meaning is nearest to the query's, and how far each stands
//! out from what rows in this project mean.

use std::collections::HashMap;

use remora_embed::{MODEL, Meaning};
use remora_memory::store::Result;

use super::{POOL, Search};
use crate::sqlite::vectors::{self, Spread};

/// The nearest rows.
#[derive(Debug, Default)]
pub(super) struct Near {
    rows: HashMap<i64, f32>,
    spread: Option<Spread>,
}

impl Near {
    pub(super) fn find(search: &Search<'_>, meaning: &Meaning) -> Result<Self> {
        let nearest = vectors::nearest(search.conn, MODEL, meaning, &search.scope, POOL)?;
        Ok(Self {
            rows: nearest.into_iter().collect(),
            spread: vectors::spread(search.conn, MODEL, meaning, &search.scope)?,
        })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = i64> {
        self.rows.keys().copied()
    }

    pub(super) fn holds(&self, id: i64) -> bool {
        self.rows.contains_key(&id)
    }

    /// How many deviations a row is above the middle; `None` if it has no
    /// vector.
    pub(super) fn of(
        &self,
        search: &Search<'_>,
        id: i64,
        meaning: &Meaning,
    ) -> Result<Option<f64>> {
        let Some(spread) = self.spread else {
            return Ok(None);
        };
        let likeness = match self.rows.get(&id) {
            Some(likeness) => Some(*likeness),
            None => vectors::likeness(search.conn, MODEL, id, meaning)?,
        };
        Ok(likeness.map(|likeness| spread.deviations(likeness)))
    }
}
