//! What authors of hooks use: settings read with positions, linted and edited,
//! and hooks tested, measured and recorded.
//!
//! It is a crate of its own because hosts that embed the engine need none of
//! it. It reads settings as the engine does and asks the engine wherever the
//! engine knows the answer. Like the engine it never prints, exits or reads
//! environment variables.

pub mod cases;
pub mod conformance;
pub mod document;
pub mod edit;
pub mod health;
pub mod lint;
pub mod listing;
pub mod names;
pub mod recording;
pub mod schema;
pub mod settings_file;
mod yaml;
