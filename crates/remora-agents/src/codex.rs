//! Codex CLI: the payloads that its hooks get, the answers that it takes, how
//! Remora is put into it, and the files of its past sessions.

mod decode;
mod encode;
mod environment;
mod hook;
mod install;
mod mcp;
mod parse;
mod patch;
mod registration;
mod sender;
mod session_file;
mod transcript;
mod wire;

use crate::spec::AgentSpec;

/// Tools that only read or search.
pub(crate) const LOOK_TOOLS: [&str; 1] = [wire::tool::VIEW_IMAGE];

/// Codex as an agent.
pub(crate) const SPEC: AgentSpec = AgentSpec {
    name: "codex",
    title: "Codex CLI",
    aliases: &["codex-cli"],
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
    session_file: Some(session_file::SESSION_FILE_SPEC),
};
