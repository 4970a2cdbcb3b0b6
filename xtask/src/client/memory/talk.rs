//! One run of the client in a house, in print mode against the scripted model, and what it
//! showed: its exit code, its stream, the requests that reached the model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::house::{ClientSandbox, format_output};
use crate::client::api::{ObservedRequests, ScriptedModel};
use crate::client::process::{finish_process, kill_all};

/// The most that one turn of a conversation takes.
const TURN_TIMEOUT: Duration = Duration::from_mins(1);

/// What is asked of the client.
#[derive(Default)]
pub(super) struct TalkRequest<'a> {
    pub(super) project: &'a str,
    pub(super) prompt: &'a str,
    /// What the user says after that, each when the one before is answered.
    pub(super) then: &'a [&'a str],
    pub(super) turns: &'a [Value],
    pub(super) args: &'a [&'a str],
    pub(super) env: &'a [(&'a str, OsString)],
}

/// What it did.
pub(super) struct TalkResult {
    pub(super) code: Option<i32>,
    /// Bodies of the main conversation's requests.
    pub(super) requests: Vec<Value>,
    /// Those of subagents, and those that offer no tools.
    pub(super) others: ObservedRequests,
    pub(super) stream: Vec<Value>,
    pub(super) took: Duration,
}

impl ClientSandbox {
    pub(super) fn run_client(&self, ask: &TalkRequest<'_>) -> Result<TalkResult> {
        let model = ScriptedModel::start(ask.turns)?;
        let mut command = self.build_command(&self.client, &self.path(ask.project));
        model.point_client(&mut command);
        command.envs(ask.env.iter().map(|(name, value)| (name, value)));
        command.args(["--output-format", "stream-json"]);
        command.args(["--verbose", "--include-hook-events"]);
        command.args(["--permission-mode", "bypassPermissions"]);
        command.args(ask.args);
        let started = Instant::now();
        let output = if ask.then.is_empty() {
            finish_process(command_with(command, &["-p", ask.prompt]), None)?
        } else {
            let input = ["-p", "--input-format", "stream-json"];
            let prompts = [&[ask.prompt], ask.then].concat();
            run_conversation(command_with(command, &input), &prompts)?
        };
        let took = started.elapsed();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let lines = stdout.lines();
        let heard = model.observed_requests();
        let shown = json!({
            "prompt": ask.prompt, "main": heard.main, "agents": heard.agents, "aside": heard.aside,
            "output": stdout.lines().collect::<Vec<_>>(),
        });
        self.save_note("session", &shown)?;
        let talk = TalkResult {
            code: output.status.code(),
            requests: heard.main.clone(),
            others: heard,
            stream: lines
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
            took,
        };
        talk.find_result()
            .with_context(|| {
                format!(
                    "the client ended with {}: {}",
                    output.status,
                    format_output(&output)
                )
            })
            .map(drop)?;
        Ok(talk)
    }
}

fn command_with(mut command: Command, args: &[&str]) -> Command {
    command.args(args);
    command
}

/// Says one thing after the other to a client that reads them from its input.
fn run_conversation(mut command: Command, prompts: &[&str]) -> Result<Output> {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start the client")?;
    let spoken = send_prompts(&mut child, prompts);
    if spoken.is_err() {
        kill_all(&[child.id()]);
    }
    let status = child.wait().context("cannot wait for the client")?;
    let (stdout, stderr) = spoken?;
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

fn send_prompts(child: &mut Child, prompts: &[&str]) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut input = child.stdin.take().context("no input")?;
    let mut errors = child.stderr.take().context("no stderr")?;
    let output = child.stdout.take().context("no output")?;
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = errors.read_to_end(&mut text); // what was read counts
        text
    });
    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        let read = BufReader::new(output).lines().map_while(Result::ok);
        for line in read {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let mut all = Vec::new();
    for prompt in prompts {
        send_prompt(&mut input, prompt)?;
        let answered = read_lines(&lines, &mut all, ReadUntil::Result)?;
        ensure!(answered, "the client left before it answered `{prompt}`");
    }
    drop(input);
    read_lines(&lines, &mut all, ReadUntil::End)?;
    Ok((all, errors.join().unwrap_or_default()))
}

fn send_prompt(input: &mut ChildStdin, prompt: &str) -> Result<()> {
    let message = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    writeln!(input, "{message}").with_context(|| format!("cannot say `{prompt}`"))?;
    input.flush().context("cannot flush")
}

#[derive(Clone, Copy, PartialEq)]
enum ReadUntil {
    Result,
    End,
}

/// Takes lines until a result, or until the end; whether there was a result.
fn read_lines(lines: &Receiver<String>, all: &mut Vec<u8>, until: ReadUntil) -> Result<bool> {
    let end = Instant::now() + TURN_TIMEOUT;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = match lines.recv_timeout(left) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(false),
            Err(error) => return Err(error).context("the client does not answer"),
        };
        all.extend_from_slice(line.as_bytes());
        all.push(b'\n');
        let read = serde_json::from_str::<Value>(&line).unwrap_or_default();
        if until == ReadUntil::Result && read["type"] == "result" {
            return Ok(true);
        }
    }
}

impl TalkResult {
    /// The client's last word.
    pub(super) fn find_result(&self) -> Result<&Value> {
        let mut results = self.stream.iter().filter(|line| line["type"] == "result");
        results.next_back().context("no result")
    }

    pub(super) fn session_id(&self) -> Result<String> {
        let id = self.find_result()?["session_id"].as_str();
        Ok(id.context("the result names no session")?.to_owned())
    }

    /// Call id -> (is an error, the result that the model got).
    pub(super) fn call_results(&self) -> BTreeMap<String, (bool, String)> {
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

    /// Everything the first request holds, as text.
    pub(super) fn start_text(&self) -> String {
        let first = self.requests.first();
        first.map_or_else(String::new, Value::to_string)
    }
}
