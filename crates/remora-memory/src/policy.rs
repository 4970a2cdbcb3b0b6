//! What becomes of each event: one table. And the user's rules for what is
//! kept.

use remora_core::EventName;

use remora_redact::RedactionRules;

/// What an event does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// A session begins or goes on.
    Begin,
    /// A session ends.
    End,
    /// The user submits a prompt.
    Prompt,
    /// A tool has answered.
    Call,
    /// A tool has failed.
    FailedCall,
    /// A turn is over, or the context is about to be lost: a checkpoint.
    Checkpoint,
    /// A turn broke off.
    Broken,
    /// A subagent is done.
    Subagent,
    /// The client has summed up what it dropped.
    Compacted,
    /// A file changed outside the agent's hands.
    File,
    /// A line on the timeline.
    Timeline,
    /// Counted, but not kept: it repeats or announces what another event tells.
    Counted,
}

/// Events that are not here are a line on the timeline.
const TREATMENTS: &[(EventName, Treatment)] = &[
    (EventName::SessionStart, Treatment::Begin),
    (EventName::SessionEnd, Treatment::End),
    (EventName::UserPromptSubmit, Treatment::Prompt),
    (EventName::PostToolUse, Treatment::Call),
    (EventName::PostToolUseFailure, Treatment::FailedCall),
    (EventName::Stop, Treatment::Checkpoint),
    // A compaction drops the messages that a summary quotes, so the checkpoint
    // comes before it.
    (EventName::PreCompact, Treatment::Checkpoint),
    (EventName::StopFailure, Treatment::Broken),
    (EventName::SubagentStop, Treatment::Subagent),
    (EventName::PostCompact, Treatment::Compacted),
    (EventName::FileChanged, Treatment::File),
    // The call itself comes with PostToolUse or PostToolUseFailure.
    (EventName::PreToolUse, Treatment::Counted),
    (EventName::PostToolBatch, Treatment::Counted),
    // The last message comes with Stop.
    (EventName::MessageDisplay, Treatment::Counted),
    // The prompt itself came with UserPromptSubmit.
    (EventName::UserPromptExpansion, Treatment::Counted),
];

/// What this event does to memory.
pub fn event_treatment(event: EventName) -> Treatment {
    let row = TREATMENTS.iter().find(|(name, _)| *name == event);
    // An event of a newer client is kept as a line rather than dropped.
    row.map_or(Treatment::Timeline, |(_, treatment)| *treatment)
}

/// The user's rules for what is kept.
#[derive(Debug, Clone, Default)]
pub struct CapturePolicy {
    /// What is taken out of every text.
    pub redaction: RedactionRules,
    /// Tools whose calls are not kept, besides those that are never worth it.
    pub skip_tools: Vec<String>,
}
