//! The names that providers and their clients fix: addresses, variables, files
//! and models. The one place in this crate where they are spelled.

/// The providers as users name them; the first is none.
pub const PROVIDER_WORDS: &[&str] = &[
    NO_PROVIDER,
    ANTHROPIC_PROVIDER,
    OPENAI_PROVIDER,
    COMMAND_LINE_PROVIDER,
];
/// No model is asked.
pub const NO_PROVIDER: &str = "off";
/// The Messages API.
pub const ANTHROPIC_PROVIDER: &str = "anthropic";
/// An OpenAI-compatible endpoint.
pub const OPENAI_PROVIDER: &str = "openai";
/// A model server on this machine, at its usual address.
pub const LOCAL_PROVIDER: &str = "ollama";
/// The command line of an agent.
pub const COMMAND_LINE_PROVIDER: &str = "claude-cli";
/// The host of the Messages API: the only one that gets the key in
/// [`ANTHROPIC_KEY_VAR`].
pub const ANTHROPIC_HOST: &str = "api.anthropic.com";

/// Where the Messages API is.
pub const ANTHROPIC_ADDRESS: &str = "https://api.anthropic.com";
/// The inventor of the other format: the only host that gets the key in
/// [`OPENAI_KEY_VAR`].
pub const OPENAI_HOST: &str = "api.openai.com";
/// Where a model server on this machine usually listens.
pub const LOCAL_OPENAI_ADDRESS: &str = "http://127.0.0.1:11434/v1";
/// The key of the Messages API.
pub const ANTHROPIC_KEY_VAR: &str = "ANTHROPIC_API_KEY";
/// The key of OpenAI-compatible endpoints.
pub const OPENAI_KEY_VAR: &str = "OPENAI_API_KEY";
/// Where a user keeps the key of the Messages API, below the home.
pub const USER_KEY_FILE: &str = ".anthropic/api_key";
/// Variables that name the model for handlers, the first that is set.
pub const DEFAULT_MODEL_VARS: [&str; 2] = [
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
];
/// The model for questions that name none, where nothing else is configured.
pub const SMALL_MODEL: &str = "claude-haiku-5-5";
/// What short names mean to the client whose hooks use them.
pub(crate) const MODEL_ALIASES: &[(&str, &str)] =
    &[("haiku", SMALL_MODEL), ("opus", "claude-opus-5-5")];
/// The version of the Messages API that is spoken.
pub(crate) const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The agent whose command line answers, as it is called on `PATH`.
pub(crate) const COMMAND_LINE_PROGRAM: &str = "claude";
/// What the command line is told beside the question: print one answer as JSON,
/// keep no session, load no hooks, no MCP servers, no tools, no commands and
/// none of the user's, a project's or a folder's settings.
pub(crate) const COMMAND_LINE_FLAGS: &[&str] = &[
    "--print",
    "--output-format",
    "json",
    "--input-format",
    "text",
    "--safe-mode",
    "--no-session-persistence",
    "--strict-mcp-config",
    "--mcp-config",
    r#"{"mcpServers":{}}"#,
    "--setting-sources",
    "",
    "--settings",
    r#"{"disableAllHooks":true}"#,
    "--disable-slash-commands",
    "--tools",
    "",
];
/// Its flags for what belongs to one question.
pub(crate) const SYSTEM_FLAG: &str = "--system-prompt";
pub(crate) const MODEL_FLAG: &str = "--model";
pub(crate) const SCHEMA_FLAG: &str = "--json-schema";
/// Variables that tell it that it runs inside itself, or change what it is. The
/// child is a program of its own.
pub(crate) const DROPPED_VARIABLES: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
];
/// Switches Remora off in the child and in all that it starts.
pub(crate) const OFF_VARIABLE: &str = "REMORA_OFF";
