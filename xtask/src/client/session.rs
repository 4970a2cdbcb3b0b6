//! One case on disk and its two runs: through the client, then through the engine.
//!
//! Each case has its own folder with a home, a project (a git repository), the stub and
//! its logs. Before the engine's run the tree is rebuilt at the same paths, so that both
//! see the same files. Both get an environment of ours, nothing inherited but `PATH`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};

use super::api::{API_KEY, ScriptedModel};
use super::case::HookCase;
use super::process::{find_leftovers, finish_process, kill_all};

const STUB_SCRIPT: &str = include_str!("stub.sh");

/// One run of a handler, as the stub or the sink saw it.
pub(super) struct HandlerRun {
    pub(super) id: String,
    /// Working directory; an http handler has none.
    pub(super) cwd: Option<String>,
    pub(super) stdin: String,
    /// Chosen request headers of an http handler.
    pub(super) headers: Vec<(String, String)>,
}

/// What the client did.
pub(super) struct ClientRun {
    /// Bodies of the main conversation's requests.
    pub(super) requests: Vec<Value>,
    /// Its `stream-json` lines.
    pub(super) stream: Vec<Value>,
    pub(super) runs: Vec<HandlerRun>,
}

/// What the engine did.
pub(super) struct EngineRun {
    /// The JSON report.
    pub(super) report: Value,
    pub(super) runs: Vec<HandlerRun>,
    /// Processes it left behind.
    pub(super) orphans: usize,
}

/// A case's folder; removed when dropped unless `keep` is set.
pub(super) struct CaseTree {
    root: PathBuf,
    /// `PATH` for every process of the case.
    search: String,
    pub(super) keep: bool,
}

impl Drop for CaseTree {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

impl CaseTree {
    pub(super) fn new(parent: &Path, name: &str, search: &str) -> Result<Self> {
        let root = parent.join(name);
        fs::create_dir(&root).with_context(|| format!("cannot create {}", root.display()))?;
        Ok(Self {
            root,
            search: search.to_owned(),
            keep: false,
        })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn read_text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The placeholders that a case may use.
    pub(super) fn list_placeholders(&self, sink: &str) -> Vec<(&'static str, String)> {
        vec![
            ("@SINK@", sink.to_owned()),
            ("@STUB@", self.read_text("bin/stub")),
            ("@PLUGIN@", self.read_text("plugin")),
            ("@PROJECT@", self.read_text("project")),
            ("@HOME@", self.read_text("home")),
        ]
    }

    /// Rebuilds everything, the same each time.
    pub(super) fn build(&self, case: &HookCase) -> Result<()> {
        for name in ["home", "project", "plugin", "bin", "tmp", "managed", "log"] {
            let path = self.path(name);
            if path.exists() {
                fs::remove_dir_all(&path).with_context(|| format!("in {}", path.display()))?;
            }
            fs::create_dir_all(&path).with_context(|| format!("in {}", path.display()))?;
        }
        let project = self.read_text("project");
        // Without these entries the client would stop at its first questions: onboarding,
        // the key, and trust in the folder.
        let state = json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
            "projects": {project: {
                "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
            }},
        });
        self.write_file("home/.claude.json", &state.to_string())?;
        for (name, text) in &case.files {
            self.write_file(
                name,
                text.as_str().context("a file's content must be a string")?,
            )?;
        }
        let manifest = json!({"name": "case-plugin", "version": "1.0.0", "description": "a case"});
        for (layer, content) in &case.layers {
            let file = match layer.as_str() {
                "user" => "home/.claude/settings.json",
                "project" => "project/.claude/settings.json",
                "local" => "project/.claude/settings.local.json",
                "plugin" => "plugin/hooks/hooks.json",
                _ => "flag.json",
            };
            let text = content
                .as_str()
                .map_or_else(|| format!("{content:#}\n"), str::to_owned);
            self.write_file(file, &text)?;
            if layer == "plugin" {
                self.write_file("plugin/.claude-plugin/plugin.json", &manifest.to_string())?;
            }
        }
        self.write_file("bin/stub", STUB_SCRIPT)?;
        fs::set_permissions(self.path("bin/stub"), fs::Permissions::from_mode(0o755))?;
        for (id, steps) in &case.stubs {
            self.write_file(&format!("bin/{id}.sh"), &render_behaviour(steps)?)?;
        }
        let done = self
            .build_command(Path::new("git"))
            .args(["init", "-q", "-b", "main"])
            .output();
        let done = done.context("cannot start git, which the client's project needs")?;
        ensure!(
            done.status.success(),
            "git init: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        Ok(())
    }

    fn write_file(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// A process in the project with our environment and its own process group.
    fn build_command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("project"))
            .env_clear()
            .process_group(0);
        command.envs([
            ("HOME", self.read_text("home")),
            ("TMPDIR", self.read_text("tmp")),
            ("STUB_LOG", self.read_text("log")),
            ("USER", "tester".to_owned()),
            ("LOGNAME", "tester".to_owned()),
            ("SHELL", "/bin/sh".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "dumb".to_owned()),
            ("PATH", self.search.clone()),
        ]);
        command
    }

    /// Runs the client in print mode against the scripted model.
    pub(super) fn run_client(&self, program: &Path, case: &HookCase) -> Result<ClientRun> {
        let model = ScriptedModel::start(&case.turns)?;
        let mut command = self.build_command(program);
        model.point_client(&mut command);
        for (name, value) in &case.env {
            command.env(name, value.as_str().unwrap_or_default());
        }
        command.args([
            "-p",
            &case.prompt,
            "--output-format",
            "stream-json",
            "--verbose",
        ]);
        command.args(["--include-hook-events", "--permission-mode", &case.mode]);
        self.add_common_args(&mut command, case, "--plugin-dir");
        command.args(&case.args);
        let output = finish_process(command, None)?;
        // Background handlers outlive the client and would write into the log of the
        // engine's run.
        kill_all(&find_leftovers(&self.root));
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stream = stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let run = ClientRun {
            requests: model.main_requests(),
            stream: stream.collect(),
            runs: self.read_runs()?,
        };
        if self.keep {
            self.write_file("client.stream.jsonl", &stdout)?;
            self.write_file(
                "client.requests.json",
                &format!("{:#}", Value::from(run.requests.clone())),
            )?;
        }
        if !run.stream.iter().any(|line| line["type"] == "result") {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            bail!(
                "the client ended with {} and no result: {}{errors}",
                output.status,
                stdout.trim()
            );
        }
        Ok(run)
    }

    /// Runs `remora hooks run` over the same files, with the event the client gave.
    pub(super) fn run_engine(
        &self,
        program: &Path,
        case: &HookCase,
        event: &str,
    ) -> Result<EngineRun> {
        let mut command = self.build_command(program);
        for (name, value) in &case.env {
            command.env(name, value.as_str().unwrap_or_default());
        }
        command.args(["hooks", "run", "--json"]);
        for (flag, name) in [
            ("--home", "home"),
            ("--project", "project"),
            ("--managed", "managed"),
        ] {
            command.arg(flag).arg(self.path(name));
        }
        command.args(["--permission-mode", &case.mode]);
        self.add_common_args(&mut command, case, "--plugin");
        command.args(&case.engine_args);
        let output = finish_process(command, Some(event))?;
        let mut orphans = find_leftovers(&self.root);
        if !orphans.is_empty() {
            thread::park_timeout(Duration::from_millis(300)); // one that was just killed may linger
            orphans = find_leftovers(&self.root);
            kill_all(&orphans);
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        if self.keep {
            self.write_file("engine.report.json", &stdout)?;
        }
        let report = serde_json::from_str(&stdout).with_context(|| {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            format!(
                "the engine ended with {} and no report: {errors}",
                output.status
            )
        })?;
        Ok(EngineRun {
            report,
            runs: self.read_runs()?,
            orphans: orphans.len(),
        })
    }

    fn add_common_args(&self, command: &mut Command, case: &HookCase, plugin: &str) {
        if case.layers.contains_key("flag") {
            command.arg("--settings").arg(self.path("flag.json"));
        }
        if case.layers.contains_key("plugin") {
            command.arg(plugin).arg(self.path("plugin"));
        }
    }

    /// The stub's logs, oldest first.
    fn read_runs(&self) -> Result<Vec<HandlerRun>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.path("log"))? {
            let entry = entry?;
            let at = entry
                .metadata()?
                .modified()
                .unwrap_or(SystemTime::UNIX_EPOCH);
            let name = entry.file_name().to_string_lossy().into_owned();
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
            let (cwd, stdin) = text.split_once('\n').unwrap_or((&text, ""));
            let run = HandlerRun {
                id: name
                    .rsplit_once('.')
                    .map_or(name.as_str(), |(id, _)| id)
                    .to_owned(),
                cwd: Some(cwd.to_owned()),
                stdin: stdin.to_owned(),
                headers: Vec::new(),
            };
            found.push((at, run));
        }
        found.sort_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(_, run)| run).collect())
    }
}

/// The stub's steps as shell text, in the order in which the case names them.
fn render_behaviour(steps: &Value) -> Result<String> {
    let empty = Map::new();
    let mut script = String::new();
    for (step, value) in steps.as_object().unwrap_or(&empty) {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let text = format!("'{}'", text.replace('\'', r"'\''"));
        let line = match step.as_str() {
            "print" => format!("printf '%s\\n' {text}\n"),
            "err" => format!("printf '%s\\n' {text} >&2\n"),
            "sleep" => format!("sleep {text}\n"),
            "export" => format!("printf '%s\\n' {text} >>\"$CLAUDE_ENV_FILE\"\n"),
            "quiet_if" => format!("if grep -qF {text} \"$log\"; then exit 0; fi\n"),
            "exit" => format!("exit {text}\n"),
            "kill" => format!("kill -{text} $$\n"),
            other => bail!("the stub knows no step `{other}`"),
        };
        script.push_str(&line);
    }
    Ok(script)
}
