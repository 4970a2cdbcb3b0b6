//! Variables that a project's settings hand to everything the agent starts.
//!
//! An agent puts the `env` of a project's settings file into the environment of
//! hooks, over the user's own, and in print mode without asking whether the
//! project is trusted. So a repository could choose the data directory: read
//! what is captured, and inject what it likes. `REMORA_HOME` therefore does not
//! count when a project set it.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use remora_agents::{AGENTS, AgentPaths, AgentSpec};
use remora_client::open_plain;

use crate::environment::Environment;

/// Larger settings files are not read; they count as setting the variable.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;
/// Folders above the current one in which a project may begin.
const MAX_ANCESTOR_LEVELS: usize = 32;

/// The settings file of the current project that sets a variable to this value,
/// or to anything, for whichever agent.
pub(crate) fn find_setter(
    environment: &Environment,
    name: &str,
    value: Option<&OsStr>,
) -> Option<PathBuf> {
    AGENTS
        .iter()
        .find_map(|spec| find_agent_setter(spec, environment, name, value))
}

/// The same for one agent: a hook has its environment from the agent that runs it,
/// and need not look for what others would be told.
pub(crate) fn find_agent_setter(
    spec: &AgentSpec,
    environment: &Environment,
    name: &str,
    value: Option<&OsStr>,
) -> Option<PathBuf> {
    let home = environment.home()?;
    setter_of_agent(spec, environment, &home, name, value)
}

fn setter_of_agent(
    spec: &AgentSpec,
    environment: &Environment,
    home: &Path,
    name: &str,
    value: Option<&OsStr>,
) -> Option<PathBuf> {
    let check = |root: &Path| {
        let places = AgentPaths {
            home: home.to_path_buf(),
            config_dir: None,
            root: root.to_path_buf(),
        };
        let mut files = (spec.environment.project_files)(&places).into_iter();
        files.find(|file| sets_variable(spec, file, name, value))
    };
    // In the home directory the project's settings are the user's own.
    let is_project = |root: &&Path| *root != home;
    match (spec.environment.project_dir)(&environment.lookup()) {
        Some(root) => Some(root.as_path()).filter(is_project).and_then(check),
        None => environment
            .directory()?
            .ancestors()
            .take(MAX_ANCESTOR_LEVELS)
            .take_while(is_project)
            .find_map(check),
    }
}

fn sets_variable(spec: &AgentSpec, file: &Path, name: &str, value: Option<&OsStr>) -> bool {
    let Ok(opened) = open_plain(file) else {
        return false;
    };
    let is_file = opened.metadata().is_ok_and(|meta| meta.is_file());
    let mut text = Vec::new();
    let read = opened.take(MAX_SETTINGS_BYTES + 1).read_to_end(&mut text);
    if !is_file || read.is_err() || text.len() as u64 > MAX_SETTINGS_BYTES {
        // What cannot be read may set it: then the usual place counts, where
        // the user's data is anyway.
        return true;
    }
    (spec.environment.project_sets_variable)(&String::from_utf8_lossy(&text), name, value)
}
