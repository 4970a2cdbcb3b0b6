//! A place where a tree's absolute paths are real: a folder that becomes the root of a file
//! system of its own, with the system's programs mounted into it.
//!
//! It needs `unshare`, `mount`, `chroot` and `setpriv`. The machine's own home and managed
//! folder are not even visible in there.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::tree::{InstructionTree, TREE_HOME};
use crate::client::Stage;
use crate::client::api::API_KEY;
use crate::client::process::{find_leftovers, finish_process, kill_all};

const JAIL_SCRIPT: &str = include_str!("jail.sh");
/// Who runs in there when the stage runs as root.
const NOBODY_UID: u32 = 65_534;

/// The folder; removed when dropped unless `keep` is set.
pub(super) struct Jail {
    root: PathBuf,
    client: PathBuf,
    remora: Option<PathBuf>,
    search: String,
    keep: bool,
    as_root: bool,
}

impl Jail {
    /// Lays the tree: directories, texts, symlinks, repositories, set-up lines, modes.
    pub(super) fn build(stage: &Stage, tree: &InstructionTree) -> Result<Self> {
        let root = stage.work.join(&tree.name);
        fs::create_dir(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let jail = Self {
            client: stage.client.clone(),
            remora: stage.engine.clone(),
            search: stage.search.clone(),
            keep: stage.options.keep,
            as_root: fs::metadata(&root)?.uid() == 0,
            root,
        };
        for folder in ["etc", "tmp", "data", &TREE_HOME[1..]] {
            fs::create_dir_all(jail.root.join(folder))?;
        }
        if !tree
            .files
            .contains_key(&format!("{TREE_HOME}/.claude.json"))
        {
            jail.write_file(
                &format!("{TREE_HOME}/.claude.json"),
                client_state(tree).to_string().as_bytes(),
            )?;
        }
        if tree
            .settings
            .as_object()
            .is_some_and(|settings| !settings.is_empty())
        {
            let text = format!("{:#}\n", tree.settings);
            jail.write_file(
                &format!("{TREE_HOME}/.claude/settings.json"),
                text.as_bytes(),
            )?;
        }
        jail.write_tree(tree)?;
        let mut command = jail.build_command(TREE_HOME, "sh");
        command.args(["-euc", &set_up(tree)]);
        let output = finish_process(command, None)?;
        ensure!(
            output.status.success(),
            "the tree could not be set up ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(jail)
    }

    fn write_tree(&self, tree: &InstructionTree) -> Result<()> {
        for (path, value) in &tree.files {
            // Directories, then texts, then links, so that no text is written through a
            // link of the same tree.
            if value["dir"] == json!(true) {
                fs::create_dir_all(self.resolve_path(path))?;
            }
        }
        for (path, value) in &tree.files {
            if value["dir"] != json!(true) && value["symlink"].is_null() {
                self.write_file(
                    path,
                    &InstructionTree::decode_bytes(value).context(path.clone())?,
                )?;
            }
        }
        for (path, value) in &tree.files {
            if let Some(target) = value["symlink"].as_str() {
                let place = self.resolve_path(path);
                fs::create_dir_all(place.parent().context("a symlink at the root")?)?;
                symlink(target, &place).with_context(|| format!("cannot link {path}"))?;
            }
        }
        Ok(())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn resolve_path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn write_file(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let place = self.resolve_path(path);
        fs::create_dir_all(place.parent().context("a file at the root")?)?;
        fs::write(&place, bytes).with_context(|| format!("cannot write {path}"))
    }

    /// Keeps what a program said, for a user who asked for it.
    pub(super) fn save_note(&self, name: &str, value: &Value) -> Result<()> {
        if self.keep {
            fs::write(self.root.join(name), format!("{value:#}"))?;
        }
        Ok(())
    }

    /// A program in the jail, with an environment of ours and a process group of its own.
    pub(super) fn build_command(&self, cwd: &str, program: &str) -> Command {
        let mut command = Command::new("unshare");
        command.env_clear().process_group(0);
        if self.as_root {
            // Root may read everything, and some trees are about files that cannot be read.
            command.env("JAIL_USER", NOBODY_UID.to_string());
        } else {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--mount", "sh", "-c", JAIL_SCRIPT, "jail"]);
        command.arg(&self.root).arg(&self.client);
        command.arg(self.remora.as_deref().unwrap_or(Path::new("")));
        command.args([cwd, program]);
        let system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        command.envs([
            ("HOME", TREE_HOME),
            ("REMORA_HOME", "/data"),
            ("TMPDIR", "/tmp"),
            ("USER", "dev"),
            ("LOGNAME", "dev"),
            ("SHELL", "/bin/sh"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ]);
        command.env("PATH", format!("{system}:{}", self.search));
        command.env("STUB_LOG", self.root.join("log")); // how `leftovers` knows them
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "dev");
            command.env(format!("GIT_{who}_EMAIL"), "dev@example.org");
        }
        command
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        kill_all(&find_leftovers(&self.root));
        if !self.keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// The client's own state: a key that it may use, projects that it trusts.
fn client_state(tree: &InstructionTree) -> Value {
    let trusted = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
    let folders = tree.git.iter().chain([&tree.cwd]);
    let projects = folders.map(|folder| (folder.clone(), trusted.clone()));
    json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
        "projects": projects.collect::<serde_json::Map<_, _>>(),
    })
}

/// What comes after the files, as shell lines.
fn set_up(tree: &InstructionTree) -> String {
    let mut lines = Vec::new();
    for folder in &tree.git {
        let git = format!("git -C {}", quote_shell(folder));
        lines.push(format!(
            "git init -q -b main {} && {git} add -A && {git} commit -q --allow-empty -m init",
            quote_shell(folder)
        ));
    }
    lines.extend(tree.setup.iter().cloned());
    lines.push(format!("mkdir -p {}", quote_shell(&tree.cwd)));
    for (path, value) in &tree.files {
        if let Some(mode) = value["mode"].as_str() {
            lines.push(format!("chmod {} {}", quote_shell(mode), quote_shell(path)));
        }
    }
    lines.join("\n")
}

fn quote_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
