//! Providers against scripted servers on loopback and scripted programs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command_line;
mod http;
mod server;
