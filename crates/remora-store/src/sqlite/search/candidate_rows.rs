//! The columns that ranking needs of a candidate and of its neighbours, and no
//! more: each row is read once, in the order of the file.

use remora_core::record::Kind;
use remora_memory::store::Result;

use super::SearchRun;
use super::candidates::Candidates;
use super::word::{BEYOND_LEAD_WEIGHT, QueryWord};
use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::names::kind_code;
use remora_memory::term_weights::PackedWeights;

/// How many items before and after one count as its neighbours.
const NEIGHBOUR_DISTANCE_ITEMS: usize = 2;

/// A candidate or a neighbour, without the long columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidateRow {
    pub(super) id: i64,
    pub(super) kind: i64,
    pub(super) time: i64,
    pub(super) speaker: Option<i64>,
    /// How many words it has, by weight.
    pub(super) length: f64,
    session: i64,
    /// Whether it is within the filter and may be a hit; otherwise it only
    /// supports one as a neighbour.
    pub(super) fits: bool,
}

impl CandidateRow {
    /// Commits belong to no session: two that were imported one after the other
    /// need not be about the same thing.
    fn shares_session(&self, other: &Self) -> bool {
        self.session == other.session && self.kind != kind_code(Kind::Commit)
    }
}

/// Rows in the order of their ids, with the weight of each word in each.
#[derive(Debug, Default)]
pub(super) struct CandidateRows {
    rows: Vec<CandidateRow>,
    /// For each row, a weight for each word.
    weights: Vec<f64>,
    words: usize,
}

impl CandidateRows {
    /// Reads the candidates and their neighbours.
    pub(super) fn load_rows(
        search: &SearchRun<'_>,
        words: &[QueryWord],
        candidates: &Candidates,
    ) -> Result<Self> {
        let mut asked = candidates.ids.clone();
        asked.sort_unstable();
        asked.dedup();
        let mut lights = Self {
            rows: Vec::with_capacity(asked.len() * 3),
            weights: Vec::new(),
            words: words.len(),
        };
        let scope = &search.scope;
        // Ranges of ids instead of single ids: neighbours are on the same page, and
        // overlapping neighbourhoods are read once.
        let mut statement = search
            .conn
            .prepare_cached(
                "SELECT id, kind, project, session, agent, time, vec, speaker, tool
                 FROM items WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
            )
            .store_err()?;
        for (from, to) in neighbour_ranges(&asked) {
            let mut rows = statement.query([from, to]).store_err()?;
            while let Some(row) = rows.next().store_err()? {
                let number = |at: usize| row.get::<_, i64>(at).store_err();
                let (id, kind, session, time) = (number(0)?, number(1)?, number(3)?, number(5)?);
                let is = |wanted: Option<i64>, value: i64| wanted.is_none_or(|it| it == value);
                let fits = time >= scope.since
                    && time < scope.until
                    && is(scope.project, number(2)?)
                    && is(scope.session, session)
                    && is(scope.agent, number(4)?)
                    && (scope.kinds.is_empty() || scope.kinds.contains(&kind))
                    && !scope.leaves_out(kind, row.get(8).store_err()?)
                    // The row does not say which files it is about; the candidates were
                    // listed by file.
                    && (scope.paths.is_none() || asked.binary_search(&id).is_ok());
                let vec = row.get_ref(6).store_err()?.as_blob().unwrap_or_default();
                let weights = PackedWeights(vec);
                let whole = candidates.whole.binary_search(&id).is_ok();
                for word in words {
                    let weight = word.weight_in_item(id, weights);
                    let deep = if whole { BEYOND_LEAD_WEIGHT } else { 0.0 };
                    lights
                        .weights
                        .push(if weight > 0.0 { weight } else { deep });
                }
                lights.rows.push(CandidateRow {
                    id,
                    kind,
                    time,
                    speaker: row.get(7).store_err()?,
                    length: f64::from(weights.word_count()),
                    session,
                    fits,
                });
            }
        }
        Ok(lights)
    }

    /// The rows.
    pub(super) fn rows(&self) -> &[CandidateRow] {
        &self.rows
    }

    /// The weight of each word in the row at this index.
    pub(super) fn word_weights(&self, at: usize) -> &[f64] {
        &self.weights[at * self.words..(at + 1) * self.words]
    }

    /// The ids directly before and after this row, in its session.
    pub(super) fn next_to(&self, at: usize) -> [Option<i64>; 2] {
        let row = self.rows[at];
        [at.checked_sub(1), at.checked_add(1)].map(|other| {
            let other = self.rows.get(other?)?;
            let next = (other.id - row.id).abs() == 1 && row.shares_session(other);
            next.then_some(other.id)
        })
    }

    /// The indexes of this row's neighbours in its session, and how far away they
    /// are.
    pub(super) fn iter_neighbours(&self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        let row = self.rows[at];
        let (from, to) = (
            at.saturating_sub(NEIGHBOUR_DISTANCE_ITEMS),
            at + NEIGHBOUR_DISTANCE_ITEMS + 1,
        );
        (from..to.min(self.rows.len())).filter_map(move |other| {
            let it = self.rows[other];
            let far = usize::try_from((it.id - row.id).abs()).unwrap_or(usize::MAX);
            let near = (1..=NEIGHBOUR_DISTANCE_ITEMS).contains(&far) && row.shares_session(&it);
            near.then_some((other, far))
        })
    }
}

/// The neighbourhoods of these ids as ranges, overlapping ones merged.
fn neighbour_ranges(sorted: &[i64]) -> Vec<(i64, i64)> {
    let reach = i64::try_from(NEIGHBOUR_DISTANCE_ITEMS).unwrap_or(0);
    let mut stretches: Vec<(i64, i64)> = Vec::new();
    for id in sorted {
        match stretches.last_mut() {
            Some((_, to)) if id - reach <= *to + 1 => *to = id + reach,
            _ => stretches.push((id - reach, id + reach)),
        }
    }
    stretches
}
