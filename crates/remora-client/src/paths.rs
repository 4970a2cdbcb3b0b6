//! Where everything lives under the data directory.

use std::path::{Path, PathBuf};

/// The data directory and the places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataPaths {
    home: PathBuf,
}

impl DataPaths {
    /// The places under this data directory.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into() }
    }

    /// The data directory itself.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The database.
    pub fn database_file(&self) -> PathBuf {
        self.home.join("remora.db")
    }

    /// Events that the worker has not stored yet.
    pub fn spool_dir(&self) -> PathBuf {
        self.home.join("spool")
    }

    /// Events that could not be understood, with the reason.
    pub fn dead_letter_dir(&self) -> PathBuf {
        self.home.join("dead")
    }

    /// Raw events, redacted and compressed.
    pub fn archive_dir(&self) -> PathBuf {
        self.home.join("archive")
    }

    /// Log files of the hook and the worker.
    pub fn log_dir(&self) -> PathBuf {
        self.home.join("logs")
    }

    /// The hook's log.
    pub fn hook_log(&self) -> PathBuf {
        self.log_dir().join("hook.log")
    }

    /// The worker's log.
    pub fn worker_log(&self) -> PathBuf {
        self.log_dir().join("worker.log")
    }

    /// Sockets, locks and marks of running processes.
    pub fn run_dir(&self) -> PathBuf {
        self.home.join("run")
    }

    /// The injection log of each session.
    pub fn injection_log_dir(&self) -> PathBuf {
        self.run_dir().join("sessions")
    }

    /// The worker's socket.
    pub fn socket_file(&self) -> PathBuf {
        self.run_dir().join("worker.sock")
    }

    /// Held by the worker for as long as it lives.
    pub fn lock(&self) -> PathBuf {
        self.run_dir().join("worker.lock")
    }

    /// The user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.home.join("config.toml")
    }

    /// Which keys of projects became one.
    pub fn joins_file(&self) -> PathBuf {
        self.home.join("joined.jsonl")
    }

    /// Which checkouts share the memory of a remote's key.
    pub fn roots_dir(&self) -> PathBuf {
        self.home.join("roots")
    }

    /// What was deleted: kinds, counts and hashes of ids.
    pub fn deletion_log_file(&self) -> PathBuf {
        self.home.join("forgotten.jsonl")
    }

    /// A deletion that is under way.
    pub fn deletion_plan_file(&self) -> PathBuf {
        self.home.join("forgetting.json")
    }

    /// What users said of items, as the database knows it.
    pub fn overrides_file(&self) -> PathBuf {
        self.home.join("overrides.jsonl")
    }

    /// There when every hook must wait for the disk: the one setting that a
    /// hook needs, put there by the worker.
    pub fn sync_mark(&self) -> PathBuf {
        // A file that is there or not costs a hook one look; reading
        // `config.toml` would cost a parser.
        self.run_dir().join("sync")
    }
}
