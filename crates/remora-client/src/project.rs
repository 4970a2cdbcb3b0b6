//! Which project a directory belongs to, from files alone: a repository is
//! known by its remote, else by the root of its main checkout; worktrees and
//! subfolders belong to it, folders that only share a name do not.

use std::fs;
use std::path::{Component, Path, PathBuf};

use remora_protocol::git;
use remora_protocol::record::Project;

/// A configuration larger than this is not read.
const LIMIT: u64 = 1024 * 1024;

/// A project, and what is checked out in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The project.
    pub project: Project,
    /// The branch.
    pub branch: Option<String>,
}

/// The project of `cwd`. Outside a repository it is the directory the session
/// began in, if that is known, else `cwd` itself.
pub fn place(cwd: &Path, session_root: Option<&Path>) -> Place {
    repository(cwd)
        .or_else(|| session_root.and_then(repository))
        .unwrap_or_else(|| {
            let root = normal(session_root.unwrap_or(cwd));
            Place {
                project: named(root.display().to_string(), &root),
                branch: None,
            }
        })
}

fn repository(dir: &Path) -> Option<Place> {
    let dir = normal(dir);
    let (root, dot_git) = dir.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        git.exists().then(|| (folder.to_path_buf(), git))
    })?;
    let own = if dot_git.is_dir() {
        dot_git
    } else {
        let text = read(&dot_git)?;
        normal(&root.join(git::pointer(&text)?))
    };
    let branch = read(&own.join("HEAD")).and_then(|head| git::branch_of_head(&head));
    // A worktree names the repository it hangs on; a submodule has its own.
    let shared = match read(&own.join("commondir")) {
        Some(path) => normal(&own.join(path.trim())),
        None => own,
    };
    let main = match shared.file_name() {
        Some(name) if name == ".git" => shared.parent().map(Path::to_path_buf),
        _ => None,
    }
    .unwrap_or_else(|| root.clone());
    let remote = read(&shared.join("config")).and_then(|text| git::remote_of_config(&text));
    let key = remote.unwrap_or_else(|| main.display().to_string());
    Some(Place {
        project: Project {
            root: root.display().to_string(),
            ..named(key, &main)
        },
        branch,
    })
}

fn named(key: String, root: &Path) -> Project {
    let name = match key.rsplit('/').next() {
        Some(last) if !last.is_empty() => last.to_owned(),
        _ => key.clone(),
    };
    Project {
        key,
        name,
        root: root.display().to_string(),
    }
}

fn read(file: &Path) -> Option<String> {
    let small = fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= LIMIT);
    small.then(|| fs::read_to_string(file).ok())?
}

/// Takes `.` and `..` out of a path without asking the disk.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(file: PathBuf, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn checkouts_worktrees_and_subfolders_are_one_project() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        write(top.join("app/.git/HEAD"), "ref: refs/heads/main\n");
        write(
            top.join("app/.git/config"),
            "[remote \"origin\"]\nurl = git@h.org:acme/app.git\n",
        );
        write(top.join("app/src/deep/x"), "");
        write(top.join("app/.git/worktrees/w/HEAD"), "ref: refs/heads/w\n");
        write(top.join("app/.git/worktrees/w/commondir"), "../..\n");
        let pointer = format!("gitdir: {}/app/.git/worktrees/w\n", top.display());
        write(top.join("elsewhere/w/.git"), &pointer);
        let at = |path: &str| place(&top.join(path), None);
        let main = at("app/src/deep");
        assert_eq!(main.project.key, "h.org/acme/app");
        assert_eq!(main.project.name, "app");
        assert_eq!(main.project.root, top.join("app").display().to_string());
        assert_eq!(main.branch.as_deref(), Some("main"));
        let tree = at("elsewhere/w");
        assert_eq!(tree.project.key, "h.org/acme/app");
        assert_eq!(tree.branch.as_deref(), Some("w"));
    }

    #[test]
    fn a_worktree_without_a_remote_is_known_by_the_main_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        write(top.join("app/.git/HEAD"), "ref: refs/heads/main\n");
        write(top.join("app/.git/worktrees/w/commondir"), "../..\n");
        write(top.join("w/.git"), "gitdir: ../app/.git/worktrees/w\n");
        let main = top.join("app").display().to_string();
        assert_eq!(place(&top.join("w"), None).project.key, main);
        assert_eq!(place(&top.join("app"), None).project.key, main);
    }

    #[test]
    fn folders_of_the_same_name_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let one = dir.path().join("a/app");
        let two = dir.path().join("b/app");
        fs::create_dir_all(one.join("sub")).unwrap();
        fs::create_dir_all(&two).unwrap();
        let key = |cwd: &Path, root: Option<&Path>| place(cwd, root).project.key;
        assert_ne!(key(&one, None), key(&two, None));
        assert_eq!(key(&one.join("sub"), Some(&one)), key(&one, None));
    }
}
