//! The rows whose meaning is nearest: sketches choose, vectors decide. Time
//! grows with the rows in scope, by nanoseconds each; memory does not.

use remora_embed::Meaning;
use remora_memory::store::{Page, Result};
use remora_protocol::record::Kind;
use rusqlite::{Connection, params_from_iter};

use super::block::{self, BITS, SLOTS};
use super::{Breadth, current, measured, of_model};
use crate::sqlite::errors::Told;
use crate::sqlite::names::kind_code;
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
    let sums = Sums::new(meaning);
    let kinds = compared_kinds(scope, breadth);
    let mut best = Best::new(most.max(breadth.wanted));
    let mut statement = conn
        .prepare_cached(&format!("SELECT data FROM sketches {condition}"))
        .told()?;
    let mut rows = statement.query(params_from_iter(values)).told()?;
    while let Some(row) = rows.next().told()? {
        let data = row.get_ref(0).told()?.as_blob().unwrap_or_default();
        for entry in block::entries(data) {
            if kinds[usize::from(entry.kind)] {
                best.offer(sums.fit(entry.bits), entry.item);
            }
        }
    }
    Ok(best.items())
}

/// For each number of a kind, whether its rows are compared.
fn compared_kinds(scope: &Scope, breadth: Breadth) -> [bool; 256] {
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

/// A vector in steps of a sixteenth: for each byte of signs, what its components
/// add up to where a sign is set. Adding them up tells rows apart much better
/// than counting equal signs. A look-up a byte needs fewer instructions than
/// counting bits does without one for it, which not every machine has.
struct Sums(Box<[[i16; 256]; BITS]>);

impl Sums {
    fn new(meaning: &Meaning) -> Self {
        #[expect(
            clippy::large_stack_arrays,
            reason = "24 KB, once a search; of a known length, so that no place is checked"
        )]
        let mut sums = Box::new([[0; 256]; BITS]);
        // The components stand behind the scale.
        let bytes = meaning.to_bytes();
        let (components, _) = bytes.get(4..).unwrap_or_default().as_chunks::<8>();
        let rest = components.len() * 8 + 4;
        let mut last = [0; 8];
        let tail = bytes.get(rest..).unwrap_or_default();
        last[..tail.len()].copy_from_slice(tail);
        for (sums, components) in sums.iter_mut().zip(components.iter().chain([&last])) {
            // From -8 to 7.
            let steps = components.map(|c| i16::from(c.cast_signed().saturating_add(8) >> 4));
            for signs in 1..sums.len() {
                // What the signs but the lowest one add up to is known.
                let before = sums[signs & (signs - 1)];
                sums[signs] = before + steps[signs.trailing_zeros() as usize];
            }
        }
        Self(sums)
    }

    fn fit(&self, bits: &[u8; BITS]) -> i32 {
        let both = self.0.iter().zip(bits);
        both.map(|(sums, signs)| i32::from(sums[usize::from(*signs)]))
            .sum()
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
