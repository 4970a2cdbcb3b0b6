//! The worker: one per data directory, by its lock; a loop over ticks; back-off
//! when the disk or the database refuses; an exit when it is idle.

mod lock;
mod upkeep;

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use remora_client::{
    CaptureFailureMark, DataPaths, came_up, list_spooled, send_reply, start_worker,
};
use remora_core::request::Reply;
use remora_git::Git;
use remora_memory::CapturePolicy;
use remora_memory::store::{Store, StoreError};
use remora_store::Access;

use crate::changed::{GIT_TIMEOUT, GitStatusWatcher};
use crate::commits::GitCapture;
use crate::commits::feed::{CommitFeed, FeedSettings};
use crate::crashes::WorkerRun;
use crate::embedder::Embedder;
use crate::embeddings::{BackgroundEmbedding, IdleEmbedding, TextEncoder};
use crate::guard::name_of;
use crate::index_optimizer::IndexOptimizer;
use crate::ingest::{FailedEvent, Touched};
use crate::panics::catch_panic;
use crate::saved::{RefreshScope, SavedMemories, SavedMemoryIndex};
use crate::socket::SocketListener;
use crate::{
    Log, ServerError, SpoolIngest, forget, io_error_at, is_gone, move_aside, rebuild_database,
};

/// Without a notification the spool is read this often: a hook does not wait to
/// see whether its notification arrived.
const SPOOL_POLL_INTERVAL: Duration = Duration::from_secs(30);
/// After being idle for this long, the worker compacts the archive.
const TIDY_DELAY: Duration = Duration::from_secs(20);
const MIN_RETRY_DELAY: Duration = Duration::from_millis(200);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// What the next session reports about a rebuilt database.
const DAMAGED_DATABASE_NOTICE: &str = "the database was damaged: it was put aside and made anew from the \
    archive; what came from another memory system must be imported again";

/// Milliseconds since 1970.
pub type Clock = fn() -> i64;

/// Opens the database for writing.
pub type StoreOpener = fn(&Path) -> Result<Box<dyn Store>, StoreError>;

/// Something else to do now and then; returns what it did.
pub type IdleTask = fn(&DataPaths) -> Option<String>;

/// What the worker needs to know.
#[derive(Debug, Clone)]
pub struct WorkerSettings {
    /// The data directory.
    pub paths: DataPaths,
    /// Opens the store: [`open_store`], or in tests and the proof a store that
    /// fails on purpose.
    pub open_store: StoreOpener,
    /// This program's version.
    pub version: String,
    /// What is kept, and how.
    pub policy: CapturePolicy,
    /// Files that are not captured, as in `.gitignore`.
    pub ignore: Vec<String>,
    /// How long it waits for more before it exits.
    pub idle: Duration,
    /// The archive's limit in bytes.
    pub archive_cap: u64,
    /// Embeds items while idle; `None` leaves that to a command.
    pub background_embedding: Option<BackgroundEmbedding>,
    /// Embeds the prompts of hooks; `None` refuses every request.
    pub encoder: Option<Arc<dyn TextEncoder>>,
    /// Where saved memories come from; `None` leaves their items as they are.
    pub saved: Option<Arc<dyn SavedMemories>>,
    /// Whether commits of the user's projects are read.
    pub git: GitCapture,
    /// An additional task for idle times.
    pub chore: Option<IdleTask>,
    /// The clock.
    pub clock: Clock,
}

/// Opens the product's own store.
pub fn open_store(database: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(crate::open_database(database, Access::Write)?))
}

/// Why the worker exited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerExit {
    /// Another one holds the lock.
    AlreadyRunning,
    /// Nothing happened for a while.
    Idle,
    /// It was asked to.
    Stopped,
    /// It started a newer version in its place.
    Replaced,
    /// Its data directory was removed or replaced.
    Homeless,
}

/// What drives the loop.
#[derive(Debug)]
pub(crate) enum Tick {
    Notify {
        version: String,
        program: String,
    },
    Drain(UnixStream),
    Stop(UnixStream),
    Status(UnixStream),
    /// A check of saved memories is done.
    Checked,
    /// Git has answered about a checkout.
    Asked,
    /// Git has answered about commits.
    CommitsRead,
}

/// Runs the worker until it exits.
pub fn run_worker(settings: &WorkerSettings) -> Result<WorkerExit, ServerError> {
    let paths = &settings.paths;
    paths
        .prepare_data_dir()
        .map_err(io_error_at(paths.home()))?;
    // Everything below (the socket, the crash notes, the database) relies on there
    // being one worker, so nothing is touched before the lock is held.
    let Some(lock) = lock::acquire_lock(paths)? else {
        return Ok(WorkerExit::AlreadyRunning);
    };
    let now = settings.clock;
    let mut log = Log::open(paths.worker_log());
    let pid = std::process::id();
    log.write_line(
        now(),
        &format!("worker {} started, process {pid}", settings.version),
    );
    let (life, died) = WorkerRun::begin_run(paths, now());
    if let Some(died) = died {
        log.write_line(now(), &format!("warning: {died}"));
    }
    log.flush();
    let (ticks, received) = channel();
    let socket = paths.socket_file();
    let embedder = Embedder::start(settings.encoder.clone());
    let ear = SocketListener::open(&socket, ticks.clone(), embedder.clone())
        .map_err(io_error_at(&socket))?;
    // If it fails, hooks only wait a little longer after a crash.
    let _ = came_up(paths);
    // The mark of a failing hook must be writable on a full disk, so its space is
    // reserved now.
    let _ = CaptureFailureMark::for_data_dir(paths).reserve_space();
    let mut worker = Worker {
        settings,
        lock: &lock,
        started: now(),
        stored: 0,
        dead: 0,
        touched: Touched::default(),
        trouble: None,
        damage: None,
        ingest: None,
        opened: None,
        log: Some(log),
        spare: IdleEmbedding::new(settings.background_embedding.clone()),
        embedder,
        settling: IndexOptimizer::new(),
        saved: SavedMemoryIndex::new(
            settings.saved.clone(),
            settings.policy.redaction.clone(),
            ticks.clone(),
        ),
        changes: GitStatusWatcher::new(
            paths.clone(),
            now,
            Git::default().with_limit(GIT_TIMEOUT),
            ticks.clone(),
        ),
        commits: CommitFeed::new(
            FeedSettings {
                paths: paths.clone(),
                rules: settings.policy.redaction.clone(),
                ignore: settings.ignore.clone(),
                clock: now,
                capture: settings.git,
            },
            ticks,
        ),
    };
    // Before the first event: one of a session that is being deleted must not be
    // stored.
    worker.resume_deletion();
    let ended = worker.run(&received);
    if ended == WorkerExit::Homeless {
        // The socket of that name now belongs to another worker.
        ear.abandon_file();
        life.end_run();
        return Ok(ended);
    }
    drop(ear);
    // Events whose hooks notified the socket just before it was closed are ingested
    // now; later hooks find no socket and start a new worker.
    if ended == WorkerExit::Idle {
        worker.empty_the_spool();
    }
    worker.log_line(&format!("worker ended: {ended:?}"));
    life.end_run();
    Ok(ended)
}

struct Worker<'a> {
    settings: &'a WorkerSettings,
    lock: &'a File,
    started: i64,
    stored: u64,
    dead: u64,
    /// What the last batch touched.
    touched: Touched,
    trouble: Option<String>,
    /// Damage that a batch has found in a database that could be opened.
    damage: Option<String>,
    ingest: Option<SpoolIngest>,
    /// The identity of the database file that the ingest writes to.
    opened: Option<(u64, u64)>,
    /// The log, until the ingest owns it.
    log: Option<Log>,
    spare: IdleEmbedding,
    embedder: Embedder,
    settling: IndexOptimizer,
    saved: SavedMemoryIndex,
    changes: GitStatusWatcher,
    commits: CommitFeed,
}

impl Worker<'_> {
    fn run(&mut self, ticks: &Receiver<Tick>) -> WorkerExit {
        let mut idle_since = Instant::now();
        let mut back_off = MIN_RETRY_DELAY;
        let mut tidied = false;
        let mut waiters: Vec<(UnixStream, Vec<PathBuf>)> = Vec::new();
        loop {
            if !self.is_at_home() {
                return WorkerExit::Homeless;
            }
            let pause = match self.ingest_once() {
                Ok(0) => {
                    back_off = MIN_RETRY_DELAY;
                    self.clear_problem();
                    SPOOL_POLL_INTERVAL.min(self.settings.idle)
                }
                Ok(_) => {
                    back_off = MIN_RETRY_DELAY;
                    self.clear_problem();
                    self.mark_stored();
                    idle_since = Instant::now();
                    tidied = false;
                    Duration::ZERO
                }
                Err(e) => {
                    self.in_trouble(&e);
                    // Trouble is not idleness: the spool is not empty.
                    idle_since = Instant::now();
                    back_off = (back_off * 2).min(MAX_RETRY_DELAY);
                    back_off
                }
            };
            // A draining command wants everything current, but only once the backlog is
            // through, not after each of its batches.
            let asked = !waiters.is_empty() && !pause.is_zero();
            self.keep_in_step(if asked {
                RefreshScope::All
            } else {
                RefreshScope::Due
            });
            self.answer_waiters(&mut waiters);
            let idle = idle_since.elapsed();
            let pause = self.use_spare_time(idle).map_or(pause, |w| w.min(pause));
            if idle >= self.settings.idle && waiters.is_empty() && !self.spare.is_busy() {
                return WorkerExit::Idle;
            }
            if !tidied && idle >= TIDY_DELAY {
                tidied = true;
                self.run_upkeep();
            }
            let pause = if tidied { pause } else { pause.min(TIDY_DELAY) };
            // All ticks that have arrived are handled before the next batch: a command
            // must not wait for one batch per hook that notified before it.
            let mut next = ticks.recv_timeout(pause).ok();
            while let Some(tick) = next {
                self.saved.on_notify();
                match tick {
                    Tick::Notify { version, program } => {
                        if is_newer_version(&version, &self.settings.version)
                            && self.make_way(&program)
                        {
                            return WorkerExit::Replaced;
                        }
                    }
                    Tick::Drain(stream) => waiters.push((stream, self.list_awaited())),
                    Tick::Status(stream) => self.answer_status(stream),
                    Tick::Checked => self.saved.finish_check(),
                    Tick::Asked => self.changes.join_thread(),
                    Tick::CommitsRead => self.commits.join_thread(),
                    Tick::Stop(stream) => {
                        self.answer_status(stream);
                        return WorkerExit::Stopped;
                    }
                }
                next = ticks.try_recv().ok();
            }
        }
    }

    /// Whether its lock file is still the one in its data directory, which a user
    /// may remove and create again while the worker runs.
    fn is_at_home(&self) -> bool {
        let held = self.lock.metadata().as_ref().map(file_identity).ok();
        held.is_some() && held == place_of(&self.settings.paths.lock())
    }

    /// Ingests one batch; returns how many files left the spool.
    fn ingest_once(&mut self) -> Result<usize, ServerError> {
        let now = (self.settings.clock)();
        // After a rebuild or restore, the open database is a deleted file, and what is
        // written to it would be lost.
        if self.ingest.is_some() && self.opened != place_of(&self.settings.paths.database_file()) {
            self.ingest = None;
        }
        // A panic on an event is caught inside, with the event; this catches the rest.
        let stats = catch_panic(|| self.ensure_ingest()?.ingest_batch(now))
            .map_err(ServerError::Panicked)??;
        self.stored += stats.stored as u64;
        self.dead += stats.dead as u64;
        self.touched = stats.touched;
        Ok(stats.removed)
    }

    /// The ingest; the store is opened on first use, and again after trouble.
    fn ensure_ingest(&mut self) -> Result<&mut SpoolIngest, ServerError> {
        if self.ingest.is_none() {
            let paths = &self.settings.paths;
            let store = self.open_or_rebuild_store()?;
            let log = self
                .log
                .take()
                .unwrap_or_else(|| Log::open(paths.worker_log()));
            self.opened = place_of(&paths.database_file());
            self.ingest = Some(SpoolIngest::new(
                paths.clone(),
                store,
                self.settings.policy.clone(),
                self.settings.ignore.clone(),
                log,
            )?);
            // The store may have been rebuilt from the archive, which has neither saved
            // memories nor commits.
            self.saved.reset_cache();
            self.commits.reset_cache();
            self.settling.mark_stored();
        }
        match &mut self.ingest {
            Some(ingest) => Ok(ingest),
            None => Err(StoreError::Failed("no store".into()).into()),
        }
    }

    /// The store, rebuilt from the archive if it is damaged or gone.
    fn open_or_rebuild_store(&mut self) -> Result<Box<dyn Store>, ServerError> {
        let paths = &self.settings.paths;
        let database = paths.database_file();
        let open = self.settings.open_store;
        let reason = match self.damage.take() {
            Some(reason) => reason,
            // As after a crash between moving a damaged file aside and completing the
            // new one. Opening it would silently start an empty memory.
            None if is_gone(paths) => {
                self.log_line("the database is gone; rebuilt from the archive");
                self.rebuild_store()?;
                return Ok(open(&database)?);
            }
            None => match open(&database) {
                Err(StoreError::Damaged(reason)) => reason,
                other => return Ok(other?),
            },
        };
        let aside = move_aside(paths, (self.settings.clock)())?;
        self.log_line(&format!(
            "the database is damaged ({reason}); moved to {} and rebuilt from the archive",
            aside.display()
        ));
        // The log has it as well, so a mark that cannot be written is no error.
        let _ = CaptureFailureMark::for_data_dir(paths).record_failure(DAMAGED_DATABASE_NOTICE);
        self.rebuild_store()?;
        Ok(open(&database)?)
    }

    fn rebuild_store(&mut self) -> Result<(), ServerError> {
        let settings = self.settings;
        let rebuilt = rebuild_database(&settings.paths, &settings.policy, &mut |_| {})?;
        for FailedEvent { id, reason } in rebuilt.left_out {
            self.log_line(&format!("warning: event {id} is left out: {reason}"));
        }
        Ok(())
    }

    /// Completes a deletion that was interrupted, before anything is stored.
    fn resume_deletion(&mut self) {
        match forget::resume_deletion(&self.settings.paths) {
            Ok(false) => {}
            Ok(true) => self.log_line("a deletion that was cut short was carried out"),
            Err(e) => self.log_line(&format!("a deletion that was cut short has to wait: {e}")),
        }
    }

    fn empty_the_spool(&mut self) {
        while self.ingest_once().is_ok_and(|taken| taken > 0) {}
    }

    /// Logs a problem once; after an unexpected one the store is opened again.
    fn in_trouble(&mut self, error: &ServerError) {
        let text = error.to_string();
        if self.trouble.as_ref() != Some(&text) {
            self.log_line(&format!("warning: {text}; events wait in the spool"));
            self.trouble = Some(text);
        }
        match error {
            // Opening it again may succeed and not show the damage, so the reason is kept
            // for `open_or_rebuild_store`.
            ServerError::Store(StoreError::Damaged(reason)) => {
                self.damage = Some(reason.clone());
                self.ingest = None;
            }
            ServerError::Store(StoreError::Failed(_)) | ServerError::Panicked(_) => {
                self.ingest = None;
            }
            _ => {}
        }
    }

    fn clear_problem(&mut self) {
        if self.trouble.take().is_some() {
            self.log_line("works again");
        }
    }

    fn log_line(&mut self, text: &str) {
        let now = (self.settings.clock)();
        let log = match (&mut self.ingest, &mut self.log) {
            (Some(ingest), _) => ingest.log(),
            (None, Some(log)) => log,
            (None, log) => log.insert(Log::open(self.settings.paths.worker_log())),
        };
        log.write_line(now, text);
        log.flush();
    }

    /// The files that a drain waits for: not suspects that are deferred because
    /// workers died on them, for up to a day.
    fn list_awaited(&self) -> Vec<PathBuf> {
        let mut files = list_spooled(&self.settings.paths, usize::MAX).unwrap_or_default();
        if let Some(ingest) = &self.ingest {
            let put_off = ingest.put_off((self.settings.clock)());
            files.retain(|file| !put_off.contains(name_of(file).as_str()));
        }
        files
    }

    fn answer_waiters(&mut self, waiters: &mut Vec<(UnixStream, Vec<PathBuf>)>) {
        // The newest file is ingested last, so looking at it first usually decides.
        // In trouble no caller is kept waiting; the reply names the trouble.
        let (done, still): (Vec<_>, Vec<_>) = waiters.drain(..).partition(|(_, files)| {
            self.trouble.is_some() || !files.iter().rev().any(|file| file.exists())
        });
        *waiters = still;
        for (stream, _) in done {
            self.answer_status(stream);
        }
    }

    fn answer_status(&self, mut stream: UnixStream) {
        let status = Reply {
            pid: std::process::id(),
            version: self.settings.version.clone(),
            started: self.started,
            stored: self.stored,
            dead: self.dead,
            trouble: self.trouble.clone(),
            embedding_trouble: self.spare.trouble().map(str::to_owned),
            unembeddable: self.spare.unembeddable(),
        };
        // The client may have hung up.
        let _ = send_reply(&mut stream, &status);
    }

    /// Starts the newer program; it waits for the lock until this one exits.
    fn make_way(&mut self, program: &str) -> bool {
        let there = fs::metadata(program).is_ok_and(|m| m.is_file());
        let started = there && start_worker(&self.settings.paths, Path::new(program)).is_ok();
        if started {
            self.log_line(&format!("making way for {program}"));
        }
        started
    }
}

/// Device and inode: distinguishes a file from another one of the same name.
fn file_identity(meta: &fs::Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

/// The identity of the file at this place, if there is one.
pub(crate) fn place_of(file: &Path) -> Option<(u64, u64)> {
    fs::metadata(file).as_ref().map(file_identity).ok()
}

/// Whether `a` is a later version than `b`; false if either is no version. Build
/// suffixes do not count, or two builds of one version would replace each other.
fn is_newer_version(a: &str, b: &str) -> bool {
    let parts = |text: &str| -> Option<Vec<u32>> {
        let core = text.split(['-', '+']).next()?;
        core.split('.').map(|part| part.parse().ok()).collect()
    };
    match (parts(a), parts(b)) {
        (Some(a), Some(b)) => a > b,
        _ => false,
    }
}
