//! An event in our own words. Every agent's adapter decodes what its client
//! sends into an [`AgentEvent`]; nothing behind the adapter knows a field or a
//! tool by the client's name for it.
//!
//! The client's own JSON is an [`Event`](crate::Event): that is what the spool
//! and the archive hold, so a better decoder can read old events again.

use crate::EventName;
use crate::ids::{AgentId, SessionId, Timestamp, TurnId};
use crate::tool_call::{ToolOutcome, ToolUse};

/// What is needed of an event before its texts are redacted, and all that is
/// needed by code that never looks further. Its texts are as the client sent
/// them, empty ones included: the key of a call is made of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventHeader<'a> {
    /// The event's entry in the event table.
    pub name: EventName,
    /// The session; absent if the client sent no such text.
    pub session: Option<&'a str>,
    /// The working directory; empty if the client named none.
    pub cwd: &'a str,
    /// What one prompt set going.
    pub turn: Option<&'a str>,
    /// The id of the tool call.
    pub call: Option<&'a str>,
    /// The subagent in which it happened.
    pub subagent: Option<&'a str>,
    /// Every file or folder that the event is about, as the client spells it.
    pub paths: Vec<&'a str>,
}

/// One event of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentEvent {
    /// The agent that sent it.
    pub agent: AgentId,
    /// The session; [`SessionId::UNKNOWN`] if the client named none.
    pub session: SessionId,
    /// When it was captured.
    pub at: Timestamp,
    /// The working directory; empty if the client named none.
    pub cwd: String,
    /// What one prompt set going; never empty.
    pub turn: Option<TurnId>,
    /// The subagent in which it happened; present if its id or its kind is.
    pub subagent: Option<Subagent>,
    /// The event's entry in the event table: how it is treated and listed. What it
    /// holds is in `kind`.
    pub name: EventName,
    /// How the timeline names it.
    pub label: EventLabel,
    /// What happened, without the client's names for it.
    pub kind: EventKind,
}

impl AgentEvent {
    /// The tool call that the event reports.
    pub fn tool_use(&self) -> Option<&ToolUse> {
        match &self.kind {
            EventKind::ToolAnnounced(tool) | EventKind::ToolFinished(tool, _) => Some(tool),
            _ => None,
        }
    }

    /// The id of the subagent in which it happened.
    pub fn subagent_id(&self) -> Option<&str> {
        let id = self.subagent.as_ref()?.id.as_str();
        (!id.is_empty()).then_some(id)
    }

    /// The agent's last message, if the event carries one; may be empty.
    pub fn last_message(&self) -> &str {
        match &self.kind {
            EventKind::TurnEnded { last_message, .. }
            | EventKind::TurnFailed { last_message, .. }
            | EventKind::SubagentEnded { last_message } => last_message,
            _ => "",
        }
    }
}

/// An agent that another agent started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subagent {
    /// Its id; empty if the client named none.
    pub id: String,
    /// What sort of agent. A client's own helpers, such as the one that sums a
    /// session up, have none.
    pub kind: Option<String>,
}

/// What happened, without the client's names for it.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A session began or went on.
    SessionStarted(StartSource),
    /// A session ended.
    SessionEnded {
        /// Why, in the client's word.
        reason: String,
    },
    /// A prompt reached the agent.
    PromptSubmitted(Prompt),
    /// A tool is about to run, the user is asked whether it may, or it may not.
    ToolAnnounced(ToolUse),
    /// A tool ran. Whether it failed is in the outcome, whatever the event is
    /// called.
    ToolFinished(ToolUse, ToolOutcome),
    /// The agent finished its turn.
    TurnEnded {
        /// What it said last; empty if it said nothing.
        last_message: String,
        /// A hook has sent the agent back to work in this turn already.
        continued: bool,
    },
    /// The turn ended with an error of the service.
    TurnFailed {
        /// The client's word for the error.
        error: String,
        /// What the agent said last; empty if it said nothing.
        last_message: String,
    },
    /// A subagent began; [`AgentEvent::subagent`] says which.
    SubagentStarted,
    /// A subagent ended.
    SubagentEnded {
        /// What it said last; empty if it said nothing.
        last_message: String,
    },
    /// The conversation is about to be compacted.
    CompactionStarting {
        /// By whom, in the client's word.
        trigger: String,
    },
    /// The conversation was compacted.
    CompactionFinished {
        /// What is left of it, as the client wrote it, marks and all; empty if
        /// the client does not say.
        summary: String,
    },
    /// A watched file changed.
    FileChanged {
        /// The file, as the client spells it.
        path: String,
        /// What happened to it.
        change: WatchedChange,
    },
    /// Anything else: the label says all that is kept.
    Other,
}

/// Why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartSource {
    /// A new session begins.
    Startup,
    /// An earlier session goes on.
    Resumed,
    /// An earlier session goes on as another one.
    Forked,
    /// The conversation was cleared.
    Cleared,
    /// The conversation was compacted.
    Compacted,
    /// A word that we do not know, or none.
    Other,
}

/// A prompt and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The text; empty if the client sent none.
    pub text: String,
    /// Who wrote it: only the user's prompts count as theirs.
    pub origin: PromptOrigin,
}

/// Who wrote a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptOrigin {
    /// The user.
    User,
    /// The client itself, such as a notice that a task has ended.
    Client,
    /// Another agent, in the task of a subagent.
    SubagentTask,
}

/// What happened to a watched file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchedChange {
    /// The file is new.
    Added,
    /// Its content changed.
    Changed,
    /// The file is gone.
    Removed,
}

/// How the timeline names an event. The client's fields decide what is worth a
/// label; how it is shortened and written is the same for every agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventLabel {
    /// The first part, a colon, and the others. A part that is empty is left
    /// out, but the first keeps its place: after an empty one the others stand
    /// alone.
    Parts(Vec<LabelPart>),
    /// One line, neither shortened nor with its blanks made one.
    Line(String),
}

/// One part of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelPart {
    /// A text, shortened where it is shown.
    Text(String),
    /// A file, shown relative to the project.
    Path(String),
    /// The tool call of the event, as a permission rule would name it. The
    /// event's kind then holds one.
    Call,
}
