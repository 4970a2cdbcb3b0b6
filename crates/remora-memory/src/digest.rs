//! Events become rows. The store is only read here; what is to be written is
//! returned as one batch.

mod call;
mod item;
mod talk;
mod timeline;

use std::collections::HashMap;
use std::fmt;

use remora_protocol::record::{EventRow, Item, Kind, Project};

use crate::capture::{Captured, Worth};
use crate::policy::{Policy, Treatment, treatment};
use crate::session::State;
use crate::store::{Batch, Result, Store, Write};
use crate::{fix, folder};

/// Sessions that are kept in mind.
const SESSIONS: usize = 64;

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is in the archive, and so many rows came of it.
    Kept {
        /// Rows.
        items: usize,
    },
    /// Only that it happened is known.
    Skipped(&'static str),
}

impl fmt::Display for Fate {
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
pub struct Digest {
    /// What is to be written.
    pub batch: Batch,
    /// One a captured event, in the same order.
    pub fates: Vec<Fate>,
}

/// Turns events into rows, and keeps the running sessions in mind.
#[derive(Debug)]
pub struct Digester {
    policy: Policy,
    sessions: HashMap<String, State>,
    uses: u64,
}

impl Digester {
    /// A digester that knows no session yet.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            sessions: HashMap::new(),
            uses: 0,
        }
    }

    /// Forgets what it thinks the store holds. To be called when a batch could
    /// not be stored.
    pub fn forget(&mut self) {
        self.sessions.clear();
    }

    /// Digests events in the order of their capture.
    pub fn digest(&mut self, store: &dyn Store, events: &[&Captured]) -> Result<Digest> {
        let mut work = Work {
            store,
            policy: &self.policy,
            batch: Batch::default(),
            fixes: Vec::new(),
        };
        let mut fates = Vec::with_capacity(events.len());
        for event in events {
            let project = work.project(event);
            let id = event.session().into_owned();
            let mut state = match self.sessions.remove(&id) {
                Some(state) => state,
                None => State::load(store, event, &project)?,
            };
            self.uses += 1;
            state.used = self.uses;
            let done = work.event(event, &mut state);
            self.sessions.insert(id, state);
            fates.push(match done {
                Ok(fate) => fate,
                Err(e) => {
                    self.forget();
                    return Err(e);
                }
            });
        }
        let mut batch = work.batch;
        batch.sessions = self.touched(events);
        self.forget_the_oldest();
        Ok(Digest { batch, fates })
    }

    fn touched(&self, events: &[&Captured]) -> Vec<remora_protocol::record::Session> {
        let mut ids: Vec<_> = events.iter().map(|e| e.session()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.iter()
            .filter_map(|id| self.sessions.get(id.as_ref()))
            .map(|state| state.session.clone())
            .collect()
    }

    fn forget_the_oldest(&mut self) {
        while self.sessions.len() > SESSIONS {
            let oldest = self.sessions.iter().min_by_key(|(_, state)| state.used);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else {
                return;
            };
            self.sessions.remove(&id);
        }
    }
}

/// One batch in the making.
struct Work<'a> {
    store: &'a dyn Store,
    policy: &'a Policy,
    batch: Batch,
    /// Fixes of this batch, which the store does not know yet.
    fixes: Vec<Item>,
}

impl Work<'_> {
    /// The project's key; a project that is new to the batch is noted.
    fn project(&mut self, event: &Captured) -> String {
        let project = event.envelope.project.clone().unwrap_or_else(|| {
            let root = event.text("cwd");
            Project {
                key: root.to_owned(),
                name: root.rsplit('/').next().unwrap_or(root).to_owned(),
                root: root.to_owned(),
            }
        });
        let key = project.key.clone();
        if !self.batch.projects.contains(&project) {
            self.batch.projects.push(project);
        }
        key
    }

    fn event(&mut self, event: &Captured, state: &mut State) -> Result<Fate> {
        let before = self.batch.items.len();
        let session = &mut state.session;
        session.last = session.last.max(event.envelope.at);
        if event.envelope.branch.is_some() {
            session.branch.clone_from(&event.envelope.branch);
        }
        let what = treatment(event.event.name);
        let skipped = match (event.worth, what) {
            (Worth::Ignored, _) => Some("ignored by the person"),
            (_, Treatment::Counted) => Some("another event tells it"),
            (_, Treatment::Call | Treatment::FailedCall) => self.call(event, state)?,
            (_, Treatment::Prompt) => self.prompt(event, state),
            (_, Treatment::Checkpoint) => self.stop(event, state),
            (_, Treatment::Broken) => self.broken(event, state),
            (_, Treatment::Subagent) => self.subagent(event, state),
            (_, Treatment::Compacted) => self.compacted(event, state),
            (_, Treatment::Begin) => {
                state.session.end_reason = None;
                None
            }
            (_, Treatment::End) => {
                self.end(event, state);
                None
            }
            (_, Treatment::File) => {
                self.batch.files.extend(folder::changed_outside(event));
                None
            }
            (_, Treatment::Timeline) => None,
        };
        let ignored = event.worth == Worth::Ignored;
        self.batch.events.push(EventRow {
            id: event.envelope.id.clone(),
            call: event.call.clone(),
            name: event.event.name.as_str().to_owned(),
            session: event.session().into_owned(),
            time: event.envelope.at,
            label: match skipped {
                _ if ignored => String::new(),
                // Whoever skips a tool does not want its calls here either.
                Some(call::SKIPPED) => event.text("tool_name").to_owned(),
                _ => timeline::label(event),
            },
        });
        Ok(match skipped {
            Some(why) => Fate::Skipped(why),
            None => Fate::Kept {
                items: self.batch.items.len() - before,
            },
        })
    }

    /// Stores a row, or counts it up when the session said the same before.
    /// Returns whether it is new.
    fn add(&mut self, item: Item, state: &mut State) -> bool {
        let repeats = item.kind.is_observation()
            && item.files_modified.is_empty()
            && !fix::is_reversal(&item);
        if repeats && let Some(uid) = state.recent.twin(&item) {
            self.batch.items.push(Write::Again {
                uid: uid.to_owned(),
                time: item.time,
            });
            return false;
        }
        state.note(&item);
        self.batch.items.push(Write::Add(item));
        true
    }

    /// The fix with this key, as far as it is known.
    fn known_fix(&self, project: &str, key: &str) -> Result<Option<Item>> {
        let here = |item: &&Item| item.project == project && item.key.as_deref() == Some(key);
        match self.fixes.iter().rev().find(here) {
            Some(item) => Ok(Some(item.clone())),
            None => self.store.keyed(project, Kind::Fix, key),
        }
    }

    fn put_fix(&mut self, item: Item) {
        self.fixes.push(item.clone());
        self.batch.items.push(Write::Put(item));
    }

    /// What a command's failing or passing teaches. To be called before the
    /// row is noted, which closes what it closes.
    fn learn(&mut self, item: &Item, state: &mut State) -> Result<()> {
        let project = item.project.as_str();
        if item.kind == Kind::Failure {
            // Met again before anything mended it, it has not come back.
            if let Some(print) = fix::detail(item, fix::field::FINGERPRINT)
                && !state.failures.has(print)
                && let Some(known) = self.known_fix(project, print)?
            {
                self.put_fix(fix::returned(known));
            }
            return Ok(());
        }
        let mut failures = std::mem::take(&mut state.failures);
        let fixes = failures.passed(item, |key| self.known_fix(project, key));
        state.failures = failures;
        for fix in fixes? {
            self.put_fix(fix);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
