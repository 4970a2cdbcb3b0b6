//! Lines of the ledger with what the store knows of the rows that they name.

use std::collections::HashMap;

use remora_core::record::{Injection, Kind};
use remora_memory::store::{Filter, ItemRef, Store};

use crate::error::Result;

/// Rows that are asked for at a time; they come with all their text.
const LOOKUP_CHUNK_ITEMS: usize = 256;

/// A line, and the row that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectionRow {
    /// The line.
    pub injection: Injection,
    /// What it is; `gone` when the row is no longer there.
    pub kind: &'static str,
    /// The title of the row.
    pub title: Option<String>,
}

/// The lines within the filter, the oldest first.
pub(super) fn list_injection_rows(store: &dyn Store, filter: &Filter) -> Result<Vec<InjectionRow>> {
    let injections = store.list_injections(filter, usize::MAX)?;
    let mut ids: Vec<i64> = injections.iter().filter_map(parse_item_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut known: HashMap<i64, (Kind, String)> = HashMap::new();
    for ids in ids.chunks(LOOKUP_CHUNK_ITEMS) {
        let names: Vec<ItemRef> = ids.iter().map(|id| ItemRef::Id(*id)).collect();
        for item in store.find_items(&names)? {
            known.insert(item.id, (item.kind, item.title));
        }
    }
    let memories = find_memory_titles(store, filter, &injections)?;
    let row = |injection: Injection| {
        let found = match parse_item_id(&injection) {
            Some(id) => known.get(&id).map(|(kind, title)| (*kind, title)),
            None => memories.get(&injection.item).map(|t| (Kind::Memory, t)),
        };
        let (kind, title) = match found {
            Some((kind, title)) => (kind.name(), Some(title.clone())),
            None if injection.item.contains("://") => (Kind::Memory.name(), None),
            None => ("gone", None),
        };
        InjectionRow {
            injection,
            kind,
            title,
        }
    };
    Ok(injections.into_iter().map(row).collect())
}

fn parse_item_id(injection: &Injection) -> Option<i64> {
    injection.item.strip_prefix('#')?.parse().ok()
}

/// Titles of saved memories by their address: of the user, or of the project of
/// a session that it was injected into.
fn find_memory_titles(
    store: &dyn Store,
    filter: &Filter,
    injections: &[Injection],
) -> Result<HashMap<String, String>> {
    let mut titles = HashMap::new();
    let addresses = injections
        .iter()
        .filter(|injection| parse_item_id(injection).is_none());
    let mut wanted: Vec<(&str, &str)> = addresses
        .map(|injection| (injection.item.as_str(), injection.session.as_str()))
        .collect();
    if wanted.is_empty() {
        return Ok(titles);
    }
    wanted.sort_unstable();
    wanted.dedup();
    let of_any_time = Filter {
        since: None,
        until: None,
        ..filter.clone()
    };
    let sessions = store.list_sessions(&of_any_time, usize::MAX)?;
    let projects: HashMap<&str, &str> = sessions
        .iter()
        .map(|session| (session.id.as_str(), session.project.as_str()))
        .collect();
    for (address, session) in wanted {
        if titles.contains_key(address) {
            continue;
        }
        for project in [projects.get(session).copied(), Some("")]
            .into_iter()
            .flatten()
        {
            if let Some(item) = store.find_by_key(project, Kind::Memory, address)? {
                titles.insert(address.to_owned(), item.title);
                break;
            }
        }
    }
    Ok(titles)
}
