//! The workspace as the checks see it: its files and its packages, read once.
//!
//! Checks get a `Tree` and nothing else, so a test can hand them a small one
//! made of strings.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use super::source::RustSource;

/// Folders that hold nothing of ours.
const SKIPPED_DIRS: &[&str] = &[".git", "target", "node_modules"];

/// Everything the checks look at.
#[derive(Default)]
pub(crate) struct SourceTree {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) packages: Vec<Package>,
}

/// One file, by its path from the root, with `/` on every system.
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// Empty if the file is not text.
    pub(crate) text: String,
    /// Where a symbolic link points; its text is not read twice.
    pub(crate) link: Option<String>,
    /// Taken apart, if it is a Rust file.
    pub(crate) source: Option<RustSource>,
}

/// A member of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// What a package asks for in its manifest.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) only_tests: bool,
}

impl SourceTree {
    pub(crate) fn read_from(root: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        walk_files(root, root, &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self {
            files,
            packages: read_packages(root)?,
        })
    }

    pub(crate) fn find_file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Every Rust file with its parts.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = (&SourceFile, &RustSource)> {
        self.files
            .iter()
            .filter_map(|file| Some((file, file.source.as_ref()?)))
    }

    /// Whether a file or folder ends with these whole path segments.
    pub(crate) fn contains_path(&self, path: &str) -> bool {
        let wanted = format!("/{}", path.trim_start_matches("./").trim_end_matches('/'));
        let folder = path.ends_with('/');
        self.files.iter().any(|file| {
            let own = format!("/{}", file.path);
            (!folder && own.ends_with(&wanted)) || own.contains(&format!("{wanted}/"))
        })
    }
}

impl SourceFile {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let rust = Path::new(path).extension().is_some_and(|end| end == "rs");
        Self {
            path: path.to_owned(),
            size: text.len() as u64,
            text: text.to_owned(),
            link: None,
            source: rust.then(|| RustSource::parse_text(text)),
        }
    }

    /// The crate's folder name, for files under `crates/`.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|end| end == extension)
    }

    /// Whether the whole file is only seen by tests or benches.
    pub(crate) fn only_tests(&self) -> bool {
        self.name() == "tests.rs"
            || self
                .path
                .split('/')
                .rev()
                .skip(1)
                .any(|folder| matches!(folder, "tests" | "benches" | "fuzz"))
    }
}

/// The workspace this program was built from.
pub(crate) fn workspace_root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

fn walk_files(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        // In a linked worktree `.git` is a file that names another folder.
        if SKIPPED_DIRS.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if kind.is_dir() {
            walk_files(root, &path, files)?;
            continue;
        }
        let own = path
            .strip_prefix(root)?
            .to_string_lossy()
            .replace('\\', "/");
        if kind.is_symlink() {
            let target = fs::read_link(&path)?.to_string_lossy().into_owned();
            let mut file = SourceFile::new(&own, "");
            file.link = Some(target);
            files.push(file);
            continue;
        }
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // Editors and builds remove their own files while we look.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("reading {own}")),
        };
        let size = bytes.len() as u64;
        let mut file = SourceFile::new(&own, &String::from_utf8(bytes).unwrap_or_default());
        file.size = size;
        files.push(file);
    }
    Ok(())
}

fn read_packages(root: &Path) -> anyhow::Result<Vec<Package>> {
    let output = Command::new(cargo_program())
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root)
        .output()
        .context("starting cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    Ok(list(&metadata, "packages")
        .iter()
        .map(|package| Package {
            name: text(package, "name"),
            dependencies: list(package, "dependencies")
                .iter()
                .map(|dependency| Dependency {
                    name: text(dependency, "name"),
                    only_tests: dependency["kind"] == "dev",
                })
                .collect(),
        })
        .collect())
}

/// The cargo that runs us, else the one on the path.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo names itself to its children in the environment"
)]
fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
