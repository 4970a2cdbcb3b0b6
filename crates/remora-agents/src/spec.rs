//! The description of one agent, as a value: everything that differs between
//! agents is a field here, so that the rest of Remora never asks for a name.

use std::path::PathBuf;

use remora_core::agent_event::{AgentEvent, EventHeader};
use remora_core::ids::{AgentId, Timestamp};
use remora_core::{Event, EventName};

use crate::environment::{EnvironmentLookup, EnvironmentSpec};
use crate::hook_payload::PeekedHeader;
use crate::install::InstallSpec;
use crate::mcp::McpSpec;
use crate::session_file::SessionFileSpec;
use crate::transcript::TranscriptSpec;

/// The most text that one answer injects, in UTF-16 units. The client
/// puts anything longer into a file and shows the model a short preview of it.
pub const MAX_CONTEXT_UTF16_UNITS: usize = 10_000;

/// One event that Remora registers for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRegistration {
    /// The event that is registered.
    pub event: EventName,
    /// How long the agent waits for us, in seconds.
    pub timeout: u32,
    /// Which of the event's subjects; `None` for all.
    pub matcher: Option<&'static str>,
}

/// Where an agent's settings may lie. The caller fills it in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPaths {
    /// The user's home directory.
    pub home: PathBuf,
    /// The value of the agent's own [`EnvironmentSpec::config_variable`], if set.
    pub config_dir: Option<PathBuf>,
    /// The directory in which sessions of the project are started.
    pub root: PathBuf,
}

/// For whom the hooks are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallScope {
    /// All projects of this user.
    User,
    /// One project, shared with everybody who works on it.
    Project,
    /// One project, for this user alone.
    Local,
}

/// Everything Remora knows about one agent.
#[derive(Debug)]
pub struct AgentSpec {
    /// The name used in commands, settings and reports.
    pub name: &'static str,
    /// What its maker calls it.
    pub title: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// The events that Remora registers.
    pub registered: &'static [EventRegistration],
    /// What a hook must know before it knows the event.
    pub hook: HookSpec,
    /// Reads what the agent wrote to our stdin.
    pub parse_payload: fn(&[u8]) -> Result<DecodedEvent, DecodeError>,
    /// Writes what the agent reads from our stdout: one line or nothing.
    pub encode_response: fn(EventName, &HookResponse) -> String,
    /// What is needed of an event before its texts are redacted.
    pub read_header: for<'a> fn(&'a Event) -> EventHeader<'a>,
    /// Says in our own words what the agent's event means. Accepts any event, an
    /// archived one of an older client too: what it does not know is absent.
    pub decode_event: fn(&Event, AgentId, Timestamp) -> AgentEvent,
    /// What it passes through the environment.
    pub environment: EnvironmentSpec,
    /// How Remora is put into it.
    pub install: InstallSpec,
    /// How it takes an MCP server.
    pub mcp: McpSpec,
    /// Its past sessions, if it keeps any that can be read.
    pub transcripts: Option<TranscriptSpec>,
    /// What the file of a running session adds to hooks, if anything.
    pub session_file: Option<SessionFileSpec>,
}

/// What a hook must know of an agent before it knows the event. All of it looks
/// at a payload as it came, and costs next to nothing.
#[derive(Debug)]
pub struct HookSpec {
    /// The fields that a hook must know; `None` if the payload is no object.
    pub peek_header: for<'a> fn(&'a [u8]) -> Option<PeekedHeader<'a>>,
    /// Whether the payload of a finished call may be of a command that failed
    /// and exited with 0. Says yes too often.
    pub may_report_failure: fn(&[u8]) -> bool,
    /// Whether the payload of a finished call may be of a command that showed a
    /// file, of an agent that has no tool for it. Says yes too often.
    pub may_show_file: fn(&[u8]) -> bool,
    /// Whether the payload is certainly this agent's, whatever name the hook was
    /// called by: agents run the hooks of others that they find.
    pub is_sender: fn(&PeekedHeader<'_>, EnvironmentLookup<'_>) -> bool,
    /// The kind of a subagent for which none was named.
    pub default_subagent: &'static str,
    /// What the agent takes from us at an event.
    pub answers: fn(EventName) -> &'static [ResponsePart],
}

/// A part of a [`HookResponse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponsePart {
    /// Text for the model.
    Context,
    /// Text for the user.
    Message,
    /// What a summary of the session should keep.
    Instructions,
    /// Why the agent should not stop yet.
    Block,
}

impl AgentSpec {
    /// Whether this is the agent's name or one of its aliases.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// What Remora has to say about an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookResponse {
    /// Text for the model.
    pub context: Option<String>,
    /// Text for the user.
    pub message: Option<String>,
    /// What a summary of the session should keep.
    pub instructions: Option<String>,
    /// Why the agent should not stop yet.
    pub block: Option<String>,
}

/// Whether a payload arrived in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// The payload is complete.
    Whole,
    /// Its end is missing, or a part was nested too deep to be kept.
    Cut,
}

/// A payload that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedEvent {
    /// The event, with the fields as they came.
    pub event: Event,
    /// Whether it is complete.
    pub cut: Truncation,
}

/// Why a payload is not an event. The texts never quote the payload: they are
/// logged before anything was redacted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There was nothing to read.
    #[error("the event is empty")]
    Empty,
    /// Not JSON, even with its end made good.
    #[error("the event is not valid JSON at line {line}, column {column}")]
    Json {
        /// The line, counted from 1.
        line: usize,
        /// In bytes, counted from 1.
        column: usize,
    },
    /// JSON, but not an object.
    #[error("the event must be a JSON object, found {0}")]
    NotAnObject(&'static str),
    /// No name to go by.
    #[error("the event has no `hook_event_name`")]
    NoName,
    /// The end is missing, and the name with it.
    #[error("the event was cut off before its `hook_event_name` was complete")]
    CutBeforeName,
    /// A name that is not a string.
    #[error("`hook_event_name` must be a string")]
    NameNotAString,
    /// An unknown name. It is quoted only if it looks like the name of an
    /// event, as one of a newer client would.
    #[error("unknown event{}", .0.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default())]
    UnknownName(Option<String>),
}
