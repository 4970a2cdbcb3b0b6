//! Claude Code and MCP: a project's servers are in a file of their own, a
//! user's in a state file that only the client writes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::install::mcp::SERVER_NAME;
use crate::mcp::{McpListForm, McpListWriter, McpOrigin, McpSpec};
use crate::spec::AgentPaths;

/// The name of our plugin.
const PLUGIN_NAME: &str = "remora";

pub(super) const MCP_SPEC: McpSpec = McpSpec {
    project_file: |places| places.root.join(".mcp.json"),
    user_file,
    // The client rewrites its state file all the time; an edit of ours could be
    // lost or cost it other state.
    user_list_writer: McpListWriter::Agent,
    form: McpListForm::Json,
    note_part: None,
    client: "claude",
    add: add_arguments,
    remove: || to_arguments(&["mcp", "remove", "--scope", "user", SERVER_NAME]),
    prefix: |via| match via {
        McpOrigin::Settings => "mcp__remora__",
        McpOrigin::Plugin => "mcp__plugin_remora_remora__",
    },
    has_plugin,
};

fn user_file(places: &AgentPaths) -> PathBuf {
    let folder = places.config_dir.as_ref().unwrap_or(&places.home);
    folder.join(".claude.json")
}

fn add_arguments(program: &Path) -> Vec<OsString> {
    let mut all = to_arguments(&["mcp", "add", "--scope", "user", SERVER_NAME, "--"]);
    all.extend([program.into(), "mcp".into()]);
    all
}

fn to_arguments(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}

/// Plugins are switched on by `name@market`.
fn has_plugin(settings: &str) -> bool {
    let settings = settings.trim_start_matches('\u{feff}');
    let settings: Option<Value> = serde_json::from_str(settings).ok();
    let plugins = settings.as_ref().and_then(|s| s.get("enabledPlugins"));
    let plugins = plugins.and_then(Value::as_object);
    plugins.into_iter().flatten().any(|(name, on)| {
        let name = name.split('@').next();
        name == Some(PLUGIN_NAME) && *on != Value::Bool(false)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_told_in_its_own_words() {
        let line = |words: Vec<OsString>| {
            let words = words.iter().map(|word| word.to_string_lossy().into_owned());
            words.collect::<Vec<String>>().join(" ")
        };
        assert_eq!(
            line(add_arguments(Path::new("/opt/my remora"))),
            "mcp add --scope user remora -- /opt/my remora mcp"
        );
        assert_eq!(line((MCP_SPEC.remove)()), "mcp remove --scope user remora");
    }

    #[test]
    fn our_plugin_is_told_from_others() {
        for (settings, ours) in [
            (r#"{"enabledPlugins":{"remora@remora":true}}"#, true),
            (
                r#"{"enabledPlugins":{"other@x":true,"remora":["1"]}}"#,
                true,
            ),
            (r#"{"enabledPlugins":{"remora@remora":false}}"#, false),
            (r#"{"enabledPlugins":{"remora-theme@x":true}}"#, false),
            (r#"{"enabledPlugins":[]}"#, false),
            ("no JSON", false),
        ] {
            assert_eq!(has_plugin(settings), ours, "{settings}");
        }
    }
}
