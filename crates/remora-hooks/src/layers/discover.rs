//! Where the user's, the project's and the local settings file are, for a
//! session that starts in some directory.

use std::path::{Path, PathBuf};

use remora_core::git::parse_gitdir_pointer;
use remora_files::read_text;

use super::{LayerSource, SettingsPaths};
use crate::names;

/// The longest `.git` pointer file that is read: one path fits many times over.
const MAX_POINTER_BYTES: u64 = 16 * 1024;

/// User, project and local files, in that order.
pub(crate) fn list_settings_files(places: &SettingsPaths) -> Vec<(LayerSource, PathBuf)> {
    let mut files = Vec::new();
    let settings = |dir: &Path, name: &str| dir.join(names::SETTINGS_DIR).join(name);
    if places.sources.user {
        files.push((
            LayerSource::User,
            places.config_dir().join(names::SETTINGS_FILE),
        ));
    }
    // In a session that starts in the home directory, the project's file is the user's.
    // Reading it twice would list every handler in two layers.
    let own = settings(&places.project, names::SETTINGS_FILE);
    if places.sources.project && !files.iter().any(|(_, f)| *f == own) {
        files.push((LayerSource::Project, own));
    }
    // The client reads local settings from the repository root and from the start
    // directory, but project settings from the start directory alone. A home that is
    // itself a repository (dotfiles) does not count as a root.
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
    // Worktrees and submodules have a `.git` file. It is read here because git must not
    // run in a repository that may be hostile.
    if mark.is_file() {
        let text = read_text(&mark, MAX_POINTER_BYTES).ok()?;
        let target = top.join(parse_gitdir_pointer(&text)?);
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
