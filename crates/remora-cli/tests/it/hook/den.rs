//! A data directory of a test's own: hooks are run against it as an agent runs
//! them, and whatever worker they started is ended with it.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use remora_client::DataPaths;
use remora_core::record::{Item, LoggedEvent};
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};
use remora_store::Access;
use serde_json::{Value, json};

use crate::sandbox::{Call, Done, Sandbox};

/// Far above what anything here takes.
const PATIENCE: Duration = Duration::from_secs(50);
/// Everything there is.
const ALL: PageRequest = PageRequest {
    order: SortOrder::Oldest,
    beyond: None,
    limit: 100_000,
};

pub(crate) struct Den {
    pub(crate) sandbox: Sandbox,
    pub(crate) paths: DataPaths,
}

impl Den {
    pub(crate) fn new() -> Self {
        Self::with(Sandbox::new())
    }

    /// Hooks that may not do everything, also when the tests run as root.
    pub(crate) fn unprivileged() -> Self {
        Self::with(Sandbox::unprivileged())
    }

    fn with(sandbox: Sandbox) -> Self {
        // The one folder that any user may write to.
        let paths = DataPaths::new(sandbox.path("tmp/data"));
        Self { sandbox, paths }
    }

    /// `remora ARGS` with this data directory.
    pub(crate) fn remora(&self, args: &[&str]) -> Call<'_> {
        self.sandbox
            .remora(args)
            .environment("REMORA_HOME", self.paths.home().display().to_string())
            // What comes back must not hang on whether the encoder is loaded.
            .environment("REMORA_EMBEDDING_BUDGET_MS", "0")
            .leaving_a_process()
    }

    /// A hook of Claude Code.
    pub(crate) fn hook(&self, input: impl Into<Vec<u8>>) -> Done {
        let done = self.remora(&["hook", "claude-code"]).stdin(input).go();
        valid(&done);
        done
    }

    /// The answer to an event.
    pub(crate) fn tell(&self, event: &Value) -> Value {
        serde_json::from_str(&self.hook(event.to_string()).raw).unwrap()
    }

    /// What a session that begins in this folder is told.
    pub(crate) fn begin(&self, session: &str, folder: &Path) -> Start {
        let answer = self.tell(&json!({
            "session_id": session,
            "transcript_path": "/t",
            "cwd": folder,
            "hook_event_name": "SessionStart",
            "source": "startup",
        }));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Start {
            message: text(&answer["systemMessage"]),
            context: text(&answer["hookSpecificOutput"]["additionalContext"]),
        }
    }

    /// A command that ran in this folder, with a word of its own.
    pub(crate) fn ran(&self, session: &str, folder: &Path, word: &str) {
        self.tell(&call(session, folder, word));
    }

    /// A decision that the user told a session, with a word of its own.
    pub(crate) fn decided(&self, session: &str, folder: &Path, word: &str) {
        self.tell(&json!({
            "session_id": session,
            "transcript_path": "/t",
            "cwd": folder,
            "hook_event_name": "UserPromptSubmit",
            "prompt": format!("We decided to keep {word} in the repository."),
            "prompt_id": format!("{session} {word}"),
        }));
    }

    /// Waits until all that was spooled is stored.
    pub(crate) fn drain(&self) {
        let done = self.remora(&["worker", "drain"]).go();
        assert_eq!(done.code, Some(0), "{done}");
    }

    pub(crate) fn stop(&self) {
        let done = self.remora(&["worker", "stop"]).go();
        assert_eq!(done.code, Some(0), "{done}");
    }

    /// The ledger, oldest first.
    pub(crate) fn events(&self) -> Vec<LoggedEvent> {
        let store =
            remora_server::open_database(&self.paths.database_file(), Access::Read).unwrap();
        store.list_events(&Filter::default(), ALL).unwrap()
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        let store =
            remora_server::open_database(&self.paths.database_file(), Access::Read).unwrap();
        store.list_items(&Filter::default(), ALL).unwrap()
    }

    /// Files that wait in the spool.
    pub(crate) fn spooled(&self) -> Vec<PathBuf> {
        remora_client::list_spooled(&self.paths, usize::MAX).unwrap_or_default()
    }

    /// The processes of the workers of this data directory.
    pub(crate) fn workers(&self) -> Vec<u32> {
        let all = self.sandbox.processes();
        let workers = all.iter().filter(|p| p.contains("worker run"));
        workers
            .map(|p| p.split(' ').next().unwrap().parse().unwrap())
            .collect()
    }

    /// The one worker, once it is up.
    pub(crate) fn worker(&self) -> u32 {
        until("one worker is up", || {
            let answers = remora_client::send_request(
                &self.paths.socket_file(),
                &remora_core::request::Request::Status,
                PATIENCE,
            );
            answers.ok().map(|reply| reply.pid)
        })
    }

    /// Whether nobody listens at the worker's socket.
    pub(crate) fn deserted(&self) -> bool {
        let knock = remora_client::Connection::try_open(&self.paths.socket_file());
        matches!(knock, remora_client::Connection::NotListening)
    }

    /// A listener in the worker's place that never takes a call: whatever is
    /// spooled stays where it is.
    pub(crate) fn deaf(&self) -> UnixListener {
        self.paths.prepare_data_dir().unwrap();
        UnixListener::bind(self.paths.socket_file()).unwrap()
    }

    /// The program with this data directory, for what a `Call` cannot do.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.sandbox.path("project"))
            .env_clear()
            .env("HOME", self.sandbox.path("home"))
            .env("REMORA_HOME", self.paths.home())
            .env("REMORA_TEST_MARK", self.mark())
            .env("REMORA_DEADLINE_MS", "50000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn mark(&self) -> PathBuf {
        let root = self.sandbox.path("");
        root.file_name().unwrap().into()
    }
}

impl Drop for Den {
    /// Nothing lives on, however the test ended.
    fn drop(&mut self) {
        let end = Instant::now() + PATIENCE;
        // A worker on its way into the background is another process by now. If
        // process ids have just begun anew, its id lies before the place that the
        // list was read to, so that only a second look sees it.
        let mut empty_looks = 0;
        while empty_looks < 2 && Instant::now() < end {
            let left = self.sandbox.processes();
            empty_looks = if left.is_empty() { empty_looks + 1 } else { 0 };
            for process in left {
                let id = process.split(' ').next().unwrap_or_default();
                signal("KILL", id);
            }
            thread::park_timeout(Duration::from_millis(2));
        }
    }
}

/// What a session's start was answered with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) message: Option<String>,
    pub(crate) context: Option<String>,
}

/// A command that ran, as the client tells it.
pub(crate) fn call(session: &str, folder: &Path, word: &str) -> Value {
    json!({
        "session_id": session,
        "transcript_path": "/t",
        "cwd": folder,
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": format!("make {word}") },
        "tool_response": { "stdout": format!("built {word} in the usual way"), "stderr": "" },
        "tool_use_id": format!("toolu_{session}_{word}"),
    })
}

/// Nothing on stderr, exit 0, and on stdout one JSON object or nothing at all.
pub(crate) fn valid(done: &Done) {
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done}");
    // What a summary should keep is plain text: the client takes no JSON there.
    if done.raw.is_empty() || done.raw.starts_with("Keep in the summary: ") {
        return;
    }
    let value: Value = serde_json::from_str(&done.raw).unwrap();
    assert!(value.is_object() && done.raw.ends_with('\n'), "{done}");
    assert_eq!(done.raw.lines().count(), 1, "{done}");
}

/// Sends a signal to one process.
pub(crate) fn signal(name: &str, process: &str) {
    let _ = Command::new("kill")
        .args(["-s", name, process])
        .stderr(Stdio::null())
        .status();
}

/// Waits for something to become true.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "still not: {what}");
        thread::park_timeout(Duration::from_millis(2));
    }
}

/// Writes and closes.
pub(crate) fn feed(mut pipe: impl Write + Send + 'static, bytes: Vec<u8>) {
    thread::spawn(move || drop(pipe.write_all(&bytes)));
}

/// Every file below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        }
        found.push(path);
    }
    found
}
