//! The store in memory keeps the contract.

use super::{MemoryStore, contract};

#[test]
fn memory_keeps_the_contract() {
    contract::run(|| Box::new(MemoryStore::default()));
}
