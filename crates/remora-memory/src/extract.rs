//! Events become rows. The store is only read here; what is to be written is
//! returned as one batch.

mod call;
mod conversation;
mod item;
mod timeline;

use std::collections::HashMap;
use std::fmt;

use remora_core::detail::DetailText;
use remora_core::ids::{ProjectKey, SessionId};
use remora_core::record::{Item, Kind, LoggedEvent};

use crate::capture::{CaptureDecision, CapturedEvent};
use crate::near::ItemTrace;
use crate::policy::{CapturePolicy, Treatment, event_treatment};
use crate::session::SessionState;
use crate::store::{Batch, ItemWrite, Result, Store};
use crate::{fix, folder};

/// Sessions that are kept in mind.
const MAX_SESSIONS: usize = 64;

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventDisposition {
    /// It is in the archive, and so many rows came of it.
    Kept {
        /// Rows.
        items: usize,
    },
    /// Only that it happened is known.
    Skipped(&'static str),
}

impl fmt::Display for EventDisposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept { items: 1 } => f.write_str("archived, stored 1 item"),
            Self::Kept { items } => write!(f, "archived, stored {items} items"),
            Self::Skipped(why) => write!(f, "skipped ({why})"),
        }
    }
}

/// What a batch of events comes to.
#[derive(Debug)]
pub struct Extraction {
    /// What is to be written.
    pub batch: Batch,
    /// One a captured event, in the same order.
    pub fates: Vec<EventDisposition>,
}

/// Turns events into rows, and keeps the running sessions in mind.
#[derive(Debug)]
pub struct Extractor {
    policy: CapturePolicy,
    sessions: HashMap<SessionId, SessionState>,
    uses: u64,
}

impl Extractor {
    /// An extractor that knows no session yet.
    pub fn new(policy: CapturePolicy) -> Self {
        Self {
            policy,
            sessions: HashMap::new(),
            uses: 0,
        }
    }

    /// Forgets what it thinks the store holds. To be called when a batch could
    /// not be stored.
    pub fn clear_sessions(&mut self) {
        self.sessions.clear();
    }

    /// Extracts the items of events, in the order of their capture.
    pub fn extract_items(
        &mut self,
        store: &dyn Store,
        events: &[&CapturedEvent],
    ) -> Result<Extraction> {
        let mut work = BatchBuilder {
            store,
            policy: &self.policy,
            batch: Batch::default(),
            fixes: Vec::new(),
            claims: KnownClaims::default(),
        };
        let mut fates = Vec::with_capacity(events.len());
        for event in events {
            let project = work.add_project(event);
            let id = event.session().to_owned();
            let mut state = match self.sessions.remove(&id) {
                Some(state) => state,
                None => SessionState::load_session(store, event, &project)?,
            };
            self.uses += 1;
            state.used = self.uses;
            let done = work.process_event(event, &mut state);
            self.sessions.insert(id, state);
            fates.push(match done {
                Ok(fate) => fate,
                Err(e) => {
                    // The batch is not stored, but the states speak of its items already.
                    self.clear_sessions();
                    return Err(e);
                }
            });
        }
        let mut batch = work.batch;
        batch.sessions = self.list_touched_sessions(events);
        self.forget_the_oldest();
        Ok(Extraction { batch, fates })
    }

    fn list_touched_sessions(
        &self,
        events: &[&CapturedEvent],
    ) -> Vec<remora_core::record::Session> {
        let mut ids: Vec<_> = events.iter().map(|e| e.session()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.iter()
            .filter_map(|id| self.sessions.get(*id))
            .map(|state| state.session.clone())
            .collect()
    }

    fn forget_the_oldest(&mut self) {
        while self.sessions.len() > MAX_SESSIONS {
            let oldest = self.sessions.iter().min_by_key(|(_, state)| state.used);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else {
                return;
            };
            self.sessions.remove(&id);
        }
    }
}

/// One batch in the making.
struct BatchBuilder<'a> {
    store: &'a dyn Store,
    policy: &'a CapturePolicy,
    batch: Batch,
    /// Fixes of this batch, which the store does not know yet.
    fixes: Vec<Item>,
    claims: KnownClaims,
}

/// What projects claim, as keys: of the store, which does not change while a batch
/// is made, and of the batch as far as it was looked through.
#[derive(Debug, Default)]
struct KnownClaims {
    of_store: HashMap<ProjectKey, Vec<String>>,
    of_batch: Vec<(ProjectKey, String)>,
    /// Writes of the batch that were looked through.
    looked_through: usize,
}

impl BatchBuilder<'_> {
    /// The project's key; a project that is new to the batch is noted.
    fn add_project(&mut self, event: &CapturedEvent) -> ProjectKey {
        let project = event.project_record();
        let key = project.key.clone();
        if !self.batch.projects.contains(&project) {
            self.batch.projects.push(project);
        }
        key
    }

    fn process_event(
        &mut self,
        event: &CapturedEvent,
        state: &mut SessionState,
    ) -> Result<EventDisposition> {
        let before = self.batch.items.len();
        let session = &mut state.session;
        session.last = session.last.max(event.envelope.at);
        if event.envelope.branch.is_some() {
            session.branch.clone_from(&event.envelope.branch);
        }
        let what = event_treatment(event.event.name);
        let skipped = match (event.worth, what) {
            (CaptureDecision::Ignored, _) => Some("ignored by the user"),
            (_, Treatment::Counted) => Some("another event tells it"),
            (_, Treatment::Call | Treatment::FailedCall) => self.extract_tool_call(event, state)?,
            (_, Treatment::Prompt) => self.extract_prompt(event, state),
            (_, Treatment::Checkpoint) => self.stop(event, state),
            (_, Treatment::Broken) => self.extract_broken_turn(event, state),
            (_, Treatment::Subagent) => self.extract_subagent_result(event, state),
            (_, Treatment::Compacted) => self.extract_compaction(event, state),
            (_, Treatment::Begin) => {
                state.session.end_reason = None;
                None
            }
            (_, Treatment::End) => {
                self.end_session(event, state);
                None
            }
            (_, Treatment::File) => {
                self.batch.files.extend(folder::changed_outside(event));
                None
            }
            (_, Treatment::Timeline) => None,
        };
        let ignored = event.worth == CaptureDecision::Ignored;
        self.batch.events.push(LoggedEvent {
            id: event.envelope.id.clone(),
            call: event.call.clone(),
            name: event.event.name.as_str().to_owned(),
            session: event.session().to_owned(),
            time: event.envelope.at,
            label: match skipped {
                _ if ignored => String::new(),
                // Whoever skips a tool does not want its calls here either.
                Some(call::SKIPPED_TOOL_REASON) => {
                    let tool = event.event.tool_use();
                    tool.map(|tool| tool.name.clone()).unwrap_or_default()
                }
                _ => timeline::format_label(event),
            },
        });
        Ok(match skipped {
            Some(why) => EventDisposition::Skipped(why),
            None => EventDisposition::Kept {
                items: self.batch.items.len() - before,
            },
        })
    }

    /// Stores a row, or counts it up when the session said the same before.
    /// Returns whether it is new.
    fn add_item(&mut self, item: Item, state: &mut SessionState) -> bool {
        let repeats = item.kind.is_observation()
            && item.files_modified.is_empty()
            && !fix::is_reversal(&item);
        let trace = repeats.then(|| ItemTrace::from_item(&item));
        if let Some(uid) = trace
            .as_ref()
            .and_then(|new| state.recent.find_duplicate(new))
        {
            self.batch.items.push(ItemWrite::Again {
                uid: uid.into(),
                time: item.time,
            });
            return false;
        }
        state.record_traced_item(&item, trace);
        self.batch.items.push(ItemWrite::Add(item));
        true
    }

    /// The fix with this key, as far as it is known.
    fn known_fix(&self, project: &str, key: &str) -> Result<Option<Item>> {
        let here = |item: &&Item| item.project == project && item.key.as_deref() == Some(key);
        match self.fixes.iter().rev().find(here) {
            Some(item) => Ok(Some(item.clone())),
            None => self.store.find_by_key(project, Kind::Fix, key),
        }
    }

    fn put_fix(&mut self, item: Item) {
        self.fixes.push(item.clone());
        self.batch.items.push(ItemWrite::Put(item));
    }

    /// What a command's failing or passing teaches. To be called before the
    /// row is noted, which closes what it closes.
    fn update_fixes(&mut self, item: &Item, state: &mut SessionState) -> Result<()> {
        let project = item.project.as_str();
        if item.kind == Kind::Failure {
            // Met again before anything mended it, it has not come back.
            if let Some(print) = item.detail_text(DetailText::Fingerprint)
                && !state.failures.contains_fingerprint(print)
                && let Some(known) = self.known_fix(project, print)?
            {
                self.put_fix(fix::count_return(known));
            }
            return Ok(());
        }
        let mut failures = std::mem::take(&mut state.failures);
        let fixes = failures.find_proven_fixes(item, |key| self.known_fix(project, key));
        state.failures = failures;
        for fix in fixes? {
            self.put_fix(fix);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
