//! What rows mean: their vectors, which rows still wait for one, and the
//! sketches by which many are looked through. All vectors in a file were made
//! by one model; those of another are never compared with. A file that has no
//! such tables yet answers as if it had no vectors.

mod block;
mod blocks;
mod distribution;
mod nearest;

use remora_embed::{Embedding, EmbeddingView};
use remora_memory::store::{Filter, Result};
use rusqlite::{
    CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params,
};

use super::SqliteStore;
use super::errors::StoreResultExt;
use super::scope::ResolvedFilter;
use blocks::SketchBlocks;
pub(crate) use distribution::{ScoreDistribution, estimate_distribution};
pub(crate) use nearest::find_nearest;

/// How many vectors a search reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearestLimits {
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

impl NearestLimits {
    /// For somebody who searches.
    pub(crate) const FULL: Self = Self {
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
const VECTORS_VERSION: u32 = 2;

/// The statement; none if the file has no such tables, because a reader may
/// come before the writer that brings the file up.
pub(super) fn prepare_if_present<'c>(
    conn: &'c Connection,
    sql: &str,
) -> Result<Option<CachedStatement<'c>>> {
    match conn.prepare_cached(sql).store_err() {
        Ok(statement) => Ok(Some(statement)),
        Err(error) => {
            let version: u32 = conn
                .pragma_query_value(None, "user_version", |row| row.get(0))
                .store_err()?;
            if version < VECTORS_VERSION {
                Ok(None)
            } else {
                Err(error)
            }
        }
    }
}

/// The number of the model, if the vectors in the file are of it.
fn find_current_model(conn: &Connection, model: &str) -> Result<Option<i64>> {
    Ok(find_stored_model(conn)?
        .filter(|(_, name)| name == model)
        .map(|(id, _)| id))
}

/// The model that made the vectors in the file.
fn find_stored_model(conn: &Connection) -> Result<Option<(i64, String)>> {
    let Some(mut statement) =
        prepare_if_present(conn, "SELECT id, name FROM models ORDER BY id DESC LIMIT 1")?
    else {
        return Ok(None);
    };
    statement
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .store_err()
}

/// Notes that the row waits for a vector. Part of writing a row.
pub(crate) fn enqueue_item(tx: &Connection, item: i64) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO unembedded (item) VALUES (?1)")
        .store_err()?
        .execute([item])
        .store_err()?;
    Ok(())
}

/// Keeps the row's vector by the static table. Part of writing a row.
pub(crate) fn put_gist(tx: &Connection, item: i64, gist: &Embedding) -> Result<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO gists (item, v) VALUES (?1, ?2)")
        .store_err()?
        .execute(params![item, gist.to_bytes()])
        .store_err()?;
    Ok(())
}

/// Those of the rows that have no vector by the static table, because they are
/// older than it.
pub(crate) fn without_gist(conn: &Connection, items: &[i64]) -> Result<Vec<i64>> {
    let mut statement = conn
        .prepare_cached("SELECT 1 FROM gists WHERE item = ?1")
        .store_err()?;
    let mut without = Vec::new();
    for item in items {
        if !statement.exists([item]).store_err()? {
            without.push(*item);
        }
    }
    Ok(without)
}

/// Which rows still wait for a vector of this model, the newest first.
pub(crate) fn list_pending(conn: &Connection, model: &str, limit: usize) -> Result<Vec<i64>> {
    let (queued, all) = (
        "SELECT item FROM unembedded ORDER BY item DESC LIMIT ?1",
        "SELECT id FROM items ORDER BY id DESC LIMIT ?1",
    );
    prepare_pending_query(conn, model, queued, all)?
        .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| row.get(0))
        .store_err()?
        .collect::<rusqlite::Result<_>>()
        .store_err()
}

/// How many rows still wait for a vector of this model.
pub(crate) fn pending_count(conn: &Connection, model: &str) -> Result<u64> {
    let (queued, all) = (
        "SELECT count(*) FROM unembedded",
        "SELECT coalesce(sum(items), 0) FROM kinds",
    );
    prepare_pending_query(conn, model, queued, all)?
        .query_row([], |row| row.get(0))
        .store_err()
}

/// Rows wait in the queue; if what vectors there are is of another model, all
/// rows wait.
fn prepare_pending_query<'c>(
    conn: &'c Connection,
    model: &str,
    queued: &str,
    all: &str,
) -> Result<CachedStatement<'c>> {
    if find_stored_model(conn)?.is_none_or(|(_, name)| name == model)
        && let Some(statement) = prepare_if_present(conn, queued)?
    {
        return Ok(statement);
    }
    conn.prepare_cached(all).store_err()
}

/// Stores vectors of this model, all of them or none. Rows that are gone are
/// passed over. The first vector of another model than before makes an end of
/// the old ones.
pub(crate) fn store_embeddings(
    conn: &Connection,
    model: &str,
    meanings: &[(i64, Embedding)],
) -> Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).store_err()?;
    let model = match find_current_model(&tx, model)? {
        Some(id) => id,
        None => requeue_all(&tx, model)?,
    };
    let mut blocks = SketchBlocks::new(&tx);
    for (item, meaning) in meanings {
        put_one(&tx, &mut blocks, model, *item, meaning)?;
    }
    blocks.finish()?;
    tx.commit().store_err()
}

fn put_one(
    tx: &Connection,
    blocks: &mut SketchBlocks<'_>,
    model: i64,
    item: i64,
    meaning: &Embedding,
) -> Result<()> {
    tx.prepare_cached("DELETE FROM unembedded WHERE item = ?1")
        .store_err()?
        .execute([item])
        .store_err()?;
    let row: Option<(i64, i64, Option<i64>)> = tx
        .prepare_cached(
            "SELECT i.kind, i.project, v.block
             FROM items i LEFT JOIN vectors v ON v.item = i.id WHERE i.id = ?1",
        )
        .store_err()?
        .query_row([item], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
        .store_err()?;
    let Some((kind, project, old)) = row else {
        return Ok(());
    };
    // A kind beyond a byte would be a mistake of a later version; such a row is
    // found as long as nobody asks for kinds.
    let kind = u8::try_from(kind).unwrap_or(0);
    let block = blocks.write_entry(project, old, item, kind, meaning)?;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO vectors (item, model, block, v) VALUES (?1, ?2, ?3, ?4)",
    )
    .store_err()?
    .execute(params![item, model, block, meaning.to_bytes()])
    .store_err()?;
    Ok(())
}

/// Makes an end of all vectors: every row waits for one of this model. Returns
/// the model's number.
pub(crate) fn requeue_all(tx: &Connection, model: &str) -> Result<i64> {
    clear_tables(tx)?;
    tx.prepare_cached("INSERT INTO models (name) VALUES (?1)")
        .store_err()?
        .execute([model])
        .store_err()?;
    Ok(tx.last_insert_rowid())
}

/// Makes an end of all vectors, whatever made them: every row waits for one.
pub(crate) fn clear_embeddings(conn: &Connection) -> Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).store_err()?;
    clear_tables(&tx)?;
    tx.commit().store_err()
}

fn clear_tables(tx: &Connection) -> Result<()> {
    tx.execute_batch(
        "DELETE FROM vectors;
         DELETE FROM sketches;
         DELETE FROM models;
         DELETE FROM unembedded;
         INSERT INTO unembedded (item) SELECT id FROM items ORDER BY id",
    )
    .store_err()
}

/// Takes out everything of a row that this file owns. Part of removing a row.
pub(crate) fn drop_item(tx: &Connection, item: i64) -> Result<()> {
    for sql in [
        "DELETE FROM unembedded WHERE item = ?1",
        "DELETE FROM gists WHERE item = ?1",
    ] {
        tx.prepare_cached(sql)
            .store_err()?
            .execute([item])
            .store_err()?;
    }
    let block: Option<Option<i64>> = tx
        .prepare_cached("DELETE FROM vectors WHERE item = ?1 RETURNING block")
        .store_err()?
        .query_row([item], |row| row.get(0))
        .optional()
        .store_err()?;
    match block.flatten() {
        Some(block) => blocks::take_out(tx, block, item),
        None => Ok(()),
    }
}

/// How near the row is by the static table; none if it has no such vector.
pub(crate) fn gist_likeness(conn: &Connection, item: i64, gist: &Embedding) -> Result<Option<f32>> {
    match prepare_if_present(conn, "SELECT v FROM gists WHERE item = ?1")? {
        Some(mut statement) => measure_similarity(&mut statement, item, gist),
        None => Ok(None),
    }
}

/// Measures one row after the other by a model.
pub(crate) struct SimilarityReader<'c>(CachedStatement<'c>);

impl<'c> SimilarityReader<'c> {
    /// None if the file has no vectors of this model.
    pub(crate) fn new(conn: &'c Connection, model: &str) -> Result<Option<Self>> {
        let model = find_current_model(conn, model)?;
        model
            .map(|model| of_model(conn, model).map(Self))
            .transpose()
    }

    /// How near the row is; none if it has no vector.
    pub(crate) fn find_similarity(
        &mut self,
        item: i64,
        meaning: &Embedding,
    ) -> Result<Option<f32>> {
        measure_similarity(&mut self.0, item, meaning)
    }
}

/// The vector of an item by this model.
fn of_model(conn: &Connection, model: i64) -> Result<CachedStatement<'_>> {
    conn.prepare_cached(&format!(
        "SELECT v FROM vectors WHERE item = ?1 AND model = {model}"
    ))
    .store_err()
}

/// What is no vector, or one of another space, is as none.
fn measure_similarity(
    statement: &mut CachedStatement<'_>,
    item: i64,
    meaning: &Embedding,
) -> Result<Option<f32>> {
    let mut rows = statement.query([item]).store_err()?;
    let Some(row) = rows.next().store_err()? else {
        return Ok(None);
    };
    let view = row
        .get_ref(0)
        .store_err()?
        .as_blob()
        .ok()
        .and_then(EmbeddingView::new);
    Ok(view
        .filter(|view| view.dims() == meaning.dims())
        .map(|view| view.cosine_similarity(meaning)))
}

impl SqliteStore {
    /// The rows within the filter whose meaning is nearest, the nearest first,
    /// with how near they are. A part of what a search does.
    pub fn find_nearest(
        &self,
        model: &str,
        meaning: &Embedding,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<(i64, f32)>> {
        self.with_snapshot(
            |conn| match ResolvedFilter::find(conn, filter, self.looks)? {
                Some(scope) => {
                    let breadth = NearestLimits {
                        wanted: limit,
                        ..NearestLimits::FULL
                    };
                    find_nearest(conn, model, meaning, &scope, breadth)
                }
                None => Ok(Vec::new()),
            },
        )
    }
}

#[cfg(test)]
mod tests;
