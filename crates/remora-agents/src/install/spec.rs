//! How Remora is installed into an agent, as a value.

use std::path::{Path, PathBuf};

use remora_core::EventName;

use super::trust::TrustSpec;
use crate::spec::{AgentPaths, InstallScope};

/// How Remora is installed into one agent.
#[derive(Debug)]
pub struct InstallSpec {
    /// The file that hooks are written into; `None` where the agent knows no
    /// such scope.
    pub settings_file: fn(&AgentPaths, InstallScope) -> Option<PathBuf>,
    /// How our handlers are written there.
    pub handler_form: HandlerForm,
    /// What the agent accepts in the file.
    pub rules: SettingsRules,
    /// Whether its settings hold permission rules that let the model read memory
    /// without a question.
    pub has_permission_rules: bool,
    /// How the user lets the agent run hooks; `None` if it runs all that it finds.
    pub trust: Option<TrustSpec>,
    /// The flag that loads a plugin for one session, which leaves no trace in a
    /// file; `None` where Remora is no plugin.
    pub plugin_flag: Option<&'static str>,
    /// What the user still has to do or to know, in sentences.
    pub notes: fn(&AgentPaths) -> Vec<String>,
    /// Files next to the user's settings that make Remora easier to use.
    pub extras: &'static [ExtraFile],
    /// A prompt of that session, directory and text, as the agent would send it:
    /// what the self-test sends.
    pub sample_prompt: fn(&str, &Path, &str) -> Vec<u8>,
}

/// How a handler names what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerForm {
    /// The program in `command`, its arguments in `args`: a path with blanks or
    /// dollar signs means what it says.
    Exec,
    /// All of it as one line for a shell in `command`.
    ShellLine,
}

/// What an agent accepts in its settings file. Only what is wrong by these rules
/// is warned of; nothing is held back.
#[derive(Debug)]
pub struct SettingsRules {
    /// All keys that the file may hold; `None` if others are ignored.
    pub root_keys: Option<&'static [&'static str]>,
    /// Kinds of handlers, each with the key that it needs.
    pub handler_types: &'static [(&'static str, &'static str)],
    /// Whether a bad entry under this event costs the whole file.
    pub drops_file: fn(EventName) -> bool,
}

/// A file of ours among the user's settings.
#[derive(Debug)]
pub struct ExtraFile {
    /// Its path, from the folder of the user's settings file.
    pub path: &'static str,
    /// The text that is shown to the user.
    pub text: &'static str,
    /// Whether the folder that holds it is ours, and goes with it.
    pub owns_folder: bool,
}
