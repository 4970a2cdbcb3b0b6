//! What Remora knows of each coding agent: the payloads it sends, the answers it
//! takes, and how Remora is put into its settings.
//!
//! The names of products stand only in this crate. Nothing here reads the
//! environment or a clock; only `install::file` touches the disk, at paths that
//! the caller gives.
#![forbid(unsafe_code)]

mod claude_code;
mod mcp;
mod origin;
mod repair_json;
mod spec;

pub mod install;
pub mod transcript;

use remora_core::Event;
use remora_core::agent_event::{AgentEvent, EventHeader};
use remora_core::field_roles::FieldRoles;
use remora_core::ids::{AgentId, Timestamp};

pub use claude_code::own_words;
pub use mcp::{McpOrigin, McpSpec};
pub use origin::{EventOrigin, read_origin};
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

/// What the event of that agent needs to be known by before it is redacted.
pub fn read_header<'a>(agent: &str, event: &'a Event) -> EventHeader<'a> {
    (find_dialect(agent).read_header)(event)
}

/// What the event of that agent says, in our own words. It must be redacted by
/// now, and is never lost: what is not understood is absent.
pub fn decode_event(agent: &str, event: &Event, at: Timestamp) -> AgentEvent {
    (find_dialect(agent).decode_event)(event, AgentId::from(agent), at)
}

/// Which keys of that agent's payloads name files and hold their text. Every
/// agent so far sends its hooks what Claude Code does, under the same keys; so do
/// the details of items, which are made of them.
pub fn field_roles(_agent: &str) -> &'static FieldRoles {
    &claude_code::FIELD_ROLES
}

/// Tools of all agents that only look at something, by the names that items are
/// stored with.
pub const LOOK_TOOLS: &[&str] = claude_code::LOOK_TOOLS;

/// Who reads the events of an agent. Archived ones may bear names of platforms
/// that nobody knows, from imports; they were brought into the form of Claude
/// Code's.
fn find_dialect(agent: &str) -> &'static AgentSpec {
    find_agent(agent).unwrap_or(&claude_code::SPEC)
}

/// The names to show where an agent has to be named; aliases are left out.
pub fn known_names() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.name).collect()
}
