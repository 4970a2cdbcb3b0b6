//! How alike rows are to a query on the whole: the middle and the deviation,
//! over all rows of a small project and over a sample of a large one. Against
//! it, it is seen whether a row stands out.

use remora_embed::Embedding;
use remora_memory::store::Result;
use rusqlite::{Connection, params_from_iter};

use super::block;
use super::{NearestLimits, find_current_model, measure_similarity, of_model};
use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::scope::ResolvedFilter;

/// From how many blocks a sample is taken.
const MAX_SAMPLED_BLOCKS: usize = 16;

/// The middle and the deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreDistribution {
    mean: f64,
    deviation: f64,
}

/// Texts that have nothing to do with each other are alike by so much and so
/// little; as many such are thought to be there besides, because a handful of
/// rows says nothing about what is usual.
const PRIOR_MEAN: f64 = 0.05;
const PRIOR_DEVIATION: f64 = 0.09;
const PRIOR_WEIGHT: f64 = 20.0;

impl ScoreDistribution {
    fn from_values(values: &[f64]) -> Option<Self> {
        let count = f64::from(u32::try_from(values.len()).ok().filter(|n| *n > 0)?);
        let all = count + PRIOR_WEIGHT;
        let mean = (values.iter().sum::<f64>() + PRIOR_WEIGHT * PRIOR_MEAN) / all;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let usual = PRIOR_DEVIATION.powi(2) + (PRIOR_MEAN - mean).powi(2);
        Some(Self {
            mean,
            deviation: ((squares + PRIOR_WEIGHT * usual) / all).sqrt(),
        })
    }

    /// How many deviations above the middle.
    pub(crate) fn deviations_above(&self, likeness: f32) -> f64 {
        (f64::from(likeness) - self.mean) / self.deviation
    }
}

/// The spread over the project, or over all.
pub(crate) fn estimate_distribution(
    conn: &Connection,
    model: &str,
    meaning: &Embedding,
    scope: &ResolvedFilter,
    breadth: NearestLimits,
) -> Result<Option<ScoreDistribution>> {
    let Some(model) = find_current_model(conn, model)? else {
        return Ok(None);
    };
    let (condition, values) = match scope.project {
        Some(project) => ("WHERE project = ?1", vec![project]),
        None => ("", Vec::new()),
    };
    let blocks: Vec<i64> = conn
        .prepare_cached(&format!("SELECT block FROM sketches {condition}"))
        .store_err()?
        .query_map(params_from_iter(values), |row| row.get(0))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()?;
    let (step, each) = if blocks.len() <= MAX_SAMPLED_BLOCKS {
        (1, breadth.spread_small.div_ceil(blocks.len().max(1)))
    } else {
        (
            blocks.len() / MAX_SAMPLED_BLOCKS,
            breadth.spread_large / MAX_SAMPLED_BLOCKS,
        )
    };
    let mut data = conn
        .prepare_cached("SELECT data FROM sketches WHERE block = ?1")
        .store_err()?;
    let mut items = Vec::with_capacity(breadth.spread_small);
    for block in blocks.iter().step_by(step) {
        let mut rows = data.query([block]).store_err()?;
        if let Some(row) = rows.next().store_err()? {
            let data = row.get_ref(0).store_err()?.as_blob().unwrap_or_default();
            items.extend(block::iter_entries(data).take(each).map(|entry| entry.item));
        }
    }
    items.sort_unstable();
    let mut statement = of_model(conn, model)?;
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.extend(measure_similarity(&mut statement, item, meaning)?.map(f64::from));
    }
    Ok(ScoreDistribution::from_values(&values))
}
