//! What a deletion comes to: the rows, events and files that hold what the user
//! named, found by reading and nothing else.

use std::collections::{HashMap, HashSet};

use remora_client::{Paths, read_spooled, waiting};
use remora_memory::store::{Filter, Order as Ends, Page, Store};
use remora_protocol::record::{EventRow, Item, Kind, Override, Session};
use serde_json::Value;

use super::Order;
use super::copies::{Needles, is_derived, item_texts, texts};
use crate::archive::{self, Archive, Archived};
use crate::dead::dead_letters;
use crate::forgotten::Receipt;
use crate::join::Joins;
use crate::{ServerError, at};

/// Rows that are looked at in one go.
const PAGE_ROWS: usize = 512;
/// Larger files are no events of ours.
const SPOOLED_BYTES: u64 = 17 * 1024 * 1024;

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
        project: Option<String>,
    },
    /// Everything of a session.
    Session(String),
    /// Everything of a project.
    Project(String),
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

    fn seeds(&self) -> &[Item] {
        match self {
            Self::Items(items) | Self::Matching { items, .. } => items,
            Self::Session(_) | Self::Project(_) => &[],
        }
    }

    /// Whether an event or a row is meant by where it belongs or what it says.
    fn takes(&self, project: &str, session: &str, text: &dyn Fn() -> String) -> bool {
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

/// The order that deletes what was selected.
pub fn plan(
    store: &dyn Store,
    paths: &Paths,
    selection: &Selection,
    now: i64,
) -> Result<Order, ServerError> {
    let said = store.overrides(None)?.into_iter();
    let said: HashMap<String, Override> = said.map(|said| (said.uid.clone(), said)).collect();
    let seeds = selection.seeds().iter();
    let originals = seeds.filter_map(|item| original_item(item, said.get(&item.uid)?));
    let mut needles: Vec<Needles> = selection.seeds().iter().map(Needles::of).collect();
    needles.extend(originals.map(|item| Needles::of(&item)));
    let mut search = Search {
        selection,
        needles,
        said,
        events: HashSet::new(),
        earlier: match selection {
            Selection::Project(key) => Joins::read(paths)?.leading_to(key),
            _ => Vec::new(),
        },
        order: Order {
            receipt: Receipt {
                receipt: format!("forget-{now:x}"),
                at: now,
                what: selection.name().to_owned(),
                ..Receipt::default()
            },
            ..Order::default()
        },
    };
    let seeds = selection.seeds().iter();
    search
        .events
        .extend(seeds.map(|item| event_of(&item.uid).to_owned()));
    search.archive(paths)?;
    search.waiting(paths)?;
    let sessions = search.sessions(store)?;
    search.items(store)?;
    search.ledger(store, &sessions)?;
    Ok(search.order)
}

struct Search<'a> {
    selection: &'a Selection,
    needles: Vec<Needles>,
    /// What users said of items, by uid.
    said: HashMap<String, Override>,
    /// Ids of events that go.
    events: HashSet<String>,
    /// Keys that the project had before.
    earlier: Vec<String>,
    order: Order,
}

impl Search<'_> {
    /// Archived events that are meant, or that tell what a selected item tells.
    fn archive(&mut self, paths: &Paths) -> Result<(), ServerError> {
        let joins = Joins::read(paths)?;
        let folder = paths.archive();
        for file in Archive::new(&folder).files().map_err(at(&folder))? {
            let read = archive::read(&file, |event| {
                if self.is_meant(&event, &joins) {
                    self.events.insert(event.envelope.id);
                }
            });
            read.map_err(at(&file))?;
        }
        Ok(())
    }

    fn is_meant(&self, event: &Archived, joins: &Joins) -> bool {
        let field = |name: &str| event.event.get(name).and_then(Value::as_str);
        let project = match &event.envelope.project {
            Some(project) => {
                let mut project = project.clone();
                joins.follow(&mut project, event.envelope.at);
                project.key
            }
            None => field("cwd").unwrap_or_default().to_owned(),
        };
        let session = field("session_id").unwrap_or("unknown");
        let text = || texts(&Value::Object(event.event.clone()));
        self.selection.takes(&project, session, &text)
            || !self.needles.is_empty() && {
                let text = text();
                self.needles
                    .iter()
                    .any(|needle| needle.are_in(&project, &text))
            }
    }

    /// Dead letters and events that still wait, by what stands in them.
    fn waiting(&mut self, paths: &Paths) -> Result<(), ServerError> {
        for (file, letter) in dead_letters(paths)? {
            let value = serde_json::from_str::<Value>(&letter.payload);
            let value = value.unwrap_or_else(|_| Value::String(letter.payload.clone()));
            self.note_file(paths, &file, &letter.id, &value, None);
        }
        let spool = paths.spool();
        for file in waiting(paths, usize::MAX).map_err(at(&spool))? {
            // What cannot be read is the worker's to judge.
            let Ok(spooled) = read_spooled(&file, SPOOLED_BYTES) else {
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
        paths: &Paths,
        file: &std::path::Path,
        id: &str,
        event: &Value,
        project: Option<&str>,
    ) {
        let field = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let project = project.unwrap_or_else(|| field("cwd"));
        let text = || texts(event);
        let quoted = || {
            let text = text();
            let mut needles = self.needles.iter();
            needles.any(|needle| needle.are_in(project, &text))
        };
        let goes = self.events.contains(id)
            || self.selection.takes(project, field("session_id"), &text)
            || quoted();
        if goes && let Ok(name) = file.strip_prefix(paths.home()) {
            self.order.files.push(name.to_string_lossy().into_owned());
            self.order.receipt.note_id(id);
        }
    }

    /// Sessions that go or lose their title; all that rows may have come from.
    fn sessions(&mut self, store: &dyn Store) -> Result<Vec<Session>, ServerError> {
        let sessions = store.sessions(&Filter::default(), usize::MAX)?;
        for session in &sessions {
            let whole = match self.selection {
                Selection::Session(id) => *id == session.id,
                Selection::Project(key) => *key == session.project,
                Selection::Items(_) | Selection::Matching { .. } => false,
            };
            let title = || session.title.clone();
            let quotes = |needle: &Needles| needle.are_quoted(&session.id, &session.title);
            if whole {
                self.order.erase.sessions.push(session.id.clone());
            } else if self.needles.iter().any(quotes)
                || self.selection.takes(&session.project, &session.id, &title)
            {
                self.order.erase.untitled.push(session.id.clone());
                self.order.receipt.note_title(&session.id);
            }
        }
        match self.selection {
            Selection::Session(id) => self.order.receipt.note_session(id),
            Selection::Project(key) => {
                for key in self.names_of(store, key)? {
                    self.order.receipt.note_project(&key);
                    self.order.erase.projects.push(key);
                }
                for file in store.files(key, None)? {
                    let name = (file.project, file.folder, file.name);
                    self.order.erase.files.push(name);
                }
            }
            Selection::Items(_) | Selection::Matching { .. } => {}
        }
        Ok(sessions)
    }

    /// The key of a project, and those that it had before and nothing is filed
    /// under since.
    fn names_of(&self, store: &dyn Store, key: &str) -> Result<Vec<String>, ServerError> {
        let mut names = vec![key.to_owned()];
        for name in &self.earlier {
            let filter = Filter {
                project: Some(name.clone()),
                ..Filter::default()
            };
            if store.list(&filter, Page::newest(1))?.is_empty() {
                names.push(name.clone());
            }
        }
        Ok(names)
    }

    /// Items that are meant, made from an event that goes, or quote one.
    fn items(&mut self, store: &dyn Store) -> Result<(), ServerError> {
        let seeds: HashSet<&str> = self.selection.seeds().iter().map(|i| &*i.uid).collect();
        let mut beyond = None;
        loop {
            let page = Page {
                order: Ends::Oldest,
                beyond,
                limit: PAGE_ROWS,
            };
            let rows = store.list(&Filter::default(), page)?;
            let Some(last) = rows.last() else { break };
            beyond = Some(last.id);
            for item in &rows {
                let goes = seeds.contains(&*item.uid)
                    || self.events.contains(event_of(&item.uid))
                    || self.repeats(item);
                if goes {
                    self.take(item);
                }
                self.said.remove(&item.uid);
            }
        }
        // What was said of items that are no longer there.
        for (uid, said) in std::mem::take(&mut self.said) {
            if self
                .selection
                .takes(&said.project, "", &|| said_texts(&said))
            {
                self.order.receipt.note_item(&uid);
                self.order.erase.items.push(uid);
            }
        }
        Ok(())
    }

    fn repeats(&self, item: &Item) -> bool {
        // What a user put aside by an edit is still kept.
        let said = self.said.get(&item.uid).map(said_texts);
        let text = || item_texts(item) + said.as_deref().unwrap_or_default();
        if self.selection.takes(&item.project, &item.session, &text) {
            return true;
        }
        if self.needles.is_empty() {
            return false;
        }
        let text = text();
        self.needles.iter().any(|needle| {
            needle.are_in(&item.project, &text)
                || is_derived(item.kind) && needle.are_quoted(&item.session, &text)
        })
    }

    /// What is known of the files of a call came from the call; a summary, a fix
    /// or a commit only names them.
    fn take_files(&mut self, item: &Item) {
        let files = item.files_modified.iter().chain(&item.files_read);
        for path in files.filter(|_| item.kind != Kind::Commit) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let file = (item.project.clone(), folder.to_owned(), name.to_owned());
            if !self.order.erase.files.contains(&file) {
                self.order.erase.files.push(file);
            }
        }
    }

    fn take(&mut self, item: &Item) {
        self.order.erase.items.push(item.uid.clone());
        self.order.numbers.push(item.id);
        self.order.receipt.items += 1;
        // A summary comes back without what it quoted; anything else was told by
        // its event.
        if is_derived(item.kind) {
            self.order.receipt.note_item(&item.uid);
        } else {
            self.take_files(item);
            self.events.insert(event_of(&item.uid).to_owned());
        }
    }

    /// Rows of the ledger of events that go, and every name they have.
    fn ledger(&mut self, store: &dyn Store, sessions: &[Session]) -> Result<(), ServerError> {
        let mut rows: HashMap<String, EventRow> = HashMap::new();
        for session in sessions {
            let filter = Filter {
                session: Some(session.id.clone()),
                ..Filter::default()
            };
            for row in store.events(&filter, Page::newest(usize::MAX))? {
                let whole = self.order.erase.sessions.contains(&session.id);
                if whole || self.events.contains(&row.id) {
                    rows.insert(row.id.clone(), row);
                }
            }
        }
        self.events.extend(rows.keys().cloned());
        let mut events: Vec<String> = std::mem::take(&mut self.events).into_iter().collect();
        events.sort_unstable();
        let receipt = &mut self.order.receipt;
        for id in &events {
            receipt.note_id(id);
            if let Some(row) = rows.get(id) {
                receipt.note_event(row);
            }
        }
        for (project, folder, name) in &self.order.erase.files {
            receipt.note_file(project, folder, name);
        }
        receipt.events = events.len() as u64;
        self.order.erase.events = events;
        Ok(())
    }
}

/// All texts of what a user said of an item, a line each.
fn said_texts(said: &Override) -> String {
    serde_json::to_value(said).map_or(String::new(), |value| texts(&value))
}

/// The item in the words that were extracted, if a user edited it.
fn original_item(item: &Item, said: &Override) -> Option<Item> {
    let original = said.edit.as_ref()?.original.as_deref()?;
    Some(Item {
        title: original.title.clone(),
        text: original.text.clone(),
        facts: original.facts.clone(),
        ..item.clone()
    })
}

/// The event that made the row with this uid.
fn event_of(uid: &str) -> &str {
    uid.split_once('/').map_or(uid, |(id, _)| id)
}
