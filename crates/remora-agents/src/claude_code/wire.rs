//! The names that Claude Code gives things.

/// Fields of a payload.
pub(super) mod field {
    pub(crate) const AGENT_ID: &str = "agent_id";
    pub(crate) const CWD: &str = "cwd";
    pub(crate) const EVENT_NAME: &str = crate::event_json::EVENT_NAME_FIELD;
    pub(crate) const PROMPT: &str = "prompt";
    pub(crate) const SESSION_ID: &str = "session_id";
    pub(crate) const TOOL_INPUT: &str = "tool_input";
    pub(crate) const TOOL_NAME: &str = "tool_name";
    pub(crate) const TOOL_OUTPUT: &str = "tool_output";
    pub(crate) const TOOL_RESPONSE: &str = "tool_response";
    pub(crate) const TOOL_USE_ID: &str = "tool_use_id";
}

/// Tools that a hook must know before it decodes anything.
pub(super) mod tool {
    /// Runs a shell.
    pub(crate) const SHELL: &str = "Bash";
}
