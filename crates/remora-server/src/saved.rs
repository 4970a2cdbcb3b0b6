//! The index of saved memories: their files are the source, and the worker keeps
//! items in step with them. Does not know where the files are or how they are
//! read; [`SavedMemories`] does. Slow checks run on a thread of their own.

mod hint;
mod row;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use remora_client::DataPaths;
use remora_core::detail::ItemDetail;
use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind, Project};
use remora_memory::store::{Batch, Filter, ItemRef, ItemWrite, PageRequest, SortOrder, Store};
use remora_redact::{RedactionRules, Redactor};

use crate::ServerError;
use crate::panics::catch_panic;
use crate::worker::Tick;

pub use hint::write_hint;
pub(crate) use row::is_address;

/// Projects whose memories are kept in step.
const MAX_PROJECTS: usize = 50;
/// Projects used within this time, in milliseconds, are tracked from the start.
const MAX_PROJECT_AGE_MS: i64 = 14 * 86_400_000;
/// Sessions that are read to find them.
const MAX_SCANNED_SESSIONS: usize = 1000;
/// Items of one project at most.
const MAX_ITEMS: usize = 5000;
/// Refreshes of all projects are at least this far apart, and so many times as far
/// as the last one took: at most a twentieth of the worker's time.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(1);
const REFRESH_PAUSE_FACTOR: u32 = 20;
/// A project is checked again after this, and never for more than a fiftieth of
/// the time.
const CHECK_INTERVAL: Duration = Duration::from_mins(10);
const CHECK_PAUSE_FACTOR: u32 = 50;
/// A check begins only after nothing has arrived for this long.
const IDLE_DELAY: Duration = Duration::from_secs(2);
/// Without a notification all are refreshed after this long: one may be lost.
const FULL_REFRESH_INTERVAL: Duration = Duration::from_secs(25);
/// Problems that are logged, each once.
const MAX_LOGGED_PROBLEMS: usize = 100;

/// A saved memory, as its file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedMemory {
    /// Its address, `memory://scope/name`.
    pub uri: String,
    /// Its name and subject, in one line.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Files of the project that it names and that exist.
    pub files: Vec<String>,
    /// When it was last written, in milliseconds since 1970.
    pub time: i64,
    /// Whose words they are, if not the user's.
    pub speaker: Option<String>,
    /// Everything else that is known of it.
    pub detail: ItemDetail,
}

/// The saved memories that were read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SavedMemoryList {
    /// In any order.
    pub memories: Vec<SavedMemory>,
    /// What could not be read, and why.
    pub warnings: Vec<String>,
}

/// Where saved memories come from: those of a project, or with `None` those of
/// all projects.
pub trait SavedMemories: fmt::Debug + Send + Sync {
    /// A number that changes whenever `read_memories` would return something else.
    /// Cheap: from names, sizes and times.
    fn change_stamp(&self, project: Option<&Project>) -> u64;
    /// Reads them; `None` if their location is unknown, which is not the same as
    /// none: their items stay.
    fn read_memories(&self, project: Option<&Project>) -> Option<SavedMemoryList>;
    /// Checks the claims of memories against the project; `read_memories` reports
    /// the result from then on. May take long.
    fn check_memories(&self, project: &Project);
}

/// Updates the items of one project's memories, and of those for all projects,
/// from their files. The caller must hold the worker's lock.
pub fn sync_saved_memories(
    store: &dyn Store,
    port: &dyn SavedMemories,
    rules: RedactionRules,
    project: &Project,
) -> Result<(), ServerError> {
    let (done, _) = channel();
    let mut saved = SavedMemoryIndex::new(None, rules, done);
    let mut refreshed = RefreshResult::default();
    if let Some(list) = port.read_memories(Some(project)) {
        let of = MemoryOwner {
            key: &project.key,
            root: Some(Path::new(&project.root)),
            named: Some(project.clone()),
        };
        saved.sync_items(store, of, list, &mut refreshed)?;
    }
    if let Some(list) = port.read_memories(None) {
        saved.sync_items(store, MemoryOwner::default(), list, &mut refreshed)?;
    }
    Ok(())
}

/// A project whose memories are kept in step.
#[derive(Debug)]
struct TrackedProject {
    project: Project,
    stamp: Option<u64>,
    /// Whether code or memories have changed since the last check.
    doubted: bool,
}

/// Whose memories were read; by default those for all projects.
#[derive(Debug, Default)]
struct MemoryOwner<'a> {
    key: &'a str,
    /// The checkout.
    root: Option<&'a Path>,
    /// The project, if the store may not know it.
    named: Option<Project>,
}

/// The worker's side of the index.
#[derive(Debug)]
pub(crate) struct SavedMemoryIndex {
    port: Option<Arc<dyn SavedMemories>>,
    rules: RedactionRules,
    redactor: Option<Redactor>,
    /// Wakes the worker's loop when a check is done.
    done: Sender<Tick>,
    /// The most recently used first; `None` before the first refresh.
    known: Option<Vec<TrackedProject>>,
    /// The stamp of the memories for all projects.
    everywhere: Option<u64>,
    /// A refresh of all is due, at this time.
    refresh_at: Option<Instant>,
    /// Not all are refreshed again before this time.
    rested: Instant,
    checking: Option<(ProjectKey, Instant, JoinHandle<()>)>,
    /// When each project may be checked again.
    checked: HashMap<ProjectKey, Instant>,
    logged: Vec<String>,
}

/// What a refresh did.
#[derive(Debug, Default)]
pub(crate) struct RefreshResult {
    /// Whether items were written.
    pub(crate) wrote: bool,
    /// Lines for the log.
    pub(crate) lines: Vec<String>,
}

/// How much is refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefreshScope {
    /// What is due.
    Due,
    /// Everything now: a command waits for it.
    All,
}

impl SavedMemoryIndex {
    pub(crate) fn new(
        port: Option<Arc<dyn SavedMemories>>,
        rules: RedactionRules,
        done: Sender<Tick>,
    ) -> Self {
        Self {
            port,
            rules,
            redactor: None,
            done,
            known: None,
            everywhere: None,
            refresh_at: None,
            rested: Instant::now(),
            checking: None,
            checked: HashMap::new(),
            logged: Vec::new(),
        }
    }

    /// The store may be another one: nothing is known about its items.
    pub(crate) fn reset_cache(&mut self) {
        self.known = None;
        self.everywhere = None;
    }

    /// The worker was notified: files may have changed anywhere.
    pub(crate) fn on_notify(&mut self) {
        if self.port.is_some() {
            self.refresh_at = Some(self.rested);
        }
    }

    /// A session works in this project; with `TurnBoundary::Turn` it has started,
    /// ended or finished a turn there.
    pub(crate) fn mark_used(&mut self, project: &Project, edge: TurnBoundary) {
        let Some(known) = &mut self.known else {
            return;
        };
        let at = known.iter().position(|k| k.project.key == project.key);
        let mut one = match at {
            Some(at) => known.remove(at),
            None => TrackedProject::new(project.clone()),
        };
        if one.project.root != project.root {
            one = TrackedProject::new(project.clone());
        }
        one.doubted |= edge == TurnBoundary::Turn;
        known.insert(0, one);
        known.truncate(MAX_PROJECTS);
    }

    /// How long until there is something to do.
    pub(crate) fn wait(&self, idle: Duration) -> Option<Duration> {
        let now = Instant::now();
        let refresh_at = self.refresh_at.map(|at| at.saturating_duration_since(now));
        let check = self.next_check().map(|(_, at)| {
            IDLE_DELAY
                .saturating_sub(idle)
                .max(at.saturating_duration_since(now))
        });
        refresh_at.into_iter().chain(check).min()
    }

    /// Updates items: of everything that is due, and of the projects that sessions
    /// used since the last time.
    pub(crate) fn refresh_items(
        &mut self,
        store: &dyn Store,
        paths: &DataPaths,
        now: i64,
        scope: RefreshScope,
        used: usize,
    ) -> Result<RefreshResult, ServerError> {
        let mut done = RefreshResult::default();
        let Some(port) = self.port.clone() else {
            return Ok(done);
        };
        let started = Instant::now();
        let first = self.known.is_none();
        if first {
            self.known = Some(list_recent_projects(store, now)?);
        }
        let due = self.refresh_at.is_some_and(|at| at <= started)
            || started >= self.rested + FULL_REFRESH_INTERVAL;
        let all = first || due || scope == RefreshScope::All;
        let mut news = HashMap::new();
        if all {
            self.refresh_at = None;
            for project in hint::drain_hints(paths) {
                self.mark_used(&project, TurnBoundary::None);
                news.insert(project.key.clone(), project);
            }
        }
        let many = if all { MAX_PROJECTS } else { used };
        let mut at = 0;
        while let Some(one) = self.known.as_ref().and_then(|known| known.get(at)) {
            if at >= many {
                break;
            }
            let project = one.project.clone();
            let stamp = one.stamp;
            // A root that is missing may be on a disk that is not mounted; its memories
            // are not gone.
            if Path::new(&project.root).is_dir() {
                let new = port.change_stamp(Some(&project));
                if stamp != Some(new) {
                    let mut held = false;
                    if let Some(list) = port.read_memories(Some(&project)) {
                        let of = MemoryOwner {
                            key: &project.key,
                            root: Some(Path::new(&project.root)),
                            named: news.remove(&project.key),
                        };
                        held = !list.memories.is_empty();
                        self.sync_items(store, of, list, &mut done)?;
                    }
                    if let Some(one) = self.known.as_mut().and_then(|known| known.get_mut(at)) {
                        one.stamp = Some(new);
                        one.doubted |= held;
                    }
                }
            }
            at += 1;
        }
        if all || used > 0 {
            let new = port.change_stamp(None);
            if self.everywhere != Some(new) {
                if let Some(list) = port.read_memories(None) {
                    self.sync_items(store, MemoryOwner::default(), list, &mut done)?;
                }
                self.everywhere = Some(new);
            }
        }
        if all {
            self.rested = Instant::now()
                + (started.elapsed() * REFRESH_PAUSE_FACTOR).max(MIN_REFRESH_INTERVAL);
        }
        Ok(done)
    }

    /// Updates the items of one project from what was read.
    fn sync_items(
        &mut self,
        store: &dyn Store,
        of: MemoryOwner<'_>,
        list: SavedMemoryList,
        done: &mut RefreshResult,
    ) -> Result<(), ServerError> {
        for warning in list.warnings {
            done.lines
                .extend(self.log_once(format!("saved memories: {warning}")));
        }
        let redactor = match &mut self.redactor {
            Some(redactor) => redactor,
            none => none.insert(Redactor::new(&self.rules)?),
        };
        let mut there: HashMap<String, Item> = HashMap::new();
        for item in list_saved_items(store, of.key)? {
            if let Some(key) = item.key.clone().filter(|key| row::is_address(key)) {
                there.insert(key, item);
            }
        }
        let mut batch = Batch::default();
        for memory in list.memories.into_iter().take(MAX_ITEMS) {
            let Some(item) = row::item_from_memory(memory, of.key, redactor) else {
                continue;
            };
            let before = item.key.as_ref().and_then(|key| there.remove(key));
            if !before.is_some_and(|before| row::is_same_item(&item, &before)) {
                batch.items.push(ItemWrite::Put(item));
            }
        }
        if !batch.items.is_empty() {
            batch.projects.extend(of.named);
            store.apply(&batch)?;
            done.wrote = true;
        }
        // A team memory of another checkout is not gone because this one lacks it;
        // recall compares with the file of its own checkout.
        there.retain(|_, item| !row::is_of_another(item, of.root));
        if !there.is_empty() {
            let gone: Vec<ItemRef> = there.values().map(|item| ItemRef::Id(item.id)).collect();
            store.remove(&gone)?;
            done.wrote = true;
        }
        Ok(())
    }

    /// The line, unless it was logged before: the same problem is met at every
    /// change of a directory.
    pub(crate) fn log_once(&mut self, line: String) -> Option<String> {
        if self.logged.len() >= MAX_LOGGED_PROBLEMS || self.logged.contains(&line) {
            return None;
        }
        self.logged.push(line.clone());
        Some(line)
    }

    /// The project to check next, and when.
    fn next_check(&self) -> Option<(&Project, Instant)> {
        if self.is_checking() {
            return None;
        }
        let known = self.known.iter().flatten().filter(|known| known.doubted);
        known
            .map(|known| {
                let again = self.checked.get(&known.project.key);
                (&known.project, again.copied().unwrap_or(self.rested))
            })
            .min_by_key(|(_, at)| *at)
    }

    fn is_checking(&self) -> bool {
        let checking = self.checking.as_ref();
        checking.is_some_and(|(_, _, thread)| !thread.is_finished())
    }

    /// Ends a check that has announced its end, or waits until it does.
    pub(crate) fn finish_check(&mut self) {
        if let Some((key, started, thread)) = self.checking.take() {
            let _ = thread.join();
            let pause = (started.elapsed() * CHECK_PAUSE_FACTOR).max(CHECK_INTERVAL);
            self.checked.insert(key, Instant::now() + pause);
        }
    }

    /// Starts a check if nothing has arrived for a while and one is due.
    pub(crate) fn start_check(&mut self, idle: Duration) {
        if idle < IDLE_DELAY || self.is_checking() {
            return;
        }
        self.finish_check();
        let Some(port) = self.port.clone() else {
            return;
        };
        let now = Instant::now();
        let due = self.next_check().filter(|(_, at)| *at <= now);
        let Some(project) = due.map(|(project, _)| project.clone()) else {
            return;
        };
        for known in self.known.iter_mut().flatten() {
            known.doubted &= known.project.key != project.key;
        }
        self.checked
            .insert(project.key.clone(), now + CHECK_INTERVAL);
        let done = self.done.clone();
        let key = project.key.clone();
        let work = move || {
            crate::embeddings::step_back();
            // A check that panics has found nothing.
            let _ = catch_panic(|| port.check_memories(&project));
            // The worker may have exited.
            let _ = done.send(Tick::Checked);
        };
        if let Ok(thread) = thread::Builder::new().spawn(work) {
            self.checking = Some((key, now, thread));
        }
    }
}

/// At which point of a session a project was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnBoundary {
    /// Anywhere.
    None,
    /// At its start, its end, or the end of a turn.
    Turn,
}

impl TrackedProject {
    fn new(project: Project) -> Self {
        Self {
            project,
            stamp: None,
            doubted: false,
        }
    }
}

/// The projects of the last two weeks, the most recently used first.
fn list_recent_projects(store: &dyn Store, now: i64) -> Result<Vec<TrackedProject>, ServerError> {
    let filter = Filter {
        since: Some(now.saturating_sub(MAX_PROJECT_AGE_MS)),
        ..Filter::default()
    };
    let projects = store.list_projects()?;
    let mut known: Vec<TrackedProject> = Vec::new();
    for session in store.list_sessions(&filter, MAX_SCANNED_SESSIONS)? {
        if known.len() == MAX_PROJECTS {
            break;
        }
        let met = known.iter().any(|k| k.project.key == session.project);
        let project = projects.iter().find(|p| p.key == session.project);
        if let Some(project) = project.filter(|p| !met && !p.root.is_empty()) {
            known.push(TrackedProject::new(project.clone()));
        }
    }
    Ok(known)
}

/// The items of saved memories that the store has of a project.
fn list_saved_items(store: &dyn Store, project: &str) -> Result<Vec<Item>, ServerError> {
    let filter = Filter {
        project: Some(project.into()),
        kinds: vec![Kind::Memory],
        ..Filter::default()
    };
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: 2 * MAX_ITEMS,
    };
    Ok(store.list_items(&filter, page)?)
}
