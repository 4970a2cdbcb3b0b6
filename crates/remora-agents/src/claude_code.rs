//! Claude Code: the payloads that its hooks get, the answers that it takes, how
//! Remora is put into it, and the transcripts that it keeps.

mod decode;
mod encode;
mod install;
mod mcp;
mod parse;
mod prompt;
mod registration;
mod transcript;
mod wire;

use crate::spec::AgentSpec;

pub use prompt::own_words;

/// The agent.
pub(crate) const SPEC: AgentSpec = AgentSpec {
    name: "claude-code",
    title: "Claude Code",
    aliases: &["claude"],
    config_variable: "CLAUDE_CONFIG_DIR",
    shell_variables: &["CLAUDECODE"],
    registered: registration::REGISTRATIONS,
    parse_payload: parse::parse_payload,
    encode_response: encode::encode_response,
    read_header: decode::read_header,
    decode_event: decode::decode_event,
    settings_file: install::settings_file,
    mcp: mcp::MCP_SPEC,
    transcripts: Some(transcript::TRANSCRIPT_SPEC),
};

#[cfg(test)]
mod tests;
