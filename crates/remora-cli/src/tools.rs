//! What our tools are called in a session of an agent, if it has them. On the
//! hook's path: one small file is read at most.

use std::path::Path;

use remora_agents::{AgentSpec, McpOrigin};
use remora_client::{DataPaths, McpInstallations};

use crate::environment::Environment;

/// Set by the client for what comes from a plugin.
const PLUGIN_ROOT_VARIABLE: &str = "CLAUDE_PLUGIN_ROOT";

/// What stands before the names of our tools, such as `search`, in sessions of
/// this folder; `None` if we know of no server there.
pub(crate) fn find_tool_prefix(
    environment: &Environment,
    paths: &DataPaths,
    spec: &AgentSpec,
    folder: &Path,
) -> Option<&'static str> {
    let via = if environment.get(PLUGIN_ROOT_VARIABLE).is_some() {
        McpOrigin::Plugin
    } else {
        McpInstallations::read(paths)
            .contains_folder(folder)
            .then_some(McpOrigin::Settings)?
    };
    Some((spec.mcp.prefix)(via))
}
