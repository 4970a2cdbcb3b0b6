//! The events that Remora registers with Codex.
//!
//! Not asked for: `PreToolUse`, because the client has no tool that reads a file
//! and sends a subagent its task as a prompt; `SubagentStart`, `PermissionRequest`
//! and `Interrupt`, from which nothing is learned.

use remora_core::EventName;

use crate::spec::EventRegistration;

/// In the order of a session.
pub(super) const REGISTRATIONS: &[EventRegistration] = &[
    // Brings the memory in; opening the store for the first time may take
    // longer. Without a matcher, which would miss sources that come later.
    registration(EventName::SessionStart, 10),
    registration(EventName::UserPromptSubmit, 5),
    registration(EventName::PostToolUse, 5),
    registration(EventName::SubagentStop, 5),
    registration(EventName::Stop, 5),
    registration(EventName::PreCompact, 5),
    // Does not say the summary, but the session file does from then on.
    registration(EventName::PostCompact, 5),
    // The client warns the user of more.
    registration(EventName::SessionEnd, 3),
];

const fn registration(event: EventName, timeout: u32) -> EventRegistration {
    EventRegistration {
        event,
        timeout,
        matcher: None,
    }
}
