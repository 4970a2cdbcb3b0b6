//! The items whose embeddings are nearest: sketches preselect, vectors decide.
//! Time grows by nanoseconds for each item in scope; memory does not grow.

use remora_core::record::Kind;
use remora_embed::Embedding;
use remora_memory::store::{PageRequest, Result};
use rusqlite::{Connection, params_from_iter};

use super::block::{self, MAX_ENTRIES, SIGN_BYTES};
use super::blocks::SketchTable;
use super::{NearestLimits, find_current_model, measure_similarity, of_model};
use crate::sqlite::errors::StoreResultExt;
use crate::sqlite::names::kind_code;
use crate::sqlite::read::list_ids;
use crate::sqlite::scope::ResolvedFilter;

/// Signs are summed up so many bytes at a time, so that no step asks whether it is
/// the last.
const UNROLLED_BYTES: usize = 8;
const _: () = assert!(SIGN_BYTES.is_multiple_of(UNROLLED_BYTES));
/// How many items of a session, a file, an agent or a time are compared.
const MAX_LISTED_ITEMS: usize = 20_000;

/// The items in scope that are nearest by this model, the nearest first.
pub(crate) fn find_nearest(
    conn: &Connection,
    model: &str,
    meaning: &Embedding,
    scope: &ResolvedFilter,
    breadth: NearestLimits,
) -> Result<Vec<(i64, f32)>> {
    let Some(model) = find_current_model(conn, model)? else {
        return Ok(Vec::new());
    };
    if breadth.wanted == 0 || meaning.is_blank() {
        return Ok(Vec::new());
    }
    let mut items = if is_narrow(scope) {
        let page = PageRequest::newest(MAX_LISTED_ITEMS);
        list_ids(conn, scope, page)?
    } else {
        select_by_signs(conn, meaning, scope, breadth)?
    };
    let mut statement = of_model(conn, model)?;
    // In the order of the table, so that vectors on one page are read together.
    items.sort_unstable();
    items.dedup();
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        if let Some(near) = measure_similarity(&mut statement, item, meaning)? {
            found.push((item, near));
        }
    }
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    found.truncate(breadth.wanted);
    Ok(found)
}

/// Whether the filter names more than project and kinds, which is all a sketch
/// knows. Such items are listed first and compared exactly: preselecting among
/// all and filtering afterwards could leave none.
fn is_narrow(scope: &ResolvedFilter) -> bool {
    scope.session.is_some()
        || scope.agent.is_some()
        || scope.paths.is_some()
        || scope.since != i64::MIN
        || scope.until != i64::MAX
}

/// The items of the project, or of all projects, whose signs match best.
fn select_by_signs(
    conn: &Connection,
    meaning: &Embedding,
    scope: &ResolvedFilter,
    breadth: NearestLimits,
) -> Result<Vec<i64>> {
    let (condition, values) = match scope.project {
        Some(project) => ("WHERE project = ?1", vec![project]),
        None => ("", Vec::new()),
    };
    let blocks: usize = conn
        .prepare_cached(&format!("SELECT count(*) FROM sketches {condition}"))
        .store_err()?
        .query_row(params_from_iter(&values), |row| row.get(0))
        .store_err()?;
    // An upper bound is good enough here, and counting blocks reads no blob.
    let rows = blocks.saturating_mul(MAX_ENTRIES);
    let most = (rows / breadth.one_in).clamp(breadth.least, breadth.most);
    let sums = SignSums::new(meaning);
    let kinds = compared_kinds(scope, breadth);
    let mut best = TopItems::new(most.max(breadth.wanted));
    let table = if breadth.only_said && scope.said_apart {
        SketchTable::Said
    } else {
        SketchTable::All
    };
    let mut statement = conn
        .prepare_cached(&format!("SELECT data FROM {} {condition}", table.name()))
        .store_err()?;
    let mut rows = statement.query(params_from_iter(values)).store_err()?;
    while let Some(row) = rows.next().store_err()? {
        let data = row.get_ref(0).store_err()?.as_blob().unwrap_or_default();
        for entry in block::iter_entries(data) {
            if kinds[usize::from(entry.kind)] {
                best.offer_item(sums.score_signs(entry.bits), entry.item);
            }
        }
    }
    Ok(best.into_items())
}

/// For each kind code, whether its items are compared: a table, because it is
/// consulted once for every sketch.
fn compared_kinds(scope: &ResolvedFilter, breadth: NearestLimits) -> [bool; 256] {
    let mut kinds = [scope.kinds.is_empty(); 256];
    let mut set = |code: i64, is_compared: bool| {
        if let Some(slot) = usize::try_from(code).ok().and_then(|at| kinds.get_mut(at)) {
            *slot = is_compared;
        }
    };
    for kind in &scope.kinds {
        set(*kind, true);
    }
    if breadth.only_said {
        for kind in Kind::ALL.iter().filter(|kind| !kind.is_said()) {
            set(kind_code(*kind), false);
        }
    }
    kinds
}

/// The query in four bits per dimension: for each byte of signs, the sum of the
/// components whose sign bit is set. Such sums separate items much better than
/// counting equal signs does (docs/design/0012). One table lookup per byte takes
/// fewer instructions than counting bits on machines without `popcount`.
struct SignSums(Box<[[i16; 256]; SIGN_BYTES]>);

impl SignSums {
    fn new(meaning: &Embedding) -> Self {
        #[expect(
            clippy::large_stack_arrays,
            reason = "24 KB, once a search; of a known length, so that no place is checked"
        )]
        let mut sums = Box::new([[0; 256]; SIGN_BYTES]);
        // The stored form of an embedding begins with its scale, four bytes.
        let bytes = meaning.to_bytes();
        let (components, _) = bytes.get(4..).unwrap_or_default().as_chunks::<8>();
        let rest = components.len() * 8 + 4;
        let mut last = [0; 8];
        let tail = bytes.get(rest..).unwrap_or_default();
        last[..tail.len()].copy_from_slice(tail);
        for (sums, components) in sums.iter_mut().zip(components.iter().chain([&last])) {
            // Rounded to a value from -8 to 7.
            let steps = components.map(|c| i16::from(c.cast_signed().saturating_add(8) >> 4));
            for signs in 1..sums.len() {
                // The sum without the lowest set bit was computed before.
                let before = sums[signs & (signs - 1)];
                sums[signs] = before + steps[signs.trailing_zeros() as usize];
            }
        }
        Self(sums)
    }

    fn score_signs(&self, bits: &[u8; SIGN_BYTES]) -> i32 {
        let (tables, _) = self.0.as_chunks::<UNROLLED_BYTES>();
        let (signs, _) = bits.as_chunks::<UNROLLED_BYTES>();
        let mut score = 0;
        for (sums, signs) in tables.iter().zip(signs) {
            let mut part = 0;
            for at in 0..UNROLLED_BYTES {
                // At most 7 for each of 64 dimensions, which fits.
                part += sums[at][usize::from(signs[at])];
            }
            score += i32::from(part);
        }
        score
    }
}

/// The best of many, in bounded memory: collects twice as many as wanted, then
/// drops the worse half. That is linear in time, where a heap is not.
struct TopItems {
    most: usize,
    /// The worst of the best so far; what is not above it cannot be among them.
    bar: Option<(i32, i64)>,
    gathered: Vec<(i32, i64)>,
}

impl TopItems {
    fn new(most: usize) -> Self {
        Self {
            most,
            bar: None,
            gathered: Vec::new(),
        }
    }

    fn offer_item(&mut self, score: i32, item: i64) {
        if self.bar.is_some_and(|bar| (score, item) <= bar) {
            return;
        }
        self.gathered.push((score, item));
        if self.gathered.len() >= self.most.saturating_mul(2) {
            self.drop_worse_half();
        }
    }

    fn drop_worse_half(&mut self) {
        if self.gathered.len() > self.most && self.most > 0 {
            let (_, bar, _) = self
                .gathered
                .select_nth_unstable_by(self.most - 1, |a, b| b.cmp(a));
            self.bar = Some(*bar);
            self.gathered.truncate(self.most);
        }
    }

    fn into_items(mut self) -> Vec<i64> {
        self.drop_worse_half();
        self.gathered.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests;
