//! The data directory of this run: its paths, its configuration, its store.

use remora_client::Paths;
use remora_memory::store::StoreError;
use remora_store::{Access, SqliteStore};

use crate::config::Config;
use crate::environment::Environment;
use crate::error::CliError;
use crate::hook::data_directory;

/// What most commands on memory begin with.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) paths: Paths,
    pub(crate) config: Config,
    pub(crate) environment: Environment,
}

impl Data {
    pub(crate) fn open() -> Result<Self, CliError> {
        let environment = Environment::read();
        let paths = data_directory(&environment).ok_or_else(|| {
            CliError::Usage(
                "no data directory: set HOME, or REMORA_HOME to an absolute path".to_owned(),
            )
        })?;
        let config = Config::load(&paths.config())?;
        Ok(Self {
            paths,
            config,
            environment,
        })
    }

    /// The store for reading; `None` before anything was stored.
    pub(crate) fn store(&self) -> Result<Option<SqliteStore>, CliError> {
        let file = self.paths.database();
        if !file.exists() {
            return Ok(None);
        }
        Ok(Some(remora_store::open(&file, Access::Read)?))
    }

    /// The store for writing. Only for a process that holds the worker's lock,
    /// or knows that no worker runs.
    pub(crate) fn writable(&self) -> Result<SqliteStore, StoreError> {
        remora_store::open(&self.paths.database(), Access::Write)
    }

    /// The key of the project of the current directory.
    pub(crate) fn project(&self) -> Result<String, CliError> {
        let here = self.environment.directory().ok_or_else(|| {
            CliError::Usage("the current directory is gone; use --project or --all".to_owned())
        })?;
        Ok(remora_client::place(here, None).project.key)
    }
}
