//! The database, opened as the product opens it.

use std::path::Path;

use remora_store::{Access, LookTools, SqliteStore, StoreError};

/// Opens the store in this file. Items of every agent's looking tools count as
/// looks.
pub fn open_database(path: &Path, access: Access) -> Result<SqliteStore, StoreError> {
    remora_store::open_store(path, access, LookTools(remora_agents::LOOK_TOOLS))
}

#[cfg(test)]
mod tests {
    use remora_core::record::{Item, Kind};
    use remora_memory::store::{Batch, Filter, ItemWrite, LookupItems, PageRequest, Store};
    use remora_memory::testing::item;

    use super::*;

    #[test]
    fn what_an_agent_only_looked_at_can_be_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_database(&dir.path().join("remora.db"), Access::Write).unwrap();
        let row = |uid: &str, tool: &str| {
            ItemWrite::Add(Item {
                kind: Kind::Discovery,
                tool: Some(tool.to_owned()),
                ..item(uid, uid)
            })
        };
        let batch = Batch {
            items: vec![row("looked", "Grep"), row("fetched", "WebFetch")],
            ..Batch::default()
        };
        store.apply(&batch).unwrap();
        let filter = Filter {
            looks: LookupItems::LeftOut,
            ..Filter::default()
        };
        let found = store.list_items(&filter, PageRequest::newest(9)).unwrap();
        let uids: Vec<&str> = found.iter().map(|item| item.uid.as_str()).collect();
        assert_eq!(uids, ["fetched"]);
    }
}
