//! The store in one SQLite file: hands each duty of the port to the file that
//! owns it.

mod connect;
mod erase;
mod errors;
mod ids;
mod lists;
mod names;
mod overrides;
mod read;
mod rows;
mod scope;
mod search;
mod settle;
mod spelling;
mod vectors;
mod weigh;
mod write;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use remora_embed::Meaning;
use remora_memory::store::{
    Batch, Counts, DetailRow, Erase, EventKey, Filter, Hit, Name, Page, ProjectActivity, Prune,
    PruneRun, Result, Settled, Store, StoreError,
};
use remora_memory::words::Query;
use remora_protocol::record::{
    EventRow, FileRecord, Given, Item, Kind, Override, Project, Session,
};
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub(crate) use connect::{beside, foreign, io, owner_only};
pub(crate) use errors::Told;
pub(crate) use write::list_words;

use crate::Access;
use crate::migrate::{self, Schema};

/// Memory in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    conn: Connection,
    path: PathBuf,
    schema: Schema,
    /// Made by the first batch.
    tools: RefCell<Option<write::Tools>>,
}

pub(crate) fn open(path: &Path, access: Access) -> Result<SqliteStore> {
    let mut conn = connect::connect(path, access)?;
    if let Access::ReadUntil(_) = access {
        // It lasts as long as the connection, which is not long.
        conn.execute_batch("BEGIN").told()?;
    }
    let schema = match access {
        Access::Write => migrate::bring_up(&mut conn, path)?,
        Access::Read | Access::ReadUntil(_) => migrate::look(&conn)?,
    };
    Ok(SqliteStore {
        conn,
        path: path.to_path_buf(),
        schema,
        tools: RefCell::new(None),
    })
}

impl SqliteStore {
    /// Checks the file page by page; an empty list means that all is well.
    pub fn integrity(&self) -> Result<Vec<String>> {
        read::integrity(&self.conn)
    }

    /// In how many pieces the word index is; searches look into each.
    pub fn pieces(&self) -> Result<usize> {
        self.reading(|conn| Ok(settle::pieces(conn)?.len()))
    }

    /// The schema that the file has.
    pub fn schema(&self) -> u32 {
        self.schema.found
    }

    /// Answers from one snapshot, and takes the locks for it once instead of
    /// once a statement. Whoever has a deadline has one for all questions.
    fn reading<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if !self.conn.is_autocommit() {
            return read(&self.conn);
        }
        let tx = Transaction::new_unchecked(&self.conn, TransactionBehavior::Deferred).told()?;
        read(&tx)
    }

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
    fn known(&self, events: &[EventKey<'_>]) -> Result<Vec<bool>> {
        self.reading(|conn| read::known(conn, events))
    }

    fn apply(&self, batch: &Batch) -> Result<Vec<i64>> {
        self.may_write()?;
        let mut tools = self.tools.borrow_mut();
        let written = write::apply(&self.conn, tools.get_or_insert_default(), batch);
        if written.is_err() {
            // They may remember what was never stored.
            *tools = None;
        }
        written
    }

    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        self.reading(|conn| search::search(conn, query, filter, limit))
    }

    fn items(&self, names: &[Name]) -> Result<Vec<Item>> {
        self.reading(|conn| read::items(conn, names))
    }

    fn list(&self, filter: &Filter, page: Page) -> Result<Vec<Item>> {
        self.reading(|conn| read::list(conn, filter, page))
    }

    fn sessions(&self, filter: &Filter, limit: usize) -> Result<Vec<Session>> {
        self.reading(|conn| read::sessions(conn, filter, limit))
    }

    fn events(&self, filter: &Filter, page: Page) -> Result<Vec<EventRow>> {
        self.reading(|conn| read::events(conn, filter, page))
    }

    fn projects(&self) -> Result<Vec<Project>> {
        self.reading(read::projects)
    }

    fn files(&self, project: &str, folder: Option<&str>) -> Result<Vec<FileRecord>> {
        self.reading(|conn| read::files(conn, project, folder))
    }

    fn file(&self, project: &str, folder: &str, name: &str) -> Result<Option<FileRecord>> {
        self.reading(|conn| read::file(conn, project, folder, name))
    }

    fn given(&self, filter: &Filter, limit: usize) -> Result<Vec<Given>> {
        self.reading(|conn| read::given(conn, filter, limit))
    }

    fn keyed(&self, project: &str, kind: Kind, key: &str) -> Result<Option<Item>> {
        self.reading(|conn| read::keyed(conn, project, kind, key))
    }

    fn details(
        &self,
        project: &str,
        kind: Kind,
        holding: Option<&Query>,
        limit: usize,
    ) -> Result<Vec<DetailRow>> {
        self.reading(|conn| match holding {
            Some(query) => search::details(conn, project, kind, query, limit),
            None => read::details(conn, project, kind, limit),
        })
    }

    fn counts(&self) -> Result<Counts> {
        self.reading(|conn| read::counts(conn, &self.path))
    }

    fn project_activity(&self) -> Result<Vec<ProjectActivity>> {
        self.reading(read::project_activity)
    }

    fn unembedded(&self, model: &str, limit: usize) -> Result<Vec<Item>> {
        self.reading(|conn| rows::items(conn, &vectors::pending(conn, model, limit)?))
    }

    fn unembedded_count(&self, model: &str) -> Result<u64> {
        self.reading(|conn| vectors::pending_count(conn, model))
    }

    fn embed(&self, model: &str, meanings: &[(i64, Meaning)]) -> Result<()> {
        self.may_write()?;
        let ids: Vec<i64> = meanings.iter().map(|(id, _)| *id).collect();
        let old = vectors::without_gist(&self.conn, &ids)?;
        let old = rows::items(&self.conn, &old)?;
        vectors::put(&self.conn, model, meanings)?;
        write::put_gists(&self.conn, &old)
    }

    fn forget_meanings(&self) -> Result<()> {
        self.may_write()?;
        vectors::forget(&self.conn)
    }

    fn settle(&self) -> Result<Settled> {
        self.may_write()?;
        settle::step(&self.conn)
    }

    fn remove(&self, names: &[Name]) -> Result<()> {
        self.may_write()?;
        let rows = read::items(&self.conn, names)?;
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        write::remove(&self.conn, &ids)
    }

    fn overrides(&self, project: Option<&str>) -> Result<Vec<Override>> {
        self.reading(|conn| overrides::load(conn, project))
    }

    fn erase(&self, erase: &Erase) -> Result<()> {
        self.may_write()?;
        erase::erase(&self.conn, erase)
    }

    fn prune(&self, prune: &Prune, run: PruneRun) -> Result<u64> {
        if run == PruneRun::Real {
            self.may_write()?;
        }
        write::prune(&self.conn, prune, run)
    }
}
