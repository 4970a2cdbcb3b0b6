//! What a deletion comes to: the items, events and files that hold what the user
//! named, found by reading and nothing else.

use std::collections::{HashMap, HashSet};

use remora_agents::read_origin;
use remora_client::{DataPaths, list_spooled, read_spooled};
use remora_core::ids::SessionId;
use remora_core::ids::{ItemUid, ProjectKey};
use remora_core::record::{Item, Kind, LoggedEvent, Override, Session};
use remora_memory::store::{Filter, PageRequest, SortOrder as Ends, Store};
use serde_json::Value;

use super::DeletionPlan;
use super::copies::{ErasePatterns, collect_texts, is_derived, item_texts};
use crate::archive::{self, Archive, ArchivedEvent};
use crate::dead::dead_letters;
use crate::forgotten::DeletionReceipt;
use crate::join::ProjectJoins;
use crate::{ServerError, io_error_at};

/// Items that are read in one go.
const PAGE_ITEMS: usize = 512;
/// Larger files are no events of ours.
const MAX_SPOOLED_BYTES: u64 = 17 * 1024 * 1024;

/// What a user wants deleted.
#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    /// These items, with what quotes them.
    Items(Vec<Item>),
    /// These items, and every event of the project, or of all, with these words.
    Matching {
        /// What a search found.
        items: Vec<Item>,
        /// All of them, in any case.
        words: Vec<String>,
        /// The project's key.
        project: Option<ProjectKey>,
    },
    /// Everything of a session.
    Session(SessionId),
    /// Everything of a project.
    Project(ProjectKey),
}

impl Selection {
    fn name(&self) -> &'static str {
        match self {
            Self::Items(_) => "item",
            Self::Matching { .. } => "matching",
            Self::Session(_) => "session",
            Self::Project(_) => "project",
        }
    }

    fn seed_items(&self) -> &[Item] {
        match self {
            Self::Items(items) | Self::Matching { items, .. } => items,
            Self::Session(_) | Self::Project(_) => &[],
        }
    }

    /// Whether an event or an item is meant by where it belongs or what it says.
    fn matches_entry(&self, project: &str, session: &str, text: &dyn Fn() -> String) -> bool {
        match self {
            Self::Items(_) => false,
            Self::Session(id) => id == session,
            Self::Project(key) => key == project,
            Self::Matching {
                words,
                project: only,
                ..
            } => {
                only.as_deref().is_none_or(|only| only == project) && !words.is_empty() && {
                    let text = text().to_lowercase();
                    words.iter().all(|word| text.contains(word.as_str()))
                }
            }
        }
    }
}

/// The plan that deletes what was selected.
pub fn plan_deletion(
    store: &dyn Store,
    paths: &DataPaths,
    selection: &Selection,
    now: i64,
) -> Result<DeletionPlan, ServerError> {
    let overrides = store.list_overrides(None)?.into_iter();
    let overrides: HashMap<ItemUid, Override> = overrides
        .map(|overrides| (overrides.uid.clone(), overrides))
        .collect();
    let seeds = selection.seed_items().iter();
    let originals = seeds.filter_map(|item| original_item(item, overrides.get(&item.uid)?));
    let mut patterns: Vec<ErasePatterns> = selection
        .seed_items()
        .iter()
        .map(ErasePatterns::from_item)
        .collect();
    patterns.extend(originals.map(|item| ErasePatterns::from_item(&item)));
    let mut search = DeletionSearch {
        selection,
        patterns,
        overrides,
        events: HashSet::new(),
        earlier: match selection {
            Selection::Project(key) => ProjectJoins::load_joins(paths)?.leading_to(key),
            _ => Vec::new(),
        },
        plan: DeletionPlan {
            receipt: DeletionReceipt {
                receipt: format!("forget-{now:x}"),
                at: now,
                what: selection.name().to_owned(),
                ..DeletionReceipt::default()
            },
            ..DeletionPlan::default()
        },
    };
    let seeds = selection.seed_items().iter();
    search
        .events
        .extend(seeds.map(|item| event_of(&item.uid).to_owned()));
    // In this order: items are compared with the events that were found before them, and
    // the event log with both.
    search.scan_archive(paths)?;
    search.scan_waiting(paths)?;
    let sessions = search.scan_sessions(store)?;
    search.scan_items(store)?;
    search.scan_event_log(store, &sessions)?;
    Ok(search.plan)
}

struct DeletionSearch<'a> {
    selection: &'a Selection,
    patterns: Vec<ErasePatterns>,
    /// What users said of items, by uid.
    overrides: HashMap<ItemUid, Override>,
    /// Ids of events that go.
    events: HashSet<String>,
    /// Keys that the project had before.
    earlier: Vec<ProjectKey>,
    plan: DeletionPlan,
}

impl DeletionSearch<'_> {
    /// Archived events that are meant, or that say what a selected item says.
    fn scan_archive(&mut self, paths: &DataPaths) -> Result<(), ServerError> {
        let joins = ProjectJoins::load_joins(paths)?;
        let folder = paths.archive_dir();
        for file in Archive::new(&folder)
            .list_files()
            .map_err(io_error_at(&folder))?
        {
            let read = archive::read_events(&file, |event| {
                if self.is_meant(&event, &joins) {
                    self.events.insert(event.envelope.id);
                }
            });
            read.map_err(io_error_at(&file))?;
        }
        Ok(())
    }

    fn is_meant(&self, event: &ArchivedEvent, joins: &ProjectJoins) -> bool {
        let origin = read_origin(&event.event);
        let project = match &event.envelope.project {
            Some(project) => {
                let mut project = project.clone();
                joins.apply_to_project(&mut project, event.envelope.at);
                project.key
            }
            None => origin.cwd.into(),
        };
        let session = origin.session.unwrap_or(SessionId::UNKNOWN);
        let text = || collect_texts(&Value::Object(event.event.clone()));
        self.selection.matches_entry(&project, session, &text)
            || !self.patterns.is_empty() && {
                let text = text();
                self.patterns
                    .iter()
                    .any(|pattern| pattern.are_in(&project, &text))
            }
    }

    /// Dead letters and events that still wait, by their contents.
    fn scan_waiting(&mut self, paths: &DataPaths) -> Result<(), ServerError> {
        for (file, letter) in dead_letters(paths)? {
            let value = serde_json::from_str::<Value>(&letter.payload);
            let value = value.unwrap_or_else(|_| Value::String(letter.payload.clone()));
            self.note_file(paths, &file, &letter.id, &value, None);
        }
        let spool = paths.spool_dir();
        for file in list_spooled(paths, usize::MAX).map_err(io_error_at(&spool))? {
            // What cannot be read is the worker's to judge.
            let Ok(spooled) = read_spooled(&file, MAX_SPOOLED_BYTES) else {
                continue;
            };
            let value = serde_json::from_slice(&spooled.payload).unwrap_or(Value::Null);
            let key = spooled
                .envelope
                .project
                .as_ref()
                .map(|project| &*project.key);
            self.note_file(paths, &file, &spooled.envelope.id, &value, key);
        }
        Ok(())
    }

    fn note_file(
        &mut self,
        paths: &DataPaths,
        file: &std::path::Path,
        id: &str,
        event: &Value,
        project: Option<&str>,
    ) {
        let origin = event.as_object().map(read_origin);
        let session = origin.and_then(|origin| origin.session).unwrap_or_default();
        let project = project.or(origin.map(|origin| origin.cwd));
        let project = project.unwrap_or_default();
        let text = || collect_texts(event);
        let quoted = || {
            let text = text();
            let mut patterns = self.patterns.iter();
            patterns.any(|pattern| pattern.are_in(project, &text))
        };
        let goes = self.events.contains(id)
            || self.selection.matches_entry(project, session, &text)
            || quoted();
        if goes && let Ok(name) = file.strip_prefix(paths.home()) {
            self.plan.files.push(name.to_string_lossy().into_owned());
            self.plan.receipt.note_id(id);
        }
    }

    /// Sessions that go or lose their title; all that items may have come from.
    fn scan_sessions(&mut self, store: &dyn Store) -> Result<Vec<Session>, ServerError> {
        let sessions = store.list_sessions(&Filter::default(), usize::MAX)?;
        for session in &sessions {
            let whole = match self.selection {
                Selection::Session(id) => *id == session.id,
                Selection::Project(key) => *key == session.project,
                Selection::Items(_) | Selection::Matching { .. } => false,
            };
            let title = || session.title.clone();
            let quotes = |pattern: &ErasePatterns| pattern.are_quoted(&session.id, &session.title);
            if whole {
                self.plan.erase.sessions.push(session.id.clone());
            } else if self.patterns.iter().any(quotes)
                || self
                    .selection
                    .matches_entry(&session.project, &session.id, &title)
            {
                self.plan.erase.untitled.push(session.id.clone());
                self.plan.receipt.note_title(&session.id);
            }
        }
        match self.selection {
            Selection::Session(id) => self.plan.receipt.note_session(id),
            Selection::Project(key) => {
                for key in self.names_of(store, key)? {
                    self.plan.receipt.note_project(&key);
                    self.plan.erase.projects.push(key);
                }
                for file in store.list_files(key, None)? {
                    let name = (file.project, file.folder, file.name);
                    self.plan.erase.files.push(name);
                }
            }
            Selection::Items(_) | Selection::Matching { .. } => {}
        }
        Ok(sessions)
    }

    /// The key of a project, and those that it had before and nothing is filed
    /// under since.
    fn names_of(&self, store: &dyn Store, key: &str) -> Result<Vec<ProjectKey>, ServerError> {
        let mut names = vec![ProjectKey::from(key)];
        for name in &self.earlier {
            let filter = Filter {
                project: Some(name.clone()),
                ..Filter::default()
            };
            if store
                .list_items(&filter, PageRequest::newest(1))?
                .is_empty()
            {
                names.push(name.clone());
            }
        }
        Ok(names)
    }

    /// Items that are meant, made from an event that goes, or quote one.
    fn scan_items(&mut self, store: &dyn Store) -> Result<(), ServerError> {
        let seeds: HashSet<&str> = self
            .selection
            .seed_items()
            .iter()
            .map(|i| &*i.uid)
            .collect();
        let mut beyond = None;
        loop {
            let page = PageRequest {
                order: Ends::Oldest,
                beyond,
                limit: PAGE_ITEMS,
            };
            let rows = store.list_items(&Filter::default(), page)?;
            let Some(last) = rows.last() else { break };
            beyond = Some(last.id);
            for item in &rows {
                let goes = seeds.contains(&*item.uid)
                    || self.events.contains(event_of(&item.uid))
                    || self.should_delete(item);
                if goes {
                    self.add_item(item);
                }
                self.overrides.remove(&item.uid);
            }
        }
        // What was said of items that are no longer there.
        for (uid, overrides) in std::mem::take(&mut self.overrides) {
            if self
                .selection
                .matches_entry(&overrides.project, "", &|| said_texts(&overrides))
            {
                self.plan.receipt.note_item(&uid);
                self.plan.erase.items.push(uid);
            }
        }
        Ok(())
    }

    fn should_delete(&self, item: &Item) -> bool {
        // What a user put aside by an edit is still kept.
        let overrides = self.overrides.get(&item.uid).map(said_texts);
        let text = || item_texts(item) + overrides.as_deref().unwrap_or_default();
        if self
            .selection
            .matches_entry(&item.project, &item.session, &text)
        {
            return true;
        }
        if self.patterns.is_empty() {
            return false;
        }
        let text = text();
        self.patterns.iter().any(|pattern| {
            pattern.are_in(&item.project, &text)
                || is_derived(item.kind) && pattern.are_quoted(&item.session, &text)
        })
    }

    /// What is known of the files of a call came from the call; a summary, a fix
    /// or a commit only names them.
    fn take_files(&mut self, item: &Item) {
        let files = item.files_modified.iter().chain(&item.files_read);
        for path in files.filter(|_| item.kind != Kind::Commit) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let file = (item.project.clone(), folder.to_owned(), name.to_owned());
            if !self.plan.erase.files.contains(&file) {
                self.plan.erase.files.push(file);
            }
        }
    }

    fn add_item(&mut self, item: &Item) {
        self.plan.erase.items.push(item.uid.clone());
        self.plan.numbers.push(item.id);
        self.plan.receipt.items += 1;
        // A summary comes back without what it quoted; anything else came from its
        // event.
        if is_derived(item.kind) {
            self.plan.receipt.note_item(&item.uid);
        } else {
            self.take_files(item);
            self.events.insert(event_of(&item.uid).to_owned());
        }
    }

    /// Entries of the event log that go, and every name they have.
    fn scan_event_log(
        &mut self,
        store: &dyn Store,
        sessions: &[Session],
    ) -> Result<(), ServerError> {
        let mut rows: HashMap<String, LoggedEvent> = HashMap::new();
        for session in sessions {
            let filter = Filter {
                session: Some(session.id.clone()),
                ..Filter::default()
            };
            for row in store.list_events(&filter, PageRequest::newest(usize::MAX))? {
                let whole = self.plan.erase.sessions.contains(&session.id);
                if whole || self.events.contains(&row.id) {
                    rows.insert(row.id.clone(), row);
                }
            }
        }
        self.events.extend(rows.keys().cloned());
        let mut events: Vec<String> = std::mem::take(&mut self.events).into_iter().collect();
        events.sort_unstable();
        let receipt = &mut self.plan.receipt;
        for id in &events {
            receipt.note_id(id);
            if let Some(row) = rows.get(id) {
                receipt.note_event(row);
            }
        }
        for (project, folder, name) in &self.plan.erase.files {
            receipt.note_file(project, folder, name);
        }
        receipt.events = events.len() as u64;
        self.plan.erase.events = events;
        Ok(())
    }
}

/// All texts of what a user said of an item, a line each.
fn said_texts(overrides: &Override) -> String {
    serde_json::to_value(overrides).map_or(String::new(), |value| collect_texts(&value))
}

/// The item in the words that were extracted, if a user edited it.
fn original_item(item: &Item, overrides: &Override) -> Option<Item> {
    let original = overrides.edit.as_ref()?.original.as_deref()?;
    Some(Item {
        title: original.title.clone(),
        text: original.text.clone(),
        facts: original.facts.clone(),
        ..item.clone()
    })
}

/// The event that made the item with this uid.
fn event_of(uid: &str) -> &str {
    uid.split_once('/').map_or(uid, |(id, _)| id)
}
