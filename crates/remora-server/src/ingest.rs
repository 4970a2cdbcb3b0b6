//! The one way of events into a store, whoever reports them: events as they may be
//! kept go in; known and deleted ones are dropped, items extracted from the rest,
//! archived and stored. Spool, import and rebuild hand in what differs
//! (docs/design/0037) and get back what was touched.

mod event_redactor;
mod import;
mod known_events;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::PathBuf;

use remora_client::DataPaths;
use remora_core::EventName;
use remora_core::ids::SessionId;
use remora_core::record::{Kind, Project};
use remora_memory::prepare::ItemPreparer;
use remora_memory::store::{Batch, ItemWrite, Store};
use remora_memory::{CapturePolicy, CapturedEvent, EventDisposition, Extraction, Extractor};

use crate::archive::{Archive, ArchivedEventRef};
use crate::forgotten::DeletionLog;
use crate::{ServerError, fingerprint, io_error_at};

pub use event_redactor::EventRedactor;
pub(crate) use event_redactor::{read_archived_event, redact_envelope, redact_event};
pub use import::{ImportIngest, IngestStats};

/// Events in one transaction.
pub(crate) const MAX_BATCH_EVENTS: usize = 512;
/// Bytes of events in one transaction; at least one event is stored.
pub(crate) const MAX_BATCH_BYTES: usize = 32 * 1024 * 1024;

/// An event that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedEvent {
    /// Its id.
    pub id: String,
    /// The panic.
    pub reason: String,
}

/// Where events come from, as far as that makes a difference on the way.
pub(crate) trait EventSource {
    /// Whether the source has other reasons to take an event for a repeated one than
    /// its id and its call. Asked only of events that would be stored otherwise.
    fn is_repeated(
        &mut self,
        _store: &dyn Store,
        _event: &CapturedEvent,
    ) -> Result<bool, ServerError> {
        Ok(false)
    }

    /// Adds to what was extracted from these events, or changes it, before it is
    /// stored.
    fn complete_batch(
        &mut self,
        store: &dyn Store,
        events: &[&CapturedEvent],
        batch: &mut Batch,
    ) -> Result<(), ServerError>;
}

/// Whether events are archived on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveUse {
    /// They are appended before they are stored.
    Append,
    /// They come from it.
    Source,
}

/// What became of an event that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IngestedEvent {
    /// It is stored.
    Stored(EventDisposition),
    /// It was stored before, whatever reported it.
    Repeated,
    /// A user deleted it.
    Forgotten,
}

/// What came of the events of one transaction.
#[derive(Debug, Default)]
pub(crate) struct IngestedBatch {
    /// One for each event handed in, in the same order.
    pub(crate) events: Vec<IngestedEvent>,
    /// Items that are new, by kind; without fixes, which may be known.
    pub(crate) rows: BTreeMap<Kind, u64>,
    /// What was touched.
    pub(crate) touched: Touched,
}

/// The sessions that something was stored of, each with the project it was about.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Touched {
    /// In the order in which they were touched last; a session that moved on is there
    /// once for each of its projects.
    pub sessions: Vec<TouchedSession>,
}

/// A session that something was stored of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedSession {
    /// Its id.
    pub id: SessionId,
    /// Where it began.
    pub cwd: String,
    /// The project its events were about.
    pub project: Project,
    /// Whether it began.
    pub has_started: bool,
    /// Whether it began, ended or came to the end of a turn.
    pub has_turned: bool,
}

impl Touched {
    /// Adds what was touched after this.
    pub(crate) fn extend(&mut self, later: Self) {
        for session in later.sessions {
            self.add_session(session);
        }
    }

    fn add_session(&mut self, mut session: TouchedSession) {
        let is_same = |known: &TouchedSession| {
            known.id == session.id && known.project.key == session.project.key
        };
        if let Some(at) = self.sessions.iter().position(is_same) {
            let known = self.sessions.remove(at);
            session.has_started |= known.has_started;
            session.has_turned |= known.has_turned;
        }
        self.sessions.push(session);
    }

    fn from_batch(events: &[&CapturedEvent], batch: &Batch) -> Self {
        let mut touched = Self::default();
        for event in events {
            let name = event.event.name;
            let known = touched.sessions.iter().position(|known| {
                known.id == *event.session() && known.project.key == event.project()
            });
            let mut session = match known {
                Some(at) => touched.sessions.remove(at),
                None => TouchedSession::begin(event, batch),
            };
            session.has_started |= name == EventName::SessionStart;
            session.has_turned |= matches!(
                name,
                EventName::SessionStart | EventName::Stop | EventName::SessionEnd
            );
            touched.sessions.push(session);
        }
        touched
    }
}

impl TouchedSession {
    fn begin(event: &CapturedEvent, batch: &Batch) -> Self {
        let session = batch.sessions.iter().find(|s| s.id == *event.session());
        Self {
            id: event.session().clone(),
            cwd: session.map(|s| s.cwd.clone()).unwrap_or_default(),
            project: event.project_record(),
            has_started: false,
            has_turned: false,
        }
    }
}

/// The way of events into a store.
#[derive(Debug)]
pub(crate) struct Ingest {
    extractor: Extractor,
    preparer: ItemPreparer,
    archive: Archive,
    archive_use: ArchiveUse,
    folder: PathBuf,
    forgotten: DeletionLog,
    /// Events that are in the archive, but that the store would not have yet: the
    /// next try must not archive them again.
    archived: HashSet<String>,
}

impl Ingest {
    /// With the archive and the deletions of this data directory.
    pub(crate) fn new(
        policy: CapturePolicy,
        paths: &DataPaths,
        archive_use: ArchiveUse,
    ) -> Result<Self, ServerError> {
        let folder = paths.archive_dir();
        Ok(Self {
            extractor: Extractor::new(policy),
            preparer: ItemPreparer::default(),
            archive: Archive::new(&folder),
            archive_use,
            folder,
            forgotten: DeletionLog::load(paths)?,
            archived: HashSet::new(),
        })
    }

    /// The archive.
    pub(crate) fn archive(&mut self) -> &mut Archive {
        &mut self.archive
    }

    /// Forgets what it thinks the store holds.
    pub(crate) fn reset_cache(&mut self) {
        self.extractor.clear_sessions();
    }

    /// Stores those events that are new, in their order, in one transaction. Whatever
    /// it fails at, it can be done again.
    pub(crate) fn ingest_events(
        &mut self,
        store: &dyn Store,
        events: &[&CapturedEvent],
        source: &mut dyn EventSource,
        now: i64,
    ) -> Result<IngestedBatch, ServerError> {
        let selected = self.select_new_events(store, events, source)?;
        let fresh: Vec<&CapturedEvent> = events
            .iter()
            .zip(&selected)
            .filter(|(_, dropped)| dropped.is_none())
            .map(|(event, _)| *event)
            .collect();
        let mut done = IngestedBatch::default();
        let mut fates = Vec::new();
        if !fresh.is_empty() {
            let stored = self.store_events(store, &fresh, source, now);
            let extraction = match stored {
                Ok(extraction) => extraction,
                Err(e) => {
                    self.reset_cache();
                    return Err(e);
                }
            };
            done.rows = count_new_items(&extraction.batch);
            done.touched = Touched::from_batch(&fresh, &extraction.batch);
            fates = extraction.fates;
        }
        let mut fates = fates.into_iter();
        // A fate for each event that was not dropped.
        done.events = selected
            .into_iter()
            .filter_map(|dropped| dropped.or_else(|| fates.next().map(IngestedEvent::Stored)))
            .collect();
        Ok(done)
    }

    /// For each event why it is dropped, if it is: it is known by its id, by its call,
    /// or to its source, or it comes twice; or a user deleted it.
    fn select_new_events(
        &self,
        store: &dyn Store,
        events: &[&CapturedEvent],
        source: &mut dyn EventSource,
    ) -> Result<Vec<Option<IngestedEvent>>, ServerError> {
        let keys: Vec<_> = events.iter().map(|event| event.key()).collect();
        let known = store.are_known(&keys)?;
        let mut ids = HashSet::new();
        let mut calls = HashSet::new();
        let mut selected = Vec::with_capacity(events.len());
        for (event, known) in events.iter().zip(known) {
            let call = event.call.as_deref();
            let is_twin = !ids.insert(event.envelope.id.as_str())
                || call.is_some_and(|call| !calls.insert(call));
            selected.push(if known || is_twin || source.is_repeated(store, event)? {
                Some(IngestedEvent::Repeated)
            } else if self.forgotten.contains_event(event) {
                Some(IngestedEvent::Forgotten)
            } else {
                None
            });
        }
        Ok(selected)
    }

    fn store_events(
        &mut self,
        store: &dyn Store,
        events: &[&CapturedEvent],
        source: &mut dyn EventSource,
        now: i64,
    ) -> Result<Extraction, ServerError> {
        let mut extraction = self.extractor.extract_items(store, events)?;
        fingerprint::fill_fingerprints(&mut extraction.batch.files, events);
        source.complete_batch(store, events, &mut extraction.batch)?;
        let prepared = self.preparer.prepare_batch(&extraction.batch);
        // Before the store: killed in between, an event is archived twice at worst, and
        // never stored without its raw form.
        let archived = self.archive_events(events, &extraction.fates, now)?;
        store.store_batch(&prepared)?;
        for id in archived {
            self.archived.remove(id);
        }
        Ok(extraction)
    }

    /// Appends what is kept to the archive; returns which events are there now.
    fn archive_events<'e>(
        &mut self,
        events: &[&'e CapturedEvent],
        fates: &[EventDisposition],
        now: i64,
    ) -> Result<Vec<&'e str>, ServerError> {
        let mut ids = Vec::new();
        if self.archive_use == ArchiveUse::Source {
            return Ok(ids);
        }
        let mut lines = Vec::new();
        for (event, fate) in events.iter().zip(fates) {
            if matches!(fate, EventDisposition::Skipped(_)) {
                continue;
            }
            let id = event.envelope.id.as_str();
            ids.push(id);
            if self.archived.contains(id) {
                continue;
            }
            let line = ArchivedEventRef {
                envelope: &event.envelope,
                event: &event.raw.fields,
            };
            serde_json::to_writer(&mut lines, &line)
                .map_err(io::Error::from)
                .map_err(io_error_at(&self.folder))?;
            lines.push(b'\n');
        }
        self.archive
            .append(&lines, now)
            .map_err(io_error_at(&self.folder))?;
        self.archived.extend(ids.iter().map(|id| (*id).to_owned()));
        Ok(ids)
    }
}

fn count_new_items(batch: &Batch) -> BTreeMap<Kind, u64> {
    let mut rows = BTreeMap::new();
    for write in &batch.items {
        if let ItemWrite::Add(item) | ItemWrite::Keep(item) = write {
            *rows.entry(item.kind).or_default() += 1;
        }
    }
    rows
}
