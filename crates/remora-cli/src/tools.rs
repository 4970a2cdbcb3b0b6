//! What our tools are called in a session of an agent, if it has them. On the
//! hook's path: one small file is read at most.

use std::path::Path;

use remora_agents::{AgentSpec, McpOrigin};
use remora_client::{DataPaths, McpInstallations};

use crate::environment::Environment;

/// The prefix of the names of our tools, such as `search`, in sessions of
/// this folder; `None` if we know of no server there.
pub(crate) fn find_tool_prefix(
    environment: &Environment,
    paths: &DataPaths,
    spec: &AgentSpec,
    folder: &Path,
) -> Option<&'static str> {
    let installed = || {
        let known =
            McpInstallations::read_for_agent(paths, spec.mcp.note_part).contains_folder(folder);
        known.then_some(McpOrigin::Settings)
    };
    let origin = (spec.environment.mcp_origin)(&environment.lookup());
    Some((spec.mcp.prefix)(origin.or_else(installed)?))
}
