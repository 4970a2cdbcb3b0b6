//! Whether what was given was of use: a session's later calls against the lines
//! of the ledger. Pure; the store is only read. A use is a deed, never a guess:
//! a row was fetched by its number, a file that it names was opened or edited,
//! or the command that it tells of was run.

mod deed;

use std::collections::HashMap;

use remora_core::detail::DetailText;
use remora_core::ids::{ProjectKey, SessionId};
use remora_core::record::{Injection, InjectionUse, Item, Kind};

use crate::capture::{CaptureDecision, CapturedEvent};
use crate::store::{Filter, ItemRef, Result, Store};
use deed::ToolUse;

/// Sessions that are kept in mind.
const MAX_SESSIONS: usize = 64;
/// Lines of one session that may still be of use; older ones are let go.
const MAX_SESSION_LINES: usize = 400;
/// The moment at which a file is being read anyway.
const READ_TRIGGER: &str = "read";
const MEMORY_SCHEME: &str = "memory://";

/// What running sessions were given and have not used yet.
#[derive(Debug, Default)]
pub struct UseDetector {
    sessions: HashMap<SessionId, SessionWatch>,
    turn: u64,
}

#[derive(Debug, Default)]
struct SessionWatch {
    /// In the order of their giving.
    lines: Vec<WatchedInjection>,
    /// The last line that was taken in.
    last: Option<u32>,
    turn: u64,
}

#[derive(Debug)]
struct WatchedInjection {
    /// Its place in the ledger of the session.
    at: u32,
    time: i64,
    item: String,
    /// Whether opening a file can be a use of it.
    opens: bool,
    about: UseSignals,
}

/// By what a later call shows that it made use of a row.
#[derive(Debug, Default, Clone)]
struct UseSignals {
    /// Its number and its long names.
    names: Vec<String>,
    project: ProjectKey,
    files: Vec<String>,
    command: Option<String>,
}

impl UseDetector {
    /// Forgets what it thinks the store holds. To be called when a batch could
    /// not be stored.
    pub fn clear_sessions(&mut self) {
        self.sessions.clear();
    }

    /// As [`UseDetector::clear_sessions`], of one session: its lines went to the store without
    /// being told here.
    pub fn forget_session(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }

    /// Takes in what the event's session was given, and returns those rows that
    /// the store does not have yet. To be called before its events are looked
    /// at, also without rows.
    pub fn add_injections(
        &mut self,
        store: &dyn Store,
        event: &CapturedEvent,
        rows: Vec<Injection>,
    ) -> Result<Vec<Injection>> {
        let session = event.session();
        self.turn += 1;
        let mut watch = match self.sessions.remove(session) {
            Some(watch) => watch,
            None => SessionWatch::load_session(store, event)?,
        };
        watch.turn = self.turn;
        let fresh: Vec<Injection> = rows
            .into_iter()
            .filter(|row| watch.last.is_none_or(|last| row.line > last))
            .collect();
        watch.add_injections(store, event, &fresh)?;
        self.sessions.insert(session.clone(), watch);
        self.forget_the_oldest();
        Ok(fresh)
    }

    /// Which lines this event made use of: session, line and how.
    pub fn detect_uses(&mut self, event: &CapturedEvent) -> Vec<(SessionId, u32, InjectionUse)> {
        let session = event.session();
        let Some(watch) = self.sessions.get_mut(session) else {
            return Vec::new();
        };
        if watch.lines.is_empty() || event.worth == CaptureDecision::Ignored {
            return Vec::new();
        }
        let used = watch.detect_uses(event);
        used.into_iter()
            .map(|(line, used)| (session.clone(), line, used))
            .collect()
    }

    fn forget_the_oldest(&mut self) {
        while self.sessions.len() > MAX_SESSIONS {
            let oldest = self.sessions.iter().min_by_key(|(_, watch)| watch.turn);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else {
                return;
            };
            self.sessions.remove(&id);
        }
    }
}

impl SessionWatch {
    fn load_session(store: &dyn Store, event: &CapturedEvent) -> Result<Self> {
        let filter = Filter {
            session: Some(event.session().to_owned()),
            ..Filter::default()
        };
        let rows = store.list_injections(&filter, usize::MAX)?;
        // What was given before a use of the same is not waited for: the use
        // was that of the later line.
        let mut done: HashMap<&str, u32> = HashMap::new();
        for row in rows.iter().filter(|row| row.used.is_some()) {
            let line = done.entry(&row.item).or_default();
            *line = row.line.max(*line);
        }
        let open: Vec<Injection> = rows
            .iter()
            .filter(|row| done.get(row.item.as_str()).is_none_or(|l| row.line > *l))
            .cloned()
            .collect();
        let mut watch = Self::default();
        watch.add_injections(store, event, &open)?;
        watch.last = rows.iter().map(|row| row.line).max();
        Ok(watch)
    }

    fn add_injections(
        &mut self,
        store: &dyn Store,
        event: &CapturedEvent,
        rows: &[Injection],
    ) -> Result<()> {
        self.last = rows.iter().map(|row| row.line).max().max(self.last);
        let rows = &rows[rows.len().saturating_sub(MAX_SESSION_LINES)..];
        let abouts = load_use_signals(store, event, rows)?;
        for (row, about) in rows.iter().zip(abouts) {
            self.lines.push(WatchedInjection {
                at: row.line,
                time: row.time,
                item: row.item.clone(),
                opens: !row.trigger.starts_with(READ_TRIGGER),
                about,
            });
        }
        let old = self.lines.len().saturating_sub(MAX_SESSION_LINES);
        self.lines.drain(..old);
        Ok(())
    }

    fn detect_uses(&mut self, event: &CapturedEvent) -> Vec<(u32, InjectionUse)> {
        let Some(deed) = ToolUse::from_event(event) else {
            return Vec::new();
        };
        let time = event.envelope.at;
        // Of an item that was given again, the last time counts.
        let mut found: Vec<(u32, &str, &'static str)> = Vec::new();
        for line in self.lines.iter().rev().filter(|line| line.time < time) {
            if found.iter().all(|(_, item, _)| *item != line.item)
                && let Some(how) = deed.find_item_use(line.opens, &line.about)
            {
                found.push((line.at, &line.item, how));
            }
        }
        let used: Vec<(u32, String, &'static str)> = found
            .into_iter()
            .map(|(line, item, how)| (line, item.to_owned(), how))
            .collect();
        for (last, item, _) in &used {
            self.lines
                .retain(|line| line.item != *item || line.at > *last);
        }
        let mut used: Vec<(u32, InjectionUse)> = used
            .into_iter()
            .map(|(line, _, how)| {
                let how = how.to_owned();
                (line, InjectionUse { how, time })
            })
            .collect();
        used.sort_by_key(|(line, _)| *line);
        used
    }
}

/// What the rows are about, in their order. Of a row that is gone only its
/// number is known.
fn load_use_signals(
    store: &dyn Store,
    event: &CapturedEvent,
    rows: &[Injection],
) -> Result<Vec<UseSignals>> {
    let number = |row: &Injection| row.item.strip_prefix('#')?.parse::<i64>().ok();
    let mut names: Vec<ItemRef> = rows.iter().filter_map(number).map(ItemRef::Id).collect();
    names.dedup();
    let items: HashMap<i64, Item> = match names.as_slice() {
        [] => HashMap::new(),
        names => store
            .find_items(names)?
            .into_iter()
            .map(|i| (i.id, i))
            .collect(),
    };
    rows.iter()
        .map(|row| {
            if row.item.starts_with(MEMORY_SCHEME) {
                return Ok(UseSignals::from_item(
                    &row.item,
                    find_memory(store, event, &row.item)?.as_ref(),
                ));
            }
            let item = number(row).and_then(|id| items.get(&id));
            Ok(UseSignals::from_item(
                row.item.trim_start_matches('#'),
                item,
            ))
        })
        .collect()
}

/// A saved memory of the event's project, or of the user.
fn find_memory(store: &dyn Store, event: &CapturedEvent, address: &str) -> Result<Option<Item>> {
    match store.find_by_key(event.project(), Kind::Memory, address)? {
        None => store.find_by_key("", Kind::Memory, address),
        found => Ok(found),
    }
}

impl UseSignals {
    fn from_item(name: &str, item: Option<&Item>) -> Self {
        let mut names = vec![name.to_owned()];
        // `remora memory show no-mocks`.
        let short = name
            .strip_prefix(MEMORY_SCHEME)
            .and_then(|at| at.split_once('/'));
        names.extend(short.map(|(_, short)| short.to_owned()));
        let Some(item) = item else {
            return Self {
                names,
                ..Self::default()
            };
        };
        names.push(item.uid.to_string());
        let mut files = item.files_read.clone();
        files.extend(item.files_modified.iter().cloned());
        let learned = matches!(item.kind, Kind::Failure | Kind::Fix);
        if item.kind == Kind::Memory {
            names.push(item.id.to_string());
            files.extend(item.detail_text(DetailText::Path).map(str::to_owned));
        }
        Self {
            names,
            project: item.project.clone(),
            files,
            command: item.command().filter(|_| learned).map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests;
