//! What every store must do, as checks that run on an empty one. A failing
//! check panics where it stands.

mod correcting;
mod logging;
mod reading;
mod recalling;
mod searching;
mod writing;

use std::fmt::Debug;

use crate::store::{Batch, Filter, ItemWrite, PageRequest, SortOrder, Store};
use crate::words::Query;
use remora_core::ids::ItemUid;
use remora_core::record::Item;

/// A check and its name.
pub type Check = (&'static str, fn(&dyn Store));

/// All checks.
pub fn checks() -> Vec<Check> {
    [
        correcting::CHECKS,
        writing::CHECKS,
        reading::CHECKS,
        logging::CHECKS,
        recalling::CHECKS,
        searching::CHECKS,
    ]
    .concat()
}

/// Runs every check on a store of its own.
///
/// # Panics
///
/// When a check fails.
pub fn run(open: impl Fn() -> Box<dyn Store>) {
    for (_, check) in checks() {
        check(open().as_ref());
    }
}

/// The value, or the end of the check.
#[track_caller]
fn ok<T, E: Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the store failed: {error:?}"),
    }
}

#[track_caller]
fn write(store: &dyn Store, items: Vec<ItemWrite>) -> Vec<i64> {
    ok(store.apply(&Batch {
        items,
        ..Batch::default()
    }))
}

#[track_caller]
fn add(store: &dyn Store, items: impl IntoIterator<Item = Item>) -> Vec<i64> {
    write(store, items.into_iter().map(ItemWrite::Add).collect())
}

#[track_caller]
fn all(store: &dyn Store) -> Vec<Item> {
    ok(store.list_items(&Filter::default(), page(SortOrder::Oldest, 1_000)))
}

fn page(order: SortOrder, limit: usize) -> PageRequest {
    PageRequest {
        order,
        beyond: None,
        limit,
    }
}

/// The uids that a search finds by their own words, best first.
#[track_caller]
fn found(store: &dyn Store, text: &str) -> Vec<ItemUid> {
    found_in(store, text, &Filter::default())
}

#[track_caller]
fn found_in(store: &dyn Store, text: &str, filter: &Filter) -> Vec<ItemUid> {
    let hits = ok(store.search(&Query::parse(text), filter, 100));
    hits.into_iter()
        .filter(|hit| hit.any_words)
        .map(|hit| hit.item.uid)
        .collect()
}

fn uids(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.uid.as_str()).collect()
}
