//! What the client's format fixes and this crate has to say: files, variables
//! and keys.

/// The variable that holds the root of a project.
pub const PROJECT_DIR_VARIABLE: &str = "CLAUDE_PROJECT_DIR";
/// The variable that holds the root of a plugin.
pub const PLUGIN_ROOT_VARIABLE: &str = "CLAUDE_PLUGIN_ROOT";
/// The variable that holds where a plugin keeps its state.
pub const PLUGIN_DATA_VARIABLE: &str = "CLAUDE_PLUGIN_DATA";
/// A plugin's manifest, which may hold hooks.
pub const PLUGIN_MANIFEST_NAME: &str = "plugin.json";
/// The folder of a plugin's manifest.
pub const PLUGIN_MANIFEST_DIR: &str = ".claude-plugin";
/// The hooks file of a plugin, in its folder `hooks`.
pub const PLUGIN_HOOKS_NAME: &str = "hooks.json";
/// The user's own settings in a project.
pub const LOCAL_SETTINGS_NAME: &str = "settings.local.json";
/// The organisation's settings.
pub const MANAGED_SETTINGS_NAME: &str = "managed-settings.json";
/// What a `Stop` hook reads in order not to loop.
pub const STOP_GUARD_FIELD: &str = "stop_hook_active";
/// Where hooks that are switched off are kept; the client ignores keys that it
/// does not know.
pub const DISABLED_HOOKS_KEY: &str = "remora:disabledHooks";

/// The settings files of a recorded case, by their layers, relative to its home.
pub(crate) const RECORDED_LAYER_FILES: &[(&str, &str)] = &[
    ("user", ".claude/settings.json"),
    ("project", "app/.claude/settings.json"),
    ("local", "app/.claude/settings.local.json"),
    ("managed", "managed/managed-settings.json"),
    ("flag", "flag.json"),
    ("plugin", "plug/hooks/hooks.json"),
];
/// The manifest of its plugin.
pub(crate) const RECORDED_MANIFEST_FILE: &str = "plug/.claude-plugin/plugin.json";
