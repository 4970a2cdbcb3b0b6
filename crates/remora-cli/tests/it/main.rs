//! The one integration binary of `remora`: every test runs the real program in
//! a sandbox of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod bench;
mod bench_recall;
mod coding_memory;
mod config;
mod context;
mod doctor;
mod examples;
mod explain;
mod export;
mod flags;
mod folders;
mod handlers;
mod hook;
mod import;
mod input;
mod install;
mod instructions_lint;
mod instructions_load;
mod instructions_show;
mod instructions_why;
mod ledger;
mod list;
mod mcp;
mod meanings;
mod pause;
mod permissions;
mod places;
mod prune;
mod rebuild;
mod recap;
mod remembered;
mod run;
mod run_json;
mod sandbox;
mod saved;
mod search;
mod sessions;
mod show;
mod status;
mod surface;
mod timeline;
mod try_event;
mod worker;
