//! Which files on the disk hold the settings of a session, and what a change of
//! one is called.

use std::path::{Path, PathBuf};

use crate::layers::{LayerSource, SettingsPaths, list_settings_files};
use crate::names;

/// Every file whose change is a change of settings, there or not.
pub(super) fn list_files(places: &SettingsPaths) -> Vec<PathBuf> {
    list_all(places).into_iter().map(|(_, path)| path).collect()
}

/// The `source` of `ConfigChange` for a file; `None` if it holds no settings.
pub(super) fn find_source(places: &SettingsPaths, path: &Path) -> Option<&'static str> {
    // A drop-in that was not there before belongs to its folder.
    let holds = |source: LayerSource, file: &Path| {
        file == path || (source == LayerSource::Policy && path.parent() == Some(file))
    };
    let (source, _) = (list_all(places).into_iter()).find(|(source, p)| holds(*source, p))?;
    match source {
        LayerSource::User => Some("user_settings"),
        LayerSource::Project => Some("project_settings"),
        LayerSource::Local => Some("local_settings"),
        LayerSource::Policy => Some("policy_settings"),
        _ => None,
    }
}

fn list_all(places: &SettingsPaths) -> Vec<(LayerSource, PathBuf)> {
    let mut files = list_settings_files(places);
    // The file of the command line is read once and not watched.
    files.retain(|(source, _)| *source != LayerSource::Flag);
    let drop_ins = (places.managed.iter()).map(|dir| dir.join(names::MANAGED_DROP_INS_DIR));
    files.extend(drop_ins.map(|path| (LayerSource::Policy, path)));
    files
}
