//! What the engine ran, decided and had to say, against what the client did.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::super::dispatches::Dispatch;
use super::super::facts::{DeliveryRow, count_handlers, list_delivered, show_rows};
use super::super::folder::write_file;
use super::super::runs::{StubRun, is_alive, read_runs};
use super::super::texts::find_stub_id;
use super::{ENGINE_TIMEOUT, Replay};
use crate::client::process::finish_process;

impl Replay<'_> {
    /// What the engine ran and decided, against what the client ran and did.
    pub(super) fn compare_answer(&mut self, title: &str, dispatch: &Dispatch, answer: &Value) {
        let rows = answer["report"]["handlers"]
            .as_array()
            .into_iter()
            .flatten();
        let started = rows.filter(|row| row["status"] != "skipped");
        let mut ours: Vec<String> = started
            .filter_map(|row| find_stub_id(row["label"].as_str()?))
            .collect();
        ours.sort();
        let ran = dispatch
            .runs
            .iter()
            .map(|at| self.play.runs[*at].id.clone());
        let mut theirs: Vec<String> = ran.collect();
        theirs.sort();
        if ours != theirs {
            self.problems.push(format!(
                "{title}: the client ran {theirs:?}; the engine {ours:?}"
            ));
        }
        let active = &answer["event"]["stop_hook_active"];
        if *active != dispatch.event["stop_hook_active"] {
            self.problems.push(format!(
                "{title}: to the engine stop_hook_active is {active}"
            ));
        }
        if dispatch.name() == "PreToolUse" {
            self.compare_verdict(title, dispatch, &answer["report"]["outcome"]);
        }
    }

    fn compare_verdict(&mut self, title: &str, dispatch: &Dispatch, outcome: &Value) {
        let id = &dispatch.event["tool_use_id"];
        let used = self.dispatches.iter().any(|other| {
            other.name().starts_with("PostToolUse") && other.event["tool_use_id"] == *id
        });
        let verdict = outcome["final"].as_str().unwrap_or("none");
        // Whoever is asked decides; then there is another event.
        let refuses = match verdict {
            "deny" | "defer" => true,
            "ask" => return,
            _ => false,
        };
        let interrupted = self.folder.value["drive"].to_string().contains("Escape");
        if used == refuses && (used || !interrupted) {
            self.problems.push(format!(
                "{title}: the engine decides {verdict}; the client {} the tool",
                if used { "used" } else { "did not use" }
            ));
        }
    }

    /// The tool's effect on the files, and what a shell sees of the session's variables.
    pub(super) fn use_tool(&mut self, event: &Value) -> Result<()> {
        let input = &event["tool_input"];
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        match event["tool_name"].as_str() {
            Some("Skill") => {
                self.add_head("skill", text("skill"), None);
                return Ok(());
            }
            Some("Write") => {
                return write_file(&PathBuf::from(text("file_path")), text("content"));
            }
            Some("Bash") => {}
            _ => return Ok(()),
        }
        let status = self.call("status", json!({}))?;
        let prelude = status["shell_prelude"].as_str().unwrap_or_default();
        let folder = PathBuf::from(event["cwd"].as_str().unwrap_or_default());
        let folder = if folder.is_dir() {
            folder
        } else {
            self.folder.app()
        };
        let mut command = self.folder.build_command("bash".as_ref(), &folder);
        let settings = fs::read_to_string(self.folder.home.join(".claude/settings.json"));
        let settings: Value = settings
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        for (name, value) in settings["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap_or_default());
        }
        // In front of the variables, which may set another PATH.
        let quick = self.folder.beside("quick");
        let script = format!(
            "shopt -s expand_aliases\nPATH={}:$PATH\n{prelude}\n{}",
            quick.display(),
            text("command")
        );
        command.args(["-c", &script]);
        let output = finish_process(command, None)?;
        let ours = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let theirs = event["tool_response"]["stdout"]
            .as_str()
            .unwrap_or_default();
        if theirs.starts_with("MK") && ours != theirs.trim() {
            self.problems.push(format!(
                "`{}` gives {theirs:?} in the client; with the engine's variables {ours:?}",
                text("command")
            ));
        }
        Ok(())
    }

    /// The client saw a change; the engine must make the same event of it.
    pub(super) fn check_change(&mut self, event: &Value) -> Result<()> {
        let name = event["hook_event_name"].as_str().unwrap_or_default();
        let file = event["file_path"].as_str().unwrap_or_default();
        let path = PathBuf::from(event["cwd"].as_str().unwrap_or_default()).join(file);
        let kind = event["event"].as_str().unwrap_or("change");
        let params = json!({"path": path, "kind": kind});
        let described = self.call("describe_change", params)?;
        let own: Vec<(&str, &Value)> = event
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| {
                ["hook_event_name", "file_path", "event", "source"].contains(&key.as_str())
            })
            .map(|(key, value)| (key.as_str(), value))
            .collect();
        let mut events = described["events"].as_array().into_iter().flatten();
        if !events.any(|ours| own.iter().all(|(key, value)| ours[*key] == **value)) {
            self.problems.push(format!(
                "{name} of {file}: the engine sees {described} in it"
            ));
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<String>> {
        self.settle(u128::MAX)?;
        if !self.closed {
            self.call("close", json!({}))?;
            self.closed = true;
        }
        let end = Instant::now() + ENGINE_TIMEOUT;
        let runs = loop {
            let runs = read_runs(&self.folder.runs())?;
            let is_over = |run: &StubRun| run.ended.is_some() || !is_alive(run.pid);
            if runs.iter().all(is_over) {
                break runs;
            }
            if Instant::now() > end {
                bail!("handlers are left after the session's end");
            }
            thread::park_timeout(Duration::from_millis(10));
        };
        let mut compare = |what: &str, theirs: Value, ours: Value| {
            if theirs != ours {
                self.problems
                    .push(format!("{what}: the client: {theirs}; the engine: {ours}"));
            }
        };
        let folder = self.folder;
        compare(
            "handlers",
            count_handlers(folder, &self.play.runs),
            count_handlers(folder, &runs),
        );
        let theirs: BTreeSet<DeliveryRow> = list_delivered(folder, self.play, self.dispatches)
            .into_iter()
            .filter(|row| ["main", "subagent"].contains(&row.to))
            .map(|mut row| {
                row.place.clear();
                row
            })
            .collect();
        let ours = keep_first(&self.rows);
        compare(
            "delivered",
            show_rows(&theirs, &ours),
            show_rows(&ours, &ours),
        );
        let calls = fs::read_to_string(folder.server_log()).unwrap_or_default();
        let calls: Vec<Value> = calls
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        compare("mcp_calls", json!(self.play.calls), json!(calls));
        Ok(self.problems)
    }
}

/// A text counts where it arrives first.
fn keep_first(rows: &BTreeSet<DeliveryRow>) -> BTreeSet<DeliveryRow> {
    let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut kept: Vec<&DeliveryRow> = rows.iter().collect();
    kept.sort_by_key(|row| row.request);
    kept.into_iter()
        .filter(|row| {
            let key = (row.marker.as_str(), row.to);
            *first.entry(key).or_insert(row.request) == row.request
        })
        .cloned()
        .collect()
}
