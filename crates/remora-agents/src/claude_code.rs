//! Claude Code: the payloads that its hooks get, the answers that it takes, how
//! Remora is put into it, and the transcripts that it keeps.

mod decode;
mod encode;
mod environment;
mod field_roles;
mod hook;
mod install;
mod mcp;
mod parse;
mod prompt;
mod raw;
mod registration;
mod scripted;
mod transcript;
mod wire;

use crate::spec::AgentSpec;

pub(crate) use field_roles::FIELD_ROLES;
pub use prompt::own_words;
pub use raw::RecordedCall;
pub use scripted::{ScriptPosition, ScriptedEvent};

/// Tools that only read or search.
pub(crate) const LOOK_TOOLS: [&str; 4] = ["Read", "Grep", "Glob", "LS"];

/// Claude Code as an agent.
pub(crate) const SPEC: AgentSpec = AgentSpec {
    name: "claude-code",
    title: "Claude Code",
    aliases: &["claude"],
    registered: registration::REGISTRATIONS,
    hook: hook::HOOK_SPEC,
    parse_payload: parse::parse_payload,
    encode_response: encode::encode_response,
    read_header: decode::read_header,
    decode_event: decode::decode_event,
    environment: environment::ENVIRONMENT_SPEC,
    install: install::INSTALL_SPEC,
    mcp: mcp::MCP_SPEC,
    transcripts: Some(transcript::TRANSCRIPT_SPEC),
    // Its hooks receive everything, so no session file has to complete them.
    session_file: None,
};

#[cfg(test)]
mod tests;
