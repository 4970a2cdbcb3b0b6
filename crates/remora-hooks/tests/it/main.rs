//! The one integration binary of the engine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod live;
mod models;
mod plugins;
mod recorded;
mod session;
mod verifier;
