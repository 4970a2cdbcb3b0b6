//! The command line of the MCP server.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct McpArgs {}
