//! The data directory of this run: its paths, its configuration, its store.

use jiff::tz::TimeZone;
use remora_app::config::Config;
use remora_app::{App, AppParts, Caller, CallerKind, Clock};
use remora_client::DataPaths;

use crate::clock;
use crate::environment::Environment;
use crate::error::CliError;
use crate::hook::data_directory;

/// Said of a database that is not there, or empty, beside an archive.
pub(crate) const DATABASE_GONE_MESSAGE: &str =
    "is gone or empty, but the archive is there; `remora rebuild` brings everything back";

/// The data directory, if it is one of ours.
pub(crate) fn usable_paths(environment: &Environment) -> Result<DataPaths, CliError> {
    let paths = data_directory(environment).ok_or_else(no_data_directory)?;
    match paths.find_fault() {
        Some(fault) => Err(CliError::Usage(fault)),
        None => Ok(paths),
    }
}

fn no_data_directory() -> CliError {
    CliError::Usage("no data directory: set HOME, or REMORA_HOME to an absolute path".to_owned())
}

/// Whether an agent runs this command, by what it sets for the commands it runs.
pub(crate) fn is_in_agent_shell(environment: &Environment) -> bool {
    let mut marks = remora_agents::AGENTS
        .iter()
        .flat_map(|spec| spec.environment.shell_variables);
    marks.any(|name| environment.is_on(name))
}

/// Who runs this command.
pub(crate) fn caller_of(environment: &Environment) -> Caller {
    Caller {
        kind: if is_in_agent_shell(environment) {
            CallerKind::AgentShell
        } else {
            CallerKind::User
        },
        directory: environment.directory().cloned(),
        home: environment.home(),
    }
}

/// This machine's clock and time zone.
pub(crate) fn system_clock() -> Clock {
    Clock {
        now_ms: clock::now_ms,
        zone: TimeZone::system(),
    }
}

/// What most commands on memory begin with.
#[derive(Debug)]
pub(crate) struct DataDir {
    pub(crate) app: App,
    pub(crate) environment: Environment,
}

/// The use cases, for this command.
pub(crate) fn open_app() -> Result<App, CliError> {
    DataDir::open().map(|data| data.app)
}

impl DataDir {
    pub(crate) fn open() -> Result<Self, CliError> {
        let environment = Environment::from_process();
        let paths = usable_paths(&environment)?;
        let config = Config::load(&paths.config_file())?;
        Ok(Self::new(paths, config, environment))
    }

    /// With the defaults, whatever the file says: for what a user needs most
    /// when the configuration is broken.
    pub(crate) fn with_default_config() -> Result<Self, CliError> {
        let environment = Environment::from_process();
        let paths = usable_paths(&environment)?;
        let config = Config::parse("").map_err(CliError::Usage)?;
        Ok(Self::new(paths, config, environment))
    }

    /// The same also where the data directory is not used: for a report of what is
    /// wrong.
    pub(crate) fn for_report() -> Result<Self, CliError> {
        let environment = Environment::from_process();
        let paths = data_directory(&environment).ok_or_else(no_data_directory)?;
        let config = Config::parse("").map_err(CliError::Usage)?;
        Ok(Self::new(paths, config, environment))
    }

    fn new(paths: DataPaths, config: Config, environment: Environment) -> Self {
        let app = App::new(AppParts {
            paths,
            config,
            caller: caller_of(&environment),
            clock: system_clock(),
            program: std::env::current_exe().ok(),
        });
        Self { app, environment }
    }
}
