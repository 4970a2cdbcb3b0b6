//! How Remora is put into Claude Code: where its settings lie, what it accepts
//! there, and what else is installed.

use std::path::{Path, PathBuf};

use remora_core::{Answers, EventName};
use serde_json::json;

use crate::install::{ExtraFile, HandlerForm, InstallSpec, SettingsRules};
use crate::spec::{AgentPaths, InstallScope};

/// The folder of settings, in the home directory and in a project.
const SETTINGS_DIR: &str = ".claude";

/// Where Claude Code keeps its hooks, and in which form.
pub(super) const INSTALL_SPEC: InstallSpec = InstallSpec {
    settings_file: |places, scope| Some(settings_file(places, scope)),
    // No shell in between: it would cost a process per event and read a path
    // with blanks as words.
    handler_form: HandlerForm::Exec,
    rules: SettingsRules {
        root_keys: None,
        handler_types: &[
            ("command", "command"),
            ("http", "url"),
            ("prompt", "prompt"),
            ("agent", "prompt"),
            ("mcp_tool", "server"),
        ],
        drops_file,
    },
    has_permission_rules: true,
    // The user trusts folders, with all hooks in them.
    trust: None,
    plugin_flag: Some("--plugin-dir"),
    notes: |_| Vec::new(),
    extras: &[
        ExtraFile {
            path: "commands/remora.md",
            text: include_str!("../../../../plugins/claude-code/commands/remora.md"),
            owns_folder: false,
        },
        ExtraFile {
            path: "skills/memory/SKILL.md",
            text: include_str!("../../../../plugins/claude-code/skills/memory/SKILL.md"),
            owns_folder: true,
        },
    ],
    sample_prompt,
};

pub(super) fn settings_file(places: &AgentPaths, scope: InstallScope) -> PathBuf {
    let (folder, name) = match scope {
        InstallScope::User => (settings_dir(places), "settings.json"),
        InstallScope::Project => (places.root.join(SETTINGS_DIR), "settings.json"),
        InstallScope::Local => (places.root.join(SETTINGS_DIR), "settings.local.json"),
    };
    folder.join(name)
}

/// The folder of the user's settings.
pub(super) fn settings_dir(places: &AgentPaths) -> PathBuf {
    let moved = places.config_dir.clone();
    moved.unwrap_or_else(|| places.home.join(SETTINGS_DIR))
}

/// Under the events that decide about permissions, one bad entry makes the
/// client drop the file.
fn drops_file(event: EventName) -> bool {
    let answers = event.def().answers;
    let decides = answers.contains(Answers::PERMISSION) || answers.contains(Answers::REQUEST);
    // Observed: elsewhere the client drops the bad entry alone.
    decides && event.def().has_tool
}

fn sample_prompt(session: &str, cwd: &Path, text: &str) -> Vec<u8> {
    let payload = json!({
        "session_id": session,
        "transcript_path": "",
        "cwd": cwd,
        "hook_event_name": EventName::UserPromptSubmit.as_str(),
        "prompt": text,
    });
    payload.to_string().into_bytes()
}
