//! Decides which handlers may run at all: workspace trust, switches and modes.
//! Pure.

use crate::layers::{ConfiguredHandler, LayerSource, Layers, PluginActivation};

/// Whether the user has accepted that hooks run in this folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// They have, or the session is not interactive: then the folder counts as trusted.
    #[default]
    Trusted,
    /// They have not, and the session is interactive.
    Untrusted,
}

/// Modes that narrow the engine to managed handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineMode {
    /// All handlers that are trusted and switched on may run.
    #[default]
    Full,
    /// `--bare`.
    Bare,
    /// `--safe-mode`.
    Safe,
}

/// Why a handler may not run; `None` if it may.
pub(crate) fn held_back(
    entry: &ConfiguredHandler,
    layers: &Layers,
    trust: Trust,
    mode: EngineMode,
) -> Option<&'static str> {
    let source = entry.place.source;
    // The order below is the order of authority: trust binds even managed hooks, then the
    // organisation's own switch, then modes, then what the user or a project switched off.
    if trust == Trust::Untrusted {
        return Some("the folder is not trusted, so every hook is held back");
    }
    if layers.disabled_by == Some(LayerSource::Policy) {
        return Some("disableAllHooks in managed settings turns every hook off");
    }
    let forced = entry
        .place
        .plugin
        .as_ref()
        .is_some_and(|p| p.enabled == PluginActivation::ByPolicy);
    if source == LayerSource::Policy {
        return None;
    }
    let of_session = matches!(
        source,
        LayerSource::Skill | LayerSource::Agent | LayerSource::Session | LayerSource::Callback
    );
    match mode {
        // Bare turns files off; what the session brings by itself still runs.
        EngineMode::Bare if of_session => {}
        EngineMode::Full => {}
        EngineMode::Bare => return Some("--bare runs managed hooks only"),
        EngineMode::Safe => return Some("--safe-mode runs managed hooks only"),
    }
    // Plugins that the organisation forces count as managed from here on. Modes come first:
    // they run managed settings only.
    if forced {
        return None;
    }
    if let Some(by) = layers.disabled_by {
        return Some(match by {
            LayerSource::User => {
                "disableAllHooks in the user settings turns all but managed hooks off"
            }
            LayerSource::Project => {
                "disableAllHooks in the project settings turns all but managed hooks off"
            }
            LayerSource::Local => {
                "disableAllHooks in the local settings turns all but managed hooks off"
            }
            _ => "disableAllHooks in --settings turns all but managed hooks off",
        });
    }
    // The host's own code is no customization.
    if source == LayerSource::Callback {
        return None;
    }
    if layers.managed_only {
        return Some("allowManagedHooksOnly in managed settings lets only managed hooks run");
    }
    if layers.plugins_only && entry.place.plugin.is_none() {
        return Some(
            "strictPluginOnlyCustomization in managed settings lets only plugin and managed hooks run",
        );
    }
    None
}
