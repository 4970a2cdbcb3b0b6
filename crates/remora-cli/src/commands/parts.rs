//! Everything that a store holds, part by part and in a fixed order: what
//! `export` writes, `import` reads, `audit` looks through and a fresh copy of
//! the database is made of.

use std::collections::{BTreeSet, HashSet};

use remora_memory::store::{Batch, Counts, Filter, Order, Page, Store, StoreError, Write};
use remora_protocol::record::{EventRow, FileRecord, Given, Item, Override, Project, Session};
use remora_server::archive::Archived;
use serde::{Deserialize, Serialize};

use crate::commands::progress::Progress;
use crate::error::CliError;

/// Rows that are held in memory at a time, and written in one transaction.
pub(crate) const BATCH: usize = 512;

/// One part; as JSON an object with its kind as the only key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    Project(Project),
    /// What a user said of an item. Before the items, so that it counts for them.
    Override(Override),
    Session(Session),
    Item(Box<Item>),
    File(FileRecord),
    Event(EventRow),
    /// What a session was given. Not exported: it names rows by numbers, which
    /// are others elsewhere.
    Given(Given),
    /// A raw event of the archive.
    Raw(Box<Archived>),
}

/// Hands every part of the store to `take`: projects, corrections, sessions, items,
/// files, then the ledger, each in the order of its name or time.
pub(crate) fn each(
    store: &dyn Store,
    filter: &Filter,
    take: &mut dyn FnMut(Part) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let wanted = |key: &str| filter.project.as_ref().is_none_or(|only| only == key);
    let mut keys = BTreeSet::new();
    for project in store.projects()? {
        if wanted(&project.key) {
            keys.insert(project.key.clone());
            take(Part::Project(project))?;
        }
    }
    for said in store.overrides(filter.project.as_deref())? {
        take(Part::Override(said))?;
    }
    let mut sessions = store.sessions(filter, usize::MAX)?;
    sessions.sort_by(|a, b| (a.started, &a.id).cmp(&(b.started, &b.id)));
    for session in sessions {
        take(Part::Session(session))?;
    }
    let mut beyond = None;
    loop {
        let page = Page {
            order: Order::Oldest,
            beyond,
            limit: BATCH,
        };
        let items = store.list(filter, page)?;
        let Some(last) = items.last() else { break };
        beyond = Some(last.id);
        for item in items {
            if !keys.contains(&item.project) {
                keys.insert(item.project.clone());
            }
            take(Part::Item(Box::new(item)))?;
        }
    }
    for key in keys {
        for file in store.files(&key, None)? {
            if filter.since.is_none_or(|since| file.time >= since) {
                take(Part::File(file))?;
            }
        }
    }
    ledger(store, filter, &mut |event| take(Part::Event(event)))
}

/// The ledger from its beginning. Moments are not unique, so every page begins
/// with the moment that the last one ended with.
pub(crate) fn ledger(
    store: &dyn Store,
    filter: &Filter,
    take: &mut dyn FnMut(EventRow) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut filter = filter.clone();
    let mut limit = BATCH;
    let mut told: HashSet<String> = HashSet::new();
    loop {
        let page = Page {
            order: Order::Oldest,
            beyond: None,
            limit,
        };
        let events = store.events(&filter, page)?;
        let whole = events.len() < limit;
        let last = events.last().map(|event| event.time);
        let mut at_end = HashSet::new();
        for event in events {
            if Some(event.time) == last {
                at_end.insert(event.id.clone());
            }
            if !told.contains(&event.id) {
                take(event)?;
            }
        }
        if whole {
            return Ok(());
        }
        if filter.since == last {
            told.extend(at_end);
            limit *= 2;
        } else {
            told = at_end;
            filter.since = last;
            limit = BATCH;
        }
    }
}

/// What sessions were given.
pub(crate) fn given(
    store: &dyn Store,
    take: &mut dyn FnMut(Part) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let lines = store.given(&Filter::default(), usize::MAX)?;
    lines
        .into_iter()
        .try_for_each(|line| take(Part::Given(line)))
}

/// Copies a store into an empty one, each part changed as `change` will.
pub(crate) fn copy(
    old: &dyn Store,
    new: &dyn Store,
    label: &'static str,
    change: &mut dyn FnMut(&mut Part),
) -> Result<(), CliError> {
    let all = rows(&old.counts()?);
    let mut progress = Progress::new(label);
    let mut writer = Writer::new(new);
    let mut done = 0;
    each(old, &Filter::default(), &mut |mut part| {
        change(&mut part);
        done += 1;
        progress.at(done, all, "");
        Ok(writer.put(part)?)
    })?;
    given(old, &mut |mut part| {
        change(&mut part);
        Ok(writer.put(part)?)
    })?;
    Ok(writer.flush()?)
}

/// How many rows there are, about: for showing how far work on all of them is,
/// and for what a row takes.
pub(crate) fn rows(counts: &Counts) -> u64 {
    counts.events + counts.items.iter().map(|(_, count)| count).sum::<u64>()
}

/// Collects parts and writes them a batch at a time.
pub(crate) struct Writer<'a> {
    store: &'a dyn Store,
    batch: Batch,
    parts: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(store: &'a dyn Store) -> Self {
        Self {
            store,
            batch: Batch::default(),
            parts: 0,
        }
    }

    /// Takes a part; raw events are not the store's.
    pub(crate) fn put(&mut self, part: Part) -> Result<(), StoreError> {
        match part {
            Part::Project(project) => self.batch.projects.push(project),
            Part::Override(said) => self.batch.overrides.push(said),
            Part::Session(session) => self.batch.sessions.push(session),
            Part::Item(item) if item.id > 0 => self.batch.items.push(Write::Keep(*item)),
            Part::Item(item) => self.batch.items.push(Write::Add(*item)),
            Part::File(file) => self.batch.files.push(file),
            Part::Event(event) => self.batch.events.push(event),
            Part::Given(given) => self.batch.given.push(given),
            Part::Raw(_) => return Ok(()),
        }
        self.parts += 1;
        if self.parts >= BATCH {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        if self.parts > 0 {
            self.store.apply(&self.batch)?;
            self.batch = Batch::default();
            self.parts = 0;
        }
        Ok(())
    }
}
