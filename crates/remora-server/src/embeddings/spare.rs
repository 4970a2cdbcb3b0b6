//! When the worker works out meanings: in its spare time, a little at a time,
//! so that at most about a quarter of one core is busy. Whatever goes wrong here
//! is said once and never held against capture.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use remora_embed::{Effort, EmbedError, Embedding};
use remora_memory::store::{Store, StoreError};

use super::{EmbeddingBudget, EmbeddingStep, TextEncoder, run_embedding_step};
use crate::ServerError;
use crate::panics::catch_panic;

/// After a turn it pauses this many times as long as the turn took.
const PAUSE_FACTOR: u32 = 3;
/// However short a turn was.
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// After this the encoder is asked to rest; it knows itself how long it has not
/// been used.
const RELEASE_DELAY: Duration = Duration::from_secs(61);
/// A store that would not have it is tried again after this, then later and
/// later.
const MIN_RETRY_DELAY: Duration = Duration::from_mins(1);
const MAX_RETRY_DELAY: Duration = Duration::from_hours(1);

/// Meanings in the background.
#[derive(Debug, Clone)]
pub struct BackgroundEmbedding {
    /// What works them out.
    pub encoder: Arc<dyn TextEncoder>,
    /// Only after nothing has come for this long.
    pub after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepSchedule {
    /// There may be something to do.
    At(Instant),
    /// The store would not have it; nobody waits for this.
    Retry(Instant),
    /// Everything has its meaning.
    Nothing,
    /// It cannot be done.
    Never,
}

/// The worker's spare time.
#[derive(Debug)]
pub(crate) struct IdleEmbedding {
    background: Option<BackgroundEmbedding>,
    next: StepSchedule,
    rest: Option<Instant>,
    retry: Duration,
    told: Option<String>,
}

impl IdleEmbedding {
    pub(crate) fn new(background: Option<BackgroundEmbedding>) -> Self {
        Self {
            next: if background.is_some() {
                StepSchedule::At(Instant::now())
            } else {
                StepSchedule::Never
            },
            background,
            rest: None,
            retry: MIN_RETRY_DELAY,
            told: None,
        }
    }

    /// Something was stored.
    pub(crate) fn mark_stored(&mut self) {
        if self.next == StepSchedule::Nothing {
            self.next = StepSchedule::At(Instant::now());
        }
    }

    /// Whether there is, or may be, something left that can be done now.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.next, StepSchedule::At(_))
    }

    /// How long until there is something to do, if nothing comes and nothing
    /// came for `quiet`.
    pub(crate) fn wait(&self, quiet: Duration) -> Option<Duration> {
        let now = Instant::now();
        let turn = match (&self.background, self.next) {
            (Some(background), StepSchedule::At(at) | StepSchedule::Retry(at)) => {
                let calm = background.after.saturating_sub(quiet);
                Some(calm.max(at.saturating_duration_since(now)))
            }
            _ => None,
        };
        let rest = self.rest.map(|at| at.saturating_duration_since(now));
        turn.into_iter().chain(rest).min()
    }

    /// Does what is due; gives a line for the log if there is something to say.
    /// Only damage of the store is an error.
    pub(crate) fn run_step(
        &mut self,
        store: &dyn Store,
        quiet: Duration,
    ) -> Result<Option<String>, ServerError> {
        let now = Instant::now();
        let Some(background) = &self.background else {
            return Ok(None);
        };
        if self.rest.is_some_and(|at| at <= now) {
            background.encoder.release_idle(now);
            self.rest = None;
        }
        let due = matches!(self.next, StepSchedule::At(at) | StepSchedule::Retry(at) if at <= now);
        if !due || quiet < background.after {
            return Ok(None);
        }
        let low = LowPriorityEncoder(background.encoder.as_ref());
        let done = catch_panic(|| run_embedding_step(store, &low, EmbeddingBudget::BACKGROUND))
            .unwrap_or_else(|panicked| Err(ServerError::Panicked(panicked)));
        let after = Instant::now();
        match done {
            Ok(EmbeddingStep { done, more }) => {
                if done > 0 {
                    self.rest = Some(after + RELEASE_DELAY);
                }
                self.retry = MIN_RETRY_DELAY;
                self.told = None;
                let pause = (now.elapsed() * PAUSE_FACTOR).max(MIN_PAUSE);
                self.next = if more {
                    StepSchedule::At(after + pause)
                } else {
                    StepSchedule::Nothing
                };
                Ok(None)
            }
            Err(ServerError::Store(StoreError::Damaged(reason))) => {
                Err(StoreError::Damaged(reason).into())
            }
            Err(ServerError::Embed(e)) => {
                self.next = StepSchedule::Never;
                Ok(Some(format!(
                    "rows are found by their words only, not by what they mean: {e}"
                )))
            }
            Err(e) => {
                self.next = StepSchedule::Retry(after + self.retry);
                self.retry = (self.retry * 2).min(MAX_RETRY_DELAY);
                let text = format!("what rows mean could not be stored: {e}");
                let fresh = self.told.as_ref() != Some(&text);
                self.told = Some(text.clone());
                Ok(fresh.then_some(text))
            }
        }
    }
}

/// An encoder on a thread that lets all others go first. Threads that are
/// started from it, the engine's own, do the same.
#[derive(Debug)]
struct LowPriorityEncoder<'a>(&'a dyn TextEncoder);

impl TextEncoder for LowPriorityEncoder<'_> {
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        now: Instant,
    ) -> Result<Vec<Embedding>, EmbedError> {
        let work = || {
            step_back();
            self.0.encode(texts, effort, now)
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, work);
            let failed = |reason: String| EmbedError::Run { reason };
            thread
                .map_err(|e| failed(e.to_string()))?
                .join()
                .map_err(|_| failed("it panicked".to_owned()))?
        })
    }

    fn release_idle(&self, now: Instant) {
        self.0.release_idle(now);
    }
}

/// Elsewhere the whole process would step back, capture with it.
#[cfg(target_os = "linux")]
pub(crate) fn step_back() {
    // As it was is good enough.
    let _ = rustix::process::nice(10);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn step_back() {}
