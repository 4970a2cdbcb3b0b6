//! What Remora knows of each coding agent: the payloads it sends, the answers it
//! takes, and how Remora is put into its settings.
//!
//! The names of products are only in this crate. Nothing here reads the
//! environment or a clock; only `install::file` touches the disk, at paths that
//! the caller passes in.
#![forbid(unsafe_code)]

mod claude_code;
mod codex;
mod environment;
mod event_json;
mod hook_payload;
mod mcp;
mod origin;
mod repair_json;
mod session_file;
mod spec;

pub mod install;
pub mod transcript;

use std::path::PathBuf;

use remora_core::Event;
use remora_core::agent_event::{AgentEvent, EventHeader};
use remora_core::field_roles::FieldRoles;
use remora_core::ids::{AgentId, Timestamp};

pub use claude_code::{RecordedCall, ScriptPosition, ScriptedEvent, own_words};
pub use environment::{EnvironmentLookup, EnvironmentSpec};
pub use hook_payload::PeekedHeader;
pub use mcp::{McpListForm, McpListWriter, McpOrigin, McpSpec};
pub use origin::{EventOrigin, read_origin};
pub use repair_json::TRUNCATION_MARK;
pub use session_file::SessionFileSpec;
pub use spec::{
    AgentPaths, AgentSpec, DecodeError, DecodedEvent, EventRegistration, HookResponse, HookSpec,
    InstallScope, MAX_CONTEXT_UTF16_UNITS, ResponsePart, Truncation,
};

/// Every agent that Remora works with.
pub const AGENTS: &[&AgentSpec] = &[&claude_code::SPEC, &codex::SPEC];

/// The agent of that name or alias. Case-sensitive.
pub fn find_agent(name: &str) -> Option<&'static AgentSpec> {
    AGENTS.iter().copied().find(|agent| agent.is_called(name))
}

/// Who sent a payload to a hook that was called in the name of an agent: that
/// one, unless another recognises the payload as its own and this one does not.
/// Agents run the hooks of others that they find in a plugin or an imported
/// file.
pub fn find_sender(
    named: &'static AgentSpec,
    payload: &PeekedHeader<'_>,
    lookup: EnvironmentLookup<'_>,
) -> &'static AgentSpec {
    choose_sender(AGENTS, named, payload, lookup)
}

fn choose_sender(
    agents: &[&'static AgentSpec],
    named: &'static AgentSpec,
    payload: &PeekedHeader<'_>,
    lookup: EnvironmentLookup<'_>,
) -> &'static AgentSpec {
    let mut others = agents
        .iter()
        .copied()
        .filter(|agent| agent.name != named.name);
    let claims = |agent: &AgentSpec| (agent.hook.is_sender)(payload, lookup);
    match others.find(|other| claims(other)) {
        Some(other) if !claims(named) => other,
        _ => named,
    }
}

/// The directory in which the session was started that we run in, if its agent
/// says so.
pub fn find_project_dir(lookup: EnvironmentLookup<'_>) -> Option<PathBuf> {
    AGENTS
        .iter()
        .find_map(|agent| (agent.environment.project_dir)(lookup))
}

/// The agent whose permission rules we know.
pub fn permission_agent() -> Option<&'static AgentSpec> {
    let mut agents = AGENTS.iter().copied();
    agents.find(|agent| agent.install.has_permission_rules)
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

/// Tools of all agents that only read or search, by the names that items are
/// stored with.
pub const LOOK_TOOLS: &[&str] = &{
    let [read, grep, glob, list] = claude_code::LOOK_TOOLS;
    let [image] = codex::LOOK_TOOLS;
    [read, grep, glob, list, image]
};

/// Who reads the events of an agent. Archived ones may bear names of platforms
/// that are unknown, from imports; they were brought into the form of Claude
/// Code's.
fn find_dialect(agent: &str) -> &'static AgentSpec {
    find_agent(agent).unwrap_or(&claude_code::SPEC)
}

/// The names to show where an agent has to be named; aliases are left out.
pub fn known_names() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.name).collect()
}

/// The agent whose sessions were recorded for the benchmarks and the demo.
pub fn recorded_agent() -> &'static AgentSpec {
    &claude_code::SPEC
}

/// The agent of a claude-mem session that names none: early versions of
/// claude-mem knew one client only.
pub fn claude_mem_agent() -> &'static AgentSpec {
    &claude_code::SPEC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_belongs_to_who_recognises_it() {
        static OTHER: AgentSpec = AgentSpec {
            name: "other",
            hook: HookSpec {
                is_sender: |payload, lookup| {
                    let transcript = payload.transcript.as_deref().unwrap_or_default();
                    let home = lookup("OTHER_HOME").unwrap_or_else(|| "/h/.other".into());
                    std::path::Path::new(transcript).starts_with(home)
                },
                ..claude_code::SPEC.hook
            },
            ..claude_code::SPEC
        };
        let ours = recorded_agent();
        let choose = |named, transcript: Option<&str>, home: Option<&str>| {
            let payload = PeekedHeader {
                transcript: transcript.map(Into::into),
                ..PeekedHeader::default()
            };
            let lookup = |name: &str| home.filter(|_| name == "OTHER_HOME").map(Into::into);
            choose_sender(&[ours, &OTHER], named, &payload, &lookup).name
        };
        let path = Some("/h/.other/s.jsonl");
        assert_eq!(choose(ours, path, None), "other");
        assert_eq!(choose(&OTHER, path, None), "other");
        assert_eq!(choose(ours, Some("/o/s.jsonl"), Some("/o")), "other");
        // Without a sign, or with two, the name decides.
        assert_eq!(choose(ours, Some("/tmp/s.jsonl"), None), ours.name);
        assert_eq!(choose(&OTHER, Some("/tmp/s.jsonl"), None), "other");
        assert_eq!(choose(ours, None, None), ours.name);
        let both = Some("/h/.other/.claude/s.jsonl");
        assert_eq!(choose(ours, both, None), ours.name);
        assert_eq!(choose(&OTHER, both, None), "other");
        assert_eq!(
            choose(&OTHER, Some("/h/.claude/p/s.jsonl"), None),
            ours.name
        );
    }
}
