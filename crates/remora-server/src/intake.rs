//! Events from elsewhere than the spool, many at a time: cleaned as the inbox
//! cleans them, known ones dropped, the rest digested, archived and stored. For
//! whoever holds the worker's place.

mod heard;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use remora_client::Paths;
use remora_memory::redact::{Marks, Redactor};
use remora_memory::store::{Store, Write};
use remora_memory::{Captured, Digester, Fate, Policy, Worth, call_key, private};
use remora_protocol::record::Kind;
use remora_protocol::request::Envelope;
use remora_protocol::{Event, tokens};
use serde_json::Value;

use crate::archive::{Archive, Archived};
use crate::forgotten::Forgotten;
use crate::ignore::Ignores;
use crate::{ServerError, anchor, at};
use heard::Heard;

/// Takes out of events what must not be kept. Needs no store, so it can work
/// ahead in a thread of its own.
#[derive(Debug)]
pub struct Cleaner<'a> {
    redactor: &'a Redactor,
    ignores: Ignores,
}

impl<'a> Cleaner<'a> {
    /// With the person's own patterns of files that are not captured.
    pub fn new(redactor: &'a Redactor, ignore: Vec<String>) -> Self {
        Self {
            redactor,
            ignores: Ignores::new(ignore),
        }
    }

    /// An event as it may be kept; what was taken out is counted.
    pub fn clean(&mut self, envelope: Envelope, event: Event, marks: &mut Marks) -> Captured {
        let raw_tokens = event.fields.values().map(weight).sum();
        clean(
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
pub(crate) fn clean(
    redactor: &Redactor,
    ignores: &mut Ignores,
    mut envelope: Envelope,
    mut event: Event,
    raw_tokens: u32,
    marks: &mut Marks,
) -> Captured {
    let call = call_key(&event);
    let root = envelope.project.as_ref().map_or("", |p| &p.root);
    let worth = if ignores.ignores(&event, root) {
        Worth::Ignored
    } else {
        Worth::Keep
    };
    redact_envelope(redactor, &mut envelope, marks);
    let mut value = Value::Object(std::mem::take(&mut event.fields));
    private::strip_value(&mut value);
    redactor.json(&mut value, marks);
    if let Value::Object(fields) = value {
        event.fields = fields;
    }
    Captured {
        envelope,
        event,
        call,
        worth,
        raw_tokens,
    }
}

/// Takes secrets out of what the hook noted beside the payload: names of
/// branches, remotes and folders are written by people too.
pub(crate) fn redact_envelope(redactor: &Redactor, envelope: &mut Envelope, marks: &mut Marks) {
    let project = envelope.project.iter_mut();
    let texts = project.flat_map(|p| [&mut p.key, &mut p.name, &mut p.root]);
    for text in texts.chain(&mut envelope.branch) {
        if let Cow::Owned(clean) = redactor.text(text, marks) {
            *text = clean;
        }
    }
}

/// Estimated tokens of all texts of a value.
fn weight(value: &Value) -> u32 {
    match value {
        Value::String(text) => tokens::estimate(text),
        Value::Array(list) => list.iter().map(weight).fold(0, u32::saturating_add),
        Value::Object(map) => map.values().map(weight).fold(0, u32::saturating_add),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// What came of some events.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Events stored.
    pub stored: u64,
    /// Events that were here already, by whomever they were told.
    pub repeated: u64,
    /// Events that a user deleted.
    pub forgotten: u64,
    /// Rows that are new, by kind; without fixes, which may be known.
    pub rows: BTreeMap<Kind, u64>,
    /// Sessions that something was stored of.
    pub sessions: Vec<String>,
}

/// The way of many events into a store.
pub struct Intake<'a> {
    store: &'a dyn Store,
    digester: Digester,
    archive: Archive,
    folder: PathBuf,
    heard: HashMap<String, Heard>,
    forgotten: Forgotten,
}

impl<'a> Intake<'a> {
    /// Into this store, and into the archive of this data directory.
    pub fn new(store: &'a dyn Store, policy: Policy, paths: &Paths) -> Result<Self, ServerError> {
        let folder = paths.archive();
        Ok(Self {
            store,
            digester: Digester::new(policy),
            archive: Archive::new(&folder),
            folder,
            heard: HashMap::new(),
            forgotten: Forgotten::load(paths)?,
        })
    }

    /// Stores those events that are new, in their order, in one transaction.
    pub fn take(&mut self, events: Vec<Captured>, now: i64) -> Result<Taken, ServerError> {
        let mut taken = Taken::default();
        let mut fresh = self.fresh(events, &mut taken)?;
        if fresh.is_empty() {
            return Ok(taken);
        }
        let events: Vec<&Captured> = fresh.iter().collect();
        let mut digest = match self.digester.digest(self.store, &events) {
            Ok(digest) => digest,
            Err(e) => {
                self.digester.forget();
                return Err(e.into());
            }
        };
        anchor::take(&mut digest.batch.files, &events);
        // A session that hooks told the end of began before they did.
        for session in &mut digest.batch.sessions {
            let first = events
                .iter()
                .filter(|event| text(event, "session_id") == session.id)
                .map(|event| event.envelope.at)
                .min();
            session.started = first.map_or(session.started, |at| at.min(session.started));
            taken.sessions.push(session.id.clone());
        }
        for write in &digest.batch.items {
            if let Write::Add(item) | Write::Keep(item) = write {
                *taken.rows.entry(item.kind).or_default() += 1;
            }
        }
        taken.stored = fresh.len() as u64;
        let mut lines = Vec::new();
        for (event, fate) in fresh.iter_mut().zip(&digest.fates) {
            if matches!(fate, Fate::Kept { .. }) {
                let archived = Archived {
                    envelope: event.envelope.clone(),
                    event: std::mem::take(&mut event.event.fields),
                };
                serde_json::to_writer(&mut lines, &archived)
                    .map_err(io::Error::from)
                    .map_err(at(&self.folder))?;
                lines.push(b'\n');
            }
        }
        let appended = self.archive.append(&lines, now).map_err(at(&self.folder));
        let stored = appended.and_then(|()| Ok(self.store.apply(&digest.batch)?));
        if let Err(e) = stored {
            self.digester.forget();
            return Err(e);
        }
        Ok(taken)
    }

    /// Without what the store knows, by its name, by the name of its call, or
    /// because a hook told it.
    fn fresh(
        &mut self,
        events: Vec<Captured>,
        taken: &mut Taken,
    ) -> Result<Vec<Captured>, ServerError> {
        let keys: Vec<_> = events.iter().map(Captured::key).collect();
        let known = self.store.known(&keys)?;
        let mut ids = HashSet::new();
        let mut calls = HashSet::new();
        let mut fresh = Vec::with_capacity(events.len());
        for (event, known) in events.into_iter().zip(known) {
            let twin = !ids.insert(event.envelope.id.clone())
                || event
                    .call
                    .as_ref()
                    .is_some_and(|call| !calls.insert(call.clone()));
            if known || twin || self.heard(&event)? {
                taken.repeated += 1;
            } else if self.forgotten.covers(&event) {
                taken.forgotten += 1;
            } else {
                fresh.push(event);
            }
        }
        Ok(fresh)
    }

    fn heard(&mut self, event: &Captured) -> Result<bool, ServerError> {
        let session = text(event, "session_id");
        if !self.heard.contains_key(session) {
            let heard = Heard::of(self.store, session)?;
            self.heard.insert(session.to_owned(), heard);
        }
        Ok(self.heard[session].has(event))
    }
}

/// A text field of an event.
fn text<'a>(event: &'a Captured, field: &str) -> &'a str {
    event.event.str(field).unwrap_or_default()
}
