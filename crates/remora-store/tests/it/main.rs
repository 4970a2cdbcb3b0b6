//! The store in SQLite from the outside.

mod contract;
