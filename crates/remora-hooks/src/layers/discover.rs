//! Where the three settings files of a person are, for a session that starts
//! in a given directory.

use std::path::{Path, PathBuf};

use remora_files::read_text;

use super::{LayerSource, SettingsPaths};
use crate::names;

/// What a `.git` that points elsewhere may hold.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// User, project and local files, in that order.
pub(super) fn list_settings_files(places: &SettingsPaths) -> Vec<(LayerSource, PathBuf)> {
    let mut files = Vec::new();
    let settings = |dir: &Path, name: &str| dir.join(names::SETTINGS_DIR).join(name);
    if places.sources.user {
        files.push((
            LayerSource::User,
            places.config_dir().join(names::SETTINGS_FILE),
        ));
    }
    // Started in the home itself, the project's file is the user's.
    let own = settings(&places.project, names::SETTINGS_FILE);
    if places.sources.project && !files.iter().any(|(_, f)| *f == own) {
        files.push((LayerSource::Project, own));
    }
    if places.sources.local {
        let root = repository_root(&places.project)
            .filter(|root| *root != places.home && *root != places.project);
        for dir in root.iter().chain([&places.project]) {
            files.push((
                LayerSource::Local,
                settings(dir, names::LOCAL_SETTINGS_FILE),
            ));
        }
    }
    files
}

/// The top of the repository around a directory; for a worktree the main
/// checkout.
fn repository_root(dir: &Path) -> Option<PathBuf> {
    let top = dir.ancestors().find(|d| d.join(".git").exists())?;
    let mark = top.join(".git");
    if mark.is_file() {
        let text = read_text(&mark, MAX_POINTER_BYTES).ok()?;
        let target = Path::new(text.trim().strip_prefix("gitdir:")?.trim()).to_path_buf();
        let target = if target.is_absolute() {
            target
        } else {
            top.join(target)
        };
        // <main>/.git/worktrees/<name>
        if let Some(git) = target
            .ancestors()
            .find(|d| d.file_name().is_some_and(|n| n == ".git"))
            && let Some(main) = git.parent()
        {
            return Some(main.to_path_buf());
        }
    }
    Some(top.to_path_buf())
}
