//! Decides which handlers may run at all: workspace trust, switches and modes.
//! Pure.

use crate::layers::{Enabled, Entry, Layers, Source};

/// Whether the person said that this folder may run things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// They did, or the session is not interactive.
    #[default]
    Trusted,
    /// They did not, and the session is interactive.
    Untrusted,
}

/// Modes that narrow the engine to managed handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// No narrowing.
    #[default]
    Full,
    /// `--bare`.
    Bare,
    /// `--safe-mode`.
    Safe,
}

/// Why a handler may not run; `None` if it may.
pub(crate) fn held_back(
    entry: &Entry,
    layers: &Layers,
    trust: Trust,
    mode: Mode,
) -> Option<&'static str> {
    let source = entry.place.source;
    if trust == Trust::Untrusted {
        return Some("the folder is not trusted, so every hook is held back");
    }
    if layers.disabled_by == Some(Source::Policy) {
        return Some("disableAllHooks in managed settings turns every hook off");
    }
    let forced = entry
        .place
        .plugin
        .as_ref()
        .is_some_and(|p| p.enabled == Enabled::ByPolicy);
    if source == Source::Policy {
        return None;
    }
    match mode {
        Mode::Full => {}
        Mode::Bare => return Some("--bare runs managed hooks only"),
        Mode::Safe => return Some("--safe-mode runs managed hooks only"),
    }
    // The organisation's plugins survive what the person switches off.
    if forced {
        return None;
    }
    if let Some(by) = layers.disabled_by {
        return Some(match by {
            Source::User => "disableAllHooks in the user settings turns all but managed hooks off",
            Source::Project => {
                "disableAllHooks in the project settings turns all but managed hooks off"
            }
            Source::Local => {
                "disableAllHooks in the local settings turns all but managed hooks off"
            }
            _ => "disableAllHooks in --settings turns all but managed hooks off",
        });
    }
    if layers.managed_only {
        return Some("allowManagedHooksOnly in managed settings lets only managed hooks run");
    }
    if layers.plugins_only && source != Source::Plugin {
        return Some(
            "strictPluginOnlyCustomization in managed settings lets only plugin and managed hooks run",
        );
    }
    None
}
