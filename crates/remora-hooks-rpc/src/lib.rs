//! Sessions of the hooks engine for hosts in any language: JSON-RPC 2.0, one
//! object a line.
//!
//! `serve` reads requests until its input ends. Where a session's settings, model
//! and servers come from is not the protocol's business: an `Opener` says so.
//! It is a crate of its own because hosts in Rust embed the engine itself, and
//! authors' tools serve no one. It never prints, exits or reads the environment.

mod line;
mod link;
mod message;
mod methods;
mod observer;
mod params;
mod schema;
mod server;
mod session;
mod shapes;
mod table;

pub use line::MAX_LINE_BYTES;
pub use schema::build_schema;
pub use server::serve;
pub use session::{MemoryUse, OpenError, OpenRequest, Opened, Opener, SessionHost};
