//! Which project a line of a transcript belongs to: the folder it was written
//! in, if that is still there, else what its path says.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_client::{DataPaths, ProjectLocation, locate_project};
use remora_core::ids::ProjectKey;
use remora_core::record::Project;
use remora_server::identity::claim_project;

/// How long the database may take to say who holds a key.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Projects by folder, each looked up once.
#[derive(Debug)]
pub(super) struct TranscriptDirs {
    paths: DataPaths,
    home: Option<PathBuf>,
    /// Everything belongs here, whatever the folder says.
    all: Option<ProjectKey>,
    known: HashMap<(String, String), Project>,
}

impl TranscriptDirs {
    pub(super) fn new(paths: DataPaths, home: Option<PathBuf>, all: Option<ProjectKey>) -> Self {
        Self {
            paths,
            home,
            all,
            known: HashMap::new(),
        }
    }

    /// The project of `cwd`, in a session that began in `root`.
    pub(super) fn find_project(&mut self, cwd: &str, root: &str) -> Project {
        let root = if root.is_empty() { cwd } else { root };
        let key = (cwd.to_owned(), root.to_owned());
        if let Some(project) = self.known.get(&key) {
            return project.clone();
        }
        let mut project = self.resolve_project(Path::new(cwd), Path::new(root));
        if let Some(all) = &self.all {
            project.key.clone_from(all);
            all.rsplit('/')
                .next()
                .unwrap_or(all)
                .clone_into(&mut project.name);
        }
        self.known.insert(key, project.clone());
        project
    }

    fn resolve_project(&self, cwd: &Path, root: &Path) -> Project {
        // A worktree or a subfolder may be gone while the repository is still
        // there.
        for folder in [cwd, root] {
            let found = self.locate_and_claim(folder, root).project;
            if folder.is_dir() || self.is_inside_repository(&found, folder) {
                return found;
            }
        }
        let text = root.display().to_string();
        let name = root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Project {
            name: name.unwrap_or_else(|| text.clone()),
            key: text.clone().into(),
            root: text,
        }
    }

    /// Of a remote's key that no root has yet, the first one that a transcript
    /// was written in holds it, as for events.
    fn locate_and_claim(&self, folder: &Path, root: &Path) -> ProjectLocation {
        let location = locate_project(&self.paths, folder, Some(root));
        claim_project(&self.paths, location, Instant::now() + LOOKUP_TIMEOUT)
    }

    /// Whether a folder that is gone lay in a repository that is still there.
    /// One that is the home directory, or holds it, says nothing.
    fn is_inside_repository(&self, found: &Project, folder: &Path) -> bool {
        let root = Path::new(&found.root);
        let home = self.home.as_deref();
        root != folder
            && folder.starts_with(root)
            && root.join(".git").exists()
            // Dotfiles kept in git would otherwise own every folder of the home
            // that is gone.
            && home.is_none_or(|home| !home.starts_with(root))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_that_is_gone_keeps_its_path_or_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::create_dir_all(top.join("work/app/.git")).unwrap();
        fs::create_dir_all(top.join("work/app/src")).unwrap();
        let text = |path: &str| top.join(path).display().to_string();
        let paths = DataPaths::new(top.join("data"));
        let mut places = TranscriptDirs::new(paths.clone(), Some(top.to_path_buf()), None);
        let mut key = |cwd: &str, root: &str| places.find_project(&text(cwd), &text(root)).key;
        assert_eq!(key("work/app/src", "work/app"), text("work/app"));
        assert_eq!(key("work/app/gone", "work/app/gone"), text("work/app"));
        assert_eq!(key("work/lost/deep", "work/lost"), text("work/lost"));
        let mut all = TranscriptDirs::new(paths, None, Some("h.org/acme/shop".into()));
        let project = all.find_project(&text("work/app"), "");
        assert_eq!(
            (project.key.as_str(), project.name.as_str()),
            ("h.org/acme/shop", "shop")
        );
        assert_eq!(project.root, text("work/app"));
    }
}
