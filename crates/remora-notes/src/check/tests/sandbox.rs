//! A small repository with a past, laid out from `cases/check/shop.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

#[derive(Deserialize)]
struct Shop {
    /// Files of the first commit.
    before: BTreeMap<String, String>,
    /// What the second commit renames, removes and adds.
    moves: BTreeMap<String, String>,
    deletes: Vec<String>,
    after: BTreeMap<String, String>,
    /// Files that are in no commit.
    loose: BTreeMap<String, String>,
}

pub(super) fn cases<T: DeserializeOwned>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases/check")
        .join(name);
    let text = fs::read_to_string(&path).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(super) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(super) fn git(root: &Path, arguments: &[&str]) {
    let fixed = [
        "-c",
        "user.name=Someone",
        "-c",
        "user.email=someone@example.com",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "init.defaultBranch=main",
    ];
    let status = Command::new("git")
        .args(fixed)
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

/// A repository of its own for tests that change it.
pub(super) fn fresh() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let shop: Shop = cases("shop.json");
    for (path, text) in &shop.before {
        write(root, path, text);
    }
    git(root, &["init", "-q"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "first"]);
    for (from, to) in &shop.moves {
        fs::create_dir_all(root.join(to).parent().unwrap()).unwrap();
        git(root, &["mv", from, to]);
    }
    for path in &shop.deletes {
        git(root, &["rm", "-q", path]);
    }
    for (path, text) in &shop.after {
        write(root, path, text);
    }
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "second"]);
    for (path, text) in &shop.loose {
        write(root, path, text);
    }
    folder
}

/// One repository for all tests that only read it.
pub(super) fn shared() -> PathBuf {
    static SHARED: OnceLock<TempDir> = OnceLock::new();
    SHARED.get_or_init(fresh).path().to_path_buf()
}
