//! Errors for users: what went wrong, and what to do about it.

use std::path::PathBuf;

use remora_agents::install::file::FileError;
use remora_app::{AppError, ErrorKind, Hint};

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
    #[error("{}", describe_app_error(.0))]
    App(#[from] AppError),
    #[error("{0}")]
    Store(#[from] remora_memory::store::StoreError),
    #[error("{0}")]
    Server(#[from] remora_server::ServerError),
    #[error("{0}")]
    Install(#[from] FileError),
    #[error("{0}")]
    Saved(#[from] remora_notes::MemoryError),
    #[error("{0}")]
    Model(#[from] remora_core::model::ModelError),
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

/// The error of a use case, in the words of the command line.
fn describe_app_error(error: &AppError) -> String {
    let mut text = match error.kind {
        ErrorKind::BadField(_) => format!("--{error}"),
        ErrorKind::EmptyTimeSpan => {
            "--since is later than --until: nothing lies between them".to_owned()
        }
        _ => error.to_string(),
    };
    for words in error.hints.iter().filter_map(describe_hint) {
        text.push_str("; ");
        text.push_str(&words);
    }
    text
}

/// What the user may do, in the words of the command line.
pub(crate) fn describe_hint(hint: &Hint) -> Option<String> {
    let words = match hint {
        Hint::ChooseProject => "use --project or --all",
        Hint::ListSessions => "`remora sessions --all` lists them",
        Hint::SearchForNumbers => "`remora search` gives numbers",
        Hint::Rebuild => "`remora rebuild` brings everything back",
        Hint::AskAsUser => {
            "run this in a terminal of your own, or set mcp.all_projects = true there"
        }
        Hint::DeleteItem => "`remora forget` deletes an item",
        Hint::Unpin => "`remora pin` lists them and `remora pin N --off` makes room",
        Hint::TakeBackRejection(id) => {
            return Some(format!("`remora wrong {id} --undo` takes that back"));
        }
        Hint::ChangeSavedMemory(address) => {
            return Some(format!(
                "use `remora memory edit {address}` or `remora memory rm {address}`"
            ));
        }
        Hint::RemoveSavedMemory(address) => {
            return Some(format!("`remora forget {address}` removes its file"));
        }
        // A command that fails says enough.
        Hint::Diagnose => return None,
    };
    Some(words.to_owned())
}
