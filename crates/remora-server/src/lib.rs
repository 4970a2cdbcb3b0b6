//! Everything long-lived: the worker that turns the spool into memory, the
//! archive of raw events, rebuilding memory from it, and what items mean.
//!
//! A dependency firewall: what is heavy stays here and out of the hook's way.
//! Nothing here prints or reads the environment; the clock is handed in.
#![forbid(unsafe_code)]

pub mod archive;
mod changed;
pub mod commits;
pub mod crashes;
mod database;
mod dead;
mod embedder;
pub mod embeddings;
mod fingerprint;
pub mod forget;
mod forgotten;
mod guard;
pub mod identity;
mod ignore;
mod index_optimizer;
pub mod ingest;
mod injections;
pub mod join;
mod log;
pub mod mcp;
pub mod mcp_client;
pub mod overrides;
pub mod panics;
mod project_activity;
mod rebuild;
pub mod saved;
mod session_file;
mod socket;
mod spool_ingest;
mod worker;

pub use database::open_database;
pub use dead::{DeadLetter, dead_letters, retry_dead_letters};
pub use forgotten::{DeletionLog, DeletionReceipt};
pub use guard::{SuspectEvent, forget_suspects, list_suspects};
pub use ignore::{ignore_file_fault, pattern_fault};
pub use log::Log;
pub use rebuild::{RebuildProgress, RebuildStats, is_gone, move_aside, rebuild_database};
pub use spool_ingest::{BatchStats, SpoolIngest};
pub use worker::{
    Clock, IdleTask, StoreOpener, WorkerExit, WorkerSettings, open_store, run_worker,
};

/// Why the worker, or work on its files, could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A file or folder.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The store.
    #[error("{0}")]
    Store(#[from] remora_memory::store::StoreError),
    /// The encoder.
    #[error("{0}")]
    Embed(#[from] remora_embed::EmbedError),
    /// A defect of this program, outside of any event.
    #[error("{0}")]
    Panicked(panics::CaughtPanic),
    /// The settings.
    #[error("{0}")]
    Rules(#[from] remora_redact::RedactError),
}

pub(crate) fn io_error_at(
    path: &std::path::Path,
) -> impl FnOnce(std::io::Error) -> ServerError + '_ {
    move |source| ServerError::File {
        path: path.to_path_buf(),
        source,
    }
}
