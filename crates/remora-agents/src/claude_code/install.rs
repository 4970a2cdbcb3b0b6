//! How Remora is put into Claude Code: where its settings lie.

use std::path::PathBuf;

use crate::spec::{AgentPaths, InstallScope};

pub(super) fn settings_file(places: &AgentPaths, scope: InstallScope) -> PathBuf {
    let (folder, name) = match scope {
        InstallScope::User => (places.config_dir.clone(), "settings.json"),
        InstallScope::Project => (Some(places.root.join(".claude")), "settings.json"),
        InstallScope::Local => (Some(places.root.join(".claude")), "settings.local.json"),
    };
    folder
        .unwrap_or_else(|| places.home.join(".claude"))
        .join(name)
}
