//! The new database in the making: items are extracted again, then what events
//! do not hold is carried over from the old one.

use std::collections::{HashMap, HashSet};

use remora_agents::read_origin;
use remora_client::DataPaths;
use remora_core::ids::{ProjectKey, SessionId};
use remora_core::record::{FileRecord, FileState, LoggedEvent, Session};
use remora_memory::store::{Batch, Filter, ItemRef, ItemWrite, PageRequest, SortOrder, Store};
use remora_memory::{CapturePolicy, CapturedEvent};

use super::RebuildStats;
use crate::archive::ArchivedEvent;
use crate::ingest::{
    ArchiveUse, EventSource, FailedEvent, Ingest, IngestedEvent, MAX_BATCH_BYTES, MAX_BATCH_EVENTS,
    read_archived_event,
};
use crate::join::ProjectJoins;
use crate::panics::{CaughtPanic, IsolationSteps, catch_panic, isolate_panics};
use crate::{ServerError, overrides};

/// Injections of one page, which are short and are sorted for every page.
const INJECTION_PAGE_LINES: usize = 16 * 1024;

/// A database on its way.
pub(super) struct DatabaseBuilder<'a> {
    old: Option<&'a dyn Store>,
    store: &'a dyn Store,
    ingest: Ingest,
    waiting: Vec<CapturedEvent>,
    /// How many bytes wait, about.
    waiting_bytes: usize,
    /// Names of calls that were made of more than the archive holds: they are
    /// computed before redaction.
    calls: HashMap<String, String>,
    /// Old sessions, by id.
    sessions: HashMap<SessionId, Session>,
    kept: KeptNames<'a>,
    joins: ProjectJoins,
    pub(super) result: RebuildStats,
}

/// What the rebuild changes on the way of its events: items keep the names that they
/// had in the old database.
struct KeptNames<'a> {
    old: Option<&'a dyn Store>,
    /// Sessions whose beginning is no longer in the archive.
    beheaded: HashSet<SessionId>,
    /// Sessions of which an event was read.
    begun: HashSet<SessionId>,
}

impl EventSource for KeptNames<'_> {
    fn complete_batch(
        &mut self,
        store: &dyn Store,
        events: &[&CapturedEvent],
        batch: &mut Batch,
    ) -> Result<(), ServerError> {
        for event in events {
            self.note_session(event)?;
        }
        self.keep_names(store, batch)
    }
}

impl<'a> DatabaseBuilder<'a> {
    pub(super) fn new(
        old: Option<&'a dyn Store>,
        store: &'a dyn Store,
        policy: &CapturePolicy,
        paths: &DataPaths,
    ) -> Result<Self, ServerError> {
        let mut calls = HashMap::new();
        let mut sessions = HashMap::new();
        // Before the first event, so that nothing rejected is learned again.
        let overrides = match old {
            Some(old) => old.list_overrides(None)?,
            None => overrides::load_overrides(paths)?,
        };
        store.apply(&Batch {
            overrides,
            ..Batch::default()
        })?;
        if let Some(old) = old {
            for session in old.list_sessions(&Filter::default(), usize::MAX)? {
                sessions.insert(session.id.clone(), session);
            }
            read_event_log(old, &mut |events| {
                for event in events {
                    if let Some(call) = event.call
                        && call.split(' ').count() > 3
                    {
                        calls.insert(event.id, call);
                    }
                }
                Ok(())
            })?;
        }
        Ok(Self {
            old,
            store,
            // The archive may hold an event twice, when the worker was killed between
            // archive and store.
            ingest: Ingest::new(policy.clone(), paths, ArchiveUse::Source)?,
            waiting: Vec::new(),
            waiting_bytes: 0,
            calls,
            sessions,
            kept: KeptNames {
                old,
                beheaded: HashSet::new(),
                begun: HashSet::new(),
            },
            joins: ProjectJoins::load_joins(paths)?,
            result: RebuildStats::default(),
        })
    }

    /// An event of the archive, in its order.
    pub(super) fn add_event(&mut self, archived: ArchivedEvent) -> Result<(), ServerError> {
        let id = archived.envelope.id.clone();
        let mut event = match catch_panic(|| read_archived_event(archived)) {
            Ok(Some(event)) => event,
            Ok(None) => {
                self.result.unreadable += 1;
                return Ok(());
            }
            Err(panicked) => {
                self.leave_out(id, &panicked);
                return Ok(());
            }
        };
        let envelope = &mut event.envelope;
        if let Some(project) = &mut envelope.project {
            self.joins.apply_to_project(project, envelope.at);
        }
        if let Some(call) = self.calls.get(&event.envelope.id) {
            event.call = Some(call.clone());
        }
        self.waiting_bytes += estimate_bytes(event.raw_tokens);
        self.waiting.push(event);
        if self.waiting.len() >= MAX_BATCH_EVENTS || self.waiting_bytes > MAX_BATCH_BYTES {
            self.store_waiting()?;
        }
        Ok(())
    }

    /// The rest, and what the events do not hold.
    pub(super) fn finish_build(mut self) -> Result<RebuildStats, ServerError> {
        self.store_waiting()?;
        if let Some(old) = self.old {
            self.carry_sessions(old)?;
            self.carry_items(old)?;
            self.carry_files(old)?;
            self.carry_event_log(old)?;
            self.carry_injections(old)?;
        }
        Ok(self.result)
    }

    pub(super) fn store_waiting(&mut self) -> Result<(), ServerError> {
        let events = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        isolate_panics(self, &events, &Self::ISOLATION_STEPS)
    }

    const ISOLATION_STEPS: IsolationSteps<Self, CapturedEvent, ServerError> = IsolationSteps {
        work: Self::store_events,
        recover: |building| building.ingest.reset_cache(),
        leave_out: |building, event, panicked| {
            building.leave_out(event.envelope.id.clone(), panicked);
            Ok(())
        },
    };

    fn leave_out(&mut self, id: String, panicked: &CaughtPanic) {
        let reason = panicked.to_string();
        self.result.left_out.push(FailedEvent { id, reason });
    }

    fn store_events(&mut self, events: &[CapturedEvent]) -> Result<(), ServerError> {
        let events: Vec<&CapturedEvent> = events.iter().collect();
        // Nothing is archived, so that no time is needed.
        let done = self
            .ingest
            .ingest_events(self.store, &events, &mut self.kept, 0)?;
        let is_stored = |event: &&IngestedEvent| matches!(event, IngestedEvent::Stored(_));
        self.result.events += done.events.iter().filter(is_stored).count() as u64;
        Ok(())
    }

    /// Sessions without events in the archive as they are; of the others how
    /// long they lasted, and of those whose beginning is gone the beginning.
    fn carry_sessions(&mut self, old: &dyn Store) -> Result<(), ServerError> {
        let known: HashSet<ProjectKey> = self
            .store
            .list_projects()?
            .into_iter()
            .map(|p| p.key)
            .collect();
        let mut projects = old.list_projects()?;
        projects.retain(|project| !known.contains(&project.key));
        let mut sessions = std::mem::take(&mut self.sessions);
        for new in self.store.list_sessions(&Filter::default(), usize::MAX)? {
            let Some(session) = sessions.get_mut(&new.id) else {
                continue;
            };
            let before = session.clone();
            let mut joined = Session {
                started: before.started.min(new.started),
                last: before.last.max(new.last),
                ..new
            };
            if self.kept.beheaded.contains(&joined.id) {
                joined.cwd = before.cwd;
                joined.prompts = before.prompts.max(joined.prompts);
                if !before.title.is_empty() {
                    joined.title = before.title;
                }
            }
            *session = joined;
        }
        let mut sessions: Vec<Session> = sessions.into_values().collect();
        sessions.sort_by(|a, b| a.id.cmp(&b.id));
        self.store.apply(&Batch {
            projects,
            sessions,
            ..Batch::default()
        })?;
        Ok(())
    }

    /// Items that no event in the archive makes: of imports, of events that are
    /// gone. An item that an event in the archive made once and makes no longer
    /// is what rebuilding is for, and goes.
    fn carry_items(&mut self, old: &dyn Store) -> Result<(), ServerError> {
        let all = Filter::default();
        let mut beyond = None;
        loop {
            let page = PageRequest {
                order: SortOrder::Oldest,
                beyond,
                limit: MAX_BATCH_EVENTS,
            };
            let items = old.list_items(&all, page)?;
            let Some(last) = items.last() else {
                return Ok(());
            };
            beyond = Some(last.id);
            let names: Vec<ItemRef> = items.iter().map(|i| ItemRef::Uid(i.uid.clone())).collect();
            let there = self.store.find_items(&names)?;
            let there: HashSet<&str> = there.iter().map(|i| i.uid.as_str()).collect();
            let mut missing: Vec<_> = items
                .iter()
                .filter(|item| !there.contains(item.uid.as_str()))
                .collect();
            let keys: Vec<_> = missing.iter().map(|item| event_of(&item.uid)).collect();
            let made = self.store.are_known(&keys)?;
            let mut made = made.iter();
            missing.retain(|_| !made.next().copied().unwrap_or(false));
            let mut batch = Batch::default();
            for item in missing {
                // Items with the same key are one, and the new one is better.
                let newer = match &item.key {
                    Some(key) => self.store.find_by_key(&item.project, item.kind, key)?,
                    None => None,
                };
                if newer.is_none() {
                    batch.items.push(ItemWrite::Keep(item.clone()));
                }
            }
            self.result.carried += batch.items.len() as u64;
            self.store.apply(&batch)?;
        }
    }

    fn carry_files(&mut self, old: &dyn Store) -> Result<(), ServerError> {
        for project in old.list_projects()? {
            let there = self.store.list_files(&project.key, None)?;
            let there: HashMap<(&str, &str), &FileRecord> = there
                .iter()
                .map(|file| ((file.folder.as_str(), file.name.as_str()), file))
                .collect();
            let mut files = old.list_files(&project.key, None)?;
            files.retain_mut(|file| {
                let anchor = file.anchor;
                let key = (file.folder.as_str(), file.name.as_str());
                let Some(new) = there.get(&key) else {
                    return true;
                };
                // What it was like when the event came cannot be seen any more.
                let lost = new.anchor.is_none() && new.state != FileState::Removed;
                *file = (*new).clone();
                file.anchor = anchor;
                lost && anchor.is_some()
            });
            self.store.apply(&Batch {
                files,
                ..Batch::default()
            })?;
        }
        Ok(())
    }

    /// Injections are in no event.
    fn carry_injections(&mut self, old: &dyn Store) -> Result<(), ServerError> {
        let mut filter = Filter::default();
        let mut limit = INJECTION_PAGE_LINES;
        loop {
            let injections = old.list_injections(&filter, limit)?;
            let last = injections.last().map(|line| line.time);
            let whole = injections.len() < limit;
            // What is there already is left as it is.
            self.store.apply(&Batch {
                injections,
                ..Batch::default()
            })?;
            if whole {
                return Ok(());
            }
            limit = if filter.since == last {
                limit * 2
            } else {
                INJECTION_PAGE_LINES
            };
            filter.since = last;
        }
    }

    /// Events that were skipped are not in the archive, but must not be taken
    /// for new ones if they come again.
    fn carry_event_log(&mut self, old: &dyn Store) -> Result<(), ServerError> {
        let store = self.store;
        read_event_log(old, &mut |events| {
            // What is there already is left as it is.
            store.apply(&Batch {
                events,
                ..Batch::default()
            })?;
            Ok(())
        })
    }
}

impl KeptNames<'_> {
    /// Items from before the first event that is still there: the beginning of
    /// the session is gone.
    fn note_session(&mut self, event: &CapturedEvent) -> Result<(), ServerError> {
        let id = read_origin(&event.raw.fields).session;
        let (Some(id), Some(old)) = (id, self.old) else {
            return Ok(());
        };
        if self.begun.contains(id) {
            return Ok(());
        }
        self.begun.insert(id.into());
        let filter = Filter {
            session: Some(id.into()),
            until: Some(event.envelope.at),
            ..Filter::default()
        };
        let first = PageRequest {
            order: SortOrder::Oldest,
            beyond: None,
            limit: 1,
        };
        if !old.list_items(&filter, first)?.is_empty() {
            self.beheaded.insert(id.into());
        }
        Ok(())
    }

    /// An item that was there before keeps its number, and what was learned from
    /// the event before it was redacted; one of a session whose beginning is
    /// gone also keeps the number of its prompt.
    fn keep_names(&self, store: &dyn Store, batch: &mut Batch) -> Result<(), ServerError> {
        let Some(old) = self.old else { return Ok(()) };
        for write in &mut batch.items {
            let (item, before) = match write {
                ItemWrite::Add(item) => {
                    let found = old.find_items(&[ItemRef::Uid(item.uid.clone())])?;
                    let before = found.into_iter().find(|before| before.uid == item.uid);
                    (item, before)
                }
                ItemWrite::Put(item) => {
                    let key = item.key.clone().unwrap_or_default();
                    let there = store.find_by_key(&item.project, item.kind, &key)?;
                    if there.is_some() {
                        continue;
                    }
                    let before = old.find_by_key(&item.project, item.kind, &key)?;
                    (item, before)
                }
                ItemWrite::Keep(_) | ItemWrite::Again { .. } => continue,
            };
            let Some(before) = before else { continue };
            item.id = before.id;
            item.uid = before.uid;
            item.raw_tokens = before.raw_tokens;
            if self.beheaded.contains(&item.session) {
                item.prompt = before.prompt.or(item.prompt);
            }
            *write = ItemWrite::Keep(item.clone());
        }
        Ok(())
    }
}

/// The event that made the item with this uid.
fn event_of(uid: &str) -> remora_memory::store::EventKey<'_> {
    remora_memory::store::EventKey {
        id: uid.split_once('/').map_or(uid, |(id, _)| id),
        call: None,
    }
}

/// A token is four letters of most texts.
fn estimate_bytes(tokens: u32) -> usize {
    usize::try_from(tokens)
        .unwrap_or(usize::MAX)
        .saturating_mul(4)
}

/// The whole event log, a page at a time. Times are not unique, so every page
/// begins with the time that the last one ended with.
fn read_event_log(
    store: &dyn Store,
    take: &mut dyn FnMut(Vec<LoggedEvent>) -> Result<(), ServerError>,
) -> Result<(), ServerError> {
    let mut filter = Filter::default();
    let mut limit = MAX_BATCH_EVENTS;
    loop {
        let page = PageRequest {
            order: SortOrder::Oldest,
            beyond: None,
            limit,
        };
        let events = store.list_events(&filter, page)?;
        let last = events.last().map(|event| event.time);
        let whole = events.len() < limit;
        take(events)?;
        if whole {
            return Ok(());
        }
        limit = if filter.since == last {
            limit * 2
        } else {
            MAX_BATCH_EVENTS
        };
        filter.since = last;
    }
}
