//! The score distribution of a query: mean and deviation of the similarity, over
//! all items of a small project and a sample of a large one. It shows whether an
//! item is unusually similar; a cosine alone does not.

use remora_embed::Embedding;
use remora_memory::store::Result;
use rusqlite::{Connection, params_from_iter};

use super::block;
use super::{NearestLimits, find_current_model, measure_similarity, of_model};
use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::scope::ResolvedFilter;

/// How many blocks the sample of a large project is spread over.
const MAX_SAMPLED_BLOCKS: usize = 16;

/// Mean and deviation of the similarity between a query and items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreDistribution {
    mean: f64,
    deviation: f64,
}

/// Mean and deviation of the cosine of unrelated texts. Twenty made-up values of
/// this distribution are added to the sample, because a handful of items says
/// nothing about what is usual.
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

    /// How many deviations a similarity is above the mean.
    pub(crate) fn deviations_above(&self, likeness: f32) -> f64 {
        (f64::from(likeness) - self.mean) / self.deviation
    }
}

/// The distribution over the project, or over all projects.
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
    // The sample comes from the sketches because they list a project's items
    // without reading one of them.
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
    // In the order of the table, so that pages are read once.
    items.sort_unstable();
    let mut statement = of_model(conn, model)?;
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.extend(measure_similarity(&mut statement, item, meaning)?.map(f64::from));
    }
    Ok(ScoreDistribution::from_values(&values))
}
