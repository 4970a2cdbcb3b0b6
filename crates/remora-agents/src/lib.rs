//! What Remora knows of each coding agent: the payloads it sends, the answers it
//! takes, and how Remora is put into its settings.
//!
//! The names of products stand only in this crate. Nothing here reads the
//! environment or a clock; only `install::file` touches the disk, at paths that
//! the caller gives.
#![forbid(unsafe_code)]

mod claude_code;
mod hook_payload;
mod mcp;
mod repair_json;
mod spec;

pub mod codex;
pub mod install;

pub use claude_code::{own_words, transcript};
pub use mcp::{McpOrigin, McpSpec};
pub use repair_json::TRUNCATION_MARK;
pub use spec::{
    AgentPaths, AgentSpec, DecodeError, DecodedEvent, EventRegistration, HookResponse,
    InstallScope, MAX_CONTEXT_UTF16_UNITS, Truncation,
};

/// Every agent that Remora works with.
pub const AGENTS: &[&AgentSpec] = &[&claude_code::SPEC];

/// The agent of that name or alias. Case-sensitive.
pub fn find_agent(name: &str) -> Option<&'static AgentSpec> {
    AGENTS.iter().copied().find(|agent| agent.is_called(name))
}

/// The names to show where an agent has to be named; aliases are left out.
pub fn known_names() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.name).collect()
}
