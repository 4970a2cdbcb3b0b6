//! A store that fails on purpose, to see what the rest makes of it.

use crate::prepare::PreparedBatch;
use crate::store::{
    Batch, DetailRow, EventKey, Filter, Hit, IndexState, ItemRef, PageRequest, PruneMode,
    PruneRequest, Result, Store, StoreStats,
};
use crate::words::Query;
use remora_core::record::{
    ErasePlan, FileRecord, Injection, Item, Kind, LoggedEvent, Override, Project, Session,
};
use remora_embed::Embedding;

/// What is done with a batch before it is written: panic, end the process, or
/// nothing at all.
pub type Fault = fn(&Batch);

/// Another store behind a [`Fault`].
pub struct FaultyStore {
    store: Box<dyn Store>,
    fault: Fault,
}

impl FaultyStore {
    /// Puts the fault in front of the store.
    pub fn new(store: Box<dyn Store>, fault: Fault) -> Self {
        Self { store, fault }
    }
}

impl Store for FaultyStore {
    fn are_known(&self, events: &[EventKey<'_>]) -> Result<Vec<bool>> {
        self.store.are_known(events)
    }

    fn store_batch(&self, batch: &PreparedBatch<'_>) -> Result<Vec<i64>> {
        (self.fault)(batch.batch);
        self.store.store_batch(batch)
    }

    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        self.store.search(query, filter, limit)
    }

    fn find_items(&self, names: &[ItemRef]) -> Result<Vec<Item>> {
        self.store.find_items(names)
    }

    fn list_items(&self, filter: &Filter, page: PageRequest) -> Result<Vec<Item>> {
        self.store.list_items(filter, page)
    }

    fn list_sessions(&self, filter: &Filter, limit: usize) -> Result<Vec<Session>> {
        self.store.list_sessions(filter, limit)
    }

    fn list_events(&self, filter: &Filter, page: PageRequest) -> Result<Vec<LoggedEvent>> {
        self.store.list_events(filter, page)
    }

    fn list_projects(&self) -> Result<Vec<Project>> {
        self.store.list_projects()
    }

    fn list_files(&self, project: &str, folder: Option<&str>) -> Result<Vec<FileRecord>> {
        self.store.list_files(project, folder)
    }

    fn find_file(&self, project: &str, folder: &str, name: &str) -> Result<Option<FileRecord>> {
        self.store.find_file(project, folder, name)
    }

    fn list_injections(&self, filter: &Filter, limit: usize) -> Result<Vec<Injection>> {
        self.store.list_injections(filter, limit)
    }

    fn find_by_key(&self, project: &str, kind: Kind, key: &str) -> Result<Option<Item>> {
        self.store.find_by_key(project, kind, key)
    }

    fn details(
        &self,
        project: &str,
        kind: Kind,
        holding: Option<&Query>,
        limit: usize,
    ) -> Result<Vec<DetailRow>> {
        self.store.details(project, kind, holding, limit)
    }

    fn count_contents(&self) -> Result<StoreStats> {
        self.store.count_contents()
    }

    fn list_unembedded(&self, model: &str, limit: usize) -> Result<Vec<Item>> {
        self.store.list_unembedded(model, limit)
    }

    fn unembedded_count(&self, model: &str) -> Result<u64> {
        self.store.unembedded_count(model)
    }

    fn store_embeddings(&self, model: &str, meanings: &[(i64, Embedding)]) -> Result<()> {
        self.store.store_embeddings(model, meanings)
    }

    fn forget_meanings(&self) -> Result<()> {
        self.store.forget_meanings()
    }

    fn optimize_index(&self) -> Result<IndexState> {
        self.store.optimize_index()
    }

    fn list_overrides(&self, project: Option<&str>) -> Result<Vec<Override>> {
        self.store.list_overrides(project)
    }

    fn erase(&self, erase: &ErasePlan) -> Result<()> {
        self.store.erase(erase)
    }

    fn remove(&self, names: &[ItemRef]) -> Result<()> {
        self.store.remove(names)
    }

    fn prune(&self, prune: &PruneRequest, run: PruneMode) -> Result<u64> {
        self.store.prune(prune, run)
    }
}
