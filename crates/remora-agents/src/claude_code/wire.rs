//! The names that Claude Code gives things.

/// Fields of a payload.
pub(super) mod field {
    pub(crate) const PROMPT: &str = "prompt";
    pub(crate) const TOOL_OUTPUT: &str = "tool_output";
    pub(crate) const TOOL_RESPONSE: &str = "tool_response";
}

/// Tools that a hook must know before it decodes anything.
pub(super) mod tool {
    /// Runs a shell.
    pub(crate) const SHELL: &str = "Bash";
}
