//! Names that are part of the format: files, folders, settings keys,
//! variables, fields of the payload. Nothing else in this crate spells them.

/// The instruction file of a directory.
pub const INSTRUCTION_FILE: &str = "CLAUDE.md";
/// The user's own, next to it.
pub const LOCAL_INSTRUCTION_FILE: &str = "CLAUDE.local.md";
/// What other agents call the instruction file.
pub(crate) const AGENTS_FILE: &str = "AGENTS.md";
/// The settings folder of a directory.
pub const SETTINGS_DIR: &str = ".claude";
/// Rule files, in the settings folder.
pub(crate) const RULES_DIR: &str = "rules";
/// Saved memories that a team shares, in the settings folder.
pub const TEAM_MEMORY_DIR: &str = "team-memory";
/// Agents of a project or a user, in the settings folder.
pub(crate) const AGENTS_DIR: &str = "agents";
/// The index of a folder of saved memories.
pub const MEMORY_INDEX_FILE: &str = "MEMORY.md";
/// Where the client keeps what belongs to one project, in its home.
pub(crate) const PROJECTS_DIR: &str = "projects";
/// The saved memories of one project, in there.
pub(crate) const MEMORY_DIR: &str = "memory";
/// The client's book of answers, in the home.
pub(crate) const CLIENT_STATE_FILE: &str = ".claude.json";

pub(crate) const SETTINGS_FILE: &str = "settings.json";
pub(crate) const LOCAL_SETTINGS_FILE: &str = "settings.local.json";
pub(crate) const MANAGED_SETTINGS_FILE: &str = "managed-settings.json";
pub(crate) const MANAGED_DROP_INS_DIR: &str = "managed-settings.d";
/// The path that a text from managed settings is listed under.
pub(crate) const MANAGED_TEXT_PATH: &str = "<managed-settings>";

/// Keys of settings files.
pub(crate) mod key {
    pub(crate) const CLAUDE_MD: &str = "claudeMd";
    pub(crate) const EXCLUDES: &str = "claudeMdExcludes";
    pub(crate) const ENV: &str = "env";
    pub(crate) const AUTO_MEMORY: &str = "autoMemoryEnabled";
    pub(crate) const AUTO_MEMORY_DIRECTORY: &str = "autoMemoryDirectory";
    pub(crate) const LANGUAGE: &str = "language";
    pub(crate) const OUTPUT_STYLE: &str = "outputStyle";
    /// Where the mode of AGENTS.md is set: `pluginConfigs`, then this, then
    /// `options`, then one of the two names.
    pub(crate) const PLUGIN_CONFIGS: &str = "pluginConfigs";
    pub(crate) const ENABLED_PLUGINS: &str = "enabledPlugins";
    pub(crate) const PERMISSIONS: &str = "permissions";
    pub(crate) const ADDITIONAL_DIRECTORIES: &str = "additionalDirectories";
    pub(crate) const AGENTS_PLUGIN: &str = "agents-md@builtin";
    pub(crate) const OPTIONS: &str = "options";
    pub(crate) const INSTRUCTION_FILES: &str = "instructionFiles";
    pub(crate) const INSTRUCTION_FILES_OLD: &str = "projectInstructions";
    /// A former value of the former name: of all files only the client's own.
    pub(crate) const OLD_CLAUDE_ONLY_VALUE: &str = "claude";
    /// In the client's book, per project.
    pub(crate) const CLIENT_STATE_PROJECTS: &str = "projects";
    pub(crate) const EXTERNAL_APPROVED: &str = "hasClaudeMdExternalIncludesApproved";
}

/// Fields of the hook event about a loaded file.
pub(crate) mod field {
    pub(crate) const FILE_PATH: &str = "file_path";
    pub(crate) const MEMORY_TYPE: &str = "memory_type";
    pub(crate) const LOAD_REASON: &str = "load_reason";
    pub(crate) const GLOBS: &str = "globs";
    pub(crate) const TRIGGER_FILE_PATH: &str = "trigger_file_path";
    pub(crate) const PARENT_FILE_PATH: &str = "parent_file_path";
}

/// Variables of the client.
pub(crate) mod variable {
    pub(crate) const DISABLE_ALL: &str = "CLAUDE_CODE_DISABLE_CLAUDE_MDS";
    pub(crate) const DISABLE_AUTO_MEMORY: &str = "CLAUDE_CODE_DISABLE_AUTO_MEMORY";
    pub(crate) const ADDED_DIRECTORIES: &str = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";
    pub(crate) const PROJECT_DIR_NAME: &str = "CLAUDE_CODE_PROJECT_DIR_NAME";
}

/// Variables of the process that a host passes on.
pub const CLIENT_VARIABLES: &[&str] = &[
    variable::DISABLE_ALL,
    variable::DISABLE_AUTO_MEMORY,
    variable::ADDED_DIRECTORIES,
    variable::PROJECT_DIR_NAME,
];
