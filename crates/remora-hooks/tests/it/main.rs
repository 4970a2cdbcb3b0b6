//! The one integration binary of the engine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agent_loop;
#[path = "../../examples/agent_loop/parts.rs"]
mod agent_loop_example;
mod cases;
mod live;
mod models;
mod plugins;
mod recorded;
mod session;
mod verifier;
