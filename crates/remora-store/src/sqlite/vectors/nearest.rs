//! The rows whose meaning is nearest: sketches choose, vectors decide. Time
//! grows with the rows in scope, by nanoseconds each; memory does not.

use remora_embed::Meaning;
use remora_memory::store::{Page, Result};
use rusqlite::{Connection, params_from_iter};

use super::block::{self, BITS, SLOTS};
use super::{Breadth, current, measured, of_model};
use crate::sqlite::errors::Told;
use crate::sqlite::read::list_ids;
use crate::sqlite::scope::Scope;

/// How many rows a session, a file or a time gives.
const LISTED: usize = 20_000;

/// The rows in scope that are nearest by this model, the nearest first.
pub(crate) fn nearest(
    conn: &Connection,
    model: &str,
    meaning: &Meaning,
    scope: &Scope,
    breadth: Breadth,
) -> Result<Vec<(i64, f32)>> {
    let Some(model) = current(conn, model)? else {
        return Ok(Vec::new());
    };
    if breadth.wanted == 0 || meaning.is_blank() {
        return Ok(Vec::new());
    }
    let mut items = if is_narrow(scope) {
        let page = Page::newest(LISTED);
        list_ids(conn, scope, page)?
    } else {
        chosen(conn, meaning, scope, breadth)?
    };
    let mut statement = of_model(conn, model)?;
    // Vectors that lie beside each other are read one after the other.
    items.sort_unstable();
    items.dedup();
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        if let Some(near) = measured(&mut statement, item, meaning)? {
            found.push((item, near));
        }
    }
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    found.truncate(breadth.wanted);
    Ok(found)
}

/// Whether the scope says more than the sketches know.
fn is_narrow(scope: &Scope) -> bool {
    scope.session.is_some()
        || scope.agent.is_some()
        || scope.paths.is_some()
        || scope.since != i64::MIN
        || scope.until != i64::MAX
}

/// The rows of the project, or of all, whose signs fit best.
fn chosen(
    conn: &Connection,
    meaning: &Meaning,
    scope: &Scope,
    breadth: Breadth,
) -> Result<Vec<i64>> {
    let (condition, values) = match scope.project {
        Some(project) => ("WHERE project = ?1", vec![project]),
        None => ("", Vec::new()),
    };
    let blocks: usize = conn
        .prepare_cached(&format!("SELECT count(*) FROM sketches {condition}"))
        .told()?
        .query_row(params_from_iter(&values), |row| row.get(0))
        .told()?;
    let rows = blocks.saturating_mul(SLOTS);
    let most = (rows / breadth.one_in).clamp(breadth.least, breadth.most);
    let planes = Planes::new(meaning);
    let mut kinds = [scope.kinds.is_empty(); 256];
    for kind in &scope.kinds {
        if let Some(slot) = usize::try_from(*kind).ok().and_then(|at| kinds.get_mut(at)) {
            *slot = true;
        }
    }
    let mut best = Best::new(most.max(breadth.wanted));
    let mut statement = conn
        .prepare_cached(&format!("SELECT data FROM sketches {condition}"))
        .told()?;
    let mut rows = statement.query(params_from_iter(values)).told()?;
    while let Some(row) = rows.next().told()? {
        let data = row.get_ref(0).told()?.as_blob().unwrap_or_default();
        for entry in block::entries(data) {
            if kinds[usize::from(entry.kind)] {
                best.offer(planes.fit(entry.bits), entry.item);
            }
        }
    }
    Ok(best.items())
}

/// A vector in steps of a sixteenth, as bits: a plane for each bit of a step.
/// With it the sum of the components where a sign is set is counted, not
/// added up. That tells rows apart much better than counting equal signs, and
/// costs little more.
struct Planes([[u64; WORDS]; 4]);

/// How many words the signs of an entry are.
const WORDS: usize = BITS / 8;

impl Planes {
    fn new(meaning: &Meaning) -> Self {
        let mut planes = [[0; WORDS]; 4];
        // The components stand behind the scale.
        let bytes = meaning.to_bytes();
        let components = bytes.get(4..).unwrap_or_default();
        for (at, component) in components.iter().take(BITS * 8).enumerate() {
            // From -8 to 7; the highest bit of it counts as -8.
            let step = component.cast_signed().saturating_add(8) >> 4;
            for (bit, plane) in planes.iter_mut().enumerate() {
                let set = u64::from(step.cast_unsigned() >> bit & 1);
                plane[at / 64] |= set << (at % 64);
            }
        }
        Self(planes)
    }

    fn fit(&self, bits: &[u8; BITS]) -> i32 {
        let (words, _) = bits.as_chunks::<8>();
        let count = |plane: &[u64; WORDS]| -> i32 {
            let both = words.iter().zip(plane);
            let ones = both.map(|(word, plane)| (u64::from_le_bytes(*word) & plane).count_ones());
            ones.sum::<u32>().cast_signed()
        };
        let [ones, twos, fours, eights] = &self.0;
        count(ones) + 2 * count(twos) + 4 * count(fours) - 8 * count(eights)
    }
}

/// The best of many, in bounded memory: gathers twice as many as wanted, then
/// lets go of the worse half.
struct Best {
    most: usize,
    /// What is not above this is not among the best any more.
    bar: Option<(i32, i64)>,
    gathered: Vec<(i32, i64)>,
}

impl Best {
    fn new(most: usize) -> Self {
        Self {
            most,
            bar: None,
            gathered: Vec::new(),
        }
    }

    fn offer(&mut self, score: i32, item: i64) {
        if self.bar.is_some_and(|bar| (score, item) <= bar) {
            return;
        }
        self.gathered.push((score, item));
        if self.gathered.len() >= self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.gathered.len() > self.most && self.most > 0 {
            let (_, bar, _) = self
                .gathered
                .select_nth_unstable_by(self.most - 1, |a, b| b.cmp(a));
            self.bar = Some(*bar);
            self.gathered.truncate(self.most);
        }
    }

    fn items(mut self) -> Vec<i64> {
        self.cut();
        self.gathered.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests;
