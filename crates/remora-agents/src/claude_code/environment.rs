//! What Claude Code says in the environment of hooks, servers and commands.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde_json::Value;

use crate::environment::{EnvironmentLookup, EnvironmentSpec, is_switched_on};
use crate::mcp::McpOrigin;
use crate::spec::{AgentPaths, InstallScope};

use super::install::settings_file;

/// Moves the user's settings, transcripts and servers.
pub(super) const CONFIG_DIR_VARIABLE: &str = "CLAUDE_CONFIG_DIR";
/// Set for commands that the client runs.
const SHELL_VARIABLE: &str = "CLAUDECODE";
/// Where the session was started.
const PROJECT_DIR_VARIABLE: &str = "CLAUDE_PROJECT_DIR";
/// Set for what comes from a plugin.
const PLUGIN_ROOT_VARIABLE: &str = "CLAUDE_PLUGIN_ROOT";
/// On when a user attends the session.
const ATTENDED_VARIABLE: &str = "CLAUDE_CODE_SESSION_ATTENDED";

/// How Claude Code passes things through the environment.
pub(super) const ENVIRONMENT_SPEC: EnvironmentSpec = EnvironmentSpec {
    config_variable: CONFIG_DIR_VARIABLE,
    shell_variables: &[SHELL_VARIABLE],
    project_dir: |lookup| lookup(PROJECT_DIR_VARIABLE).map(PathBuf::from),
    is_attended: |lookup| is_switched_on(lookup, ATTENDED_VARIABLE),
    mcp_origin,
    project_files,
    project_sets_variable,
};

fn mcp_origin(lookup: EnvironmentLookup<'_>) -> Option<McpOrigin> {
    lookup(PLUGIN_ROOT_VARIABLE).map(|_| McpOrigin::Plugin)
}

fn project_files(places: &AgentPaths) -> Vec<PathBuf> {
    [InstallScope::Project, InstallScope::Local]
        .map(|scope| settings_file(places, scope))
        .into()
}

/// The client puts the `env` of a project's settings into the environment.
fn project_sets_variable(text: &str, name: &str, value: Option<&OsStr>) -> bool {
    match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        Ok(settings) => match &settings["env"][name] {
            Value::Null => false,
            Value::String(set) => value.is_none_or(|value| value == set.as_str()),
            // A value that is no string is not understood; in doubt the project
            // sets it.
            _ => true,
        },
        // The client may read more than strict JSON.
        Err(_) => text.contains(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where_and_how_a_session_runs() {
        let spec = &ENVIRONMENT_SPEC;
        let read_all = |set: &[(&str, &str)]| {
            let lookup = |name: &str| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| value.into())
            };
            (
                (spec.project_dir)(&lookup),
                (spec.is_attended)(&lookup),
                (spec.mcp_origin)(&lookup),
            )
        };
        assert_eq!(read_all(&[]), (None, false, None));
        assert_eq!(
            read_all(&[
                ("CLAUDE_PROJECT_DIR", "/p"),
                ("CLAUDE_CODE_SESSION_ATTENDED", "1"),
                ("CLAUDE_PLUGIN_ROOT", "/plugin"),
            ]),
            (Some(PathBuf::from("/p")), true, Some(McpOrigin::Plugin))
        );
        assert_eq!(
            read_all(&[("CLAUDE_CODE_SESSION_ATTENDED", "0")]),
            (None, false, None)
        );
    }

    #[test]
    fn a_projects_settings_set_variables() {
        let sets = |text: &str, value: Option<&str>| {
            project_sets_variable(text, "REMORA_HOME", value.map(OsStr::new))
        };
        let text = r#"{"env":{"REMORA_HOME":"/x"}}"#;
        assert!(sets(text, None) && sets(text, Some("/x")) && !sets(text, Some("/y")));
        assert!(sets(r#"{"env":{"REMORA_HOME":7}}"#, Some("/y")));
        assert!(!sets(r#"{"env":{"OTHER":"REMORA_HOME"}}"#, None));
        assert!(sets("// REMORA_HOME\n{}", None) && !sets("// nothing\n{}", None));
    }
}
