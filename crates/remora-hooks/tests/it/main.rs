//! The one integration binary of the engine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod plugins;
mod recorded;
