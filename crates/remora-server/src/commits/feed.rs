//! New commits of the projects that sessions work in, read by the worker while
//! idle: git runs on a thread of its own, at most once per project and hour, and
//! the result is stored in the worker's next step.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use remora_client::{DataPaths, Pause, RootClaim, locate_project};
use remora_core::ids::ProjectKey;
use remora_core::record::Project;
use remora_git::{CancelToken, Git};
use remora_memory::store::Store;
use remora_redact::{RedactionRules, Redactor};

use super::{
    CommitLimits, CommitRules, CommitScan, GitCapture, gather_commits, known_commits, store_commits,
};
use crate::forgotten::DeletionLog;
use crate::panics::catch_panic;
use crate::worker::Tick;
use crate::{Clock, ServerError};

/// The history of a project is not read more often than this.
const MIN_PROJECT_INTERVAL: Duration = Duration::from_hours(1);
/// Git is started only after nothing has arrived for this long.
const IDLE_DELAY: Duration = Duration::from_secs(2);
/// How long one git command may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Projects that are queued or remembered.
const MAX_PROJECTS: usize = 64;

/// The worker's side of commits.
#[derive(Debug)]
pub(crate) struct CommitFeed {
    paths: DataPaths,
    rules: RedactionRules,
    ignore: Vec<String>,
    clock: Clock,
    capture: GitCapture,
    git: Git,
    /// Wakes the worker's loop when git has answered.
    done: Sender<Tick>,
    waiting: Vec<Project>,
    /// When the history of each project was read last.
    asked: HashMap<ProjectKey, Instant>,
    busy: Option<FeedThread>,
}

#[derive(Debug)]
struct FeedThread {
    project: Project,
    thread: JoinHandle<Option<CommitScan>>,
    cancel: CancelToken,
    /// It has announced its end; `is_finished` may not be true yet.
    is_done: bool,
}

/// The part of the worker's settings that concerns commits.
#[derive(Debug)]
pub(crate) struct FeedSettings {
    pub(crate) paths: DataPaths,
    pub(crate) rules: RedactionRules,
    pub(crate) ignore: Vec<String>,
    pub(crate) clock: Clock,
    pub(crate) capture: GitCapture,
}

impl CommitFeed {
    pub(crate) fn new(settings: FeedSettings, done: Sender<Tick>) -> Self {
        Self {
            paths: settings.paths,
            rules: settings.rules,
            ignore: settings.ignore,
            clock: settings.clock,
            capture: settings.capture,
            git: Git::default().with_limit(GIT_TIMEOUT),
            done,
            waiting: Vec::new(),
            asked: HashMap::new(),
            busy: None,
        }
    }

    /// A project was used in the checkout at its root.
    pub(crate) fn queue_project(&mut self, project: &Project) {
        let is_new = self.waiting.iter().all(|known| known.key != project.key);
        let is_on = self.capture == GitCapture::On && self.waiting.len() < MAX_PROJECTS;
        if is_on && is_new && self.may_read(project) {
            self.waiting.push(project.clone());
        }
    }

    /// Only a checkout that holds the project's key may add to its memory, and only
    /// while capture is not paused: a clone made by a stranger has a memory of its
    /// own (docs/design/0017).
    fn may_read(&self, project: &Project) -> bool {
        let root = Path::new(&project.root);
        if !root.join(".git").exists() {
            return false;
        }
        let location = locate_project(&self.paths, root, None);
        let holds = location.project.key == project.key && location.claim != RootClaim::Free;
        let now = (self.clock)();
        holds && !Pause::for_data_dir(&self.paths).is_off(Some(&project.key), "", now)
    }

    /// The store may be another one, in which the commits are missing.
    pub(crate) fn reset_cache(&mut self) {
        self.asked.clear();
    }

    /// Stores what git has said, or else reads the next project if nothing has
    /// arrived for a while; returns a line for the log.
    pub(crate) fn run_step(
        &mut self,
        store: &dyn Store,
        idle: Duration,
    ) -> Result<Option<String>, ServerError> {
        if self.is_reading() {
            return Ok(None);
        }
        if let Some(busy) = self.busy.take() {
            // A thread that panicked has found nothing.
            let gathered = busy.thread.join().ok().flatten();
            return self.store_commits(store, &busy.project, gathered);
        }
        if idle >= IDLE_DELAY {
            let next = self
                .waiting
                .iter()
                .position(|project| self.remaining_delay(project).is_zero());
            if let Some(at) = next {
                let project = self.waiting.remove(at);
                self.start_scan(store, project)?;
            }
        }
        Ok(None)
    }

    fn store_commits(
        &self,
        store: &dyn Store,
        project: &Project,
        gathered: Option<CommitScan>,
    ) -> Result<Option<String>, ServerError> {
        // Asked again: the project may have been paused or joined while git ran.
        let gathered = gathered.filter(|g| !g.items.is_empty() && self.may_read(project));
        let Some(gathered) = gathered else {
            return Ok(None);
        };
        let stored = store_commits(store, project, &gathered)?;
        Ok(Some(format!(
            "took in {} commits of {}",
            stored.added, project.key
        )))
    }

    fn start_scan(&mut self, store: &dyn Store, project: Project) -> Result<(), ServerError> {
        if self.asked.len() >= MAX_PROJECTS {
            self.asked
                .retain(|_, at| at.elapsed() < MIN_PROJECT_INTERVAL);
        }
        // Before anything can fail, so that a failure is not repeated at every step.
        self.asked.insert(project.key.clone(), Instant::now());
        if !self.may_read(&project) {
            return Ok(());
        }
        let known = known_commits(store, &project.key)?;
        let redactor = Redactor::new(&self.rules)?;
        let forgotten = DeletionLog::load(&self.paths)?;
        let mut rules = CommitRules::new(redactor, self.ignore.clone(), forgotten);
        let cancel = CancelToken::default();
        let (git, own, done) = (self.git.clone(), cancel.clone(), self.done.clone());
        let of = project.clone();
        let work = move || {
            crate::embeddings::step_back();
            let is_known = |hash: &str| known.contains(hash);
            let limits = CommitLimits::BACKGROUND;
            let gathered =
                catch_panic(|| gather_commits(&git, &own, &of, &mut rules, limits, &is_known));
            // The worker may have exited.
            let _ = done.send(Tick::CommitsRead);
            gathered.ok().flatten()
        };
        // If no thread can be started, it is tried again in an hour.
        if let Ok(thread) = thread::Builder::new().spawn(work) {
            self.busy = Some(FeedThread {
                project,
                thread,
                cancel,
                is_done: false,
            });
        }
        Ok(())
    }

    /// Git has answered.
    pub(crate) fn join_thread(&mut self) {
        if let Some(busy) = &mut self.busy {
            busy.is_done = true;
        }
    }

    fn is_reading(&self) -> bool {
        let busy = self.busy.as_ref();
        busy.is_some_and(|busy| !busy.is_done && !busy.thread.is_finished())
    }

    /// How long until there is something to do, if nothing arrives.
    pub(crate) fn wait(&self, idle: Duration) -> Option<Duration> {
        if self.is_reading() {
            // A tick wakes the loop when it is done.
            return None;
        }
        if self.busy.is_some() {
            return Some(Duration::ZERO);
        }
        let next = self
            .waiting
            .iter()
            .map(|project| self.remaining_delay(project))
            .min()?;
        Some(next.max(IDLE_DELAY.saturating_sub(idle)))
    }

    fn remaining_delay(&self, project: &Project) -> Duration {
        let asked = self.asked.get(&project.key);
        asked.map_or(Duration::ZERO, |at| {
            MIN_PROJECT_INTERVAL.saturating_sub(at.elapsed())
        })
    }
}

impl Drop for CommitFeed {
    /// Stops git, so that no child outlives the worker.
    fn drop(&mut self) {
        if let Some(busy) = self.busy.take() {
            busy.cancel.cancel();
            let _ = busy.thread.join();
        }
    }
}
