//! Who asks, and what they may read. In the shell of an agent a command reads
//! the project it is run in, as the agent does over MCP; a user reads
//! everything.
//!
//! This is a rule for commands that were allowed once and for all (`remora
//! search`, `remora show`), not a wall: a program that may run anything can
//! change its environment and read the database by itself.

use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind};
use remora_memory::store::Store;

use crate::args::ProjectScopeArgs;
use crate::commands::data::DataDir;
use crate::commands::search::scope;
use crate::environment::Environment;
use crate::error::CliError;

/// The setting that lets agents read everything.
pub(crate) const ALL_PROJECTS_KEY: &str = "mcp.all_projects";

/// What a caller may read.
#[derive(Debug)]
pub(crate) struct Requester {
    /// The only project; `None` for all of them.
    own: Option<ProjectKey>,
}

/// Whether an agent runs this command, by what it sets for the commands it runs.
pub(crate) fn is_in_agent_shell(environment: &Environment) -> bool {
    let mut marks = remora_agents::AGENTS
        .iter()
        .flat_map(|spec| spec.environment.shell_variables);
    marks.any(|name| environment.is_on(name))
}

/// Refuses in an agent's shell what makes words the user's, or takes back what the
/// user said: an agent does not speak for them.
pub(crate) fn refuse_agent(environment: &Environment, what: &str) -> Result<(), CliError> {
    if !is_in_agent_shell(environment) {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "{what} by a user: run this in a terminal of your own"
    )))
}

impl Requester {
    pub(crate) fn from_data(data: &DataDir) -> Result<Self, CliError> {
        let bound = is_in_agent_shell(&data.environment) && !data.config.get_flag(ALL_PROJECTS_KEY);
        Ok(Self {
            own: bound.then(|| data.current_project()).transpose()?,
        })
    }

    /// Whether only one project may be read.
    pub(crate) fn is_bound(&self) -> bool {
        self.own.is_some()
    }

    /// The project that is meant, if it may be read; `None` for all of them.
    pub(crate) fn resolve_project(
        &self,
        data: &DataDir,
        store: &dyn Store,
        place: &ProjectScopeArgs,
    ) -> Result<Option<ProjectKey>, CliError> {
        let found = scope::resolve_project(data, store, place)?;
        self.check_project(found.as_deref())?;
        Ok(found)
    }

    /// Refuses a project that may not be read; `None` means all of them.
    pub(crate) fn check_project(&self, key: Option<&str>) -> Result<(), CliError> {
        match &self.own {
            Some(own) if key != Some(own) => Err(refusal_error("other projects")),
            _ => Ok(()),
        }
    }

    /// The session that is meant, among those that may be read.
    pub(crate) fn resolve_session(&self, store: &dyn Store, id: &str) -> Result<String, CliError> {
        match &self.own {
            Some(own) => scope::session_of(store, id, own),
            None => scope::resolve_session(store, id),
        }
    }

    /// The item, if it may be read; what the user saved for all projects may.
    pub(crate) fn check_item(&self, item: Item) -> Result<Item, CliError> {
        let is_users = item.kind == Kind::Memory && item.project.is_empty();
        match &self.own {
            Some(own) if item.project != *own && !is_users => {
                Err(refusal_error(&format!("#{} of another project", item.id)))
            }
            _ => Ok(item),
        }
    }
}

fn refusal_error(what: &str) -> CliError {
    CliError::Usage(format!(
        "an agent's shell reads its own project alone, not {what}; run this in a terminal of \
         your own, or set {ALL_PROJECTS_KEY} = true there"
    ))
}
