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

use remora_agents::{AGENTS, AgentPaths, InstallScope};
use remora_client::open_plain;
use serde_json::Value;

use crate::environment::Environment;

/// Larger settings files are not read; they count as setting the variable.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;
/// Folders above the current one in which a project may begin.
const MAX_ANCESTOR_LEVELS: usize = 32;

/// The settings file of the current project that sets a variable to this value,
/// or to anything.
pub(crate) fn find_setter(
    environment: &Environment,
    name: &str,
    value: Option<&OsStr>,
) -> Option<PathBuf> {
    let home = environment.home()?;
    let check = |root: &Path| {
        let places = AgentPaths {
            home: home.clone(),
            config_dir: None,
            root: root.to_path_buf(),
        };
        AGENTS
            .iter()
            .flat_map(|spec| {
                [InstallScope::Project, InstallScope::Local]
                    .map(|scope| (spec.settings_file)(&places, scope))
            })
            .find(|file| sets_variable(file, name, value))
    };
    // In the home directory the project's settings are the user's own.
    let is_project = |root: &&Path| *root != home;
    match environment.get("CLAUDE_PROJECT_DIR") {
        Some(root) => Some(Path::new(root)).filter(is_project).and_then(check),
        None => environment
            .directory()?
            .ancestors()
            .take(MAX_ANCESTOR_LEVELS)
            .take_while(is_project)
            .find_map(check),
    }
}

fn sets_variable(file: &Path, name: &str, value: Option<&OsStr>) -> bool {
    let Ok(opened) = open_plain(file) else {
        return false;
    };
    let is_file = opened.metadata().is_ok_and(|meta| meta.is_file());
    let mut text = Vec::new();
    let read = opened.take(MAX_SETTINGS_BYTES + 1).read_to_end(&mut text);
    if !is_file || read.is_err() || text.len() as u64 > MAX_SETTINGS_BYTES {
        return true;
    }
    let text = String::from_utf8_lossy(&text);
    match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        Ok(settings) => match &settings["env"][name] {
            Value::Null => false,
            Value::String(set) => value.is_none_or(|value| value == set.as_str()),
            _ => true,
        },
        // The agent may read more than strict JSON.
        Err(_) => text.contains(name),
    }
}
