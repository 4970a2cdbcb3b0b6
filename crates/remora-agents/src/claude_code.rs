//! Claude Code: the payloads that its hooks get, the answers that it takes, how
//! Remora is put into it, and the transcripts that it keeps.

mod encode;
mod install;
mod mcp;
mod parse;
mod prompt;
mod registration;
pub mod transcript;
mod wire;

use crate::spec::AgentSpec;

pub use prompt::own_words;

/// The agent.
pub(crate) const SPEC: AgentSpec = AgentSpec {
    name: "claude-code",
    aliases: &["claude"],
    config_variable: "CLAUDE_CONFIG_DIR",
    shell_variables: &["CLAUDECODE"],
    registered: registration::REGISTRATIONS,
    parse_payload: parse::parse_payload,
    encode_response: encode::encode_response,
    settings_file: install::settings_file,
    mcp: mcp::MCP_SPEC,
};

#[cfg(test)]
mod tests;
