//! A store that fails on purpose, to see what the rest makes of it.

use crate::store::{
    Batch, Counts, DetailRow, EventKey, Filter, Hit, Name, Page, Prune, PruneRun, Result, Settled,
    Store,
};
use crate::words::Query;
use remora_embed::Meaning;
use remora_protocol::record::{
    Erase, EventRow, FileRecord, Given, Item, Kind, Override, Project, Session,
};

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
    fn known(&self, events: &[EventKey<'_>]) -> Result<Vec<bool>> {
        self.store.known(events)
    }

    fn apply(&self, batch: &Batch) -> Result<Vec<i64>> {
        (self.fault)(batch);
        self.store.apply(batch)
    }

    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Vec<Hit>> {
        self.store.search(query, filter, limit)
    }

    fn items(&self, names: &[Name]) -> Result<Vec<Item>> {
        self.store.items(names)
    }

    fn list(&self, filter: &Filter, page: Page) -> Result<Vec<Item>> {
        self.store.list(filter, page)
    }

    fn sessions(&self, filter: &Filter, limit: usize) -> Result<Vec<Session>> {
        self.store.sessions(filter, limit)
    }

    fn events(&self, filter: &Filter, page: Page) -> Result<Vec<EventRow>> {
        self.store.events(filter, page)
    }

    fn projects(&self) -> Result<Vec<Project>> {
        self.store.projects()
    }

    fn files(&self, project: &str, folder: Option<&str>) -> Result<Vec<FileRecord>> {
        self.store.files(project, folder)
    }

    fn file(&self, project: &str, folder: &str, name: &str) -> Result<Option<FileRecord>> {
        self.store.file(project, folder, name)
    }

    fn given(&self, filter: &Filter, limit: usize) -> Result<Vec<Given>> {
        self.store.given(filter, limit)
    }

    fn keyed(&self, project: &str, kind: Kind, key: &str) -> Result<Option<Item>> {
        self.store.keyed(project, kind, key)
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

    fn counts(&self) -> Result<Counts> {
        self.store.counts()
    }

    fn unembedded(&self, model: &str, limit: usize) -> Result<Vec<Item>> {
        self.store.unembedded(model, limit)
    }

    fn unembedded_count(&self, model: &str) -> Result<u64> {
        self.store.unembedded_count(model)
    }

    fn embed(&self, model: &str, meanings: &[(i64, Meaning)]) -> Result<()> {
        self.store.embed(model, meanings)
    }

    fn forget_meanings(&self) -> Result<()> {
        self.store.forget_meanings()
    }

    fn settle(&self) -> Result<Settled> {
        self.store.settle()
    }

    fn overrides(&self, project: Option<&str>) -> Result<Vec<Override>> {
        self.store.overrides(project)
    }

    fn erase(&self, erase: &Erase) -> Result<()> {
        self.store.erase(erase)
    }

    fn remove(&self, names: &[Name]) -> Result<()> {
        self.store.remove(names)
    }

    fn prune(&self, prune: &Prune, run: PruneRun) -> Result<u64> {
        self.store.prune(prune, run)
    }
}
