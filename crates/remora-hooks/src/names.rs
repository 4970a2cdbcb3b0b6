//! The names that the format fixes: files, directories and variables. The one
//! place in this crate where they are spelled.

/// Where the organisation's settings are on this system.
pub const MANAGED_SETTINGS_DIR: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};
/// The host's book of answers, in the home or the settings directory.
pub const HOST_STATE_FILE: &str = ".claude.json";
/// A project's MCP servers, and a plugin's.
pub const SERVERS_FILE: &str = ".mcp.json";
/// The key that holds servers, in any file.
pub const SERVERS_KEY: &str = "mcpServers";
/// The projects in the host's book of answers, by path.
pub const PROJECTS_KEY: &str = "projects";
/// Servers of the project that the user refused.
pub const REFUSED_SERVERS_KEY: &str = "disabledMcpjsonServers";
/// Servers of the project that the user accepted.
pub const ACCEPTED_SERVERS_KEY: &str = "enabledMcpjsonServers";
/// The user accepts all servers of the project.
pub const ALL_SERVERS_KEY: &str = "enableAllProjectMcpServers";
/// How a plugin's server is named: this, the plugin's name, a colon, the server's.
pub const PLUGIN_SERVER_PREFIX: &str = "plugin:";
/// Moves the settings directory of the home.
pub const CONFIG_DIR_VAR: &str = "CLAUDE_CONFIG_DIR";
/// On: settings are not read.
pub const SIMPLE_VAR: &str = "CLAUDE_CODE_SIMPLE";
/// On: nothing that a user or a project added is run.
pub const SAFE_MODE_VAR: &str = "CLAUDE_CODE_SAFE_MODE";

/// The settings directory of a home or a project.
pub const SETTINGS_DIR: &str = ".claude";
/// A user's or a project's settings.
pub const SETTINGS_FILE: &str = "settings.json";
/// The user's own settings in a project.
pub const LOCAL_SETTINGS_FILE: &str = "settings.local.json";
/// The organisation's settings.
pub(crate) const MANAGED_FILE: &str = "managed-settings.json";
/// A folder of JSON files, merged on top of the organisation's settings.
pub(crate) const MANAGED_DROP_INS_DIR: &str = "managed-settings.d";
/// A plugin's hooks.
pub(crate) const PLUGIN_HOOKS_FILE: &str = "hooks/hooks.json";
/// A plugin's manifest.
pub const PLUGIN_MANIFEST_FILE: &str = ".claude-plugin/plugin.json";

/// What was installed, in the plugins folder.
pub(crate) const INSTALLED_PLUGINS_FILE: &str = "installed_plugins.json";
/// Where it came from, in the plugins folder.
pub(crate) const MARKETPLACES_FILE: &str = "known_marketplaces.json";
/// A marketplace's own list.
pub(crate) const MARKETPLACE_MANIFEST_FILE: &str = ".claude-plugin/marketplace.json";

/// How the ids of verifiers begin, the agents that agent handlers start.
pub(crate) const VERIFIER_PREFIX: &str = "hook-agent-";
/// The tool that a verifier ends with.
pub(crate) const VERDICT_TOOL: &str = "StructuredOutput";

/// Where the session started.
pub(crate) const PROJECT_DIR_VAR: &str = "CLAUDE_PROJECT_DIR";
/// Where the plugin is.
pub const PLUGIN_ROOT_VAR: &str = "CLAUDE_PLUGIN_ROOT";
/// Where the plugin keeps its state.
pub const PLUGIN_DATA_VAR: &str = "CLAUDE_PLUGIN_DATA";
/// How variables begin that hold a plugin's options.
pub const PLUGIN_OPTION_VAR_PREFIX: &str = "CLAUDE_PLUGIN_OPTION_";
/// How the placeholder of a plugin's option begins; the option's key and a bracket
/// follow.
pub const PLUGIN_OPTION_PLACEHOLDER: &str = "${user_config.";
/// The key of settings that holds options, by plugin.
pub(crate) const PLUGIN_CONFIGS_KEY: &str = "pluginConfigs";
/// Options that are secrets, in the settings directory.
pub(crate) const CREDENTIALS_FILE: &str = ".credentials.json";
/// The key in it, by plugin.
pub(crate) const PLUGIN_SECRETS_KEY: &str = "pluginSecrets";
/// Where a handler sets variables for the session.
pub(crate) const ENV_FILE_VAR: &str = "CLAUDE_ENV_FILE";
/// The session's id.
pub(crate) const SESSION_ID_VAR: &str = "CLAUDE_CODE_SESSION_ID";
/// The model's effort.
pub(crate) const EFFORT_VAR: &str = "CLAUDE_EFFORT";
/// What every handler finds set, whatever the event.
pub(crate) const FIXED_VARS: [(&str, &str); 5] = [
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_CHILD_SESSION", "1"),
    ("COREPACK_ENABLE_AUTO_PIN", "0"),
    ("NoDefaultCurrentDirectoryInExePath", "1"),
    ("AI_AGENT", concat!("remora_", env!("CARGO_PKG_VERSION"))),
];
/// 1 if a user can be asked during the session.
pub(crate) const ATTENDED_VAR: &str = "CLAUDE_CODE_SESSION_ATTENDED";
/// How the session was started.
pub(crate) const ENTRYPOINT_VAR: &str = "CLAUDE_CODE_ENTRYPOINT";
/// The host's process.
pub(crate) const HOST_PID_VAR: &str = "CLAUDE_PID";
/// Budget of the last event, in milliseconds.
pub(crate) const SESSION_END_TIMEOUT_VAR: &str = "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS";
/// How many blocks in a row a Stop hook may make.
pub(crate) const BLOCK_CAP_VAR: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
/// Variables with this prefix are not passed on.
pub(crate) const DROPPED_VAR_PREFIX: &str = "OTEL_";
/// Set to 1: credentials of model services are not passed on.
pub(crate) const SCRUB_VAR: &str = "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB";
/// Credentials of model services and their clouds.
pub(crate) const CREDENTIAL_VARS: [&str; 7] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "GOOGLE_APPLICATION_CREDENTIALS",
];
/// Variables that belong to one handler of one event. They are never inherited
/// from the process around the host, which may be a handler itself.
pub(crate) const HANDLER_VARS: [&str; 4] =
    [EFFORT_VAR, ENV_FILE_VAR, PLUGIN_ROOT_VAR, PLUGIN_DATA_VAR];
