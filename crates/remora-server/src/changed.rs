//! What git says of the checkouts that sessions work in, asked on a thread of
//! its own and written down for hooks, which have no time to ask. Runs nothing
//! of the project, waits for no lock, and gives up after a moment.

mod status;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use remora_client::{DataPaths, GitStatusCache, make_our_folder, replace_our_file};
use remora_git::{CancelToken, Git};

use crate::Clock;
use crate::panics::catch_panic;
use crate::worker::Tick;

/// A checkout is not asked about more often than this.
const MIN_STATUS_INTERVAL: Duration = Duration::from_secs(10);
/// Checkouts that are kept in mind.
const MAX_ROOTS: usize = 64;
/// How long one question to git may take.
pub(crate) const GIT_TIMEOUT: Duration = Duration::from_secs(2);
/// What was not asked about for this long goes.
const MAX_STATUS_AGE: Duration = Duration::from_hours(30 * 24);

/// Checkouts that wait for their turn, and the one that is being asked about.
#[derive(Debug)]
pub(crate) struct GitStatusWatcher {
    paths: DataPaths,
    clock: Clock,
    git: Git,
    /// Told when one is done, so that the next one has its turn.
    done: Sender<Tick>,
    /// When each was asked about last.
    asked: HashMap<PathBuf, Instant>,
    waiting: Vec<PathBuf>,
    busy: Option<StatusThread>,
}

#[derive(Debug)]
struct StatusThread {
    thread: JoinHandle<()>,
    cancel: CancelToken,
}

impl GitStatusWatcher {
    pub(crate) fn new(paths: DataPaths, clock: Clock, git: Git, done: Sender<Tick>) -> Self {
        Self {
            paths,
            clock,
            git,
            done,
            asked: HashMap::new(),
            waiting: Vec::new(),
            busy: None,
        }
    }

    /// Something may have changed in this checkout.
    pub(crate) fn queue_root(&mut self, root: PathBuf) {
        let place = root.join(".git").exists();
        if place && !self.waiting.contains(&root) && self.waiting.len() < MAX_ROOTS {
            self.waiting.push(root);
        }
    }

    /// Asks about the next one that may be asked about again.
    pub(crate) fn run_step(&mut self) {
        if self.busy.as_ref().is_some_and(|b| !b.thread.is_finished()) {
            return;
        }
        self.join_thread();
        let next = self
            .waiting
            .iter()
            .position(|root| self.remaining_delay(root).is_zero());
        let Some(at) = next else { return };
        let root = self.waiting.remove(at);
        if self.asked.len() >= MAX_ROOTS {
            self.asked
                .retain(|_, at| at.elapsed() < MIN_STATUS_INTERVAL);
        }
        self.asked.insert(root.clone(), Instant::now());
        let (paths, clock, git) = (self.paths.clone(), self.clock, self.git.clone());
        let cancel = CancelToken::default();
        let (own, done) = (cancel.clone(), self.done.clone());
        let work = move || {
            crate::embeddings::step_back();
            // Whatever it meets, the next one has its turn.
            let _ = catch_panic(|| {
                if let Some(found) = status::query_status(&root, &git, &own) {
                    write_status(&paths, &root, found, clock());
                }
            });
            // The worker may have gone.
            let _ = done.send(Tick::Asked);
        };
        // Without a thread there is no cache, and items are ranked without it.
        if let Ok(thread) = thread::Builder::new().spawn(work) {
            self.busy = Some(StatusThread { thread, cancel });
        }
    }

    /// The one that was asked about is done, or as good as done.
    pub(crate) fn join_thread(&mut self) {
        if let Some(busy) = self.busy.take() {
            // Whatever it met, the next one is asked all the same.
            let _ = busy.thread.join();
        }
    }

    /// How long until another one has its turn; a busy one says so itself.
    pub(crate) fn wait(&self) -> Option<Duration> {
        if self.busy.as_ref().is_some_and(|b| !b.thread.is_finished()) {
            return None;
        }
        self.waiting
            .iter()
            .map(|root| self.remaining_delay(root))
            .min()
    }

    fn remaining_delay(&self, root: &Path) -> Duration {
        let asked = self.asked.get(root);
        asked.map_or(Duration::ZERO, |at| {
            MIN_STATUS_INTERVAL.saturating_sub(at.elapsed())
        })
    }

    /// Removes what has not been asked about for a long time.
    pub(crate) fn remove_stale(&self) {
        let Some(before) = to_system_time((self.clock)()).checked_sub(MAX_STATUS_AGE) else {
            return;
        };
        let files = fs::read_dir(GitStatusCache::cache_dir(&self.paths));
        for file in files.into_iter().flatten().flatten() {
            let written = file.metadata().and_then(|meta| meta.modified());
            if written.is_ok_and(|at| at < before) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

impl Drop for GitStatusWatcher {
    /// No git outlives the worker.
    fn drop(&mut self) {
        if let Some(busy) = self.busy.take() {
            busy.cancel.cancel();
            let _ = busy.thread.join();
        }
    }
}

fn to_system_time(millis: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}

/// Writes down what was found. It is only a matter of rank: where it cannot be
/// written, items are ranked without it.
fn write_status(paths: &DataPaths, root: &Path, found: status::GitStatus, now: i64) {
    let file = GitStatusCache::cache_file(paths, root);
    let status::GitStatus::State(state) = found else {
        // What git no longer knows is not known.
        let _ = fs::remove_file(&file);
        return;
    };
    let changes = GitStatusCache {
        root: root.display().to_string(),
        time: now,
        ..state
    };
    let write = || -> std::io::Result<()> {
        make_our_folder(&GitStatusCache::cache_dir(paths))?;
        let draft = file.with_extension("draft");
        let draft = draft.file_name().unwrap_or_default();
        replace_our_file(draft, &file, &serde_json::to_vec(&changes)?)
    };
    let _ = write();
}
