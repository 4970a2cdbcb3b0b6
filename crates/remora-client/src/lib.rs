//! What a short-lived process may do: read stdin within bounds, put an event
//! into the spool, notify the worker, and ask it something.
//!
//! This crate is a dependency firewall. A hook has about a millisecond, so
//! nothing here starts a thread or a runtime, opens a database, builds a regex
//! or runs another program (except the worker, detached). Time, environment and
//! paths come from the caller.

mod call;
mod changed;
mod detach;
mod embedding;
mod failure;
mod fingerprint;
mod folder;
mod injection_log;
mod input;
mod log;
mod notify;
mod ownership;
mod paths;
mod pause;
mod project;
mod roots;
mod served;
mod spool;
mod tasks;

pub use call::{
    Connection, receive_request, reply_embedding, send_reply, send_request, socket_path,
};
pub use changed::{GitStatusCache, changed_files};
pub use detach::{close_inherited, leave_session};
pub use embedding::{
    EMBEDDING_BUDGET_MS, EmbeddingRequest, MAX_EMBEDDED_BYTES, bounded_text, request_embedding,
};
pub use failure::CaptureFailureMark;
pub use fingerprint::{FileStatus, anchor_of, is_as, open_plain};
pub use folder::{
    Folder, append_our_file, create_our_file, make_our_folder, open_our_file, remove_file,
    replace_our_file, write_our_file,
};
pub use injection_log::{InjectionLog, NewInjection, injection_log_file, read_injections};
pub use input::{HookInput, read_input};
pub use log::append_line;
pub use notify::{NotifyOutcome, came_up, notify_worker, start_worker};
pub use ownership::{is_known_name, make_folder};
pub use paths::DataPaths;
pub use pause::{Pause, PauseEffect, PauseEntry, PauseScope, PauseState};
pub use project::{ProjectLocation, RootClaim, locate_project, main_root, normalise_path};
pub use roots::ProjectRoots;
pub use served::{InstallTarget, McpInstallations};
pub use spool::{
    SpooledEvent, is_event_name, list_spooled, new_event_id, read_spooled, spool_event,
    sweep_partial,
};
pub use tasks::{PendingTasks, TASKS_EXTENSION};
