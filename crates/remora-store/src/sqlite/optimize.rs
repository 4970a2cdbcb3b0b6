//! Optimizing the full-text index: every batch writes one segment and a search
//! reads all of them, so they are merged again, a little at a time.

use remora_memory::store::{IndexState, Result};
use rusqlite::Connection;

use super::errors::StoreResultExt;

/// How many pages of the index one step may write: capture waits for the step,
/// some ten milliseconds.
const MAX_STEP_PAGES: i64 = 64;
/// All segments are merged into one when the smaller ones together exceed this
/// fraction of the largest. Otherwise only a few of similar size are merged, so
/// that a large index is not rewritten for a few items.
const FULL_MERGE_DIVISOR: i64 = 8;

/// The number of pages of each segment.
pub(super) fn list_segment_pages(conn: &Connection) -> Result<Vec<i64>> {
    // FTS5 stores the page number shifted left by one, with a flag in the low bit.
    conn.prepare_cached("SELECT max(pgno) / 2 FROM words_idx GROUP BY segid")
        .store_err()?
        .query_map([], |row| row.get(0))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()
}

/// Merges a bounded number of pages and says whether more is left to do.
pub(super) fn optimize_step(conn: &Connection) -> Result<IndexState> {
    let mut pages = list_segment_pages(conn)?;
    pages.sort_unstable();
    let Some(largest) = pages.pop() else {
        return Ok(IndexState::Wholly);
    };
    let others: i64 = pages.iter().sum();
    let before = conn.total_changes();
    let all = others * FULL_MERGE_DIVISOR > largest;
    // A negative count tells FTS5 to work towards a single segment.
    conn.prepare_cached("INSERT INTO words (words, rank) VALUES ('merge', ?1)")
        .store_err()?
        .execute([if all { -MAX_STEP_PAGES } else { MAX_STEP_PAGES }])
        .store_err()?;
    // The command itself counts as one change, so fewer than two mean that FTS5
    // found nothing to merge.
    Ok(if conn.total_changes() - before < 2 {
        IndexState::Wholly
    } else {
        IndexState::Partly
    })
}

#[cfg(test)]
mod tests;
