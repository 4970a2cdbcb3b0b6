//! Rules that wait for a file: all of them, with the directory their patterns
//! start from. Whether one matches is the caller's question.

use std::path::{Path, PathBuf};

use crate::file::Kind;
use crate::load::{As, Reach, Seen, Want};
use crate::names;
use crate::rule::Globs;
use crate::start::Scene;

/// A rule that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    /// Where its patterns start.
    pub(crate) base: PathBuf,
    pub(crate) globs: Globs,
}

/// The rules of the organisation, the person, the walk, and the directories
/// below it that are given.
pub(crate) fn rules(scene: &mut Scene, nested: &[PathBuf]) -> Vec<Waiting> {
    let mut found = Vec::new();
    if scene.off().is_some() {
        return found;
    }
    let cwd = scene.loader.cwd.clone();
    let reach = scene.reach();
    if let Some(dir) = scene.places.managed.clone() {
        collect(
            scene,
            &Scene::rules_of(&dir),
            (Kind::Managed, reach),
            &cwd,
            &mut found,
        );
    }
    if scene.options.sources.user {
        let folder = scene.places.config_dir().join(names::RULES);
        collect(
            scene,
            &folder,
            (Kind::User, Reach::Anywhere),
            &cwd,
            &mut found,
        );
    }
    if !scene.options.sources.project {
        return found;
    }
    for dir in scene.walk().iter().chain(nested) {
        let folder = Scene::rules_of(dir);
        let repeated = scene.repository.as_ref().is_some_and(|r| r.repeats(dir));
        if !repeated && !scene.is_user_rules(&folder) {
            collect(
                scene,
                &folder,
                (Kind::Project, Reach::Inside),
                dir,
                &mut found,
            );
        }
    }
    found
}

fn collect(
    scene: &mut Scene,
    folder: &Path,
    (kind, reach): (Kind, Reach),
    base: &Path,
    found: &mut Vec<Waiting>,
) {
    let how = As::new(kind, reach);
    let drafts = scene
        .loader
        .rules(folder, how, Want::Conditional, &mut Seen::new());
    found.extend(drafts.into_iter().filter_map(|draft| {
        Some(Waiting {
            path: draft.path,
            kind,
            base: base.to_path_buf(),
            globs: draft.globs?,
        })
    }));
}
