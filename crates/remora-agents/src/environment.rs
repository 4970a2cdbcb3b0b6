//! What an agent says through the environment of the processes it starts. The
//! caller reads the environment; here are only names and rules.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::mcp::McpOrigin;
use crate::spec::AgentPaths;

/// Gives the value of a variable; one that is set to nothing is not set.
pub type EnvironmentLookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// How one agent uses the environment.
#[derive(Debug)]
pub struct EnvironmentSpec {
    /// The variable that moves the agent's settings.
    pub config_variable: &'static str,
    /// Variables that it sets for the commands which it runs, and for nothing
    /// else.
    pub shell_variables: &'static [&'static str],
    /// The directory in which the session was started, if the agent says so.
    pub project_dir: fn(EnvironmentLookup<'_>) -> Option<PathBuf>,
    /// Whether a user attends the session; no if the agent does not say.
    pub is_attended: fn(EnvironmentLookup<'_>) -> bool,
    /// How we came to the session, if the environment shows it.
    pub mcp_origin: fn(EnvironmentLookup<'_>) -> Option<McpOrigin>,
    /// Files of a project from which the agent takes variables for what it
    /// starts.
    pub project_files: fn(&AgentPaths) -> Vec<PathBuf>,
    /// Whether the text of such a file sets a variable to this value, or to
    /// anything. In doubt it does.
    pub project_sets_variable: fn(&str, &str, Option<&OsStr>) -> bool,
}

/// A switch is on when it is set to anything but nothing, 0 and false.
pub(crate) fn is_switched_on(lookup: EnvironmentLookup<'_>, name: &str) -> bool {
    lookup(name).is_some_and(|value| value != "0" && value != "false")
}
