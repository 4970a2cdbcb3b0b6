//! How alike rows are to a query on the whole: the middle and the deviation,
//! over all rows of a small project and over a sample of a large one. Against
//! it, it is seen whether a row stands out.

use remora_embed::Meaning;
use remora_memory::store::Result;
use rusqlite::{Connection, params_from_iter};

use super::block;
use super::{Breadth, current, measured, of_model};
use crate::sqlite::errors::Told;
use crate::sqlite::scope::Scope;

/// From how many blocks a sample is taken.
const SAMPLED: usize = 16;

/// The middle and the deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    mean: f64,
    deviation: f64,
}

/// Texts that have nothing to do with each other are alike by so much and so
/// little; as many such are thought to be there besides, because a handful of
/// rows says nothing about what is usual.
const MEAN: f64 = 0.05;
const DEVIATION: f64 = 0.09;
const USUAL: f64 = 20.0;

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let count = f64::from(u32::try_from(values.len()).ok().filter(|n| *n > 0)?);
        let all = count + USUAL;
        let mean = (values.iter().sum::<f64>() + USUAL * MEAN) / all;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let usual = DEVIATION.powi(2) + (MEAN - mean).powi(2);
        Some(Self {
            mean,
            deviation: ((squares + USUAL * usual) / all).sqrt(),
        })
    }

    /// How many deviations above the middle.
    pub(crate) fn deviations(&self, likeness: f32) -> f64 {
        (f64::from(likeness) - self.mean) / self.deviation
    }
}

/// The spread over the project, or over all.
pub(crate) fn spread(
    conn: &Connection,
    model: &str,
    meaning: &Meaning,
    scope: &Scope,
    breadth: Breadth,
) -> Result<Option<Spread>> {
    let Some(model) = current(conn, model)? else {
        return Ok(None);
    };
    let (condition, values) = match scope.project {
        Some(project) => ("WHERE project = ?1", vec![project]),
        None => ("", Vec::new()),
    };
    let blocks: Vec<i64> = conn
        .prepare_cached(&format!("SELECT block FROM sketches {condition}"))
        .told()?
        .query_map(params_from_iter(values), |row| row.get(0))
        .told()?
        .collect::<rusqlite::Result<_>>()
        .told()?;
    let (step, each) = if blocks.len() <= SAMPLED {
        (1, breadth.spread_small.div_ceil(blocks.len().max(1)))
    } else {
        (blocks.len() / SAMPLED, breadth.spread_large / SAMPLED)
    };
    let mut data = conn
        .prepare_cached("SELECT data FROM sketches WHERE block = ?1")
        .told()?;
    let mut items = Vec::with_capacity(breadth.spread_small);
    for block in blocks.iter().step_by(step) {
        let mut rows = data.query([block]).told()?;
        if let Some(row) = rows.next().told()? {
            let data = row.get_ref(0).told()?.as_blob().unwrap_or_default();
            items.extend(block::entries(data).take(each).map(|entry| entry.item));
        }
    }
    items.sort_unstable();
    let mut statement = of_model(conn, model)?;
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.extend(measured(&mut statement, item, meaning)?.map(f64::from));
    }
    Ok(Spread::of(&values))
}
