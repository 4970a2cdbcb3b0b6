//! The word index is written in one piece a batch, and a search looks into all
//! of them: here they become few again, a little at a time.

use remora_memory::store::{Result, Settled};
use rusqlite::Connection;

use super::errors::Told;

/// How much is written at most in one step, in pages of the index: the writer is
/// held up for some ten milliseconds.
const PAGES: i64 = 64;
/// All pieces become one when those beside the largest are together more than
/// this part of it. Otherwise only a few of about the same size do, so that a
/// large index is not written anew for a few rows.
const PART: i64 = 8;

/// How many pages each piece has.
pub(super) fn pieces(conn: &Connection) -> Result<Vec<i64>> {
    // The index keeps the number of a page twofold, with a mark beside it.
    conn.prepare_cached("SELECT max(pgno) / 2 FROM words_idx GROUP BY segid")
        .told()?
        .query_map([], |row| row.get(0))
        .told()?
        .collect::<rusqlite::Result<_>>()
        .told()
}

/// Does a little of it.
pub(super) fn step(conn: &Connection) -> Result<Settled> {
    let mut pages = pieces(conn)?;
    pages.sort_unstable();
    let Some(largest) = pages.pop() else {
        return Ok(Settled::Wholly);
    };
    let others: i64 = pages.iter().sum();
    let before = conn.total_changes();
    let all = others * PART > largest;
    conn.prepare_cached("INSERT INTO words (words, rank) VALUES ('merge', ?1)")
        .told()?
        .execute([if all { -PAGES } else { PAGES }])
        .told()?;
    // One change is the command itself.
    Ok(if conn.total_changes() - before < 2 {
        Settled::Wholly
    } else {
        Settled::Partly
    })
}

#[cfg(test)]
mod tests;
