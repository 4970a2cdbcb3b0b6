//! Events from elsewhere than the spool, many at a time: redacted as those of
//! the spool are, known ones dropped, items extracted from the rest, archived and
//! stored. The caller holds the worker's lock.

mod known_events;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use remora_agents::{decode_event, field_roles, read_header};
use remora_client::DataPaths;
use remora_core::record::Kind;
use remora_core::request::Envelope;
use remora_core::{Event, tokens};
use remora_memory::redact::{RedactionCounts, Redactor};
use remora_memory::store::{ItemWrite, Store};
use remora_memory::{
    CaptureDecision, CapturePolicy, CapturedEvent, EventDisposition, Extractor, call_key, private,
};
use serde_json::Value;

use crate::archive::{Archive, ArchivedEventRef};
use crate::forgotten::DeletionLog;
use crate::ignore::ProjectIgnores;
use crate::panics::{IsolationSteps, isolate_panics};
use crate::{ServerError, fingerprint, io_error_at};
use known_events::KnownEvents;

/// Texts of one event that are read; what is more is left out.
const MAX_EVENT_TEXT_BYTES: usize = 4 * 1024 * 1024;
/// A cut goes back to the beginning of a word, if none is longer than this.
const MAX_WORD_BYTES: usize = 16 * 1024;

/// Takes out of events what must not be kept. Needs no store, so it can work
/// ahead in a thread of its own.
#[derive(Debug)]
pub struct EventRedactor<'a> {
    redactor: &'a Redactor,
    ignores: ProjectIgnores,
}

impl<'a> EventRedactor<'a> {
    /// With the user's own patterns of files that are not captured.
    pub fn new(redactor: &'a Redactor, ignore: Vec<String>) -> Self {
        Self {
            redactor,
            ignores: ProjectIgnores::new(ignore),
        }
    }

    /// An event as it may be kept; what was redacted is counted.
    pub fn redact_event(
        &mut self,
        envelope: Envelope,
        event: Event,
        marks: &mut RedactionCounts,
    ) -> CapturedEvent {
        let raw_tokens = event.fields.values().map(estimate_tokens).sum();
        redact_event(
            self.redactor,
            &mut self.ignores,
            envelope,
            event,
            raw_tokens,
            marks,
        )
    }
}

/// Takes private passages and secrets out of an event.
pub(crate) fn redact_event(
    redactor: &Redactor,
    ignores: &mut ProjectIgnores,
    mut envelope: Envelope,
    mut raw: Event,
    raw_tokens: u32,
    marks: &mut RedactionCounts,
) -> CapturedEvent {
    // Header and key are read from the texts as they came: redaction may alter an id or a
    // path, and the same call must have the same key wherever it is reported.
    let header = read_header(&envelope.agent, &raw);
    let call = call_key(&header, &raw);
    let root = envelope.project.as_ref().map_or("", |p| &p.root);
    let worth = if ignores.ignores_event(&header, root) {
        CaptureDecision::Ignored
    } else {
        CaptureDecision::Keep
    };
    redact_envelope(redactor, &mut envelope, marks);
    let mut value = Value::Object(std::mem::take(&mut raw.fields));
    let mut budget = MAX_EVENT_TEXT_BYTES;
    bound_texts(&mut value, &mut budget);
    private::strip_value(&mut value);
    redactor.redact_json(&mut value, field_roles(&envelope.agent), marks);
    if let Value::Object(fields) = value {
        raw.fields = fields;
    }
    CapturedEvent {
        // Decoded after redaction, so that no later step sees a text with a secret in it.
        event: decode_event(&envelope.agent, &raw, envelope.at.into()),
        envelope,
        raw,
        call,
        worth,
        raw_tokens,
    }
}

/// Takes secrets out of what the hook noted beside the payload: names of
/// branches, remotes and folders are chosen by users too.
pub(crate) fn redact_envelope(
    redactor: &Redactor,
    envelope: &mut Envelope,
    marks: &mut RedactionCounts,
) {
    if let Some(project) = &mut envelope.project
        && let Cow::Owned(clean) = redactor.redact_text(&project.key, marks)
    {
        project.key = clean.into();
    }
    let project = envelope.project.iter_mut();
    let texts = project.flat_map(|p| [&mut p.name, &mut p.root]);
    for text in texts.chain(&mut envelope.branch) {
        if let Cow::Owned(clean) = redactor.redact_text(text, marks) {
            *text = clean;
        }
    }
}

/// Cuts texts once all of them together are larger than the budget. Everything
/// behind this looks at every byte, some of it several times over.
fn bound_texts(value: &mut Value, budget: &mut usize) {
    match value {
        Value::String(text) if text.len() > *budget => {
            let end = last_gap(text, text.floor_char_boundary(*budget));
            let left = text.len() - end;
            text.truncate(end);
            // Writing into a string cannot fail.
            let _ = write!(text, "[{left} bytes left out]");
            *budget = 0;
        }
        Value::String(text) => *budget -= text.len(),
        Value::Array(list) => list.iter_mut().for_each(|value| bound_texts(value, budget)),
        Value::Object(map) => map
            .values_mut()
            .for_each(|value| bound_texts(value, budget)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where a word ends, not far before `end`: half a secret may not look like one.
fn last_gap(text: &str, end: usize) -> usize {
    let from = text.floor_char_boundary(end.saturating_sub(MAX_WORD_BYTES));
    let gap = text[from..end].rfind(char::is_whitespace);
    gap.map_or(from, |at| from + at)
}

/// Estimated tokens of all texts of a value.
fn estimate_tokens(value: &Value) -> u32 {
    match value {
        Value::String(text) => tokens::estimate_tokens(text),
        Value::Array(list) => list
            .iter()
            .map(estimate_tokens)
            .fold(0, u32::saturating_add),
        Value::Object(map) => map
            .values()
            .map(estimate_tokens)
            .fold(0, u32::saturating_add),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

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
    /// Sessions that something was stored of.
    pub sessions: Vec<String>,
    /// Events that could not be stored because handling them panicked.
    pub left_out: Vec<FailedEvent>,
}

/// An event that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedEvent {
    /// Its id.
    pub id: String,
    /// The panic.
    pub reason: String,
}

/// Some events on their way into the store.
struct IngestBatch<'a, 'b> {
    ingest: &'a mut Ingest<'b>,
    now: i64,
    stats: IngestStats,
}

impl IngestBatch<'_, '_> {
    const ISOLATION_STEPS: IsolationSteps<Self, CapturedEvent, ServerError> = IsolationSteps {
        work: |batch, events| {
            let (now, stats) = (batch.now, &mut batch.stats);
            batch.ingest.store_events(events, now, stats)
        },
        recover: |batch| batch.ingest.extractor.clear_sessions(),
        leave_out: |batch, event, panicked| {
            batch.stats.left_out.push(FailedEvent {
                id: event.envelope.id.clone(),
                reason: panicked.to_string(),
            });
            Ok(())
        },
    };
}

/// The way of many events into a store.
pub struct Ingest<'a> {
    store: &'a dyn Store,
    extractor: Extractor,
    archive: Archive,
    folder: PathBuf,
    known_events: HashMap<String, KnownEvents>,
    forgotten: DeletionLog,
}

impl<'a> Ingest<'a> {
    /// Into this store, and into the archive of this data directory.
    pub fn new(
        store: &'a dyn Store,
        policy: CapturePolicy,
        paths: &DataPaths,
    ) -> Result<Self, ServerError> {
        let folder = paths.archive_dir();
        Ok(Self {
            store,
            extractor: Extractor::new(policy),
            archive: Archive::new(&folder),
            folder,
            known_events: HashMap::new(),
            forgotten: DeletionLog::load(paths)?,
        })
    }

    /// Stores those events that are new, in their order, in one transaction; if
    /// that panics, in several, without the events that panic by themselves.
    pub fn ingest_events(
        &mut self,
        events: &[CapturedEvent],
        now: i64,
    ) -> Result<IngestStats, ServerError> {
        let mut batch = IngestBatch {
            ingest: self,
            now,
            stats: IngestStats::default(),
        };
        isolate_panics(&mut batch, events, &IngestBatch::ISOLATION_STEPS)?;
        let mut stats = batch.stats;
        stats.left_out.sort_by_key(|left| {
            let mut ids = events.iter().map(|event| &event.envelope.id);
            ids.position(|id| *id == left.id)
        });
        Ok(stats)
    }

    fn store_events(
        &mut self,
        events: &[CapturedEvent],
        now: i64,
        stats: &mut IngestStats,
    ) -> Result<(), ServerError> {
        let (fresh, forgotten) = self.select_new_events(events)?;
        let repeated = (events.len() - fresh.len()) as u64 - forgotten;
        if fresh.is_empty() {
            stats.repeated += repeated;
            stats.forgotten += forgotten;
            return Ok(());
        }
        let mut extraction = match self.extractor.extract_items(self.store, &fresh) {
            Ok(extraction) => extraction,
            Err(e) => {
                self.extractor.clear_sessions();
                return Err(e.into());
            }
        };
        fingerprint::fill_fingerprints(&mut extraction.batch.files, &fresh);
        // A session of which hooks saw only the end began earlier than they say.
        for session in &mut extraction.batch.sessions {
            let first = fresh
                .iter()
                .filter(|event| event.session() == session.id)
                .map(|event| event.envelope.at)
                .min();
            session.started = first.map_or(session.started, |at| at.min(session.started));
        }
        let mut lines = Vec::new();
        for (event, fate) in fresh.iter().zip(&extraction.fates) {
            if matches!(fate, EventDisposition::Kept { .. }) {
                let archived = ArchivedEventRef {
                    envelope: &event.envelope,
                    event: &event.raw.fields,
                };
                serde_json::to_writer(&mut lines, &archived)
                    .map_err(io::Error::from)
                    .map_err(io_error_at(&self.folder))?;
                lines.push(b'\n');
            }
        }
        // Before the store: killed in between, an event is archived twice at worst, and
        // never stored without its raw form.
        let appended = self
            .archive
            .append(&lines, now)
            .map_err(io_error_at(&self.folder));
        let stored = appended.and_then(|()| Ok(self.store.apply(&extraction.batch)?));
        if let Err(e) = stored {
            self.extractor.clear_sessions();
            return Err(e);
        }
        stats.repeated += repeated;
        stats.forgotten += forgotten;
        stats.stored += fresh.len() as u64;
        let sessions = extraction.batch.sessions.into_iter();
        stats.sessions.extend(sessions.map(|session| session.id));
        for write in &extraction.batch.items {
            if let ItemWrite::Add(item) | ItemWrite::Keep(item) = write {
                *stats.rows.entry(item.kind).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Without what the store knows, by its name, by the name of its call, or
    /// because a hook reported it.
    fn select_new_events<'e>(
        &mut self,
        events: &'e [CapturedEvent],
    ) -> Result<(Vec<&'e CapturedEvent>, u64), ServerError> {
        let mut forgotten = 0;
        let keys: Vec<_> = events.iter().map(CapturedEvent::key).collect();
        let known = self.store.are_known(&keys)?;
        let mut ids = HashSet::new();
        let mut calls = HashSet::new();
        let mut fresh = Vec::with_capacity(events.len());
        for (event, known) in events.iter().zip(known) {
            let twin = !ids.insert(event.envelope.id.as_str())
                || event
                    .call
                    .as_deref()
                    .is_some_and(|call| !calls.insert(call));
            if known || twin || self.is_known_event(event)? {
                continue;
            }
            if self.forgotten.contains_event(event) {
                forgotten += 1;
            } else {
                fresh.push(event);
            }
        }
        Ok((fresh, forgotten))
    }

    fn is_known_event(&mut self, event: &CapturedEvent) -> Result<bool, ServerError> {
        let session = event.session();
        if !self.known_events.contains_key(session) {
            let known_events = KnownEvents::for_session(self.store, session)?;
            self.known_events.insert(session.to_owned(), known_events);
        }
        Ok(self.known_events[session].contains_event(event))
    }
}
