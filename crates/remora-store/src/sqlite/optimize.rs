//! The word index is written in one piece a batch, and a search looks into all
//! of them: here they become few again, a little at a time.

use remora_memory::store::{IndexState, Result};
use rusqlite::Connection;

use super::errors::StoreResultExt;

/// How much is written at most in one step, in pages of the index: the writer is
/// held up for some ten milliseconds.
const MAX_STEP_PAGES: i64 = 64;
/// All pieces become one when those beside the largest are together more than
/// this part of it. Otherwise only a few of about the same size do, so that a
/// large index is not written anew for a few rows.
const FULL_MERGE_DIVISOR: i64 = 8;

/// How many pages each piece has.
pub(super) fn list_segment_pages(conn: &Connection) -> Result<Vec<i64>> {
    // The index keeps the number of a page twofold, with a mark beside it.
    conn.prepare_cached("SELECT max(pgno) / 2 FROM words_idx GROUP BY segid")
        .store_err()?
        .query_map([], |row| row.get(0))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()
}

/// Does a little of it.
pub(super) fn optimize_step(conn: &Connection) -> Result<IndexState> {
    let mut pages = list_segment_pages(conn)?;
    pages.sort_unstable();
    let Some(largest) = pages.pop() else {
        return Ok(IndexState::Wholly);
    };
    let others: i64 = pages.iter().sum();
    let before = conn.total_changes();
    let all = others * FULL_MERGE_DIVISOR > largest;
    conn.prepare_cached("INSERT INTO words (words, rank) VALUES ('merge', ?1)")
        .store_err()?
        .execute([if all { -MAX_STEP_PAGES } else { MAX_STEP_PAGES }])
        .store_err()?;
    // One change is the command itself.
    Ok(if conn.total_changes() - before < 2 {
        IndexState::Wholly
    } else {
        IndexState::Partly
    })
}

#[cfg(test)]
mod tests;
