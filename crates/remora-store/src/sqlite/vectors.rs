//! What rows mean: their vectors, which rows still wait for one, and the
//! sketches by which many are looked through. All vectors in a file were made
//! by one model; those of another are never compared with. A file that has no
//! such tables yet answers as if it had no vectors.

mod block;
mod blocks;
mod nearest;
mod spread;

use remora_embed::{Meaning, View};
use remora_memory::store::{Filter, Result};
use rusqlite::{
    CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params,
};

use super::SqliteStore;
use super::errors::Told;
use super::scope::Scope;
use blocks::Blocks;
pub(crate) use nearest::nearest;
pub(crate) use spread::{Spread, spread};

/// How many vectors a search reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breadth {
    /// How many of the nearest rows are wanted.
    pub(crate) wanted: usize,
    /// The sketches choose one row in so many, within these bounds, and the
    /// vectors of those are read. Among more rows more are about as near, and
    /// the choice must be wider. Up to the lower bound the answer is exact.
    one_in: usize,
    least: usize,
    most: usize,
    /// How many vectors tell what is usual: so many of a small project, which
    /// are nearly all, and so many of a large one.
    spread_small: usize,
    spread_large: usize,
    /// Whether only what was said is compared. The deeds of a turn come with what
    /// was said in it, and most rows are deeds.
    only_said: bool,
}

impl Breadth {
    /// For somebody who searches.
    pub(crate) const WHOLE: Self = Self {
        wanted: 200,
        one_in: 100,
        least: 750,
        most: 2_500,
        spread_small: 600,
        spread_large: 256,
        only_said: false,
    };
    /// For a hook, which needs the few best.
    pub(crate) const QUICK: Self = Self {
        wanted: 32,
        one_in: 400,
        least: 200,
        most: 500,
        spread_small: 256,
        spread_large: 128,
        only_said: true,
    };
}

/// The schema that brought these tables.
const SINCE: u32 = 2;

/// The statement; none if the file has no such tables, because a reader may
/// come before the writer that brings the file up.
pub(super) fn ask<'c>(conn: &'c Connection, sql: &str) -> Result<Option<CachedStatement<'c>>> {
    match conn.prepare_cached(sql).told() {
        Ok(statement) => Ok(Some(statement)),
        Err(error) => {
            let version: u32 = conn
                .pragma_query_value(None, "user_version", |row| row.get(0))
                .told()?;
            if version < SINCE {
                Ok(None)
            } else {
                Err(error)
            }
        }
    }
}

/// The number of the model, if the vectors in the file are of it.
fn current(conn: &Connection, model: &str) -> Result<Option<i64>> {
    Ok(maker(conn)?
        .filter(|(_, name)| name == model)
        .map(|(id, _)| id))
}

/// The model that made the vectors in the file.
fn maker(conn: &Connection) -> Result<Option<(i64, String)>> {
    let Some(mut statement) = ask(conn, "SELECT id, name FROM models ORDER BY id DESC LIMIT 1")?
    else {
        return Ok(None);
    };
    statement
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .told()
}

/// Notes that the row waits for a vector. Part of writing a row.
pub(crate) fn enqueue(tx: &Connection, item: i64) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO unembedded (item) VALUES (?1)")
        .told()?
        .execute([item])
        .told()?;
    Ok(())
}

/// Keeps the row's vector by the static table. Part of writing a row.
pub(crate) fn put_gist(tx: &Connection, item: i64, gist: &Meaning) -> Result<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO gists (item, v) VALUES (?1, ?2)")
        .told()?
        .execute(params![item, gist.to_bytes()])
        .told()?;
    Ok(())
}

/// Those of the rows that have no vector by the static table, because they are
/// older than it.
pub(crate) fn without_gist(conn: &Connection, items: &[i64]) -> Result<Vec<i64>> {
    let mut statement = conn
        .prepare_cached("SELECT 1 FROM gists WHERE item = ?1")
        .told()?;
    let mut without = Vec::new();
    for item in items {
        if !statement.exists([item]).told()? {
            without.push(*item);
        }
    }
    Ok(without)
}

/// Which rows still wait for a vector of this model, the newest first.
pub(crate) fn pending(conn: &Connection, model: &str, limit: usize) -> Result<Vec<i64>> {
    let (queued, all) = (
        "SELECT item FROM unembedded ORDER BY item DESC LIMIT ?1",
        "SELECT id FROM items ORDER BY id DESC LIMIT ?1",
    );
    waiting(conn, model, queued, all)?
        .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| row.get(0))
        .told()?
        .collect::<rusqlite::Result<_>>()
        .told()
}

/// How many rows still wait for a vector of this model.
pub(crate) fn pending_count(conn: &Connection, model: &str) -> Result<u64> {
    let (queued, all) = (
        "SELECT count(*) FROM unembedded",
        "SELECT coalesce(sum(items), 0) FROM kinds",
    );
    waiting(conn, model, queued, all)?
        .query_row([], |row| row.get(0))
        .told()
}

/// Rows wait in the queue; if what vectors there are is of another model, all
/// rows wait.
fn waiting<'c>(
    conn: &'c Connection,
    model: &str,
    queued: &str,
    all: &str,
) -> Result<CachedStatement<'c>> {
    if maker(conn)?.is_none_or(|(_, name)| name == model)
        && let Some(statement) = ask(conn, queued)?
    {
        return Ok(statement);
    }
    conn.prepare_cached(all).told()
}

/// Stores vectors of this model, all of them or none. Rows that are gone are
/// passed over. The first vector of another model than before makes an end of
/// the old ones.
pub(crate) fn put(conn: &Connection, model: &str, meanings: &[(i64, Meaning)]) -> Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).told()?;
    let model = match current(&tx, model)? {
        Some(id) => id,
        None => requeue(&tx, model)?,
    };
    let mut blocks = Blocks::new(&tx);
    for (item, meaning) in meanings {
        put_one(&tx, &mut blocks, model, *item, meaning)?;
    }
    blocks.finish()?;
    tx.commit().told()
}

fn put_one(
    tx: &Connection,
    blocks: &mut Blocks<'_>,
    model: i64,
    item: i64,
    meaning: &Meaning,
) -> Result<()> {
    tx.prepare_cached("DELETE FROM unembedded WHERE item = ?1")
        .told()?
        .execute([item])
        .told()?;
    let row: Option<(i64, i64, Option<i64>)> = tx
        .prepare_cached(
            "SELECT i.kind, i.project, v.block
             FROM items i LEFT JOIN vectors v ON v.item = i.id WHERE i.id = ?1",
        )
        .told()?
        .query_row([item], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
        .told()?;
    let Some((kind, project, old)) = row else {
        return Ok(());
    };
    // A kind beyond a byte would be a mistake of a later version; such a row is
    // found as long as nobody asks for kinds.
    let kind = u8::try_from(kind).unwrap_or(0);
    let block = blocks.put(project, old, item, kind, meaning)?;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO vectors (item, model, block, v) VALUES (?1, ?2, ?3, ?4)",
    )
    .told()?
    .execute(params![item, model, block, meaning.to_bytes()])
    .told()?;
    Ok(())
}

/// Makes an end of all vectors: every row waits for one of this model. Returns
/// the model's number.
pub(crate) fn requeue(tx: &Connection, model: &str) -> Result<i64> {
    clear(tx)?;
    tx.prepare_cached("INSERT INTO models (name) VALUES (?1)")
        .told()?
        .execute([model])
        .told()?;
    Ok(tx.last_insert_rowid())
}

/// Makes an end of all vectors, whatever made them: every row waits for one.
pub(crate) fn forget(conn: &Connection) -> Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).told()?;
    clear(&tx)?;
    tx.commit().told()
}

fn clear(tx: &Connection) -> Result<()> {
    tx.execute_batch(
        "DELETE FROM vectors;
         DELETE FROM sketches;
         DELETE FROM models;
         DELETE FROM unembedded;
         INSERT INTO unembedded (item) SELECT id FROM items ORDER BY id",
    )
    .told()
}

/// Takes out everything of a row that this file owns. Part of removing a row.
pub(crate) fn drop_item(tx: &Connection, item: i64) -> Result<()> {
    for sql in [
        "DELETE FROM unembedded WHERE item = ?1",
        "DELETE FROM gists WHERE item = ?1",
    ] {
        tx.prepare_cached(sql).told()?.execute([item]).told()?;
    }
    let block: Option<Option<i64>> = tx
        .prepare_cached("DELETE FROM vectors WHERE item = ?1 RETURNING block")
        .told()?
        .query_row([item], |row| row.get(0))
        .optional()
        .told()?;
    match block.flatten() {
        Some(block) => blocks::take_out(tx, block, item),
        None => Ok(()),
    }
}

/// How near the row is by the static table; none if it has no such vector.
pub(crate) fn gist_likeness(conn: &Connection, item: i64, gist: &Meaning) -> Result<Option<f32>> {
    match ask(conn, "SELECT v FROM gists WHERE item = ?1")? {
        Some(mut statement) => measured(&mut statement, item, gist),
        None => Ok(None),
    }
}

/// Measures one row after the other by a model.
pub(crate) struct Measure<'c>(CachedStatement<'c>);

impl<'c> Measure<'c> {
    /// None if the file has no vectors of this model.
    pub(crate) fn new(conn: &'c Connection, model: &str) -> Result<Option<Self>> {
        let model = current(conn, model)?;
        model
            .map(|model| of_model(conn, model).map(Self))
            .transpose()
    }

    /// How near the row is; none if it has no vector.
    pub(crate) fn of(&mut self, item: i64, meaning: &Meaning) -> Result<Option<f32>> {
        measured(&mut self.0, item, meaning)
    }
}

/// The vector of an item by this model.
fn of_model(conn: &Connection, model: i64) -> Result<CachedStatement<'_>> {
    conn.prepare_cached(&format!(
        "SELECT v FROM vectors WHERE item = ?1 AND model = {model}"
    ))
    .told()
}

/// What is no vector, or one of another space, is as none.
fn measured(
    statement: &mut CachedStatement<'_>,
    item: i64,
    meaning: &Meaning,
) -> Result<Option<f32>> {
    let mut rows = statement.query([item]).told()?;
    let Some(row) = rows.next().told()? else {
        return Ok(None);
    };
    let view = row.get_ref(0).told()?.as_blob().ok().and_then(View::new);
    Ok(view
        .filter(|view| view.dims() == meaning.dims())
        .map(|view| view.cosine(meaning)))
}

impl SqliteStore {
    /// The rows within the filter whose meaning is nearest, the nearest first,
    /// with how near they are. A part of what a search does.
    pub fn nearest(
        &self,
        model: &str,
        meaning: &Meaning,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<(i64, f32)>> {
        self.reading(|conn| match Scope::find(conn, filter)? {
            Some(scope) => {
                let breadth = Breadth {
                    wanted: limit,
                    ..Breadth::WHOLE
                };
                nearest(conn, model, meaning, &scope, breadth)
            }
            None => Ok(Vec::new()),
        })
    }
}

#[cfg(test)]
mod tests;
