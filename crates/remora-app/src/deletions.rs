//! Deletes what is remembered, for good, and says before what that comes to.

use remora_core::ids::{ProjectKey, SessionId};
use remora_core::record::Item;
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, ItemRef, Store};
use remora_memory::words::Query;
use remora_server::forget::{self, DeletionPlan, Selection};
use serde::Serialize;

use crate::access::ReadLimits;
use crate::app::App;
use crate::corrections::{is_saved, refuse_address, unknown_item_error};
use crate::error::{AppError, ErrorKind, Hint, Result};
use crate::scope::ProjectChoice;
use crate::show;

/// Items that are shown beforehand.
const MAX_PREVIEW_ITEMS: usize = 8;
/// Items that one search may find; for more, users name a session or a project.
const MAX_MATCHING_ITEMS: usize = 100_000;

/// What is deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeletionRequest {
    /// Items, by number or name.
    Items(Vec<String>),
    /// Everything of a session, by the beginning of its id.
    Session(String),
    /// Everything of a project, by key, name or path.
    Project(String),
    /// Everything with all of these words.
    Matching {
        /// The words.
        words: String,
        /// In which projects.
        project: ProjectChoice,
    },
}

/// What was deleted, or would be.
#[derive(Debug, Serialize)]
pub struct DeletionResponse {
    /// Whether nothing was deleted.
    pub dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    /// How many items.
    pub items: u64,
    /// How many events.
    pub events: u64,
    #[serde(flatten)]
    done: Option<DeletionDetail>,
    /// How many events that are not stored yet.
    #[serde(skip)]
    pub files: u64,
    /// The first of the items; only before the deletion.
    #[serde(skip)]
    pub preview: Vec<Item>,
    /// How many items there are besides those.
    #[serde(skip)]
    pub more: usize,
}

/// What is said of a deletion that deletes something.
#[derive(Debug, Serialize)]
struct DeletionDetail {
    numbers: Vec<i64>,
    sessions: Vec<SessionId>,
    receipt: Option<String>,
    time: String,
}

impl DeletionResponse {
    /// Whether there is nothing to delete.
    pub fn is_empty(&self) -> bool {
        self.done.is_none()
    }

    /// The name of the record that something was deleted.
    pub fn receipt(&self) -> Option<&str> {
        self.done.as_ref()?.receipt.as_deref()
    }

    fn new(order: &DeletionPlan, done: DeletionState) -> Self {
        let dry_run = done == DeletionState::Planned;
        let receipt = &order.receipt;
        let detail = (!order.is_empty()).then(|| DeletionDetail {
            numbers: order.numbers.clone(),
            sessions: order.erase.sessions.clone(),
            receipt: (!dry_run).then(|| receipt.receipt.clone()),
            time: format_rfc3339(receipt.at),
        });
        Self {
            dry_run,
            what: detail.as_ref().map(|_| receipt.what.clone()),
            items: receipt.items,
            events: receipt.events,
            done: detail,
            files: order.files.len() as u64,
            preview: Vec::new(),
            more: 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeletionState {
    Planned,
    Done,
}

impl App {
    /// What a deletion comes to. Changes nothing.
    pub fn preview_deletion(&self, request: &DeletionRequest) -> Result<DeletionResponse> {
        let store = self.require_store()?;
        let selection = self.select(&*store, request)?;
        let now = self.clock.now_ms();
        let order = forget::plan_deletion(&*store, &self.paths, &selection, now)?;
        let names = order.erase.items.iter().take(MAX_PREVIEW_ITEMS);
        let names: Vec<ItemRef> = names.map(|uid| ItemRef::Uid(uid.clone())).collect();
        let preview = store.find_items(&names)?;
        Ok(DeletionResponse {
            more: order.erase.items.len() - preview.len(),
            preview,
            ..DeletionResponse::new(&order, DeletionState::Planned)
        })
    }

    /// Deletes, once everything that waits is stored: an event in the spool would
    /// bring it back. What is meant is looked up again then, so that events that came
    /// since a preview belong to it too.
    pub fn delete(&self, request: &DeletionRequest) -> Result<DeletionResponse> {
        let _guard = self.lock_worker()?;
        let ingest = self.drain_spool()?;
        let store = ingest.store();
        let selection = self.select(store, request)?;
        let now = self.clock.now_ms();
        let order = forget::plan_deletion(store, &self.paths, &selection, now)?;
        // A connection of this process must not be open while the files are rewritten.
        drop(ingest);
        forget::carry_out(&self.paths, &order)?;
        Ok(DeletionResponse::new(&order, DeletionState::Done))
    }

    fn select(&self, store: &dyn Store, request: &DeletionRequest) -> Result<Selection> {
        // A preview shows what goes, so an agent may name its own project only.
        let limits = self.change_limits()?;
        match request {
            DeletionRequest::Session(id) => {
                let session = limits.resolve_session(store, id)?;
                Ok(Selection::Session(session))
            }
            DeletionRequest::Items(names) => {
                let items = names
                    .iter()
                    .map(|name| find_deletable(store, &limits, name));
                Ok(Selection::Items(items.collect::<Result<_>>()?))
            }
            DeletionRequest::Project(text) => {
                let key = self.resolve_named_project(store, text)?;
                limits.check_project(Some(&key))?;
                Ok(Selection::Project(key))
            }
            DeletionRequest::Matching { words, project } => {
                let project = self.resolve_project(store, project)?;
                limits.check_project(project.as_deref())?;
                select_matching(store, words, project)
            }
        }
    }
}

fn select_matching(
    store: &dyn Store,
    words: &str,
    project: Option<ProjectKey>,
) -> Result<Selection> {
    let filter = Filter {
        project: project.clone(),
        ..Filter::default()
    };
    let hits = store.search(&Query::parse(words), &filter, MAX_MATCHING_ITEMS)?;
    // A search also returns items with some of the words or a similar meaning;
    // only exact matches may go.
    let hits = hits.into_iter().filter(|hit| hit.all_words);
    let items: Vec<Item> = hits
        .map(|hit| hit.item)
        .filter(|item| !is_saved(item))
        .collect();
    let strip = |word: &str| word.trim_matches(['"', '\'']).to_lowercase();
    let words = words.split_whitespace().map(strip);
    Ok(Selection::Matching {
        items,
        words: words.filter(|word| !word.is_empty()).collect(),
        project,
    })
}

fn find_deletable(store: &dyn Store, limits: &ReadLimits, name: &str) -> Result<Item> {
    refuse_address(name)?;
    let item = show::find_item(store, name)?.ok_or_else(|| unknown_item_error(name))?;
    let item = limits.check_item(item)?;
    let item = item.ok_or_else(|| unknown_item_error(name))?;
    if is_saved(&item) {
        let address = item.key.clone().unwrap_or_default();
        let text = format!("{name} is a saved memory");
        return Err(
            AppError::new(ErrorKind::Conflict, text).with_hint(Hint::RemoveSavedMemory(address))
        );
    }
    Ok(item)
}
