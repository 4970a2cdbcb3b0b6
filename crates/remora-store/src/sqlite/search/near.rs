//! The rows whose meaning is nearest to the query's, and how far each stands
//! out from what rows in this project mean.

use std::collections::HashMap;

use remora_embed::{MODEL, Meaning};
use remora_memory::store::Result;

use super::Search;
use crate::sqlite::vectors::{self, Measure, Spread};

/// The nearest rows.
#[derive(Debug, Default)]
pub(super) struct Near {
    rows: HashMap<i64, f32>,
    /// Rows that were measured besides.
    others: HashMap<i64, f32>,
    spread: Option<Spread>,
}

impl Near {
    pub(super) fn find(search: &Search<'_>, meaning: &Meaning) -> Result<Self> {
        let (conn, scope, breadth) = (search.conn, &search.scope, search.reach.near);
        let nearest = vectors::nearest(conn, MODEL, meaning, scope, breadth)?;
        Ok(Self {
            rows: nearest.into_iter().collect(),
            others: HashMap::new(),
            spread: vectors::spread(conn, MODEL, meaning, scope, breadth)?,
        })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = i64> {
        self.rows.keys().copied()
    }

    pub(super) fn holds(&self, id: i64) -> bool {
        self.rows.contains_key(&id)
    }

    /// How alike a row is, and how many deviations that is above the middle;
    /// `None` if it has no vector.
    pub(super) fn of(
        &mut self,
        measure: &mut Measure<'_>,
        id: i64,
        meaning: &Meaning,
    ) -> Result<Option<(f32, f64)>> {
        let Some(spread) = self.spread else {
            return Ok(None);
        };
        let likeness = match self.rows.get(&id).or_else(|| self.others.get(&id)) {
            Some(likeness) => Some(*likeness),
            None => measure.of(id, meaning)?,
        };
        if let Some(likeness) = likeness {
            self.others.insert(id, likeness);
        }
        Ok(likeness.map(|likeness| (likeness, spread.deviations(likeness))))
    }
}
