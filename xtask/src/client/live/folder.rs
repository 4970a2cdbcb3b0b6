//! One case on disk: the home of the recording under a folder of its own, with the stub, the
//! recorder and a server of tools.
//!
//! Client and engine play at the same paths, one after the other, so that what one was told is
//! true for the other.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};

use super::book::LiveDraft;
use crate::client::api::API_KEY;
use crate::client::process::{find_leftovers, kill_all};

/// The home in the recording.
const RECORDED_HOME: &str = "home/dev";
/// Where the recording has its server of tools.
const SERVER_FILE: &str = "bin/mcp2.py";
const SERVER_SCRIPT: &str = include_str!("tools_server.js");
/// What a handler's pause becomes where its end is given: it waits for a word.
const PAUSE: &str = "s) sleep \"$1\"; shift ;;";
const GATED_PAUSE: &str = "s) mkfifo \"$F.gate~\" && mv \"$F.gate~\" \"$F.gate\"; read -r _ < \"$F.gate\"; \
     rm -f \"$F.gate\"; shift ;;";

/// Events whose every dispatch is recorded. A handler on `FileChanged` would change what is
/// watched, so that one is missing.
const RECORDED_EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TaskCreated",
    "TaskCompleted",
    "ConfigChange",
    "CwdChanged",
];

/// How a handler's pauses are played.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pauses {
    /// As long as they are.
    Slept,
    /// Until they are ended from outside.
    Gated,
}

/// A case with the paths of this run; its folder goes when it is dropped unless `keep` is set.
pub(super) struct LiveFolder {
    top: PathBuf,
    /// Where `/home/dev` is.
    pub(super) home: PathBuf,
    /// The case with the paths of this folder.
    pub(super) value: Value,
    stub: String,
    search: String,
    keep: bool,
}

impl Drop for LiveFolder {
    fn drop(&mut self) {
        kill_all(&self.list_processes());
        if !self.keep {
            let _ = fs::remove_dir_all(&self.top);
        }
    }
}

impl LiveFolder {
    pub(super) fn new(top: PathBuf, draft: &LiveDraft, search: &str, keep: bool) -> Result<Self> {
        fs::create_dir(&top).with_context(|| format!("cannot create {}", top.display()))?;
        let text = draft.recorded.to_string();
        let text = text.replace("/home/", &format!("{}/home/", top.display()));
        Ok(Self {
            home: top.join(RECORDED_HOME),
            top,
            value: serde_json::from_str(&text)?,
            stub: draft.stub.clone(),
            search: search.to_owned(),
            keep,
        })
    }

    /// A text as it would read in the recording.
    pub(super) fn restore_paths(&self, text: &str) -> String {
        text.replace(&format!("{}/home/", self.top.display()), "/home/")
    }

    /// A place beside the recorded home.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    pub(super) fn app(&self) -> PathBuf {
        self.home.join("app")
    }

    /// Where the stub logs.
    pub(super) fn runs(&self) -> PathBuf {
        self.home.join("rec/run")
    }

    /// Calls that the server of tools got.
    pub(super) fn server_log(&self) -> PathBuf {
        self.home.join("rec/calls.jsonl")
    }

    pub(super) fn flag_file(&self) -> PathBuf {
        self.top.join("flag.json")
    }

    pub(super) fn is_interactive(&self) -> bool {
        self.value["mode"] == "interactive"
    }

    pub(super) fn has_drive(&self) -> bool {
        self.value["drive"].is_array()
    }

    pub(super) fn list_strings(&self, key: &str) -> Vec<String> {
        let list = self.value[key].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub(super) fn find_argument(&self, name: &str) -> Option<String> {
        let args = self.list_strings("args");
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1).cloned()
    }

    /// Lays everything out, the same each time.
    pub(super) fn build(&self, pauses: Pauses) -> Result<()> {
        if self.home.exists() {
            fs::remove_dir_all(&self.home).context("cannot empty the case's home")?;
        }
        for name in ["bin", "rec/run", "app/src", ".claude"] {
            fs::create_dir_all(self.home.join(name))?;
        }
        fs::create_dir_all(self.top.join("tmp"))?;
        let state = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "numStartups": 3,
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
            "projects": {self.app().display().to_string(): {
                "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
            }},
        });
        write_file(&self.home.join(".claude.json"), &format!("{state:#}"))?;
        for (name, text) in [
            ("README.md", "# app\n"),
            ("src/a.py", "print('a')\n"),
            ("src/b.py", "print('b')\n"),
        ] {
            write_file(&self.app().join(name), text)?;
        }
        for (path, text) in self.value["files"].as_object().into_iter().flatten() {
            let text = text.as_str().context("a file's content must be a string")?;
            write_file(Path::new(path), text)?;
        }
        self.build_programs(pauses)?;
        self.build_repository()?;
        for line in self.list_strings("setup") {
            let done = self
                .build_command("/bin/sh".as_ref(), &self.home)
                .args(["-c", &line])
                .output()
                .context("cannot start a shell")?;
            ensure!(done.status.success(), "`{line}` ended with {}", done.status);
        }
        Ok(())
    }

    fn build_programs(&self, pauses: Pauses) -> Result<()> {
        ensure!(
            self.stub.contains(PAUSE),
            "the stub does not pause as it did"
        );
        let stub = match pauses {
            Pauses::Slept => self.stub.clone(),
            Pauses::Gated => self.stub.replace(PAUSE, GATED_PAUSE),
        };
        self.write_program("bin/h.sh", &stub)?;
        let server = self.top.join("tools_server.js");
        write_file(&server, SERVER_SCRIPT)?;
        let start = format!(
            "#!/bin/sh\nexec node '{}' '{}'\n",
            server.display(),
            self.server_log().display()
        );
        self.write_program(SERVER_FILE, &start)?;
        for file in self.list_strings("exe") {
            make_executable(&self.home.join(file))?;
        }
        let mut hooks = Map::new();
        let command = format!("{} rec", self.home.join("bin/h.sh").display());
        for event in RECORDED_EVENTS {
            let handler = json!({"type": "command", "command": command});
            hooks.insert((*event).to_owned(), json!([{"hooks": [handler]}]));
        }
        write_file(&self.flag_file(), &json!({"hooks": hooks}).to_string())
    }

    fn write_program(&self, name: &str, text: &str) -> Result<()> {
        let path = self.home.join(name);
        write_file(&path, text)?;
        make_executable(&path)
    }

    fn build_repository(&self) -> Result<()> {
        let author = ["-c", "user.name=dev", "-c", "user.email=dev@example.org"];
        for args in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &["commit", "-q", "-m", "init"],
        ] {
            let done = self
                .build_command("git".as_ref(), &self.app())
                .args(author)
                .args(args)
                .output()
                .context("cannot start git, which the client's project needs")?;
            let errors = String::from_utf8_lossy(&done.stderr).into_owned();
            ensure!(done.status.success(), "git {}: {errors}", args.join(" "));
        }
        Ok(())
    }

    /// A process with the recording's environment and a group of its own.
    pub(super) fn build_command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().process_group(0);
        command.envs([
            ("HOME", self.home.clone()),
            ("TMPDIR", self.top.join("tmp")),
            ("H_LOG", self.runs()),
            // By this its processes are known.
            ("STUB_LOG", self.top.join("log")),
        ]);
        command.envs([
            ("USER", "dev"),
            ("LOGNAME", "dev"),
            ("SHELL", "/bin/bash"),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm-256color"),
            ("PATH", &self.search),
        ]);
        for (name, value) in self.value["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap_or_default());
        }
        command
    }

    pub(super) fn list_processes(&self) -> Vec<u32> {
        find_leftovers(&self.top)
    }
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

pub(super) fn make_executable(path: &Path) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))
}
