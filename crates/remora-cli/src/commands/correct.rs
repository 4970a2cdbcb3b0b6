//! What `wrong`, `edit` and `pin` share: an item is looked up once everything
//! that waits is stored, what the user says of it is written, and a copy of all
//! corrections goes into the file beside the database.

use remora_core::record::{Item, Override};
use remora_memory::overrides::{Overrides, statement_key};
use remora_memory::private::{strip_injected, strip_private};
use remora_memory::redact::RedactionCounts;
use remora_memory::store::{Batch, ItemRef, ItemWrite, Store};
use remora_server::overrides;
use serde_json::{Value, json};

use crate::commands::data::DataDir;
use crate::commands::exclusive::WorkerLock;
use crate::commands::import::build_redactor;
use crate::commands::{forget, show};
use crate::error::CliError;

/// An item before and after a user corrected it.
#[derive(Debug)]
pub(super) struct CorrectedItem {
    /// As it is now.
    pub(super) item: Item,
    /// What is said of it now.
    pub(super) said: Override,
}

/// Changes what is said of an item. `allows` says which items may be corrected:
/// one that may not is as good as none.
pub(super) fn correct_item(
    data: &DataDir,
    name: &str,
    allows: &dyn Fn(&Item) -> bool,
    change: impl FnOnce(&dyn Store, &Item, &mut Override) -> Result<Option<ItemWrite>, CliError>,
) -> Result<CorrectedItem, CliError> {
    // Without a database nothing is made that was not there.
    if data.open_store()?.is_none() {
        return Err(CliError::Usage("nothing is remembered yet".to_owned()));
    }
    let _guard = WorkerLock::acquire_lock(&data.paths)?;
    let ingest = forget::drain_and_open(data)?;
    let store = ingest.store();
    let item = find_item(store, name, allows)?;
    let mut said = said_of(store, &item)?;
    let write = change(store, &item, &mut said)?;
    store.apply(&Batch {
        overrides: vec![said.clone()],
        items: write.into_iter().collect(),
        ..Batch::default()
    })?;
    overrides::save_overrides(&data.paths, store)?;
    let item = find_item(store, name, allows)?;
    Ok(CorrectedItem { item, said })
}

/// The item of this number, which must not be the index of a file.
pub(super) fn find_item(
    store: &dyn Store,
    name: &str,
    allows: &dyn Fn(&Item) -> bool,
) -> Result<Item, CliError> {
    let item = show::find_named_item(store, name)?.filter(|item| allows(item));
    let item = item.ok_or_else(|| {
        CliError::Usage(format!(
            "{name}: no such item; `remora search` gives numbers"
        ))
    })?;
    if forget::is_saved(&item) {
        return Err(saved_memory(item.key.as_deref().unwrap_or(name)));
    }
    Ok(item)
}

/// Refuses the address of a saved memory before anything is looked up.
pub(super) fn refuse_address(name: &str) -> Result<(), CliError> {
    if name.starts_with(remora_instructions::memories::MEMORY_URI_SCHEME) {
        return Err(saved_memory(name));
    }
    Ok(())
}

fn saved_memory(address: &str) -> CliError {
    CliError::Usage(format!(
        "{address} is a saved memory, and its file decides what it says; use `remora memory edit \
         {address}` or `remora memory rm {address}`"
    ))
}

/// What was said of an item so far.
pub(super) fn said_of(store: &dyn Store, item: &Item) -> Result<Override, CliError> {
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
pub(super) fn refuse_wrong(
    store: &dyn Store,
    item: &Item,
    said: &Override,
) -> Result<(), CliError> {
    let wrong = if said.rejected.is_some() {
        Some(item.id)
    } else {
        find_tombstone(store, item)?
    };
    match wrong {
        Some(id) => Err(CliError::Usage(format!(
            "#{} is marked wrong; `remora wrong {id} --undo` takes that back",
            item.id
        ))),
        None => Ok(()),
    }
}

/// The number of another item that says the same and was marked wrong.
pub(super) fn find_tombstone(store: &dyn Store, item: &Item) -> Result<Option<i64>, CliError> {
    let overrides = Overrides::new(store.list_overrides(Some(&item.project))?);
    let Some(tombstone) = overrides.find_tombstone(item) else {
        return Ok(None);
    };
    let found = store.find_items(&[ItemRef::Uid(tombstone.uid.clone())])?;
    Ok(found.first().map(|item| item.id))
}

/// What a user typed, as it may be stored: private passages, our own injected
/// text and secrets go.
pub(super) fn clean_text(data: &DataDir, text: &str) -> Result<String, CliError> {
    let text = strip_private(text);
    let text = strip_injected(&text);
    let clean = build_redactor(data)?
        .redact_text(&text, &mut RedactionCounts::default())
        .into_owned();
    Ok(clean.trim().to_owned())
}

/// An item in few words, for programs.
pub(super) fn as_json(item: &Item) -> Value {
    json!({
        "id": item.id,
        "uid": item.uid,
        "kind": item.kind,
        "project": item.project,
        "title": item.title,
    })
}
