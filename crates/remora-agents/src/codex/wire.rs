//! The names that Codex gives things.

/// Fields of a payload.
pub(super) mod field {
    pub(crate) const SESSION: &str = "session_id";
    pub(crate) const TURN: &str = "turn_id";
    pub(crate) const AGENT_ID: &str = "agent_id";
    pub(crate) const AGENT_TYPE: &str = "agent_type";
    pub(crate) const TRANSCRIPT: &str = "transcript_path";
    pub(crate) const AGENT_TRANSCRIPT: &str = "agent_transcript_path";
    pub(crate) const CWD: &str = "cwd";
    pub(crate) const EVENT_NAME: &str = crate::event_json::EVENT_NAME_FIELD;
    pub(crate) const MODEL: &str = "model";
    pub(crate) const PERMISSION_MODE: &str = "permission_mode";
    pub(crate) const SOURCE: &str = "source";
    pub(crate) const REASON: &str = "reason";
    pub(crate) const PROMPT: &str = "prompt";
    pub(crate) const TRIGGER: &str = "trigger";
    pub(crate) const STOP_HOOK_ACTIVE: &str = "stop_hook_active";
    pub(crate) const LAST_MESSAGE: &str = "last_assistant_message";
    pub(crate) const TOOL_NAME: &str = "tool_name";
    pub(crate) const TOOL_INPUT: &str = "tool_input";
    pub(crate) const TOOL_RESPONSE: &str = "tool_response";
    pub(crate) const CALL: &str = "tool_use_id";
    /// Of a command, and of a patch.
    pub(crate) const COMMAND: &str = "command";
    // Hooks send neither: only a session file has them.
    pub(crate) const ERROR: &str = "error";
    pub(crate) const SUMMARY: &str = "compact_summary";
}

/// Tools as hooks name them.
pub(super) mod tool {
    pub(crate) const SHELL: &str = "Bash";
    pub(crate) const PATCH: &str = "apply_patch";
    pub(crate) const SPAWN_AGENT: &str = "spawn_agent";
    pub(crate) const WEB_SEARCH: &str = "web_search";
    pub(crate) const VIEW_IMAGE: &str = "view_image";
    pub(crate) const ASK_USER: &str = "request_user_input";
    pub(crate) const MCP_PREFIX: &str = "mcp__";
    /// Stands before the names of some tools of agents, with a version and no
    /// mark between.
    pub(crate) const AGENTS_PREFIX: &str = "multi_agent_v";
}

/// The text before the output in the answer of a patch.
pub(super) const EXIT_CODE_LABEL: &str = "Exit code: ";
/// What the output begins behind, on a line of its own.
pub(super) const OUTPUT_LABEL: &str = "Output:\n";
/// How the answer begins where a patch does not fit the files; nothing was
/// changed then.
pub(super) const PATCH_REFUSED: &str = "apply_patch verification failed";
