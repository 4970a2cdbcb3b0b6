//! Events from transcripts and from other tools' databases, many at a time. Hooks
//! may have reported the same before, under ids of their own, and a session may
//! have begun before they did.

use std::collections::{BTreeMap, HashMap};

use remora_client::DataPaths;
use remora_core::ids::SessionId;
use remora_core::record::Kind;
use remora_memory::store::{Batch, Store};
use remora_memory::{CapturePolicy, CapturedEvent};

use super::known_events::KnownEvents;
use super::{ArchiveUse, EventSource, FailedEvent, Ingest, IngestedEvent, Touched};
use crate::ServerError;
use crate::panics::{IsolationSteps, isolate_panics};

/// What came of some events.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct IngestStats {
    /// Events stored.
    pub stored: u64,
    /// Events that were stored already, whatever reported them.
    pub repeated: u64,
    /// Events that a user deleted.
    pub forgotten: u64,
    /// Items that are new, by kind; without fixes, which may be known.
    pub rows: BTreeMap<Kind, u64>,
    /// What something was stored of.
    pub touched: Touched,
    /// Events that could not be stored because handling them panicked.
    pub left_out: Vec<FailedEvent>,
}

/// The way of many events into a store. The caller holds the worker's lock.
pub struct ImportIngest<'a> {
    store: &'a dyn Store,
    ingest: Ingest,
    reported: ReportedEvents,
}

/// What hooks have reported, by session.
#[derive(Default)]
struct ReportedEvents(HashMap<SessionId, KnownEvents>);

impl EventSource for ReportedEvents {
    fn is_repeated(
        &mut self,
        store: &dyn Store,
        event: &CapturedEvent,
    ) -> Result<bool, ServerError> {
        let session = event.session();
        if !self.0.contains_key(session) {
            let known_events = KnownEvents::for_session(store, session)?;
            self.0.insert(session.clone(), known_events);
        }
        Ok(self.0[session].contains_event(event))
    }

    /// A session of which hooks saw only the end began earlier than they say.
    fn complete_batch(
        &mut self,
        _store: &dyn Store,
        events: &[&CapturedEvent],
        batch: &mut Batch,
    ) -> Result<(), ServerError> {
        for session in &mut batch.sessions {
            let first = events
                .iter()
                .filter(|event| *event.session() == session.id)
                .map(|event| event.envelope.at)
                .min();
            session.started = first.map_or(session.started, |at| at.min(session.started));
        }
        Ok(())
    }
}

/// Some events on their way into the store.
struct ImportBatch<'a, 'b> {
    import: &'a mut ImportIngest<'b>,
    now: i64,
    stats: IngestStats,
}

impl ImportBatch<'_, '_> {
    const ISOLATION_STEPS: IsolationSteps<Self, CapturedEvent, ServerError> = IsolationSteps {
        work: Self::store_events,
        recover: |batch| batch.import.ingest.reset_cache(),
        leave_out: |batch, event, panicked| {
            batch.stats.left_out.push(FailedEvent {
                id: event.envelope.id.clone(),
                reason: panicked.to_string(),
            });
            Ok(())
        },
    };

    fn store_events(&mut self, events: &[CapturedEvent]) -> Result<(), ServerError> {
        let ImportIngest {
            store,
            ingest,
            reported,
        } = &mut *self.import;
        let events: Vec<&CapturedEvent> = events.iter().collect();
        let done = ingest.ingest_events(*store, &events, reported, self.now)?;
        let stats = &mut self.stats;
        for event in done.events {
            match event {
                IngestedEvent::Stored(_) => stats.stored += 1,
                IngestedEvent::Repeated => stats.repeated += 1,
                IngestedEvent::Forgotten => stats.forgotten += 1,
            }
        }
        for (kind, count) in done.rows {
            *stats.rows.entry(kind).or_default() += count;
        }
        stats.touched.extend(done.touched);
        Ok(())
    }
}

impl<'a> ImportIngest<'a> {
    /// Into this store, and into the archive of this data directory.
    pub fn new(
        store: &'a dyn Store,
        policy: CapturePolicy,
        paths: &DataPaths,
    ) -> Result<Self, ServerError> {
        Ok(Self {
            store,
            ingest: Ingest::new(policy, paths, ArchiveUse::Append)?,
            reported: ReportedEvents::default(),
        })
    }

    /// Stores those events that are new, in their order, in one transaction; if
    /// that panics, in several, without the events that panic by themselves.
    pub fn ingest_events(
        &mut self,
        events: &[CapturedEvent],
        now: i64,
    ) -> Result<IngestStats, ServerError> {
        let mut batch = ImportBatch {
            import: self,
            now,
            stats: IngestStats::default(),
        };
        isolate_panics(&mut batch, events, &ImportBatch::ISOLATION_STEPS)?;
        let mut stats = batch.stats;
        stats.left_out.sort_by_key(|left| {
            let mut ids = events.iter().map(|event| &event.envelope.id);
            ids.position(|id| *id == left.id)
        });
        Ok(stats)
    }
}
