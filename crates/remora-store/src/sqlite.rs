//! The store in one SQLite file: hands each duty of the port to the file that
//! owns it.

mod connect;
mod erase;
mod errors;
mod ids;
mod injectable_terms;
mod names;
mod optimize;
mod overrides;
mod read;
mod rows;
mod scope;
mod search;
mod spelling;
mod vectors;
mod write;

use std::path::{Path, PathBuf};

use remora_core::record::{
    FileRecord, Injection, Item, Kind, LoggedEvent, Override, Project, Session,
};
use remora_embed::Embedding;
use remora_memory::prepare::PreparedBatch;
use remora_memory::store::{
    DetailRow, ErasePlan, EventKey, Filter, Hit, IndexState, ItemHeader, ItemRef, LookTools,
    PageRequest, ProjectStats, PruneMode, PruneRequest, Result, Store, StoreError, StoreStats,
};
use remora_memory::words::Query;
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub(crate) use connect::{io_error, open_foreign, owner_only, with_suffix};
pub(crate) use errors::StoreResultExt;
pub(crate) use vectors::list_said_sketches;
pub(crate) use write::list_words;

use crate::Access;
use crate::migrate::{self, SchemaVersions};

/// Memory in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    conn: Connection,
    path: PathBuf,
    schema: SchemaVersions,
    looks: LookTools,
}

pub(crate) fn open_store(path: &Path, access: Access, looks: LookTools) -> Result<SqliteStore> {
    let mut conn = connect::open_connection(path, access)?;
    if let Access::ReadUntil(_) = access {
        // One snapshot for the whole recall. An open read transaction keeps the
        // journal from being reset, but this connection lives for milliseconds.
        conn.execute_batch("BEGIN").store_err()?;
    }
    let schema = match access {
        Access::Write => migrate::bring_up(&mut conn, path, looks)?,
        // A reader never migrates: it would make a hook wait, and it may run
        // before the worker that brings the file up to date.
        Access::Read | Access::ReadUntil(_) => migrate::inspect_schema(&conn)?,
    };
    Ok(SqliteStore {
        conn,
        path: path.to_path_buf(),
        schema,
        looks,
    })
}

impl SqliteStore {
    /// Checks the file page by page; an empty list means that it is sound.
    pub fn check_integrity(&self) -> Result<Vec<String>> {
        read::check_integrity(&self.conn)
    }

    /// The number of segments of the full-text index; a search reads all of them.
    pub fn count_segments(&self) -> Result<usize> {
        self.with_snapshot(|conn| Ok(optimize::list_segment_pages(conn)?.len()))
    }

    /// The schema version of the file.
    pub fn schema_version(&self) -> u32 {
        self.schema.found
    }

    /// Answers from one snapshot, and takes the locks for it once instead of
    /// once per statement.
    fn with_snapshot<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        // A connection with a deadline has had its transaction since it was opened.
        if !self.conn.is_autocommit() {
            return read(&self.conn);
        }
        let tx =
            Transaction::new_unchecked(&self.conn, TransactionBehavior::Deferred).store_err()?;
        read(&tx)
    }

    /// Refuses to write a file of a newer version, which may hold tables that
    /// this one would leave out of step.
    fn may_write(&self) -> Result<()> {
        if self.schema.found > self.schema.known {
            return Err(StoreError::Newer {
                found: self.schema.found,
                known: self.schema.known,
            });
        }
        Ok(())
    }
}

impl Store for SqliteStore {
    fn are_known(&self, events: &[EventKey<'_>]) -> Result<Vec<bool>> {
        self.with_snapshot(|conn| read::are_known(conn, events))
    }

    fn store_batch(&self, batch: &PreparedBatch<'_>) -> Result<Vec<i64>> {
        self.may_write()?;
        write::store_batch(&self.conn, self.looks, batch)
    }

    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        self.with_snapshot(|conn| search::search_items(conn, query, filter, self.looks, limit))
    }

    fn find_items(&self, names: &[ItemRef]) -> Result<Vec<Item>> {
        self.with_snapshot(|conn| read::find_items(conn, names))
    }

    fn list_items(&self, filter: &Filter, page: PageRequest) -> Result<Vec<Item>> {
        self.with_snapshot(|conn| read::list_items(conn, filter, self.looks, page))
    }

    fn list_headers(&self, filter: &Filter, page: PageRequest) -> Result<Vec<ItemHeader>> {
        self.with_snapshot(|conn| read::list_headers(conn, filter, self.looks, page))
    }

    fn list_sessions(&self, filter: &Filter, limit: usize) -> Result<Vec<Session>> {
        self.with_snapshot(|conn| read::list_sessions(conn, filter, limit))
    }

    fn count_sessions(&self, filter: &Filter, limit: usize) -> Result<usize> {
        self.with_snapshot(|conn| read::count_sessions(conn, filter, limit))
    }

    fn list_events(&self, filter: &Filter, page: PageRequest) -> Result<Vec<LoggedEvent>> {
        self.with_snapshot(|conn| read::list_events(conn, filter, page))
    }

    fn list_projects(&self) -> Result<Vec<Project>> {
        self.with_snapshot(read::list_projects)
    }

    fn list_files(&self, project: &str, folder: Option<&str>) -> Result<Vec<FileRecord>> {
        self.with_snapshot(|conn| read::list_files(conn, project, folder))
    }

    fn find_file(&self, project: &str, folder: &str, name: &str) -> Result<Option<FileRecord>> {
        self.with_snapshot(|conn| read::find_file(conn, project, folder, name))
    }

    fn list_injections(&self, filter: &Filter, limit: usize) -> Result<Vec<Injection>> {
        self.with_snapshot(|conn| read::list_injections(conn, filter, limit))
    }

    fn find_by_key(&self, project: &str, kind: Kind, key: &str) -> Result<Option<Item>> {
        self.with_snapshot(|conn| read::find_by_key(conn, project, kind, key))
    }

    fn details(
        &self,
        project: &str,
        kind: Kind,
        holding: Option<&Query>,
        limit: usize,
    ) -> Result<Vec<DetailRow>> {
        self.with_snapshot(|conn| match holding {
            Some(query) => search::details(conn, project, kind, query, limit),
            None => read::details(conn, project, kind, limit),
        })
    }

    fn count_contents(&self) -> Result<StoreStats> {
        self.with_snapshot(|conn| read::count_contents(conn, &self.path))
    }

    fn project_activity(&self) -> Result<Vec<ProjectStats>> {
        self.with_snapshot(read::project_activity)
    }

    fn list_unembedded(&self, model: &str, limit: usize) -> Result<Vec<Item>> {
        self.with_snapshot(|conn| {
            rows::read_items(conn, &vectors::list_pending(conn, model, limit)?)
        })
    }

    fn unembedded_count(&self, model: &str) -> Result<u64> {
        self.with_snapshot(|conn| vectors::pending_count(conn, model))
    }

    fn store_embeddings(&self, model: &str, meanings: &[(i64, Embedding)]) -> Result<()> {
        self.may_write()?;
        let ids: Vec<i64> = meanings.iter().map(|(id, _)| *id).collect();
        // Items older than schema 2 have no static embedding. They pass through
        // the embedding queue anyway, so they get one here and not in a migration.
        let old = vectors::without_gist(&self.conn, &ids)?;
        let old = rows::read_items(&self.conn, &old)?;
        vectors::store_embeddings(&self.conn, model, meanings)?;
        write::put_gists(&self.conn, &old)
    }

    fn forget_meanings(&self) -> Result<()> {
        self.may_write()?;
        vectors::clear_embeddings(&self.conn)
    }

    fn optimize_index(&self) -> Result<IndexState> {
        self.may_write()?;
        optimize::optimize_step(&self.conn)
    }

    fn remove(&self, names: &[ItemRef]) -> Result<()> {
        self.may_write()?;
        let rows = read::find_items(&self.conn, names)?;
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        write::remove_items(&self.conn, &ids)
    }

    fn list_overrides(&self, project: Option<&str>) -> Result<Vec<Override>> {
        self.with_snapshot(|conn| overrides::list_overrides(conn, project))
    }

    fn erase(&self, erase: &ErasePlan) -> Result<()> {
        self.may_write()?;
        erase::erase_rows(&self.conn, erase)
    }

    fn prune(&self, prune: &PruneRequest, run: PruneMode) -> Result<u64> {
        if run == PruneMode::Real {
            self.may_write()?;
        }
        write::prune_rows(&self.conn, prune, run)
    }
}
