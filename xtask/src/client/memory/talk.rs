//! One run of the client in a house, in print mode against the scripted model, and what it
//! showed: its exit code, its stream, the requests that reached the model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::house::{House, said};
use crate::client::api::Model;
use crate::client::process::finish;

/// What is asked of the client.
#[derive(Default)]
pub(super) struct Ask<'a> {
    pub(super) project: &'a str,
    pub(super) prompt: &'a str,
    pub(super) turns: &'a [Value],
    pub(super) args: &'a [&'a str],
    pub(super) env: &'a [(&'a str, OsString)],
}

/// What it did.
pub(super) struct Talk {
    pub(super) code: Option<i32>,
    /// Bodies of the main conversation's requests.
    pub(super) requests: Vec<Value>,
    pub(super) stream: Vec<Value>,
    pub(super) took: Duration,
}

impl House {
    pub(super) fn talk(&self, ask: &Ask<'_>) -> Result<Talk> {
        let model = Model::start(ask.turns)?;
        let mut command = self.command(&self.client, &self.path(ask.project));
        model.point(&mut command);
        command.envs(ask.env.iter().map(|(name, value)| (name, value)));
        command.args(["-p", ask.prompt, "--output-format", "stream-json"]);
        command.args(["--verbose", "--include-hook-events"]);
        command.args(["--permission-mode", "bypassPermissions"]);
        command.args(ask.args);
        let started = Instant::now();
        let output = finish(command, None)?;
        let took = started.elapsed();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let lines = stdout.lines();
        let talk = Talk {
            code: output.status.code(),
            requests: model.requests(),
            stream: lines
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
            took,
        };
        talk.result()
            .with_context(|| format!("the client ended with {}: {}", output.status, said(&output)))
            .map(drop)?;
        Ok(talk)
    }
}

impl Talk {
    /// The client's last word.
    pub(super) fn result(&self) -> Result<&Value> {
        let mut results = self.stream.iter().filter(|line| line["type"] == "result");
        results.next_back().context("no result")
    }

    pub(super) fn session(&self) -> Result<String> {
        let id = self.result()?["session_id"].as_str();
        Ok(id.context("the result names no session")?.to_owned())
    }

    /// Call id -> (is an error, what the model was given).
    pub(super) fn calls(&self) -> BTreeMap<String, (bool, String)> {
        let mut calls = BTreeMap::new();
        for line in self.stream.iter().filter(|line| line["type"] == "user") {
            for block in line["message"]["content"].as_array().into_iter().flatten() {
                if let Some(id) = block["tool_use_id"].as_str() {
                    let failed = block["is_error"] == json!(true);
                    calls.insert(id.to_owned(), (failed, block["content"].to_string()));
                }
            }
        }
        calls
    }

    /// All that the model was told at the start, as text.
    pub(super) fn beginning(&self) -> String {
        let first = self.requests.first();
        first.map_or_else(String::new, Value::to_string)
    }
}
