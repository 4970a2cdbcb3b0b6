//! Embeddings of items: the vectors, the queue of items that have none yet, and
//! the sketches by which many are preselected. All vectors in a file come from
//! one model; those of different models are never compared. A file that has no
//! such tables yet answers as if it had no vectors.

mod block;
mod blocks;
mod distribution;
mod nearest;
mod said;

use remora_core::record::Kind;
use remora_embed::{Embedding, EmbeddingView};
use remora_memory::store::{Filter, Result};
use rusqlite::{
    CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params,
};

use super::SqliteStore;
use super::errors::StoreResultExt;
use super::names::kind_of;
use super::scope::ResolvedFilter;
use block::EncodedEntry;
use blocks::{SketchBlocks, SketchTable};
pub(crate) use distribution::{ScoreDistribution, estimate_distribution};
pub(crate) use nearest::find_nearest;
pub(crate) use said::list_said_sketches;

/// How many vectors a search reads. The figures behind these numbers are in
/// docs/design/0012 and 0024.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearestLimits {
    /// How many of the nearest items are wanted.
    pub(crate) wanted: usize,
    /// The sketches preselect one item in so many, within these bounds, and the
    /// vectors of those are read. Among more items more are about as near, so the
    /// preselection must be wider. Up to the lower bound the answer is exact.
    one_in: usize,
    least: usize,
    most: usize,
    /// How many vectors the score distribution is estimated from: so many of a
    /// small project, which are nearly all, and so many of a large one.
    spread_small: usize,
    spread_large: usize,
    /// Whether only prompts, messages, statements and the like are compared. What
    /// was done in a turn is injected with what was said in it, and most items are
    /// things done.
    only_said: bool,
}

impl NearestLimits {
    /// For a user's search.
    pub(crate) const FULL: Self = Self {
        wanted: 200,
        one_in: 100,
        least: 750,
        most: 2_500,
        spread_small: 600,
        spread_large: 256,
        only_said: false,
    };
    /// For a hook, which has milliseconds and needs the few best.
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

/// The schema that added these tables.
const VECTORS_VERSION: u32 = 2;

/// The statement; none if the file has no such tables, because a reader may
/// open it before the worker has migrated it.
pub(super) fn prepare_if_present<'c>(
    conn: &'c Connection,
    sql: &str,
) -> Result<Option<CachedStatement<'c>>> {
    match conn.prepare_cached(sql).store_err() {
        Ok(statement) => Ok(Some(statement)),
        // The version is read only after a failure: a hook pays for every query.
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

/// The id of the model, if the vectors in the file were made by it.
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

/// Puts an item into the embedding queue. Part of writing an item.
pub(crate) fn enqueue_item(tx: &Connection, item: i64) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO unembedded (item) VALUES (?1)")
        .store_err()?
        .execute([item])
        .store_err()?;
    Ok(())
}

/// Stores an item's static embedding. Part of writing an item.
pub(crate) fn put_gist(tx: &Connection, item: i64, gist: &Embedding) -> Result<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO gists (item, v) VALUES (?1, ?2)")
        .store_err()?
        .execute(params![item, gist.to_bytes()])
        .store_err()?;
    Ok(())
}

/// Those of the items that have no static embedding, because they were stored
/// before it existed.
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

/// The items without an embedding of this model, the newest first.
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

/// How many items have no embedding of this model.
pub(crate) fn pending_count(conn: &Connection, model: &str) -> Result<u64> {
    let (queued, all) = (
        "SELECT count(*) FROM unembedded",
        "SELECT coalesce(sum(items), 0) FROM kinds",
    );
    prepare_pending_query(conn, model, queued, all)?
        .query_row([], |row| row.get(0))
        .store_err()
}

/// The query for the queue; if the stored vectors are of another model, or the
/// file has no queue yet, the query for all items.
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

/// Stores vectors of this model, all of them or none. Items that were removed in
/// the meantime are skipped: the encoder works outside the writer's transaction.
/// The first vector of another model deletes all vectors of the old one.
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
    let mut blocks = SketchBlocks::new(&tx, SketchTable::All);
    let mut said = SketchBlocks::new(&tx, SketchTable::Said);
    for (item, meaning) in meanings {
        put_one(&tx, (&mut blocks, &mut said), model, *item, meaning)?;
    }
    blocks.finish()?;
    said.finish()?;
    tx.commit().store_err()
}

/// Whether items of this kind are those that a hook compares.
fn is_said(kind: i64) -> bool {
    kind_of(kind).is_some_and(Kind::is_said)
}

fn put_one<'c>(
    tx: &Connection,
    (blocks, said): (&mut SketchBlocks<'c>, &mut SketchBlocks<'c>),
    model: i64,
    item: i64,
    meaning: &Embedding,
) -> Result<()> {
    // Before the look at the item, so that one which is gone leaves the queue too.
    tx.prepare_cached("DELETE FROM unembedded WHERE item = ?1")
        .store_err()?
        .execute([item])
        .store_err()?;
    let row: Option<(i64, i64, Option<i64>, Option<i64>)> = tx
        .prepare_cached(
            "SELECT i.kind, i.project, v.block, v.said
             FROM items i LEFT JOIN vectors v ON v.item = i.id WHERE i.id = ?1",
        )
        .store_err()?
        .query_row([item], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()
        .store_err()?;
    let Some((kind, project, old, old_said)) = row else {
        return Ok(());
    };
    // A sketch has one byte for the kind. A code beyond it would be a mistake of a
    // later version; such an item is found by searches that name no kinds.
    let entry = EncodedEntry::new(item, u8::try_from(kind).unwrap_or(0), meaning);
    let block = blocks.write_entry(project, old, &entry)?;
    let said_block = if is_said(kind) {
        Some(said.write_entry(project, old_said, &entry)?)
    } else {
        // It may have been of another kind before.
        if let Some(old) = old_said {
            said.clear_entry(old, item)?;
        }
        None
    };
    tx.prepare_cached(
        "INSERT OR REPLACE INTO vectors (item, model, block, v, said) VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .store_err()?
    .execute(params![item, model, block, meaning.to_bytes(), said_block])
    .store_err()?;
    Ok(())
}

/// Deletes all vectors and queues every item for this model. Returns the model's
/// id.
pub(crate) fn requeue_all(tx: &Connection, model: &str) -> Result<i64> {
    clear_tables(tx)?;
    tx.prepare_cached("INSERT INTO models (name) VALUES (?1)")
        .store_err()?
        .execute([model])
        .store_err()?;
    Ok(tx.last_insert_rowid())
}

/// Deletes all vectors, whatever made them, and queues every item.
pub(crate) fn clear_embeddings(conn: &Connection) -> Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).store_err()?;
    clear_tables(&tx)?;
    tx.commit().store_err()
}

fn clear_tables(tx: &Connection) -> Result<()> {
    tx.execute_batch(
        "DELETE FROM vectors;
         DELETE FROM sketches;
         DELETE FROM said_sketches;
         DELETE FROM models;
         DELETE FROM unembedded;
         INSERT INTO unembedded (item) SELECT id FROM items ORDER BY id",
    )
    .store_err()
}

/// Deletes everything of an item that this file owns. Part of removing an item.
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
    let blocks: Option<(Option<i64>, Option<i64>)> = tx
        .prepare_cached("DELETE FROM vectors WHERE item = ?1 RETURNING block, said")
        .store_err()?
        .query_row([item], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .store_err()?;
    let (block, said) = blocks.unwrap_or_default();
    for (table, block) in [(SketchTable::All, block), (SketchTable::Said, said)] {
        if let Some(block) = block {
            blocks::take_out(tx, table, block, item)?;
        }
    }
    Ok(())
}

/// The cosine of an item's static embedding; none if it has no such vector.
pub(crate) fn gist_likeness(conn: &Connection, item: i64, gist: &Embedding) -> Result<Option<f32>> {
    match prepare_if_present(conn, "SELECT v FROM gists WHERE item = ?1")? {
        Some(mut statement) => measure_similarity(&mut statement, item, gist),
        None => Ok(None),
    }
}

/// Compares items one after the other with an embedding, by one statement.
pub(crate) struct SimilarityReader<'c>(CachedStatement<'c>);

impl<'c> SimilarityReader<'c> {
    /// None if the file has no vectors of this model.
    pub(crate) fn new(conn: &'c Connection, model: &str) -> Result<Option<Self>> {
        let model = find_current_model(conn, model)?;
        model
            .map(|model| of_model(conn, model).map(Self))
            .transpose()
    }

    /// The cosine of an item's embedding; none if it has no vector.
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

/// The cosine with the stored vector. A blob that is no vector, or one of another
/// length, counts as none: a damaged row must not fail the whole search.
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
    /// The items within the filter whose embeddings are nearest, the nearest
    /// first, with their cosines. One part of a search, public for benchmarks and
    /// tests.
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
