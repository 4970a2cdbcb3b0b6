//! One session of the real client: a prompt, a conversation over its input, or a terminal, driven
//! by the case's script; and everything that was seen of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::drive::{self, Change, Hands};
use super::folder::LiveFolder;
use super::model::{LiveModel, SeenRequest};
use super::runs::{StubRun, is_alive, read_runs};
use crate::client::process::kill_all;
use crate::client::terminal::{Terminal, TerminalHost};

/// The longest that the client may take to leave.
const END_TIMEOUT: Duration = Duration::from_mins(1);
/// Handlers that outlive the client have a pause of some seconds to come to their end.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(20);
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// What the terminal shows when it takes a prompt.
const PROMPT_SIGN: &str = "❯";

/// What the client did.
pub(super) struct ClientPlay {
    pub(super) requests: Vec<SeenRequest>,
    /// Its `stream-json` lines; none of a terminal.
    pub(super) stream: Vec<Value>,
    pub(super) runs: Vec<StubRun>,
    /// Files that the script changed, and when.
    pub(super) changes: Vec<Change>,
    /// Calls that the server of tools got.
    pub(super) calls: Vec<Value>,
    /// Files of the record, as they are in the end.
    pub(super) files: Vec<(String, Option<String>)>,
}

impl TerminalHost for LiveFolder {
    fn socket(&self) -> PathBuf {
        self.beside("t")
    }

    fn build_terminal_command(&self, program: &Path, folder: &Path) -> Command {
        self.build_command(program, folder)
    }

    fn list_own_processes(&self) -> Vec<u32> {
        self.list_processes()
    }
}

/// Plays the case with the client.
pub(super) fn play_client(folder: &LiveFolder, client: &Path) -> Result<ClientPlay> {
    let model = LiveModel::start(&folder.value["model"])?;
    let mut changes = Vec::new();
    let stream = if folder.is_interactive() {
        play_terminal(folder, client, &model, &mut changes)?;
        Vec::new()
    } else {
        play_print(folder, client, &model, &mut changes)?
    };
    let runs = wait_for_handlers(folder)?;
    kill_all(&folder.list_processes());
    let calls = fs::read_to_string(folder.server_log()).unwrap_or_default();
    let truth = folder.value["truth"]["files_after"].as_object();
    let files = truth.into_iter().flatten().map(|(name, _)| {
        let text = fs::read_to_string(folder.home.join(name)).ok();
        (name.clone(), text.map(|text| folder.restore_paths(&text)))
    });
    Ok(ClientPlay {
        requests: model.requests(),
        stream,
        runs,
        changes,
        calls: calls
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        files: files.collect(),
    })
}

/// Handlers may outlive the client; each comes to its end, or is gone without one.
fn wait_for_handlers(folder: &LiveFolder) -> Result<Vec<StubRun>> {
    let end = Instant::now() + HANDLER_TIMEOUT;
    loop {
        let runs = read_runs(&folder.runs())?;
        let awaited = folder.value["truth"]["files_after"].as_object();
        // Written by the child of a handler, which leaves no other trace.
        let written = awaited
            .into_iter()
            .flatten()
            .all(|(name, text)| text.is_null() || folder.home.join(name).exists());
        let ended = runs
            .iter()
            .all(|run| run.ended.is_some() || !is_alive(run.pid));
        if (ended && written) || Instant::now() > end {
            return read_runs(&folder.runs());
        }
        thread::park_timeout(POLL_INTERVAL);
    }
}

fn play_print(
    folder: &LiveFolder,
    client: &Path,
    model: &LiveModel,
    changes: &mut Vec<Change>,
) -> Result<Vec<Value>> {
    let mut command = folder.build_command(client, &folder.app());
    model.point_client(&mut command);
    command.arg("-p");
    let streams = folder.has_drive();
    if streams {
        command.args(["--input-format", "stream-json"]);
        command.stdin(Stdio::piped());
    } else {
        command.arg(folder.value["prompt"].as_str().context("no `prompt`")?);
        command.stdin(Stdio::null());
    }
    command.args(["--output-format", "stream-json", "--verbose"]);
    command.args(folder.list_strings("args"));
    command.arg("--settings").arg(folder.flag_file());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start the client")?;
    let output = Output::follow(&mut child)?;
    let mut hands = PrintHands {
        input: child.stdin.take(),
        lines: Arc::clone(&output.lines),
        id: child.id(),
    };
    let driven = if streams {
        drive::play_script(folder, model, &mut hands, changes)
    } else {
        Ok(())
    };
    drop(hands); // the end of its input is what it waits for
    let status = wait_for_end(&mut child);
    if status.is_err() {
        kill_all(&[child.id()]);
        let _ = child.wait();
    }
    let (lines, errors) = output.finish();
    driven?;
    status?;
    ensure!(
        !lines.is_empty(),
        "the client said nothing: {}",
        errors.trim()
    );
    Ok(lines)
}

fn wait_for_end(child: &mut Child) -> Result<()> {
    let end = Instant::now() + END_TIMEOUT;
    while child
        .try_wait()
        .context("cannot wait for the client")?
        .is_none()
    {
        if Instant::now() > end {
            bail!("the client does not leave");
        }
        thread::park_timeout(POLL_INTERVAL);
    }
    Ok(())
}

type Lines = Arc<Mutex<Vec<Value>>>;

/// What the client prints, read while it runs.
struct Output {
    lines: Lines,
    reader: JoinHandle<()>,
    errors: JoinHandle<String>,
}

impl Output {
    fn follow(child: &mut Child) -> Result<Self> {
        let output = child.stdout.take().context("no output")?;
        let mut errors = child.stderr.take().context("no stderr")?;
        let lines = Lines::default();
        let shared = Arc::clone(&lines);
        let reader = thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let read = serde_json::from_str(&line).unwrap_or_else(|_| json!({"text": line}));
                let mut lines = shared.lock().unwrap_or_else(PoisonError::into_inner);
                lines.push(read);
            }
        });
        let errors = thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text); // what was read counts
            text
        });
        Ok(Self {
            lines,
            reader,
            errors,
        })
    }

    fn finish(self) -> (Vec<Value>, String) {
        // A handler that lives on may hold the pipe open: what came so far is taken.
        let end = Instant::now() + HANDLER_TIMEOUT;
        while !(self.reader.is_finished() && self.errors.is_finished()) && Instant::now() < end {
            thread::park_timeout(POLL_INTERVAL);
        }
        let errors = if self.errors.is_finished() {
            self.errors.join().unwrap_or_default()
        } else {
            String::new()
        };
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        (lines.clone(), errors)
    }
}

/// Speaks over the client's input.
struct PrintHands {
    input: Option<ChildStdin>,
    lines: Lines,
    id: u32,
}

impl Hands for PrintHands {
    fn say(&mut self, text: &str) -> Result<()> {
        let input = self.input.as_mut().context("no input")?;
        let message = json!({"type": "user", "message": {"role": "user", "content": text}});
        writeln!(input, "{message}").with_context(|| format!("cannot say `{text}`"))?;
        input.flush().context("cannot flush")
    }

    fn press(&mut self, key: &str) -> Result<()> {
        bail!("there is no keyboard for `{key}`")
    }

    fn send_signal(&mut self, name: &str) -> Result<()> {
        let id = self.id.to_string();
        let done = Command::new("kill")
            .args(["-s", name, "--", &id])
            .status()
            .context("cannot start kill")?;
        ensure!(done.success(), "kill -s {name} ended with {done}");
        Ok(())
    }

    fn count_results(&self) -> usize {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|line| line["type"] == "result").count()
    }
}

fn play_terminal(
    folder: &LiveFolder,
    client: &Path,
    model: &LiveModel,
    changes: &mut Vec<Change>,
) -> Result<()> {
    let mut args = folder.list_strings("args");
    args.push("--settings".into());
    args.push(folder.flag_file().display().to_string());
    let terminal = Terminal::start(folder, folder.app(), client, &args, |command| {
        model.point_client(command);
    })?;
    terminal.wait("its prompt", |screen| screen.contains(PROMPT_SIGN))?;
    let mut hands = TerminalHands {
        terminal: &terminal,
    };
    drive::play_script(folder, model, &mut hands, changes)?;
    if terminal.hang_up().is_ok() {
        // Its last event is part of the record.
        let end = Instant::now() + HANDLER_TIMEOUT;
        while !has_session_end(&read_runs(&folder.runs())?) && Instant::now() < end {
            thread::park_timeout(POLL_INTERVAL);
        }
    }
    Ok(())
}

fn has_session_end(runs: &[StubRun]) -> bool {
    let last = runs
        .iter()
        .rfind(|run| run.event()["hook_event_name"] == "SessionEnd");
    last.is_some_and(|run| run.ended.is_some() && run.event()["reason"] != "clear")
}

/// Types at the terminal.
struct TerminalHands<'a> {
    terminal: &'a Terminal<'a>,
}

impl Hands for TerminalHands<'_> {
    fn say(&mut self, text: &str) -> Result<()> {
        self.terminal.type_line(text)
    }

    fn press(&mut self, key: &str) -> Result<()> {
        self.terminal.press_key(key)
    }

    fn send_signal(&mut self, name: &str) -> Result<()> {
        bail!("a terminal sends no `{name}`")
    }

    fn count_results(&self) -> usize {
        0
    }
}
