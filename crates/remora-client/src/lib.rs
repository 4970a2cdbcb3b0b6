//! What a short-lived process may do: read stdin within bounds, put an event
//! into the spool, wake the worker, and ask it something.
//!
//! This crate is a dependency firewall. A hook has about a millisecond, so
//! nothing here starts a thread or a runtime, opens a database, builds a regex
//! or runs another program (except the worker, detached). Time, environment and
//! paths come from the caller.

mod call;
mod detach;
mod failure;
mod glance;
mod input;
mod log;
mod paths;
mod project;
mod spool;
mod wake;

pub use call::{Connection, ask, reach, receive, reply};
pub use detach::{close_inherited, leave_session};
pub use failure::Failure;
pub use glance::{Glance, glance};
pub use input::{Input, read_input};
pub use log::append_line;
pub use paths::Paths;
pub use project::{Place, place};
pub use spool::{Spooled, read_spooled, spool, waiting};
pub use wake::{Woken, came_up, start_worker, wake};
