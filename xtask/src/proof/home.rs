//! A data directory, the program in it, what was sent, and what became of it.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use remora_client::{DataPaths, HookInput, send_request, spool_event};
use remora_core::request::{Reply, Request};
use remora_memory::store::{Filter, PageRequest, SortOrder, Store as _};
use remora_store::Access;
use serde_json::{Value, json};
use tempfile::TempDir;

/// When the first event happened, for those that are not sent by a hook.
pub(super) const FIRST_EVENT_MS: i64 = 1_794_700_000_000;
const AGENT_ID: &str = "claude-code";
const SESSION_ID: &str = "proof";
const WORKER_TIMEOUT: Duration = Duration::from_mins(1);
const ALL_ITEMS: PageRequest = PageRequest {
    order: SortOrder::Oldest,
    beyond: None,
    limit: 10_000_000,
};

/// What became of everything that was sent.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sent: usize,
    pub(super) stored: usize,
    /// The hook could not keep it and said so to the user.
    pub(super) refused: usize,
    pub(super) lost: usize,
    pub(super) doubled: usize,
    pub(super) note: String,
}

impl Tally {
    pub(super) fn is_complete(&self) -> bool {
        self.lost == 0 && self.doubled == 0 && self.stored + self.refused == self.sent
    }

    /// Something that the reader of the report should know.
    pub(super) fn add_note(&mut self, text: &str) {
        if !self.note.is_empty() {
            self.note.push_str("; ");
        }
        self.note.push_str(text);
    }

    /// Both together.
    pub(super) fn add_tally(&mut self, other: &Self) {
        self.sent += other.sent;
        self.stored += other.stored;
        self.refused += other.refused;
        self.lost += other.lost;
        self.doubled += other.doubled;
    }
}

pub(super) struct ProofHome {
    pub(super) paths: DataPaths,
    program: PathBuf,
    _folder: TempDir,
}

impl ProofHome {
    pub(super) fn new(program: &Path) -> Result<Self> {
        Self::create_within(program, &std::env::temp_dir())
    }

    pub(super) fn create_within(program: &Path, parent: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("remora-proof-")
            .tempdir_in(parent)?;
        Ok(Self {
            paths: DataPaths::new(folder.path().join("data")),
            program: program.to_path_buf(),
            _folder: folder,
        })
    }

    fn build_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.paths.home())
            .env("REMORA_HOME", self.paths.home())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// An event through a hook, as the client sends it; returns the answer. A
    /// hook that says anything but one answer has failed.
    pub(super) fn send_hook(&self, event: &Value) -> Result<Value> {
        let mut command = self.build_command(&["hook", AGENT_ID]);
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(event.to_string().as_bytes())?;
        }
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output()?;
        let answer = serde_json::from_slice::<Value>(&stdout).ok();
        match answer.filter(Value::is_object) {
            // Whatever happens to Remora, a client must see success and one object.
            Some(answer) if status.success() && stderr.is_empty() => Ok(answer),
            _ => bail!(
                "the hook ended with {status}, said {:?} and {:?}",
                String::from_utf8_lossy(&stdout),
                String::from_utf8_lossy(&stderr)
            ),
        }
    }

    /// The start of a session; returns the message that the user sees.
    pub(super) fn start_session(&self, session: &str) -> Result<Option<String>> {
        let answer = self.send_hook(&json!({
            "session_id": session, "cwd": "/p", "hook_event_name": "SessionStart",
            "source": "startup",
        }))?;
        Ok(answer["systemMessage"].as_str().map(str::to_owned))
    }

    /// An event put into the spool without a hook.
    pub(super) fn spool_event(&self, now: i64, event: &Value) -> Result<()> {
        let input = HookInput {
            bytes: event.to_string().into_bytes(),
            cut: false,
        };
        spool_event(&self.paths, AGENT_ID, now, None, &input, false)?;
        Ok(())
    }

    pub(super) fn run_remora(&self, args: &[&str]) -> Result<()> {
        let done = self.build_command(args).stdin(Stdio::null()).output()?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            bail!("remora {}: {said}", args.join(" "));
        }
        Ok(())
    }

    pub(super) fn drain_spool(&self) -> Result<()> {
        self.run_remora(&["worker", "drain"])
    }

    pub(super) fn stop(&self) -> Result<()> {
        self.run_remora(&["worker", "stop"])
    }

    pub(super) fn worker_status(&self) -> Option<Reply> {
        send_request(&self.paths.socket_file(), &Request::Status, WORKER_TIMEOUT).ok()
    }

    /// The worker, once it is up.
    pub(super) fn awaited_worker(&self) -> Result<Reply> {
        let end = Instant::now() + WORKER_TIMEOUT;
        loop {
            if let Some(reply) = self.worker_status() {
                return Ok(reply);
            }
            if Instant::now() > end {
                bail!("no worker comes up");
            }
            pause_for(Duration::from_millis(1));
        }
    }

    /// Compares what was sent with what is there.
    pub(super) fn compare_sent(&self, sent: &[usize]) -> Result<Tally> {
        let (ledger, rows) = self.count_stored()?;
        let mut tally = Tally {
            sent: sent.len(),
            ..Tally::default()
        };
        for n in sent {
            // An event must be in the log and in the items: in only one of them it was lost
            // halfway.
            match (ledger.get(n).copied(), rows.get(n).copied()) {
                (Some(1), Some(1)) => tally.stored += 1,
                (Some(1..), Some(1..)) => tally.doubled += 1,
                _ => tally.lost += 1,
            }
        }
        let dead = remora_server::dead_letters(&self.paths)?.len();
        if dead > 0 {
            tally.add_note(&format!("{dead} dead letters"));
        }
        let waiting = remora_client::list_spooled(&self.paths, usize::MAX)?.len();
        if waiting > 0 {
            // Nothing can be said about them yet, so the trial has shown nothing.
            bail!("{waiting} events still wait in the spool");
        }
        Ok(tally)
    }

    /// How often each event is in the event log, and how many items it made.
    fn count_stored(&self) -> Result<(HashMap<usize, u32>, HashMap<usize, u32>)> {
        let store = remora_server::open_database(&self.paths.database_file(), Access::Read)?;
        let number = |text: &str| text.rsplit('_').next().and_then(|n| n.parse().ok());
        let mut ledger = HashMap::new();
        for event in store.list_events(&Filter::default(), ALL_ITEMS)? {
            if let Some(n) = event.call.as_deref().and_then(number) {
                *ledger.entry(n).or_default() += 1;
            }
        }
        let mut rows = HashMap::new();
        for item in store.list_items(&Filter::default(), ALL_ITEMS)? {
            if let Some(n) = item.tool_use_id.as_deref().and_then(number) {
                *rows.entry(n).or_default() += item.seen;
            }
        }
        Ok((ledger, rows))
    }
}

impl Drop for ProofHome {
    /// Nothing that was started here lives on.
    fn drop(&mut self) {
        let _ = self.stop();
        let mark = format!("REMORA_HOME={}", self.paths.home().display());
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|b| *b == 0).any(|v| v == mark.as_bytes()) {
                let _ = kill_process(&entry.file_name().to_string_lossy());
            }
        }
    }
}

/// A command that ran, in words that no other has.
pub(super) fn build_event(n: usize) -> Value {
    // Titles that differ in a number alone count as near-duplicates; letters keep them apart.
    let word: String = n
        .to_string()
        .bytes()
        .flat_map(|digit| {
            let at = usize::from(digit - b'0');
            ["ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "zy"][at].chars()
        })
        .collect();
    json!({
        "session_id": SESSION_ID,
        "transcript_path": "/t",
        "cwd": "/p",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": format!("make {word}") },
        "tool_response": { "stdout": format!("built {word} as {word}.o for {word}"), "stderr": "" },
        "tool_use_id": format!("toolu_{n}"),
    })
}

/// Ends a process without a warning.
pub(super) fn kill_process(process: &str) -> Result<()> {
    let done = Command::new("kill")
        .args(["-s", "KILL", process])
        .stderr(Stdio::null())
        .status();
    done.context("cannot start kill")?;
    Ok(())
}

pub(super) fn pause_for(time: Duration) {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::park_timeout(left);
    }
}
