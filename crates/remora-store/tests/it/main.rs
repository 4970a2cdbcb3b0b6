//! The store in SQLite from the outside.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any_order;
mod contract;
mod damage;
mod erasing;
mod readers;
mod searching;
mod vectors;
