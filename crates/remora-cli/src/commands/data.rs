//! The data directory of this run: its paths, its configuration, its store.

use std::path::Path;

use remora_client::{DataPaths, ProjectLocation};
use remora_core::ids::ProjectKey;
use remora_memory::store::StoreError;
use remora_server::identity::look_up_project;
use remora_server::{is_gone, rebuild_database};
use remora_store::{Access, SqliteStore};

use crate::commands::worker;
use crate::config::Config;
use crate::environment::Environment;
use crate::error::CliError;
use crate::hook::data_directory;

/// Said of a database that is not there, or empty, beside an archive.
pub(crate) const DATABASE_GONE_MESSAGE: &str =
    "is gone or empty, but the archive is there; `remora rebuild` brings everything back";

/// The data directory, if it is one of ours.
pub(crate) fn usable_paths(environment: &Environment) -> Result<DataPaths, CliError> {
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

/// Makes the data directory, if it is not there yet.
pub(crate) fn prepare_data_dir(paths: &DataPaths) -> Result<(), CliError> {
    paths.prepare_data_dir().map_err(|source| CliError::File {
        path: paths.home().to_path_buf(),
        source,
    })
}

/// What most commands on memory begin with.
#[derive(Debug)]
pub(crate) struct DataDir {
    pub(crate) paths: DataPaths,
    pub(crate) config: Config,
    pub(crate) environment: Environment,
}

impl DataDir {
    pub(crate) fn open() -> Result<Self, CliError> {
        let data = Self::with_default_config()?;
        let config = Config::load(&data.paths.config_file())?;
        Ok(Self { config, ..data })
    }

    /// With the defaults, whatever the file says: for what a user needs most
    /// when the configuration is broken.
    pub(crate) fn with_default_config() -> Result<Self, CliError> {
        let environment = Environment::from_process();
        let paths = usable_paths(&environment)?;
        let config = Config::parse("").map_err(CliError::Usage)?;
        Ok(Self {
            paths,
            config,
            environment,
        })
    }

    /// The store for reading; `None` before anything was stored.
    pub(crate) fn open_store(&self) -> Result<Option<SqliteStore>, CliError> {
        let file = self.paths.database_file();
        let found = if file.exists() {
            remora_server::open_database(&file, Access::Read)
        } else {
            Err(StoreError::Empty)
        };
        match found {
            Err(StoreError::Empty) if is_gone(&self.paths) => Err(CliError::Usage(format!(
                "{}: {DATABASE_GONE_MESSAGE}",
                file.display()
            ))),
            Err(StoreError::Empty) => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    /// The store for writing; one that is gone comes back from the archive
    /// first. Only for a process that holds the worker's lock, or knows that no
    /// worker runs.
    pub(crate) fn open_writable_store(&self) -> Result<SqliteStore, CliError> {
        if is_gone(&self.paths) {
            rebuild_database(
                &self.paths,
                &worker::build_capture_policy(self),
                &mut |_| {},
            )?;
        }
        Ok(remora_server::open_database(
            &self.paths.database_file(),
            Access::Write,
        )?)
    }

    /// The key of the project of the current directory.
    pub(crate) fn current_project(&self) -> Result<ProjectKey, CliError> {
        let here = self.environment.directory().ok_or_else(|| {
            CliError::Usage("the current directory is gone; use --project or --all".to_owned())
        })?;
        Ok(self.locate_folder(here).project.key)
    }

    /// Where a folder belongs.
    pub(crate) fn locate_folder(&self, folder: &Path) -> ProjectLocation {
        look_up_project(&self.paths, folder, None)
    }
}
