//! A data directory of its own, with events to put into it.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use remora_client::{DataPaths, HookInput, send_request, spool_event};
use remora_core::record::{Item, LoggedEvent};
use remora_core::request::{Reply, Request};
use remora_memory::CapturePolicy;
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};
use remora_memory::testing::{Fault, FaultyStore};
use remora_server::{
    Log, ServerError, SpoolIngest, WorkerExit, WorkerSettings, open_store, run_worker,
};
use remora_store::Access;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const NOW: i64 = 1_794_700_000_000;
pub(crate) const AGENT: &str = "claude-code";
const PATIENCE: Duration = Duration::from_secs(50);

pub(crate) struct Place {
    pub(crate) paths: DataPaths,
    _dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        paths.prepare_data_dir().unwrap();
        Self { paths, _dir: dir }
    }

    /// A command that ran, with words of its own.
    pub(crate) fn call(n: usize) -> Value {
        json!({
            "session_id": "s1",
            "transcript_path": "/t",
            "cwd": "/p",
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": { "command": format!("make target{n}word") },
            "tool_response": { "stdout": format!("built target{n}word in the usual way"), "stderr": "" },
            "tool_use_id": format!("toolu_{n}"),
        })
    }

    pub(crate) fn put(&self, now: i64, event: &Value) -> String {
        self.put_bytes(now, event.to_string().as_bytes())
    }

    pub(crate) fn put_bytes(&self, now: i64, bytes: &[u8]) -> String {
        let input = HookInput {
            bytes: bytes.to_vec(),
            cut: false,
        };
        spool_event(&self.paths, AGENT, now, None, &input, false).unwrap()
    }

    pub(crate) fn settings(&self, version: &str, idle: Duration) -> WorkerSettings {
        WorkerSettings {
            paths: self.paths.clone(),
            open_store,
            version: version.to_owned(),
            policy: CapturePolicy::default(),
            ignore: Vec::new(),
            idle,
            archive_cap: u64::MAX,
            background_embedding: None,
            encoder: None,
            saved: None,
            git: remora_server::commits::GitCapture::Off,
            chore: None,
            clock: || NOW,
        }
    }

    pub(crate) fn start(&self, version: &str, idle: Duration) -> Running {
        self.run(self.settings(version, idle))
    }

    pub(crate) fn run(&self, settings: WorkerSettings) -> Running {
        let socket = self.paths.socket_file();
        let thread = thread::spawn(move || run_worker(&settings));
        let running = Running { socket, thread };
        running.wait_until_it_answers();
        running
    }

    /// Rounds without a worker, until nothing waits.
    pub(crate) fn inbox(&self) -> SpoolIngest {
        self.inbox_with(|_| {})
    }

    /// With a fault in front of the store.
    pub(crate) fn inbox_with(&self, fault: Fault) -> SpoolIngest {
        let store = open_store(&self.paths.database_file()).unwrap();
        let log = Log::open(self.paths.worker_log());
        SpoolIngest::new(
            self.paths.clone(),
            Box::new(FaultyStore::new(store, fault)),
            CapturePolicy::default(),
            Vec::new(),
            log,
        )
        .unwrap()
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        let store =
            remora_server::open_database(&self.paths.database_file(), Access::Read).unwrap();
        store.list_items(&Filter::default(), ALL).unwrap()
    }

    pub(crate) fn titles(&self) -> Vec<String> {
        self.items().into_iter().map(|item| item.title).collect()
    }

    pub(crate) fn events(&self) -> Vec<LoggedEvent> {
        let store =
            remora_server::open_database(&self.paths.database_file(), Access::Read).unwrap();
        store.list_events(&Filter::default(), ALL).unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.paths.worker_log()).unwrap()
    }
}

const ALL: PageRequest = PageRequest {
    order: SortOrder::Oldest,
    beyond: None,
    limit: 100_000,
};

pub(crate) struct Running {
    socket: PathBuf,
    thread: JoinHandle<Result<WorkerExit, ServerError>>,
}

impl Running {
    fn wait_until_it_answers(&self) {
        let end = std::time::Instant::now() + PATIENCE;
        while send_request(&self.socket, &Request::Status, PATIENCE).is_err() {
            assert!(
                std::time::Instant::now() < end,
                "the worker does not answer"
            );
            assert!(!self.thread.is_finished(), "the worker ended");
            thread::yield_now();
        }
    }

    pub(crate) fn ask(&self, request: &Request) -> Reply {
        send_request(&self.socket, request, PATIENCE).unwrap()
    }

    pub(crate) fn end(self) -> WorkerExit {
        self.thread.join().unwrap().unwrap()
    }

    pub(crate) fn stop(self) -> WorkerExit {
        self.ask(&Request::Stop);
        self.end()
    }
}
