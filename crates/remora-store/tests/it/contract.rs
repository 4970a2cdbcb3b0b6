//! SQLite keeps the contract of stores.

use std::cell::RefCell;

use remora_memory::testing::{LOOK_TOOLS, contract};
use remora_store::{Access, open_store};

#[test]
fn sqlite_keeps_the_contract() {
    let folders = RefCell::new(Vec::new());
    contract::run(|| {
        let folder = tempfile::tempdir().unwrap();
        let store =
            open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
        folders.borrow_mut().push(folder);
        Box::new(store)
    });
}
