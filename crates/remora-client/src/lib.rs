//! What a short-lived process may do: read stdin within bounds, put an event
//! into the spool, wake the worker, and ask it something.
//!
//! This crate is a dependency firewall. A hook has about a millisecond, so
//! nothing here starts a thread or a runtime, opens a database, builds a regex
//! or runs another program (except the worker, detached). Time, environment and
//! paths come from the caller.

mod anchor;
mod call;
mod changed;
mod detach;
mod embedding;
mod failure;
mod folder;
mod given;
mod glance;
mod input;
mod log;
mod ownership;
mod paths;
mod pause;
mod project;
mod roots;
mod served;
mod spool;
mod tasks;
mod wake;

pub use anchor::{Likeness, anchor_of, is_as, open_plain};
pub use call::{Connection, ask, reach, receive, reply, reply_embedding};
pub use changed::{Changes, changed_files, stable_hash};
pub use detach::{close_inherited, leave_session};
pub use embedding::{
    EMBEDDING_BUDGET_MS, EmbeddingRequest, MAX_EMBEDDED_BYTES, bounded_text, request_embedding,
};
pub use failure::Failure;
pub use folder::{
    Folder, append_our_file, create_our_file, make_our_folder, open_our_file, remove_file,
    write_our_file,
};
pub use given::{GivenFile, Giving, given_file, read_given};
pub use glance::{Glance, glance};
pub use input::{Input, read_input};
pub use log::append_line;
pub use ownership::{is_known_name, make_folder};
pub use paths::Paths;
pub use pause::{Mark, Pause, Paused, Quiet, Stops};
pub use project::{Claim, ProjectLocation, locate_project, main_root, normal};
pub use roots::Roots;
pub use served::{For, Served};
pub use spool::{
    Spooled, is_event_name, new_event_id, read_spooled, spool, sweep_partial, waiting,
};
pub use tasks::{PendingTasks, TASKS_ENDING};
pub use wake::{Woken, came_up, start_worker, wake};
