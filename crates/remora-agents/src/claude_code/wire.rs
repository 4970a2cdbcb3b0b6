//! The names that Claude Code gives things.

/// Fields of a payload.
pub(super) mod field {
    pub(crate) const EVENT_NAME: &str = "hook_event_name";
    pub(crate) const PROMPT: &str = "prompt";
    pub(crate) const TOOL_OUTPUT: &str = "tool_output";
    pub(crate) const TOOL_RESPONSE: &str = "tool_response";
}
