//! Everything that a store holds, part by part and in a fixed order: what
//! `export` writes, `import` reads, `audit` looks through and a fresh copy of
//! the database is made of.

use std::collections::{BTreeSet, HashSet};

use remora_core::record::{FileRecord, Injection, Item, LoggedEvent, Override, Project, Session};
use remora_memory::prepare::ItemPreparer;
use remora_memory::store::{
    Batch, Filter, ItemWrite, PageRequest, SortOrder, Store, StoreError, StoreStats,
};
use remora_server::archive::ArchivedEvent;
use serde::{Deserialize, Serialize};

use crate::commands::progress::Progress;
use crate::error::CliError;

/// Parts that are held in memory at a time, and written in one transaction.
pub(crate) const MAX_BATCH_PARTS: usize = 512;

/// One part; as JSON an object with its kind as the only key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StorePart {
    Project(Project),
    /// What a user said of an item. Before the items, so that it counts for them.
    Override(Override),
    Session(Session),
    Item(Box<Item>),
    File(FileRecord),
    Event(LoggedEvent),
    /// An injection. Not exported: it names items by their numbers, which are
    /// others elsewhere.
    #[serde(rename = "given")]
    Injection(Injection),
    /// A raw event of the archive.
    Raw(Box<ArchivedEvent>),
}

/// Hands every part of the store to `take`: projects, corrections, sessions, items,
/// files, then the event log, each in the order of its name or time.
pub(crate) fn visit_parts(
    store: &dyn Store,
    filter: &Filter,
    take: &mut dyn FnMut(StorePart) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let wanted = |key: &str| filter.project.as_ref().is_none_or(|only| only == key);
    let mut keys = BTreeSet::new();
    for project in store.list_projects()? {
        if wanted(&project.key) {
            keys.insert(project.key.clone());
            take(StorePart::Project(project))?;
        }
    }
    for said in store.list_overrides(filter.project.as_deref())? {
        take(StorePart::Override(said))?;
    }
    let mut sessions = store.list_sessions(filter, usize::MAX)?;
    sessions.sort_by(|a, b| (a.started, &a.id).cmp(&(b.started, &b.id)));
    for session in sessions {
        take(StorePart::Session(session))?;
    }
    let mut beyond = None;
    loop {
        let page = PageRequest {
            order: SortOrder::Oldest,
            beyond,
            limit: MAX_BATCH_PARTS,
        };
        let items = store.list_items(filter, page)?;
        let Some(last) = items.last() else { break };
        beyond = Some(last.id);
        for item in items {
            if !keys.contains(&item.project) {
                keys.insert(item.project.clone());
            }
            take(StorePart::Item(Box::new(item)))?;
        }
    }
    for key in keys {
        for file in store.list_files(&key, None)? {
            if filter.since.is_none_or(|since| file.time >= since) {
                take(StorePart::File(file))?;
            }
        }
    }
    visit_events(store, filter, &mut |event| take(StorePart::Event(event)))
}

/// The event log from its beginning. Times are not unique, so every page begins
/// with the time that the last one ended with.
pub(crate) fn visit_events(
    store: &dyn Store,
    filter: &Filter,
    take: &mut dyn FnMut(LoggedEvent) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut filter = filter.clone();
    let mut limit = MAX_BATCH_PARTS;
    let mut seen: HashSet<String> = HashSet::new();
    loop {
        let page = PageRequest {
            order: SortOrder::Oldest,
            beyond: None,
            limit,
        };
        let events = store.list_events(&filter, page)?;
        let whole = events.len() < limit;
        let last = events.last().map(|event| event.time);
        let mut at_end = HashSet::new();
        for event in events {
            if Some(event.time) == last {
                at_end.insert(event.id.clone());
            }
            if !seen.contains(&event.id) {
                take(event)?;
            }
        }
        if whole {
            return Ok(());
        }
        if filter.since == last {
            seen.extend(at_end);
            // More events share this time than a page holds; only a larger page gets past
            // them.
            limit *= 2;
        } else {
            seen = at_end;
            filter.since = last;
            limit = MAX_BATCH_PARTS;
        }
    }
}

/// Everything that was injected into sessions.
pub(crate) fn visit_injections(
    store: &dyn Store,
    take: &mut dyn FnMut(StorePart) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let lines = store.list_injections(&Filter::default(), usize::MAX)?;
    lines
        .into_iter()
        .try_for_each(|line| take(StorePart::Injection(line)))
}

/// Copies a store into an empty one, each part changed as `change` will.
pub(crate) fn copy_store(
    old: &dyn Store,
    new: &dyn Store,
    label: &'static str,
    change: &mut dyn FnMut(&mut StorePart),
) -> Result<(), CliError> {
    let all = count_records(&old.count_contents()?);
    let mut progress = Progress::new(label);
    let mut writer = BatchWriter::new(new);
    let mut done = 0;
    visit_parts(old, &Filter::default(), &mut |mut part| {
        change(&mut part);
        done += 1;
        progress.update_line(done, all, "");
        Ok(writer.add_part(part)?)
    })?;
    visit_injections(old, &mut |mut part| {
        change(&mut part);
        Ok(writer.add_part(part)?)
    })?;
    Ok(writer.flush()?)
}

/// How many records there are, about: for showing how far work on all of them
/// is, and for what one takes.
pub(crate) fn count_records(counts: &StoreStats) -> u64 {
    counts.events + counts.items.iter().map(|(_, count)| count).sum::<u64>()
}

/// Collects parts and writes them a batch at a time.
pub(crate) struct BatchWriter<'a> {
    store: &'a dyn Store,
    preparer: ItemPreparer,
    batch: Batch,
    parts: usize,
}

impl<'a> BatchWriter<'a> {
    pub(crate) fn new(store: &'a dyn Store) -> Self {
        Self {
            store,
            preparer: ItemPreparer::default(),
            batch: Batch::default(),
            parts: 0,
        }
    }

    /// Takes a part; raw events are not the store's.
    pub(crate) fn add_part(&mut self, part: StorePart) -> Result<(), StoreError> {
        match part {
            StorePart::Project(project) => self.batch.projects.push(project),
            StorePart::Override(said) => self.batch.overrides.push(said),
            StorePart::Session(session) => self.batch.sessions.push(session),
            // It comes from a store and keeps the number by which it is quoted.
            StorePart::Item(item) if item.id > 0 => self.batch.items.push(ItemWrite::Keep(*item)),
            StorePart::Item(item) => self.batch.items.push(ItemWrite::Add(*item)),
            StorePart::File(file) => self.batch.files.push(file),
            StorePart::Event(event) => self.batch.events.push(event),
            StorePart::Injection(injection) => self.batch.injections.push(injection),
            StorePart::Raw(_) => return Ok(()),
        }
        self.parts += 1;
        if self.parts >= MAX_BATCH_PARTS {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        if self.parts > 0 {
            let prepared = self.preparer.prepare_batch(&self.batch);
            self.store.store_batch(&prepared)?;
            self.batch = Batch::default();
            self.parts = 0;
        }
        Ok(())
    }
}
