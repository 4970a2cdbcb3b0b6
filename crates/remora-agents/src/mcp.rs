//! How an agent takes our MCP server, as a value: where it is written down,
//! which program of the agent's own does it, and what its tools are then called.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::spec::AgentPaths;

/// By which way our server came to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpOrigin {
    /// It was added to the user's or the project's servers.
    Settings,
    /// It is part of our plugin.
    Plugin,
}

/// How a list of servers is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpListForm {
    /// `mcpServers` in a JSON object.
    Json,
    /// `[mcp_servers.NAME]` in TOML.
    Toml,
}

/// Who writes the user's list of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpListWriter {
    /// The agent's own program: the list is a part of what it keeps for itself.
    Agent,
    /// We do: it is a settings file like others.
    Remora,
}

/// How one agent takes MCP servers.
#[derive(Debug)]
pub struct McpSpec {
    /// The file of a project's servers.
    pub project_file: fn(&AgentPaths) -> PathBuf,
    /// The file of the user's servers.
    pub user_file: fn(&AgentPaths) -> PathBuf,
    /// Who writes it; by us it is else only read.
    pub user_list_writer: McpListWriter,
    /// How servers are written in both files.
    pub form: McpListForm,
    /// The name of the agent's part in our note of where the server is. The
    /// first agent's part has none: it was there before the others.
    pub note_part: Option<&'static str>,
    /// The name of the agent's program.
    pub client: &'static str,
    /// Its arguments to add our server for all projects.
    pub add: fn(&Path) -> Vec<OsString>,
    /// Its arguments to remove it again.
    pub remove: fn() -> Vec<OsString>,
    /// The prefix of the names of our tools.
    pub prefix: fn(McpOrigin) -> &'static str,
    /// Whether our plugin is switched on in a settings text.
    pub has_plugin: fn(&str) -> bool,
}
