//! What every use case works with: the data directory, the user's settings, who
//! asks, the clock, the encoder, and the store by its address.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use remora_client::{DataPaths, ProjectLocation};
use remora_core::ids::ProjectKey;
use remora_embed::LazyEncoder;
use remora_memory::store::{Store, StoreError};
use remora_redact::Redactor;
use remora_server::identity::look_up_project;
use remora_server::{Log, SpoolIngest, is_gone, rebuild_database};
use remora_store::Access;

use crate::config::Config;
use crate::error::{AppError, ErrorKind, Hint, Result};
use crate::stores::{StoreFactories, StoreUrl};

/// Said of a database that is not there, or empty, beside an archive.
const DATABASE_GONE_MESSAGE: &str = "is gone or empty, but the archive is there";

/// The time, and where the user's day begins.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Milliseconds since 1970.
    pub now_ms: fn() -> i64,
    /// The user's time zone.
    pub zone: TimeZone,
}

impl Clock {
    /// Now, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        (self.now_ms)()
    }

    /// Now, in the user's time zone.
    pub fn now(&self) -> Zoned {
        let now = Timestamp::from_millisecond(self.now_ms()).unwrap_or_default();
        now.to_zoned(self.zone.clone())
    }
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerKind {
    /// The user, who may read everything.
    User,
    /// A command in an agent's shell. It reads the project it is run in; anything
    /// else is refused.
    AgentShell,
    /// An agent's tool. It reads the project that its session works in; of anything
    /// else not even its being there is said.
    AgentTool,
}

/// Who asks, and from where.
#[derive(Debug, Clone)]
pub struct Caller {
    /// What may be read and changed hangs on it.
    pub kind: CallerKind,
    /// The working directory; `None` if it is gone.
    pub directory: Option<PathBuf>,
    /// The user's home, for paths that begin with `~/`.
    pub home: Option<PathBuf>,
}

/// What an [`App`] is made of.
#[derive(Debug)]
pub struct AppParts {
    /// The data directory.
    pub paths: DataPaths,
    /// The user's settings.
    pub config: Config,
    /// Who asks.
    pub caller: Caller,
    /// The clock.
    pub clock: Clock,
    /// The program that a worker is started from, where one may be started.
    pub program: Option<PathBuf>,
}

/// Answers requests. Made for one caller at a time; the store is opened by each
/// use case that needs it, so that a long-lived face sees it come and go.
#[derive(Debug)]
pub struct App {
    /// The data directory.
    pub paths: DataPaths,
    /// The user's settings.
    pub config: Config,
    /// Who asks.
    pub caller: Caller,
    /// The clock.
    pub clock: Clock,
    pub(crate) program: Option<PathBuf>,
    encoder: Option<Arc<LazyEncoder>>,
    stores: Arc<StoreFactories>,
    store_url: StoreUrl,
}

impl App {
    /// Over the database of the data directory, with the encoder that the settings
    /// name.
    pub fn new(parts: AppParts) -> Self {
        Self {
            encoder: crate::build_encoder(&parts.config).map(Arc::new),
            store_url: StoreUrl::for_database(&parts.paths.database_file()),
            stores: Arc::new(StoreFactories::default()),
            paths: parts.paths,
            config: parts.config,
            caller: parts.caller,
            clock: parts.clock,
            program: parts.program,
        }
    }

    /// The same over another store.
    #[must_use]
    pub fn with_store(mut self, stores: Arc<StoreFactories>, url: StoreUrl) -> Self {
        self.stores = stores;
        self.store_url = url;
        self
    }

    /// The same with an encoder that may be loaded already.
    #[must_use]
    pub fn with_encoder(mut self, encoder: Option<Arc<LazyEncoder>>) -> Self {
        self.encoder = encoder;
        self
    }

    /// What embeds words, unless it is switched off.
    pub fn encoder(&self) -> Option<&LazyEncoder> {
        self.encoder.as_deref()
    }

    /// The store for reading; `None` before anything was stored.
    pub fn open_store(&self) -> Result<Option<Box<dyn Store>>> {
        match self.stores.open(&self.store_url, Access::Read) {
            Err(StoreError::Empty) if is_gone(&self.paths) => {
                let file = self.paths.database_file();
                let text = format!("{}: {DATABASE_GONE_MESSAGE}", file.display());
                Err(AppError::new(ErrorKind::DatabaseGone, text).with_hint(Hint::Rebuild))
            }
            Err(StoreError::Empty) => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    /// The same where nothing can be answered without it.
    pub fn require_store(&self) -> Result<Box<dyn Store>> {
        self.open_store()?.ok_or_else(AppError::no_database)
    }

    /// The store for writing; one that is gone comes back from the archive first.
    /// Only while the worker's lock is held, or where no worker can run.
    pub fn open_writable_store(&self) -> Result<Box<dyn Store>> {
        if is_gone(&self.paths) {
            rebuild_database(&self.paths, &self.config.capture_policy(), &mut |_| {})?;
        }
        Ok(self.stores.open(&self.store_url, Access::Write)?)
    }

    /// The store, once everything that waits is in it. Only while the worker's lock is
    /// held.
    pub(crate) fn drain_spool(&self) -> Result<SpoolIngest> {
        let mut ingest = SpoolIngest::new(
            self.paths.clone(),
            self.open_writable_store()?,
            self.config.capture_policy(),
            self.config.get_list("capture.ignore"),
            Log::open(self.paths.worker_log()),
        )?;
        // What is still in the spool would be stored after a change and undo it.
        while ingest.ingest_batch(self.clock.now_ms())?.removed > 0 {}
        Ok(ingest)
    }

    /// What takes secrets out of texts, by the user's rules.
    pub fn build_redactor(&self) -> Result<Redactor> {
        let rules = self.config.capture_policy().redaction;
        Redactor::new(&rules).map_err(|error| {
            let file = self.paths.config_file();
            AppError::new(ErrorKind::Settings, format!("{}: {error}", file.display()))
        })
    }

    /// The key of the project that the caller works in.
    pub fn current_project(&self) -> Result<ProjectKey> {
        let here = self.caller.directory.as_ref().ok_or_else(|| {
            AppError::new(ErrorKind::BadRequest, "the current directory is gone")
                .with_hint(Hint::ChooseProject)
        })?;
        Ok(self.locate_folder(here).project.key)
    }

    /// Where a folder belongs.
    pub fn locate_folder(&self, folder: &Path) -> ProjectLocation {
        look_up_project(&self.paths, folder, None)
    }
}
