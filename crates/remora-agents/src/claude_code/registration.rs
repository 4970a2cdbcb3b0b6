//! The events that Remora registers with Claude Code: opted into one by one, so
//! that a new event of the client costs nothing by itself.

use remora_core::EventName;

use crate::spec::EventRegistration;

/// How long the client waits for a hook, in seconds. Also lifts its 1.5 s for
/// the end of a session.
const TIMEOUT_SECS: u32 = 5;
/// The same for the event that brings the memory in: opening the store for the
/// first time may take longer.
const START_TIMEOUT_SECS: u32 = 10;

/// What is known of a file is injected before it is read, and the task of a
/// subagent is named only in the call; other tools need nothing. `Task` is what
/// older clients call the tool `Agent`.
const ANNOUNCED_TOOLS: &str = "Read|Agent|Task";

/// Each event costs the user a process, so it must give something for it. Not
/// here, and why:
/// - `WorktreeCreate`, `WorktreeRemove`: a hook there replaces git.
/// - `MessageDisplay`, `PostToolBatch`: they repeat what `Stop` and `PostToolUse`
///   say, and fire far more often.
/// - `UserPromptExpansion`: `UserPromptSubmit` came just before it, with the
///   user's own words.
/// - `PreModelSwitch`, `PostModelSwitch`, `TeammateIdle`: the user or another
///   agent waits, and nothing is learned.
/// - `FileChanged`: watches nothing without a list of names.
/// - `DirectoryAdded`, `Setup`: nothing is kept of them.
pub(super) const REGISTRATIONS: &[EventRegistration] = &[
    EventRegistration {
        event: EventName::SessionStart,
        timeout: START_TIMEOUT_SECS,
        matcher: None,
    },
    register(EventName::InstructionsLoaded),
    register(EventName::UserPromptSubmit),
    EventRegistration {
        event: EventName::PreToolUse,
        timeout: TIMEOUT_SECS,
        matcher: Some(ANNOUNCED_TOOLS),
    },
    register(EventName::PermissionRequest),
    register(EventName::PermissionDenied),
    register(EventName::PostToolUse),
    register(EventName::PostToolUseFailure),
    register(EventName::SubagentStart),
    register(EventName::SubagentStop),
    register(EventName::TaskCreated),
    register(EventName::TaskCompleted),
    register(EventName::Stop),
    register(EventName::StopFailure),
    register(EventName::PreCompact),
    register(EventName::PostCompact),
    register(EventName::Notification),
    register(EventName::Elicitation),
    register(EventName::ElicitationResult),
    register(EventName::ConfigChange),
    register(EventName::CwdChanged),
    register(EventName::SessionEnd),
];

const fn register(event: EventName) -> EventRegistration {
    EventRegistration {
        event,
        timeout: TIMEOUT_SECS,
        matcher: None,
    }
}
