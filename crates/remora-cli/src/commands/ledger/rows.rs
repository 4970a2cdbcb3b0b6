//! Lines of the ledger with what the store knows of the rows that they name.

use std::collections::HashMap;

use remora_memory::store::{Filter, Name, Store};
use remora_protocol::record::{Given, Kind};

use crate::error::CliError;

/// Rows that are asked for at a time; they come with all their text.
const CHUNK: usize = 256;

/// A line, and the row that it names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) given: Given,
    /// What it is; `gone` when the row is no longer there.
    pub(super) kind: &'static str,
    pub(super) title: Option<String>,
}

/// The lines within the filter, the oldest first.
pub(super) fn find(store: &dyn Store, filter: &Filter) -> Result<Vec<Row>, CliError> {
    let given = store.given(filter, usize::MAX)?;
    let mut ids: Vec<i64> = given.iter().filter_map(number).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut known: HashMap<i64, (Kind, String)> = HashMap::new();
    for ids in ids.chunks(CHUNK) {
        let names: Vec<Name> = ids.iter().map(|id| Name::Id(*id)).collect();
        for item in store.items(&names)? {
            known.insert(item.id, (item.kind, item.title));
        }
    }
    let memories = memories(store, filter, &given)?;
    let row = |given: Given| {
        let found = match number(&given) {
            Some(id) => known.get(&id).map(|(kind, title)| (*kind, title)),
            None => memories.get(&given.item).map(|t| (Kind::Memory, t)),
        };
        let (kind, title) = match found {
            Some((kind, title)) => (kind.name(), Some(title.clone())),
            None if given.item.contains("://") => (Kind::Memory.name(), None),
            None => ("gone", None),
        };
        Row { given, kind, title }
    };
    Ok(given.into_iter().map(row).collect())
}

fn number(given: &Given) -> Option<i64> {
    given.item.strip_prefix('#')?.parse().ok()
}

/// Titles of saved memories by their address: of the person, or of the project
/// of a session that was given it.
fn memories(
    store: &dyn Store,
    filter: &Filter,
    given: &[Given],
) -> Result<HashMap<String, String>, CliError> {
    let mut titles = HashMap::new();
    let addresses = given.iter().filter(|given| number(given).is_none());
    let mut wanted: Vec<(&str, &str)> = addresses
        .map(|given| (given.item.as_str(), given.session.as_str()))
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
    let sessions = store.sessions(&of_any_time, usize::MAX)?;
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
            if let Some(item) = store.keyed(project, Kind::Memory, address)? {
                titles.insert(address.to_owned(), item.title);
                break;
            }
        }
    }
    Ok(titles)
}
