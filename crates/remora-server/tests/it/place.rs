//! A data directory of its own, with events to put into it.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use remora_client::{Input, Paths, ask, spool};
use remora_memory::Policy;
use remora_memory::store::{Filter, Order, Page, Store};
use remora_memory::testing::{Fault, FaultyStore};
use remora_protocol::record::{EventRow, Item};
use remora_protocol::request::{Reply, Request};
use remora_server::{Ended, Inbox, Log, ServerError, Settings, open_store, serve};
use remora_store::Access;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const NOW: i64 = 1_794_700_000_000;
pub(crate) const AGENT: &str = "claude-code";
const PATIENCE: Duration = Duration::from_secs(50);

pub(crate) struct Place {
    pub(crate) paths: Paths,
    _dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::new(dir.path().join("data"));
        paths.prepare().unwrap();
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
        let input = Input {
            bytes: bytes.to_vec(),
            cut: false,
        };
        spool(&self.paths, AGENT, now, None, &input, false).unwrap()
    }

    pub(crate) fn settings(&self, version: &str, idle: Duration) -> Settings {
        Settings {
            paths: self.paths.clone(),
            open_store,
            version: version.to_owned(),
            policy: Policy::default(),
            ignore: Vec::new(),
            idle,
            archive_cap: u64::MAX,
            meanings: None,
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

    pub(crate) fn run(&self, settings: Settings) -> Running {
        let socket = self.paths.socket();
        let thread = thread::spawn(move || serve(&settings));
        let running = Running { socket, thread };
        running.wait_until_it_answers();
        running
    }

    /// Rounds without a worker, until nothing waits.
    pub(crate) fn inbox(&self) -> Inbox {
        self.inbox_with(|_| {})
    }

    /// With a fault in front of the store.
    pub(crate) fn inbox_with(&self, fault: Fault) -> Inbox {
        let store = open_store(&self.paths.database()).unwrap();
        let log = Log::open(self.paths.worker_log());
        Inbox::new(
            self.paths.clone(),
            Box::new(FaultyStore::new(store, fault)),
            Policy::default(),
            Vec::new(),
            log,
        )
        .unwrap()
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        let store = remora_store::open(&self.paths.database(), Access::Read).unwrap();
        store.list(&Filter::default(), ALL).unwrap()
    }

    pub(crate) fn titles(&self) -> Vec<String> {
        self.items().into_iter().map(|item| item.title).collect()
    }

    pub(crate) fn events(&self) -> Vec<EventRow> {
        let store = remora_store::open(&self.paths.database(), Access::Read).unwrap();
        store.events(&Filter::default(), ALL).unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.paths.worker_log()).unwrap()
    }
}

const ALL: Page = Page {
    order: Order::Oldest,
    beyond: None,
    limit: 100_000,
};

pub(crate) struct Running {
    socket: PathBuf,
    thread: JoinHandle<Result<Ended, ServerError>>,
}

impl Running {
    fn wait_until_it_answers(&self) {
        let end = std::time::Instant::now() + PATIENCE;
        while ask(&self.socket, &Request::Status, PATIENCE).is_err() {
            assert!(
                std::time::Instant::now() < end,
                "the worker does not answer"
            );
            assert!(!self.thread.is_finished(), "the worker ended");
            thread::yield_now();
        }
    }

    pub(crate) fn ask(&self, request: &Request) -> Reply {
        ask(&self.socket, request, PATIENCE).unwrap()
    }

    pub(crate) fn end(self) -> Ended {
        self.thread.join().unwrap().unwrap()
    }

    pub(crate) fn stop(self) -> Ended {
        self.ask(&Request::Stop);
        self.end()
    }
}
