//! The file format: one settings document read into handlers and switches.
//!
//! Reading is as strict, and as forgiving, as the client: a malformed entry
//! under the two permission events voids its whole file, elsewhere only itself.
//! Nothing here touches the disk or joins layers.

use std::collections::BTreeMap;
use std::time::Duration;

use remora_core::EventName;
use serde_json::{Map, Value};

pub(crate) mod check;
mod switches;

/// Which shell runs the text of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// `/bin/sh`, also for `"shell": "bash"`: the client does the same.
    Posix,
    /// `PowerShell`.
    PowerShell,
}

/// Whether the host waits for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitMode {
    /// The event waits for the answer.
    Sync,
    /// The event goes on; the answer cannot decide anything.
    Async,
    /// `asyncRewake` alone: in the background where a model can be woken, else the
    /// event waits. Exit code 2 wakes the model.
    AsyncRewake,
    /// `async` and `asyncRewake`: in the background everywhere.
    BackgroundRewake,
}

/// What a failure of the handler means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The event goes on.
    Continue,
    /// As if the handler had blocked.
    Block,
}

/// What a model's no means for the turn: `continueOnBlock`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterNo {
    /// The turn ends, on the events that can end it.
    EndTurn,
    /// The reason goes to the model that works, and the turn goes on.
    GoOn,
}

/// What a handler is.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerKind {
    /// A child process.
    Command {
        /// Shell text, or the program if there are `args`.
        command: String,
        /// Exec form: no shell. An empty list counts as present.
        args: Option<Vec<String>>,
        /// The shell that runs the command line.
        shell: Shell,
        /// Whether the host waits.
        waiting: WaitMode,
        /// What a wake-up says instead of the client's own words.
        rewake: RewakeTexts,
    },
    /// A POST request.
    Http {
        /// The address that the event is posted to.
        url: String,
        /// Extra headers, values with `$NAME`.
        headers: BTreeMap<String, String>,
        /// Which names may be filled in.
        allowed_env_vars: Vec<String>,
    },
    /// A tool of a connected server.
    McpTool {
        /// The name of the connected server.
        server: String,
        /// The name of the server's tool.
        tool: String,
        /// The input, with `${path}` placeholders.
        input: Map<String, Value>,
    },
    /// A question to a small model.
    Prompt {
        /// The question to the model, with placeholders.
        prompt: String,
        /// The model that is asked, as it is written.
        model: Option<String>,
        /// What a no means for the turn.
        after_no: AfterNo,
    },
    /// A verifying agent.
    Agent {
        /// The task of the agent, with placeholders.
        prompt: String,
        /// The model that works on it, or an alias.
        model: Option<String>,
    },
    /// The host's own code. Settings cannot name it.
    Callback {
        /// By which the host knows it.
        id: String,
    },
}

impl HandlerKind {
    /// The words in `type`, and in reports.
    pub const NAMES: [&str; 6] = ["command", "http", "mcp_tool", "prompt", "agent", "callback"];

    /// The word in `type`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Http { .. } => "http",
            Self::McpTool { .. } => "mcp_tool",
            Self::Prompt { .. } => "prompt",
            Self::Agent { .. } => "agent",
            Self::Callback { .. } => "callback",
        }
    }

    /// What distinguishes this handler from another in a list.
    pub fn label(&self) -> String {
        match self {
            Self::Command {
                command,
                args: None,
                ..
            } => command.clone(),
            Self::Command {
                command,
                args: Some(args),
                ..
            } => {
                let mut text = command.clone();
                for arg in args {
                    text.push(' ');
                    text.push_str(arg);
                }
                text
            }
            Self::Http { url, .. } => url.clone(),
            Self::McpTool { server, tool, .. } => format!("{server}/{tool}"),
            Self::Prompt { prompt, .. } | Self::Agent { prompt, .. } => prompt.clone(),
            Self::Callback { id } => id.clone(),
        }
    }
}

/// One handler as configured.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerConfig {
    /// What it does, with the fields of its kind.
    pub kind: HandlerKind,
    /// The `if` text; empty is none.
    pub condition: Option<String>,
    /// Its own time limit.
    pub timeout: Option<Duration>,
    /// What the user sees while it runs.
    pub status_message: Option<String>,
    /// What a failure means.
    pub on_failure: OnFailure,
    /// It runs until it first succeeds. Counts in a skill's head alone.
    pub once: bool,
}

impl HandlerConfig {
    /// The status message, else what the handler does.
    pub fn label(&self) -> String {
        let status = self.status_message.clone();
        status.unwrap_or_else(|| self.kind.label())
    }
}

/// What a wake-up says instead of the client's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewakeTexts {
    /// `rewakeSummary`.
    pub summary: Option<String>,
    /// `rewakeMessage`, in front of what the handler said.
    pub message: Option<String>,
}

/// A group: handlers under one matcher.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatcherGroup {
    /// The event that it is configured for.
    pub event: EventName,
    /// Position in the event's list.
    pub position: usize,
    /// The matcher as it is written; `None` matches everything.
    pub matcher: Option<String>,
    /// The handlers with their positions.
    pub handlers: Vec<(usize, HandlerConfig)>,
    /// The group's known fields in a fixed order, to recognise equal groups. Key
    /// order and unknown keys do not count.
    pub canon: String,
}

/// The lists of a `permissions` block.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PermissionLists {
    /// Calls that need no question.
    pub allow: Vec<String>,
    /// Calls that always need one.
    pub ask: Vec<String>,
    /// Calls that are refused.
    pub deny: Vec<String>,
    /// More directories that count as the project's.
    pub directories: Vec<String>,
}

/// One settings document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Settings {
    /// Hook groups in file order.
    pub groups: Vec<MatcherGroup>,
    /// `disableAllHooks`.
    pub disable_all_hooks: Option<bool>,
    /// `allowManagedHooksOnly`.
    pub managed_hooks_only: Option<bool>,
    /// `strictPluginOnlyCustomization`, as far as it speaks of hooks.
    pub plugin_hooks_only: Option<bool>,
    /// `allowedHttpHookUrls`.
    pub http_urls: Option<Vec<String>>,
    /// `httpHookAllowedEnvVars`.
    pub http_env: Option<Vec<String>>,
    /// `enabledPlugins`: full ids, on or off.
    pub(crate) enabled_plugins: BTreeMap<String, bool>,
    /// `pluginConfigs`: options by the plugin's id.
    pub(crate) plugin_options: BTreeMap<String, Map<String, Value>>,
    /// `env`.
    pub env: BTreeMap<String, String>,
    /// `permissions`.
    pub permissions: PermissionLists,
}

/// How strictly a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// User, project, local and `--settings`: a schema error voids the file.
    Settings,
    /// Managed: a wrong switch is dropped alone, a bad permission hook is fatal.
    Managed,
    /// A plugin's hook file: only `hooks` counts, so a plugin cannot grant permissions.
    Plugin,
}

/// A document in force, with a warning for each entry that was left out; or
/// the reason why all of it is void.
pub(crate) type SettingsResult = Result<(Settings, Vec<String>), String>;

/// Reads the text of one document.
pub(crate) fn parse_settings(text: &str, strictness: Strictness) -> SettingsResult {
    // The client accepts a byte-order mark; nothing else in front of the object.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str(text).map_err(|e| format!("not valid JSON ({e})"))? {
        Value::Object(map) => read_map(&map, strictness),
        _ => Err("the file must hold a JSON object".into()),
    }
}

/// Reads a parsed document.
pub(crate) fn read_map(map: &Map<String, Value>, strictness: Strictness) -> SettingsResult {
    let mut warnings = Vec::new();
    let mut settings = Settings::default();
    if strictness != Strictness::Plugin {
        switches::read_switches(map, strictness, &mut settings, &mut warnings)?;
    }
    let mut problems = check::GroupProblems::default();
    settings.groups = check::read_groups(map, &mut problems)?;
    warnings.extend(problems.warnings);
    if strictness == Strictness::Plugin && !map.contains_key("hooks") {
        warnings.push(
            "no `hooks` key, so nothing is loaded; wrap the events in {\"hooks\": {…}}".into(),
        );
    }
    Ok((settings, warnings))
}

#[cfg(test)]
mod tests;
