//! The worker as a function of its settings, on sockets of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod background;
mod commits;
mod cost;
mod inbox;
mod intake;
mod mcp_client;
mod meanings;
mod place;
mod rebuild;
mod session_file;
mod strangers;
mod worker;
