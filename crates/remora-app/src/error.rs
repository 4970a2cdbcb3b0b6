//! Why a use case gave no response: a kind that programs can act on, the words, and
//! what the user may do about it. Faces put the hints in their own words.

use std::error::Error;
use std::fmt;
use std::path::Path;

use remora_memory::store::StoreError;
use remora_notes::MemoryError;
use remora_server::ServerError;

/// Shorthand.
pub type Result<T> = std::result::Result<T, AppError>;

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// What the request names is not there.
    NotFound,
    /// What the request names could be several.
    Ambiguous,
    /// The request cannot be meant like this.
    BadRequest,
    /// A field of the request cannot be read.
    BadField(RequestField),
    /// The request's time begins after its end.
    EmptyTimeSpan,
    /// Nothing was ever stored.
    NoDatabase,
    /// The database is gone, and the archive is there.
    DatabaseGone,
    /// Someone else holds the store, or the disk is full: worth another try.
    Busy,
    /// The store failed.
    Store,
    /// The caller may not read or do this.
    Forbidden,
    /// The user's settings cannot be used.
    Settings,
    /// A file or folder.
    File,
    /// A saved memory.
    Memory,
    /// The state of what is there forbids the change.
    Conflict,
}

/// A field of a request, for errors and notes about it. Faces call it as their
/// users know it: an option, an argument, a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestField {
    /// From when on.
    Since,
    /// Up to when.
    Until,
    /// Which kinds.
    Kind,
    /// Which file.
    File,
    /// Which session.
    Session,
    /// Which agent.
    Agent,
    /// Which project.
    Project,
    /// All projects.
    All,
}

impl RequestField {
    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Since => "since",
            Self::Until => "until",
            Self::Kind => "kind",
            Self::File => "file",
            Self::Session => "session",
            Self::Agent => "agent",
            Self::Project => "project",
            Self::All => "all",
        }
    }
}

/// What the user may do about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Say which project is meant, or all of them.
    ChooseProject,
    /// List the sessions.
    ListSessions,
    /// A search gives the numbers of items.
    SearchForNumbers,
    /// Rebuild the database from the archive.
    Rebuild,
    /// Ask what is wrong with the installation.
    Diagnose,
    /// Delete the item.
    DeleteItem,
    /// Take the rejection of this item back.
    TakeBackRejection(i64),
    /// The file of the saved memory at this address is edited or removed.
    ChangeSavedMemory(String),
    /// The saved memory at this address is removed with its file.
    RemoveSavedMemory(String),
    /// Unpin an item to make room.
    Unpin,
    /// Ask as the user, outside of any agent, or allow agents every project.
    AskAsUser,
}

/// An error of a use case.
#[derive(Debug)]
pub struct AppError {
    /// What went wrong, for programs.
    pub kind: ErrorKind,
    /// The same in words, with its own causes.
    pub source: Box<dyn Error + Send + Sync>,
    /// What the user may do about it.
    pub hints: Vec<Hint>,
}

impl AppError {
    /// An error without hints.
    pub fn new(kind: ErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind,
            source: source.into(),
            hints: Vec::new(),
        }
    }

    /// The same with one more hint.
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Self {
        self.hints.push(hint);
        self
    }

    /// What a request names is not there.
    pub fn not_found(words: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, words.into())
    }

    /// What a request names could be several.
    pub fn ambiguous(words: impl Into<String>) -> Self {
        Self::new(ErrorKind::Ambiguous, words.into())
    }

    /// A request that cannot be meant like this.
    pub fn bad_request(words: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, words.into())
    }

    /// A field of a request that cannot be read.
    pub fn bad_field(field: RequestField, words: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadField(field), words.into())
    }

    /// Nothing was ever stored.
    pub fn no_database() -> Self {
        Self::new(ErrorKind::NoDatabase, "nothing is remembered yet")
    }

    /// A file or folder that cannot be read or written.
    pub fn file(path: &Path, source: std::io::Error) -> Self {
        Self::new(
            ErrorKind::File,
            FileError {
                path: path.to_path_buf(),
                source,
            },
        )
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ErrorKind::BadField(field) = self.kind {
            write!(f, "{}: ", field.name())?;
        }
        self.source.fmt(f)
    }
}

impl Error for AppError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The words of an error are those of its source already.
        self.source.source()
    }
}

/// A file, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
struct FileError {
    path: std::path::PathBuf,
    source: std::io::Error,
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let kind = match error {
            StoreError::Again(_) => ErrorKind::Busy,
            StoreError::Empty => ErrorKind::NoDatabase,
            StoreError::Damaged(_) | StoreError::Newer { .. } | StoreError::Failed(_) => {
                ErrorKind::Store
            }
        };
        Self::new(kind, error).with_hint(Hint::Diagnose)
    }
}

impl From<ServerError> for AppError {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Store(error) => error.into(),
            ServerError::File { .. } => Self::new(ErrorKind::File, error),
            ServerError::Rules(_) => Self::new(ErrorKind::Settings, error),
            other => Self::new(ErrorKind::Store, other),
        }
    }
}

impl From<MemoryError> for AppError {
    fn from(error: MemoryError) -> Self {
        Self::new(ErrorKind::Memory, error)
    }
}
