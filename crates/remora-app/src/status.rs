//! How much is remembered, and whether everything runs. Never fails because of what
//! it finds.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use remora_client::{DataPaths, PauseEntry, list_spooled, send_request};
use remora_core::ids::AgentId;
use remora_core::record::Kind;
use remora_core::request::{Reply, Request};
use remora_core::time::format_rfc3339;
use remora_embed::MODEL_ID;
use remora_memory::store::StoreStats;
use remora_server::archive::Archive;
use remora_server::crashes::{WorkerCrash, recent_deaths};
use remora_server::{SuspectEvent, list_suspects};
use serde::Serialize;

use crate::app::App;
use crate::config::Config;
use crate::error::AppError;
use crate::pauses::{PauseView, list_pauses};
use crate::tier::count_items;

/// A worker in the middle of a large batch takes a moment to answer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// What is known of the worker.
#[derive(Debug)]
pub enum WorkerState {
    /// It answers.
    Runs(Reply),
    /// It holds the lock and does not answer.
    Silent,
    /// There is none.
    None,
}

impl WorkerState {
    fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Runs(reply) => Some(reply),
            Self::Silent | Self::None => None,
        }
    }
}

/// Looks for the worker of a data directory.
pub fn query_worker(paths: &DataPaths) -> WorkerState {
    match send_request(&paths.socket_file(), &Request::Status, REPLY_TIMEOUT) {
        Ok(reply) => WorkerState::Runs(reply),
        Err(_) if is_locked(paths) => WorkerState::Silent,
        Err(_) => WorkerState::None,
    }
}

/// Whether some process holds the worker's lock. A worker that starts at this
/// moment tries again.
pub fn is_locked(paths: &DataPaths) -> bool {
    File::open(paths.lock()).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// Events of the spool that workers died on.
pub fn count_put_off(paths: &DataPaths) -> u64 {
    let spool = paths.spool_dir();
    let put_off = list_suspects(paths)
        .into_iter()
        .filter(SuspectEvent::goes_last);
    // The list may name events that were ingested since.
    put_off.filter(|s| spool.join(&s.name).exists()).count() as u64
}

/// Whether this environment switches everything off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureSwitch {
    /// It does not.
    On,
    /// It does: hooks that are started in it do nothing.
    Off,
}

/// How much there is, and what runs.
#[derive(Debug, Serialize)]
pub struct StatusResponse {
    version: &'static str,
    data_dir: PathBuf,
    /// Events in the ledger.
    pub events: u64,
    /// Items that report something done, found or decided.
    pub observations: u64,
    /// Summaries.
    pub summaries: u64,
    /// Fixes.
    pub fixes: u64,
    /// Saved memories.
    pub memories: u64,
    /// Prompts.
    pub prompts: u64,
    /// Messages.
    pub messages: u64,
    /// Commits.
    pub commits: u64,
    /// Sessions.
    pub sessions: u64,
    /// Sessions of each agent.
    pub agents: BTreeMap<AgentId, u64>,
    /// Projects.
    pub projects: u64,
    /// Embeddings.
    pub vectors: VectorStatus,
    /// Events that wait.
    pub spool: u64,
    /// Events that could not be stored.
    pub dead: u64,
    /// Events of the spool that workers died on.
    pub put_off: u64,
    /// The size of the database on the disk.
    pub db_bytes: u64,
    /// The size of the archive on the disk.
    pub archive_bytes: u64,
    /// What is wrong with the database, in words.
    pub trouble: Option<String>,
    /// What is wrong with the user's settings.
    pub config_trouble: Option<String>,
    /// Why the data directory is not used.
    pub data_dir_trouble: Option<String>,
    off: bool,
    pauses: Vec<PauseView>,
    worker: WorkerStatus,
    /// All items; `None` where the database cannot be read.
    #[serde(skip)]
    pub items: Option<u64>,
    /// What is wrong with the database.
    #[serde(skip)]
    pub database_error: Option<AppError>,
    /// The worker.
    #[serde(skip)]
    pub worker_state: WorkerState,
    /// Workers of the last hour that did not end properly.
    #[serde(skip)]
    pub deaths: Vec<WorkerCrash>,
    /// What is paused.
    #[serde(skip)]
    pub paused: Vec<PauseEntry>,
}

/// How many items have an embedding.
#[derive(Debug, Serialize)]
pub struct VectorStatus {
    model: &'static str,
    /// Items that have one.
    pub embedded: u64,
    /// Items that wait for one.
    pub waiting: u64,
    failed: Option<u64>,
    trouble: Option<String>,
}

/// What the worker says.
#[derive(Debug, Serialize)]
struct WorkerStatus {
    running: bool,
    answers: bool,
    pid: Option<u32>,
    version: Option<String>,
    port: Option<u16>,
    started: Option<String>,
    stored: Option<u64>,
    recent_deaths: usize,
    trouble: Option<String>,
}

impl App {
    /// How much there is, and what runs.
    pub fn status(&self, switch: CaptureSwitch) -> StatusResponse {
        let paths = &self.paths;
        let refused = paths.find_fault();
        // A refused folder is not ours: not even its database is opened, and looking for
        // pauses removes those that are over.
        let counted = match refused {
            None => self.count_contents(),
            Some(_) => Ok((StoreStats::default(), 0)),
        };
        let paused = match refused {
            None => list_pauses(paths, self.clock.now_ms()),
            Some(_) => Vec::new(),
        };
        let (counts, waiting, database_error) = match counted {
            Ok((counts, waiting)) => (Some(counts), waiting, None),
            Err(error) => (None, 0, Some(error)),
        };
        let worker = query_worker(paths);
        // The note of a running worker looks like that of one that died.
        let is_running = !matches!(worker, WorkerState::None);
        let deaths = recent_deaths(paths, self.clock.now_ms(), is_running);
        // The size on disk, also of a file that cannot be read.
        let file_size = || std::fs::metadata(paths.database_file()).map_or(0, |m| m.len());
        let db_bytes = counts
            .as_ref()
            .map_or_else(file_size, |counts| counts.bytes);
        let items = counts.as_ref().map(count_items);
        let counts = counts.unwrap_or_default();
        let count = |wanted: &dyn Fn(Kind) -> bool| -> u64 {
            let rows = counts.items.iter().filter(|(kind, _)| wanted(*kind));
            rows.map(|(_, n)| n).sum()
        };
        let count_kind = |wanted: Kind| count(&|kind| kind == wanted);
        StatusResponse {
            version: env!("CARGO_PKG_VERSION"),
            data_dir: paths.home().to_path_buf(),
            events: counts.events,
            observations: count(&Kind::is_observation),
            summaries: count_kind(Kind::Summary),
            fixes: count_kind(Kind::Fix),
            memories: count_kind(Kind::Memory),
            prompts: count_kind(Kind::Prompt),
            messages: count_kind(Kind::Message),
            commits: count_kind(Kind::Commit),
            sessions: counts.sessions,
            agents: counts.agents.iter().cloned().collect(),
            projects: counts.projects,
            vectors: VectorStatus {
                model: MODEL_ID,
                embedded: items.unwrap_or_default().saturating_sub(waiting),
                waiting,
                failed: worker.reply().map(|reply| reply.unembeddable),
                trouble: worker.reply().and_then(|r| r.embedding_trouble.clone()),
            },
            // Here and below a fault is a zero: the report must come, whatever is
            // broken.
            spool: list_spooled(paths, usize::MAX).map_or(0, |files| files.len() as u64),
            dead: remora_server::dead_letters(paths).map_or(0, |dead| dead.len() as u64),
            put_off: count_put_off(paths),
            db_bytes,
            archive_bytes: Archive::new(paths.archive_dir()).disk_bytes(),
            trouble: database_error.as_ref().map(ToString::to_string),
            config_trouble: Config::load(&paths.config_file())
                .err()
                .map(|error| error.to_string()),
            data_dir_trouble: refused,
            off: switch == CaptureSwitch::Off,
            pauses: paused.iter().map(PauseView::from).collect(),
            worker: WorkerStatus::new(&worker, deaths.len()),
            items,
            database_error,
            worker_state: worker,
            deaths,
            paused,
        }
    }

    fn count_contents(&self) -> Result<(StoreStats, u64), AppError> {
        // An empty store is normal before the first event.
        let Some(store) = self.open_store()? else {
            return Ok((StoreStats::default(), 0));
        };
        Ok((store.count_contents()?, store.unembedded_count(MODEL_ID)?))
    }
}

impl WorkerStatus {
    fn new(state: &WorkerState, recent_deaths: usize) -> Self {
        let reply = state.reply();
        Self {
            running: !matches!(state, WorkerState::None),
            answers: reply.is_some(),
            pid: reply.map(|reply| reply.pid),
            version: reply.map(|reply| reply.version.clone()),
            port: None,
            started: reply.map(|reply| format_rfc3339(reply.started)),
            stored: reply.map(|reply| reply.stored),
            recent_deaths,
            trouble: reply.and_then(|reply| reply.trouble.clone()),
        }
    }
}
