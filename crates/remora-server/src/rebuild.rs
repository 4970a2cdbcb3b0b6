//! Memory made anew from the archive: after damage, or because digests have
//! become better. What was there before is carried over: the numbers people
//! know rows by, and rows that came from elsewhere than events.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use remora_client::Paths;
use remora_memory::store::{Batch, Filter, Name, Order, Page, Store, Write};
use remora_memory::{Captured, Digester, Policy, Worth, call_key};
use remora_protocol::{Event, EventName, tokens};
use remora_store::Access;

use crate::archive::{self, Archive, Archived};
use crate::{ServerError, at};

const BATCH: usize = 512;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Archive bytes read.
    pub done: u64,
    /// Archive bytes in all.
    pub all: u64,
    /// Events stored.
    pub events: u64,
}

/// What came of it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Rebuilt {
    /// Events read from the archive and stored.
    pub events: u64,
    /// Rows carried over because no event made them.
    pub carried: u64,
    /// Parts of the archive that could not be read.
    pub unreadable: u64,
}

/// Moves the database out of the way and returns its new name.
pub fn move_aside(paths: &Paths, now: i64) -> Result<PathBuf, ServerError> {
    let database = paths.database();
    let aside = paths.home().join(format!("remora.db.damaged-{now}"));
    for end in ["", "-wal", "-shm"] {
        let name = |path: &PathBuf| PathBuf::from(format!("{}{end}", path.display()));
        let from = name(&database);
        if from.exists() {
            fs::rename(&from, name(&aside)).map_err(at(&from))?;
        }
    }
    Ok(aside)
}

/// Builds the database from the archive and puts it in place of the old one.
/// The caller holds the worker's lock, or knows that no worker runs.
pub fn rebuild(
    paths: &Paths,
    policy: &Policy,
    progress: &mut dyn FnMut(Progress),
) -> Result<Rebuilt, ServerError> {
    let database = paths.database();
    let fresh = paths.home().join("remora.db.rebuild");
    remove(&fresh)?;
    let old = match remora_store::open(&database, Access::Read) {
        Ok(old) => Some(old),
        Err(_) => None,
    };
    let store = remora_store::open(&fresh, Access::Write)?;
    let mut building = Building {
        old: old.as_ref().map(|s| s as &dyn Store),
        store: &store,
        digester: Digester::new(policy.clone()),
        result: Rebuilt::default(),
    };
    building.replay(paths, progress)?;
    building.carry_over()?;
    let result = building.result;
    drop(building);
    // Closing writes everything into the one file.
    drop(store);
    drop(old);
    for end in ["-wal", "-shm"] {
        remove(&PathBuf::from(format!("{}{end}", database.display())))?;
    }
    fs::rename(&fresh, &database).map_err(at(&fresh))?;
    Ok(result)
}

fn remove(file: &PathBuf) -> Result<(), ServerError> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(at(file)(e)),
        _ => Ok(()),
    }
}

struct Building<'a> {
    old: Option<&'a dyn Store>,
    store: &'a dyn Store,
    digester: Digester,
    result: Rebuilt,
}

impl Building<'_> {
    fn replay(
        &mut self,
        paths: &Paths,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), ServerError> {
        let folder = paths.archive();
        let archive = Archive::new(&folder);
        let files = archive.files().map_err(at(&folder))?;
        let all = archive.bytes();
        let mut done = 0;
        for file in files {
            let mut waiting = Vec::new();
            let mut events = Vec::new();
            self.result.unreadable +=
                archive::read(&file, |event| events.push(event)).map_err(at(&file))?;
            for archived in events {
                let Some(captured) = captured(archived) else {
                    self.result.unreadable += 1;
                    continue;
                };
                waiting.push(captured);
                if waiting.len() >= BATCH {
                    self.store_all(&std::mem::take(&mut waiting))?;
                    progress(Progress {
                        done,
                        all,
                        events: self.result.events,
                    });
                }
            }
            self.store_all(&waiting)?;
            done += fs::metadata(&file).map_or(0, |m| m.len());
            progress(Progress {
                done,
                all,
                events: self.result.events,
            });
        }
        Ok(())
    }

    fn store_all(&mut self, events: &[Captured]) -> Result<(), ServerError> {
        let keys: Vec<_> = events.iter().map(Captured::key).collect();
        let known = self.store.known(&keys)?;
        let mut seen = HashSet::new();
        let fresh: Vec<&Captured> = events
            .iter()
            .zip(known)
            .filter(|(event, known)| !known && seen.insert(&event.envelope.id))
            .map(|(event, _)| event)
            .collect();
        let mut digest = self.digester.digest(self.store, &fresh)?;
        self.keep_numbers(&mut digest.batch)?;
        self.store.apply(&digest.batch)?;
        self.result.events += fresh.len() as u64;
        Ok(())
    }

    /// A row that was there before keeps its number.
    fn keep_numbers(&self, batch: &mut Batch) -> Result<(), ServerError> {
        let Some(old) = self.old else { return Ok(()) };
        for write in &mut batch.items {
            if let Write::Add(item) = write
                && let Some(before) = old.items(&[Name::Uid(item.uid.clone())])?.first()
            {
                item.id = before.id;
                *write = Write::Keep(item.clone());
            }
        }
        Ok(())
    }

    /// Rows, sessions and ledger entries whose events are no longer, or never
    /// were, in the archive.
    fn carry_over(&mut self) -> Result<(), ServerError> {
        let Some(old) = self.old else { return Ok(()) };
        let all = Filter::default();
        let mut batch = Batch {
            projects: old.projects()?,
            sessions: old.sessions(&all, usize::MAX)?,
            ..Batch::default()
        };
        let known = self.store.sessions(&all, usize::MAX)?;
        let known: HashSet<&str> = known.iter().map(|s| s.id.as_str()).collect();
        batch.sessions.retain(|s| !known.contains(s.id.as_str()));
        self.store.apply(&batch)?;
        let mut beyond = None;
        loop {
            let page = Page {
                order: Order::Oldest,
                beyond,
                limit: BATCH,
            };
            let items = old.list(&all, page)?;
            let Some(last) = items.last() else { break };
            beyond = Some(last.id);
            let names: Vec<Name> = items.iter().map(|i| Name::Uid(i.uid.clone())).collect();
            let there = self.store.items(&names)?;
            let there: HashSet<&str> = there.iter().map(|i| i.uid.as_str()).collect();
            let missing = items.iter().filter(|i| !there.contains(i.uid.as_str()));
            let batch = Batch {
                items: missing.cloned().map(Write::Keep).collect(),
                ..Batch::default()
            };
            self.result.carried += batch.items.len() as u64;
            self.store.apply(&batch)?;
        }
        Ok(())
    }
}

fn captured(archived: Archived) -> Option<Captured> {
    let name = archived.event.get("hook_event_name")?.as_str()?;
    let name = EventName::parse(name)?;
    let raw_tokens = tokens::estimate(&serde_json::to_string(&archived.event).ok()?);
    let event = Event {
        name,
        fields: archived.event,
    };
    Some(Captured {
        call: call_key(&event, archived.envelope.at),
        envelope: archived.envelope,
        event,
        worth: Worth::Keep,
        raw_tokens,
    })
}
