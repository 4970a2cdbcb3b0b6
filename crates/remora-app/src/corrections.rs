//! What users say of items: wrong, in other words, first at every start. An item is
//! looked up once everything that waits is stored, what is said of it is written,
//! and a copy of all corrections goes into the file beside the database.

mod edit;
mod pin;
mod reject;

use remora_core::ids::{ItemUid, ProjectKey};
use remora_core::record::{Item, Kind, Override};
use remora_memory::overrides::{Overrides, statement_key};
use remora_memory::store::{Batch, ItemRef, ItemWrite, Store};
use remora_notes::MEMORY_URI_SCHEME;
use remora_redact::RedactionCounts;
use remora_redact::private::{strip_injected, strip_private};
use remora_server::overrides::save_overrides;
use serde::Serialize;

use crate::access::ReadLimits;
use crate::app::App;
use crate::error::{AppError, ErrorKind, Hint, Result};
use crate::show;

pub use edit::{EditRequest, EditResponse};
pub use pin::{PinResponse, PinsResponse};
pub use reject::{RejectRequest, RejectResponse};

/// An item in few words.
#[derive(Debug, Clone, Serialize)]
pub struct ItemSummary {
    /// The number.
    pub id: i64,
    uid: ItemUid,
    /// What it is.
    pub kind: Kind,
    /// The project's key.
    pub project: ProjectKey,
    /// In one line.
    pub title: String,
}

impl From<&Item> for ItemSummary {
    fn from(item: &Item) -> Self {
        Self {
            id: item.id,
            uid: item.uid.clone(),
            kind: item.kind,
            project: item.project.clone(),
            title: item.title.clone(),
        }
    }
}

/// An item after it was corrected.
#[derive(Debug)]
struct CorrectedItem {
    item: Item,
    /// What is said of it now.
    said: Override,
}

/// Whether a caller may correct an item. One that it may not is as good as none.
enum CorrectionLimits {
    Anything,
    Within(ReadLimits),
}

impl CorrectionLimits {
    fn allow(&self, item: &Item) -> bool {
        match self {
            Self::Anything => true,
            Self::Within(limits) => limits.allows_item(item),
        }
    }
}

impl App {
    fn correct_item(
        &self,
        name: &str,
        limits: &CorrectionLimits,
        change: impl FnOnce(&dyn Store, &Item, &mut Override) -> Result<Option<ItemWrite>>,
    ) -> Result<CorrectedItem> {
        // Without a database nothing is made that was not there.
        drop(self.require_store()?);
        let _guard = self.lock_worker()?;
        let ingest = self.drain_spool()?;
        let store = ingest.store();
        let item = find_correctable(store, name, limits)?;
        let mut said = said_of(store, &item)?;
        let write = change(store, &item, &mut said)?;
        store.apply(&Batch {
            overrides: vec![said.clone()],
            items: write.into_iter().collect(),
            ..Batch::default()
        })?;
        save_overrides(&self.paths, store)?;
        let item = find_correctable(store, name, limits)?;
        Ok(CorrectedItem { item, said })
    }

    /// What a user typed, as it may be stored: private passages, our own injected
    /// text and secrets go.
    fn clean_text(&self, text: &str) -> Result<String> {
        let text = strip_private(text);
        let text = strip_injected(&text);
        let clean = self
            .build_redactor()?
            .redact_text(&text, &mut RedactionCounts::default())
            .into_owned();
        Ok(clean.trim().to_owned())
    }
}

/// The item of this number, which must not be the index of a file.
fn find_correctable(store: &dyn Store, name: &str, limits: &CorrectionLimits) -> Result<Item> {
    let item = show::find_item(store, name)?.filter(|item| limits.allow(item));
    let item = item.ok_or_else(|| unknown_item_error(name))?;
    if is_saved(&item) {
        return Err(saved_memory_error(item.key.as_deref().unwrap_or(name)));
    }
    Ok(item)
}

pub(crate) fn unknown_item_error(name: &str) -> AppError {
    AppError::not_found(format!("{name}: no such item")).with_hint(Hint::SearchForNumbers)
}

/// Whether it is the item of a file, which decides what it says.
pub(crate) fn is_saved(item: &Item) -> bool {
    item.kind == Kind::Memory
        && item
            .key
            .as_deref()
            .is_some_and(|key| key.starts_with(MEMORY_URI_SCHEME))
}

/// Refuses the address of a saved memory before anything is looked up.
pub(crate) fn refuse_address(name: &str) -> Result<()> {
    if name.starts_with(MEMORY_URI_SCHEME) {
        return Err(saved_memory_error(name));
    }
    Ok(())
}

fn saved_memory_error(address: &str) -> AppError {
    let text = format!("{address} is a saved memory, and its file decides what it says");
    AppError::new(ErrorKind::Conflict, text).with_hint(Hint::ChangeSavedMemory(address.to_owned()))
}

/// What was said of an item so far.
fn said_of(store: &dyn Store, item: &Item) -> Result<Override> {
    let known = store.list_overrides(Some(&item.project))?;
    let known = known.into_iter().find(|known| known.uid == item.uid);
    Ok(known.unwrap_or_else(|| Override {
        uid: item.uid.clone(),
        project: item.project.clone(),
        statement: statement_key(&item.title),
        pinned: None,
        rejected: None,
        edit: None,
    }))
}

/// Refuses to change an item that is marked wrong, or that says the same as one.
fn refuse_wrong(store: &dyn Store, item: &Item, said: &Override) -> Result<()> {
    let wrong = if said.rejected.is_some() {
        Some(item.id)
    } else {
        find_tombstone(store, item)?
    };
    match wrong {
        Some(id) => Err(AppError::new(
            ErrorKind::Conflict,
            format!("#{} is marked wrong", item.id),
        )
        .with_hint(Hint::TakeBackRejection(id))),
        None => Ok(()),
    }
}

/// The number of another item that says the same and was marked wrong.
fn find_tombstone(store: &dyn Store, item: &Item) -> Result<Option<i64>> {
    let overrides = Overrides::new(store.list_overrides(Some(&item.project))?);
    let Some(tombstone) = overrides.find_tombstone(item) else {
        return Ok(None);
    };
    let found = store.find_items(&[ItemRef::Uid(tombstone.uid.clone())])?;
    Ok(found.first().map(|item| item.id))
}
