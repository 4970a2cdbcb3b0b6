//! The integration binary of the protocol.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod requests;

#[path = "../../../remora-hooks/tests/it/fuzzing.rs"]
mod fuzzing;
