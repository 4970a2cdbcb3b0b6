//! The checkout that a directory lies in, and the repository it hangs on.
//!
//! `.git`, `commondir` and `config` may all be forged, so what they point at is
//! believed only when it points back: a worktree is listed by its repository, a
//! git folder elsewhere names the checkout as its working tree. Everything else
//! is a checkout of its own.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use remora_core::git;

use super::normalise_path;
use crate::open_plain;

/// A larger file of git's is not read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A checkout as its files describe it.
#[derive(Debug)]
pub(super) struct Checkout {
    /// Where it begins.
    pub(super) root: PathBuf,
    /// Where the main checkout begins: the same unless this is a worktree.
    pub(super) main: PathBuf,
    /// The key that its remote names.
    pub(super) remote: Option<String>,
    pub(super) branch: Option<String>,
}

/// The checkout that `dir` lies in.
pub(super) fn find_checkout(dir: &Path) -> Option<Checkout> {
    let dir = normalise_path(dir);
    let (root, dot_git) = dir.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        git.exists().then(|| (folder.to_path_buf(), git))
    })?;
    if dot_git.is_dir() {
        // `commondir` in here would only send us to another repository.
        return Some(read_checkout(root.clone(), root, &dot_git, &dot_git));
    }
    // A `.git` that is no pointer makes no checkout, and the folder above must
    // not answer for it.
    let own = resolve_gitdir(&root, &dot_git)?;
    let Some(common) = read_file(&own.join("commondir")) else {
        if !belongs_to_root(&own, &root) {
            return Some(checkout_from_folder(root));
        }
        return Some(read_checkout(root.clone(), root, &own, &own));
    };
    let shared = normalise_path(&own.join(common.trim()));
    if !is_listed(&shared, &own, &root) {
        return Some(checkout_from_folder(root));
    }
    Some(read_checkout(root, main_checkout(&shared), &own, &shared))
}

/// A checkout that is nothing but its folder.
fn checkout_from_folder(root: PathBuf) -> Checkout {
    Checkout {
        main: root.clone(),
        root,
        remote: None,
        branch: None,
    }
}

fn read_checkout(root: PathBuf, main: PathBuf, own: &Path, shared: &Path) -> Checkout {
    let config = read_file(&shared.join("config"));
    Checkout {
        root,
        main,
        remote: config.and_then(|text| git::remote_of_config(&text)),
        branch: read_file(&own.join("HEAD")).and_then(|head| git::branch_of_head(&head)),
    }
}

/// The git folder that a `.git` file names.
fn resolve_gitdir(root: &Path, dot_git: &Path) -> Option<PathBuf> {
    let text = read_file(dot_git)?;
    Some(normalise_path(
        &root.join(git::parse_gitdir_pointer(&text)?),
    ))
}

/// Whether a repository lists `own` as the folder of the worktree at `root`.
fn is_listed(shared: &Path, own: &Path, root: &Path) -> bool {
    let is_child = own.parent() == Some(&shared.join("worktrees"));
    let back = read_file(&own.join("gitdir"));
    let back = back.map(|path| normalise_path(&own.join(path.trim())));
    // The folders are compared, not the `.git` in them: that may be a link to
    // the real worktree's.
    let back = back.filter(|path| path.ends_with(".git"));
    let back = back.as_deref().and_then(Path::parent);
    is_child && back.is_some_and(|back| is_same_folder(back, root))
}

/// Whether a git folder elsewhere (of a submodule, or put apart on purpose)
/// names `root` as its working tree, or lies in it.
fn belongs_to_root(own: &Path, root: &Path) -> bool {
    let config = read_file(&own.join("config"));
    let tree = config.and_then(|text| git::worktree_of_config(&text));
    tree.is_some_and(|tree| is_same_folder(&own.join(tree), root)) || is_inside(own, root)
}

/// The main checkout of a repository with worktrees; the repository itself when
/// it has none.
fn main_checkout(shared: &Path) -> PathBuf {
    // By name alone: a repository called `.git` lies in its main checkout.
    if let (Some(parent), true) = (shared.parent(), shared.ends_with(".git")) {
        return parent.to_path_buf();
    }
    let config = read_file(&shared.join("config"));
    let tree = config.and_then(|text| git::worktree_of_config(&text));
    let tree = tree.map(|tree| normalise_path(&shared.join(tree)));
    let parent_folder = shared.parent().map(Path::to_path_buf);
    let points_here = |tree: &PathBuf| {
        resolve_gitdir(tree, &tree.join(".git")).is_some_and(|to| is_same_folder(&to, shared))
    };
    let main = tree.into_iter().chain(parent_folder).find(points_here);
    main.unwrap_or_else(|| shared.to_path_buf())
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    normalise_path(one) == normalise_path(other)
        // Links are resolved last: the hook waits, and the spelled paths nearly
        // always agree.
        || real(one).is_some_and(|one| Some(one) == real(other))
}

fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = (fs::canonicalize(path).ok(), fs::canonicalize(folder).ok());
    matches!(real, (Some(path), Some(folder)) if path.starts_with(&folder))
}

/// A small regular file.
fn read_file(path: &Path) -> Option<String> {
    let file = open_plain(path).ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}
