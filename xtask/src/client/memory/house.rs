//! A sandbox of one case: a home, projects, a data directory and the program under test.
//!
//! The program is linked into the sandbox, so that its processes are known by their path and it
//! can be moved away. Whatever a case started is ended when the house goes; nothing else is
//! ever signalled.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};

use crate::client::api::API_KEY;
use crate::client::process::{finish_process, kill_all};
use crate::client::terminal::TerminalHost;

/// Folders that the client trusts.
const TRUSTED_PROJECTS: [&str; 2] = ["project", "elsewhere/project"];

/// The sandbox; removed when dropped unless `keep` is set.
pub(super) struct ClientSandbox {
    root: PathBuf,
    /// The client's program.
    pub(super) client: PathBuf,
    /// The second client's, in the cases that need it.
    pub(super) codex: Option<PathBuf>,
    search: String,
    keep: bool,
}

/// What a house is made of.
pub(super) struct SandboxParts<'a> {
    pub(super) parent: &'a Path,
    pub(super) name: &'a str,
    pub(super) client: &'a Path,
    pub(super) codex: Option<&'a Path>,
    pub(super) remora: &'a Path,
    /// `PATH` of every process.
    pub(super) search: &'a str,
    pub(super) keep: bool,
}

impl ClientSandbox {
    pub(super) fn build(parts: &SandboxParts<'_>) -> Result<Self> {
        let house = Self {
            root: parts.parent.join(parts.name),
            client: parts.client.to_owned(),
            codex: parts.codex.map(Path::to_owned),
            search: parts.search.to_owned(),
            keep: parts.keep,
        };
        for name in ["home/.claude", "bin", "tmp", "witness"] {
            let path = house.path(name);
            fs::create_dir_all(&path).with_context(|| format!("in {}", path.display()))?;
        }
        let remora = house.remora_path();
        // A link saves copying the binary for every case; another file system needs the
        // copy.
        if fs::hard_link(parts.remora, &remora).is_err() {
            fs::copy(parts.remora, &remora).context("cannot copy the program under test")?;
        }
        let mut projects = Map::new();
        for name in TRUSTED_PROJECTS {
            projects.insert(house.path(name).display().to_string(), trusted_entry());
            house.fresh_project(name)?;
        }
        let state = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
            "projects": projects,
        });
        house.write_file("home/.claude.json", &state.to_string())?;
        Ok(house)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(super) fn remora_path(&self) -> PathBuf {
        self.path("bin/remora")
    }

    /// A `PATH` on which the program under test is found.
    pub(super) fn search_with_bin(&self) -> String {
        format!("{}:{}", self.path("bin").display(), self.search)
    }

    pub(super) fn data_dir(&self) -> PathBuf {
        self.path("data")
    }

    pub(super) fn user_settings(&self) -> PathBuf {
        self.path("home/.claude/settings.json")
    }

    /// Empties a project and makes it a repository again.
    pub(super) fn fresh_project(&self, name: &str) -> Result<()> {
        let folder = self.path(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("in {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)?;
        self.run_git(name, &["init", "-q", "-b", "main"])
    }

    pub(super) fn write_file(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Keeps what a session showed beside the house, for someone who debugs it.
    pub(super) fn save_note(&self, what: &str, shown: &Value) -> Result<()> {
        if !self.keep {
            return Ok(());
        }
        let free = (1..).map(|number| format!("shown/{number:02}-{what}.json"));
        let name = free.into_iter().find(|name| !self.path(name).exists());
        self.write_file(&name.unwrap_or_default(), &format!("{shown:#}"))
    }

    /// Lets the client trust one more folder.
    pub(super) fn trust_folder(&self, name: &str) -> Result<()> {
        let file = self.path("home/.claude.json");
        let mut state: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        state["projects"][self.path(name).display().to_string()] = trusted_entry();
        fs::write(&file, state.to_string()).context("cannot write the client's state")
    }

    /// Runs git in a folder; it must succeed.
    pub(super) fn run_git(&self, folder: &str, args: &[&str]) -> Result<()> {
        let done = self
            .build_command(Path::new("git"), &self.path(folder))
            .args([
                "-c",
                "user.name=tester",
                "-c",
                "user.email=tester@example.org",
            ])
            .args(args)
            .output()
            .context("cannot start git, which the client's project needs")?;
        ensure!(
            done.status.success(),
            "git {}: {}",
            args.join(" "),
            format_output(&done)
        );
        Ok(())
    }

    /// Writes a program of the house's own.
    pub(super) fn write_script(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path(name);
        if path.exists() {
            fs::remove_file(&path)?; // it may be a link to the program under test
        }
        self.write_file(name, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// A process with our environment and its own group.
    pub(super) fn build_command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().process_group(0);
        command.envs([
            ("HOME", self.path("home")),
            ("TMPDIR", self.path("tmp")),
            ("REMORA_HOME", self.data_dir()),
        ]);
        command.envs([
            ("USER", "tester"),
            ("LOGNAME", "tester"),
            ("SHELL", "/bin/sh"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            // What a project shares names the program, not its place.
            ("PATH", &self.search_with_bin()),
            // These cases show what is injected, not how fast this machine is.
            ("REMORA_DEADLINE_MS", "5000"),
            // Nor whether the encoder is loaded by now: words decide, unless a case waits for it.
            ("REMORA_EMBEDDING_BUDGET_MS", "0"),
        ]);
        command
    }

    /// Runs the program under test in a project; it must succeed.
    pub(super) fn run_remora(&self, project: &str, args: &[&str]) -> Result<String> {
        self.remora_at(&self.data_dir(), project, args)
    }

    /// The same, with another data directory.
    pub(super) fn remora_at(&self, data: &Path, project: &str, args: &[&str]) -> Result<String> {
        let mut command = self.build_command(&self.remora_path(), &self.path(project));
        command.env("REMORA_HOME", data).args(args);
        let output = finish_process(command, None)?;
        ensure!(
            output.status.success(),
            "`remora {}` ended with {}: {}",
            args.join(" "),
            output.status,
            format_output(&output)
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The same, for a command that prints JSON.
    pub(super) fn run_remora_json(&self, project: &str, args: &[&str]) -> Result<Value> {
        let text = self.run_remora(project, args)?;
        serde_json::from_str(&text)
            .with_context(|| format!("`remora {}` printed no JSON: {text}", args.join(" ")))
    }

    /// Processes of the sandbox: by their program's path, or by the home in their environment.
    pub(super) fn list_processes(&self) -> Vec<u32> {
        let mark = format!("HOME={}", self.path("home").display());
        let list = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = list.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
        ids.filter(|id| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let program = fs::read_link(format!("/proc/{id}/exe")).unwrap_or_default();
            program.starts_with(&self.root)
                || environment
                    .split(|byte| *byte == 0)
                    .any(|entry| entry == mark.as_bytes())
        })
        .collect()
    }

    /// Those of them that are workers of the program under test.
    pub(super) fn list_workers(&self) -> Vec<u32> {
        let mut ids = self.list_processes();
        ids.retain(|id| {
            let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let words: Vec<_> = line.split(|byte| *byte == 0).skip(1).take(2).collect();
            words == [b"worker".as_slice(), b"run".as_slice()]
        });
        ids
    }
}

impl TerminalHost for ClientSandbox {
    fn socket(&self) -> PathBuf {
        self.path("t")
    }

    fn build_terminal_command(&self, program: &Path, folder: &Path) -> Command {
        self.build_command(program, folder)
    }

    fn list_own_processes(&self) -> Vec<u32> {
        self.list_processes()
    }
}

impl Drop for ClientSandbox {
    fn drop(&mut self) {
        kill_all(&self.list_processes());
        if !self.keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// What the client notes of a folder whose settings count.
fn trusted_entry() -> Value {
    json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true})
}

/// What a process said, for an error.
pub(in crate::client) fn format_output(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    format!("{}{errors}", String::from_utf8_lossy(&output.stdout))
        .trim()
        .to_owned()
}
