//! Which git is run: an absolute path in a folder of the system, or in one of
//! the user's `PATH`; never one that the repository brought along.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folders that only the machine's owner fills. They are also the whole `PATH`
/// of the worker.
pub const SYSTEM_FOLDERS: &[&str] = &[
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/run/current-system/sw/bin",
];

/// How long one question may take unless the caller says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(2500);

/// How git is asked.
#[derive(Debug, Clone)]
pub struct Git {
    /// The program; without one nothing is known of any repository.
    pub program: Option<PathBuf>,
    /// How long one question may take.
    pub limit: Duration,
}

impl Default for Git {
    /// The system's git.
    fn default() -> Self {
        let folders = SYSTEM_FOLDERS.iter().map(PathBuf::from);
        Self {
            program: find_program(folders, None),
            limit: DEFAULT_TIMEOUT,
        }
    }
}

impl Git {
    /// The system's git, else one in `path`, a value of `PATH`. Relative
    /// entries do not count, nor does anything inside `repository`: a session
    /// may run with a `PATH` that the project chose.
    #[must_use]
    pub fn find(path: Option<&OsStr>, repository: &Path) -> Self {
        let system = SYSTEM_FOLDERS.iter().map(PathBuf::from);
        let own = path.map(std::env::split_paths).into_iter().flatten();
        Self {
            program: find_program(system.chain(own), Some(repository)),
            ..Self::default()
        }
    }

    /// The same, with another limit for one question.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }
}

fn find_program(
    folders: impl Iterator<Item = PathBuf>,
    repository: Option<&Path>,
) -> Option<PathBuf> {
    let repository = repository.map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf()));
    folders
        // `.` in a `PATH` would be the repository itself.
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| {
            let program = folder.join("git");
            let about = program.metadata().ok()?;
            let runs = about.is_file() && about.permissions().mode() & 0o111 != 0;
            let inside = |path: &Path| {
                let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
                repository.as_ref().is_some_and(|dir| real.starts_with(dir))
            };
            // Both: a link in the repository may lead to a system folder, and
            // one in `PATH` into the repository.
            (runs && !inside(&program) && !inside(&folder)).then_some(program)
        })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_git_of_the_repository_or_of_a_relative_folder_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let folder = dir.path().join(path);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("git"), "#!/bin/sh\n").unwrap();
            fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
            folder
        };
        let inside = make("repo/bin");
        let outside = make("tools");
        let linked = dir.path().join("linked");
        std::os::unix::fs::symlink(&inside, &linked).unwrap();
        let plain = dir.path().join("plain");
        fs::create_dir(&plain).unwrap();
        fs::write(plain.join("git"), "").unwrap();
        let find = |folders: &[&Path]| {
            let folders = folders.iter().map(|f| f.to_path_buf());
            find_program(folders, Some(&dir.path().join("repo")))
        };
        assert_eq!(
            find(&[Path::new("."), Path::new(""), Path::new("bin")]),
            None
        );
        assert_eq!(find(&[&inside, &linked, &plain]), None);
        assert_eq!(find(&[&inside, &outside]), Some(outside.join("git")));
    }

    #[test]
    fn the_systems_git_comes_before_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let git = Git::find(Some(OsStr::new("/nowhere:relative")), dir.path());
        assert_eq!(git.program, Git::default().program);
    }
}
