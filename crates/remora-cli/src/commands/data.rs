//! The data directory of this run: its paths, its configuration, its store.

use std::path::Path;

use remora_client::{Paths, ProjectLocation};
use remora_memory::store::StoreError;
use remora_server::identity::look_up_project;
use remora_server::{is_gone, rebuild};
use remora_store::{Access, SqliteStore};

use crate::commands::worker;
use crate::config::Config;
use crate::environment::Environment;
use crate::error::CliError;
use crate::hook::data_directory;

/// Said of a database that is not there, or empty, beside an archive.
pub(crate) const GONE: &str =
    "is gone or empty, but the archive is there; `remora rebuild` brings everything back";

/// The data directory, if it is one of ours.
pub(crate) fn usable_paths(environment: &Environment) -> Result<Paths, CliError> {
    let paths = data_directory(environment).ok_or_else(|| {
        CliError::Usage(
            "no data directory: set HOME, or REMORA_HOME to an absolute path".to_owned(),
        )
    })?;
    match paths.find_fault() {
        Some(fault) => Err(CliError::Usage(fault)),
        None => Ok(paths),
    }
}

/// What most commands on memory begin with.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) paths: Paths,
    pub(crate) config: Config,
    pub(crate) environment: Environment,
}

impl Data {
    pub(crate) fn open() -> Result<Self, CliError> {
        let data = Self::unconfigured()?;
        let config = Config::load(&data.paths.config())?;
        Ok(Self { config, ..data })
    }

    /// With the defaults, whatever the file says: for what a person needs most
    /// when the configuration is broken.
    pub(crate) fn unconfigured() -> Result<Self, CliError> {
        let environment = Environment::read();
        let paths = usable_paths(&environment)?;
        let config = Config::parse("").map_err(CliError::Usage)?;
        Ok(Self {
            paths,
            config,
            environment,
        })
    }

    /// The store for reading; `None` before anything was stored.
    pub(crate) fn store(&self) -> Result<Option<SqliteStore>, CliError> {
        let file = self.paths.database();
        let found = if file.exists() {
            remora_store::open(&file, Access::Read)
        } else {
            Err(StoreError::Empty)
        };
        match found {
            Err(StoreError::Empty) if is_gone(&self.paths) => {
                Err(CliError::Usage(format!("{}: {GONE}", file.display())))
            }
            Err(StoreError::Empty) => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    /// The store for writing; one that is gone comes back from the archive
    /// first. Only for a process that holds the worker's lock, or knows that no
    /// worker runs.
    pub(crate) fn writable(&self) -> Result<SqliteStore, CliError> {
        if is_gone(&self.paths) {
            rebuild(&self.paths, &worker::policy(self), &mut |_| {})?;
        }
        Ok(remora_store::open(&self.paths.database(), Access::Write)?)
    }

    /// The key of the project of the current directory.
    pub(crate) fn project(&self) -> Result<String, CliError> {
        let here = self.environment.directory().ok_or_else(|| {
            CliError::Usage("the current directory is gone; use --project or --all".to_owned())
        })?;
        Ok(self.locate(here).project.key)
    }

    /// Where a folder belongs.
    pub(crate) fn locate(&self, folder: &Path) -> ProjectLocation {
        look_up_project(&self.paths, folder, None)
    }
}
