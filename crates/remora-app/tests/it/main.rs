//! Use cases in this process, without a command line or a database file.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod corrections;
mod errors;
mod limits;
mod second_backend;
mod succession;
