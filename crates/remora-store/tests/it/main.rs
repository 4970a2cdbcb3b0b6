//! The store in SQLite from the outside.

mod contract;
mod damage;
mod readers;
mod searching;
