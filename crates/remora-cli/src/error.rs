//! Errors for users: what went wrong, and what to do about it.

use std::path::PathBuf;

use remora_agents::install::file::FileError;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{0}")]
    Usage(String),
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot read the event: {0}")]
    Stdin(std::io::Error),
    #[error("{0}")]
    Event(#[from] remora_core::DecodeError),
    #[error("{0}")]
    Load(#[from] remora_hooks::LoadError),
    #[error("{0}")]
    Store(#[from] remora_memory::store::StoreError),
    #[error("{0}")]
    Server(#[from] remora_server::ServerError),
    #[error("{0}")]
    Install(#[from] FileError),
    #[error("{0}")]
    Saved(#[from] remora_instructions::memories::MemoryError),
    #[error("cannot write the result: {0}")]
    Write(#[from] std::io::Error),
    #[error("cannot encode the result: {0}")]
    Encode(#[from] serde_json::Error),
}

impl CliError {
    /// A next step, where there is an obvious one.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Event(_) => Some("`remora hooks try EVENT` builds a valid event for you"),
            Self::Install(FileError::Settings { .. } | FileError::NotText(_)) => {
                Some("nothing was changed; correct the file at that place, and run this again")
            }
            _ => None,
        }
    }
}
