//! Codex and MCP: servers are listed in the settings, as TOML. We write them there
//! ourselves: the client's own command rewrites all servers and loses the
//! comments between them.

use std::ffi::OsString;
use std::path::Path;

use super::install::{project_config_file, user_config_file};
use crate::install::mcp::SERVER_NAME;
use crate::mcp::{McpListForm, McpListWriter, McpSpec};

pub(super) const MCP_SPEC: McpSpec = McpSpec {
    project_file: project_config_file,
    user_file: user_config_file,
    form: McpListForm::Toml,
    user_list_writer: McpListWriter::Remora,
    note_part: Some("codex"),
    client: "codex",
    add: add_arguments,
    remove: || to_arguments(&["mcp", "remove", SERVER_NAME]),
    prefix: |_| "mcp__remora__",
    // The file of hooks says nothing of plugins.
    has_plugin: |_| false,
};

fn add_arguments(program: &Path) -> Vec<OsString> {
    let mut all = to_arguments(&["mcp", "add", SERVER_NAME, "--"]);
    all.extend([program.into(), "mcp".into()]);
    all
}

fn to_arguments(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}
