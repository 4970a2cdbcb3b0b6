//! What Codex says in the environment of what it starts. Hooks get all of the
//! client's own environment and nothing more; commands get variables besides;
//! servers get only what is asked for.

use std::ffi::OsStr;

use toml_edit::{DocumentMut, Item, TableLike};

use super::install::project_config_file;
use crate::environment::EnvironmentSpec;

/// Moves the user's settings, sessions and servers.
pub(super) const CONFIG_DIR_VARIABLE: &str = "CODEX_HOME";

/// How Codex passes things through the environment.
pub(super) const ENVIRONMENT_SPEC: EnvironmentSpec = EnvironmentSpec {
    config_variable: CONFIG_DIR_VARIABLE,
    shell_variables: &["CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"],
    // The directory is in the payload alone.
    project_dir: |_| None,
    is_attended: |_| false,
    mcp_origin: |_| None,
    project_files: |places| vec![project_config_file(places)],
    project_sets_variable,
};

/// A trusted project's settings may set variables for commands, and for servers
/// that they define, in tables of several names.
fn project_sets_variable(text: &str, name: &str, value: Option<&OsStr>) -> bool {
    match text.parse::<DocumentMut>() {
        Ok(document) => table_sets(document.as_table(), name, value),
        Err(_) => text.contains(name),
    }
}

fn table_sets(table: &dyn TableLike, name: &str, value: Option<&OsStr>) -> bool {
    table.iter().any(|(key, item)| {
        let is_set = key == name
            && match (item.as_str(), value) {
                (Some(set), Some(value)) => value == set,
                _ => true,
            };
        is_set || item_sets(item, name, value)
    })
}

fn item_sets(item: &Item, name: &str, value: Option<&OsStr>) -> bool {
    if let Some(table) = item.as_table_like() {
        return table_sets(table, name, value);
    }
    let tables = item.as_array_of_tables();
    tables.is_some_and(|list| list.iter().any(|table| table_sets(table, name, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projects_settings_set_variables_wherever_they_do() {
        let sets = |text: &str, value: Option<&str>| {
            project_sets_variable(text, "REMORA_HOME", value.map(OsStr::new))
        };
        for text in [
            "[shell_environment_policy]\nset = { REMORA_HOME = \"/x\" }\n",
            "[mcp_servers.other.env]\nREMORA_HOME = \"/x\"\n",
            "[[list]]\n[list.env]\nREMORA_HOME = \"/x\"\n",
        ] {
            assert!(sets(text, None), "{text}");
            assert!(sets(text, Some("/x")) && !sets(text, Some("/y")), "{text}");
        }
        assert!(sets("REMORA_HOME = 7\n", Some("/y")));
        assert!(!sets("model = \"REMORA_HOME\" # REMORA_HOME\n", None));
        assert!(sets("REMORA_HOME == 7", None) && !sets("= 1", None));
    }
}
