//! What our tools are called in a session of an agent, if it has them. On the
//! hook's path: one small file is read at most.

use std::path::Path;

use remora_agents::{AgentSpec, Via};
use remora_client::{Paths, Served};

use crate::environment::Environment;

/// Set by the client for what comes from a plugin.
const PLUGIN: &str = "CLAUDE_PLUGIN_ROOT";

/// What stands before the names of our tools, such as `search`, in sessions of
/// this folder; `None` if we know of no server there.
pub(crate) fn prefix(
    environment: &Environment,
    paths: &Paths,
    spec: &AgentSpec,
    folder: &Path,
) -> Option<&'static str> {
    let via = if environment.get(PLUGIN).is_some() {
        Via::Plugin
    } else {
        Served::read(paths)
            .covers(folder)
            .then_some(Via::Settings)?
    };
    Some((spec.mcp.prefix)(via))
}
