//! How Remora is put into Codex: a file of hooks of its own, which the user has
//! to trust.

mod trust;

use std::path::{Path, PathBuf};

use remora_core::EventName;
use serde_json::{Value, json};

use super::sender::CONFIG_FOLDER;
use super::wire::field;
use crate::install::{HandlerForm, InstallSpec, SettingsRules};
use crate::spec::{AgentPaths, InstallScope};

/// Settings other than hooks.
const CONFIG_FILE: &str = "config.toml";

/// Where Codex keeps its hooks, and in which form.
pub(super) const INSTALL_SPEC: InstallSpec = InstallSpec {
    settings_file: hooks_file,
    // `args` are ignored without a warning.
    handler_form: HandlerForm::ShellLine,
    rules: SettingsRules {
        root_keys: Some(&["description", "hooks"]),
        handler_types: &[
            ("command", "command"),
            ("prompt", "prompt"),
            ("agent", "prompt"),
        ],
        drops_file: |_| true,
    },
    has_permission_rules: false,
    trust: Some(trust::TRUST_SPEC),
    plugin_flag: None,
    notes: |_| TRUST_NOTES.iter().map(|note| (*note).to_owned()).collect(),
    extras: &[],
    sample_prompt,
};

/// What only the user can do.
const TRUST_NOTES: &[&str] = &[
    "Codex runs no hook that you have not trusted: start `codex`, and review the hooks when it \
     asks. Until then, and after an update that changes them, `codex exec` leaves them out without \
     a word.",
    "The self-test runs the hook itself, so it passes before Codex would run it.",
];

fn hooks_file(places: &AgentPaths, scope: InstallScope) -> Option<PathBuf> {
    let folder = match scope {
        InstallScope::User => config_dir(places),
        InstallScope::Project => places.root.join(CONFIG_FOLDER),
        InstallScope::Local => return None,
    };
    Some(folder.join("hooks.json"))
}

/// The folder of the user's settings and sessions.
pub(super) fn config_dir(places: &AgentPaths) -> PathBuf {
    let moved = places.config_dir.clone();
    moved.unwrap_or_else(|| places.home.join(CONFIG_FOLDER))
}

/// The user's settings other than hooks.
pub(super) fn user_config_file(places: &AgentPaths) -> PathBuf {
    config_dir(places).join(CONFIG_FILE)
}

/// The settings of a project, which count if the user trusts it.
pub(super) fn project_config_file(places: &AgentPaths) -> PathBuf {
    places.root.join(CONFIG_FOLDER).join(CONFIG_FILE)
}

fn sample_prompt(session: &str, cwd: &Path, text: &str) -> Vec<u8> {
    let payload = json!({
        field::SESSION: session,
        field::TURN: session,
        field::TRANSCRIPT: Value::Null,
        field::CWD: cwd,
        field::EVENT_NAME: EventName::UserPromptSubmit.as_str(),
        field::PROMPT: text,
    });
    payload.to_string().into_bytes()
}

#[cfg(test)]
mod tests;
