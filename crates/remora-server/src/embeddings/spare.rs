//! When the worker embeds items: while idle, a little at a time, so that at most
//! about a quarter of one core is busy. Whatever goes wrong here is logged once,
//! tried again later and never affects capture.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use remora_embed::{Effort, EmbedError, Embedding};
use remora_memory::store::{Store, StoreError};

use super::{EmbeddingBudget, EmbeddingStep, TextEncoder, run_embedding_step};
use crate::ServerError;
use crate::panics::catch_panic;

/// After a step it pauses this many times as long as the step took: one part work,
/// three parts pause are the quarter of a core.
const PAUSE_FACTOR: u32 = 3;
/// The shortest pause.
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// After this the encoder may unload itself; it knows how long it has not been
/// used. A second more than its default delay of a minute.
const RELEASE_DELAY: Duration = Duration::from_secs(61);
/// A store that refuses, and an encoder that cannot be loaded or run, is tried
/// again after this, then later and later.
const MIN_RETRY_DELAY: Duration = Duration::from_mins(1);
const MAX_RETRY_DELAY: Duration = Duration::from_hours(1);

/// The settings of background embedding.
#[derive(Debug, Clone)]
pub struct BackgroundEmbedding {
    /// The encoder.
    pub encoder: Arc<dyn TextEncoder>,
    /// It begins only after nothing has arrived for this long.
    pub after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepSchedule {
    /// There may be something to do.
    At(Instant),
    /// The store or the encoder refused. Unlike `At` this does not keep the worker
    /// from exiting.
    Retry(Instant),
    /// Every item is embedded.
    Nothing,
    /// There is no encoder.
    Never,
}

/// Embedding as part of the worker's idle work.
#[derive(Debug)]
pub(crate) struct IdleEmbedding {
    background: Option<BackgroundEmbedding>,
    next: StepSchedule,
    rest: Option<Instant>,
    retry: Duration,
    trouble: Option<String>,
    unembeddable: u64,
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
            trouble: None,
            unembeddable: 0,
        }
    }

    /// Why items are not embedded at present, if they are not.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Items that the encoder failed on.
    pub(crate) fn unembeddable(&self) -> u64 {
        self.unembeddable
    }

    /// As if the time of the next attempt had come.
    #[cfg(test)]
    pub(crate) fn make_due(&mut self) {
        self.next = StepSchedule::At(Instant::now());
    }

    /// Something was stored.
    pub(crate) fn mark_stored(&mut self) {
        if self.next == StepSchedule::Nothing {
            self.next = StepSchedule::At(Instant::now());
        }
    }

    /// Whether something may be left to do now; the worker does not exit until then.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.next, StepSchedule::At(_))
    }

    /// How long until there is something to do, if nothing arrives and nothing has
    /// arrived for `quiet`.
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

    /// Does what is due and returns a line for the log, if any. Only damage of the
    /// store is an error: the worker has to rebuild it.
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
            Ok(EmbeddingStep {
                done,
                unembeddable,
                more,
            }) => {
                if done > 0 {
                    self.rest = Some(after + RELEASE_DELAY);
                }
                self.retry = MIN_RETRY_DELAY;
                self.trouble = None;
                self.unembeddable += unembeddable;
                let pause = (now.elapsed() * PAUSE_FACTOR).max(MIN_PAUSE);
                self.next = if more {
                    StepSchedule::At(after + pause)
                } else {
                    StepSchedule::Nothing
                };
                let rows = if unembeddable == 1 { "row" } else { "rows" };
                Ok((unembeddable > 0).then(|| {
                    format!("the encoder failed on {unembeddable} {rows}: found by words only")
                }))
            }
            Err(ServerError::Store(StoreError::Damaged(reason))) => {
                Err(StoreError::Damaged(reason).into())
            }
            Err(e) => {
                self.next = match &e {
                    // What the build does not have, time does not bring.
                    ServerError::Embed(EmbedError::NotBuiltIn) => StepSchedule::Never,
                    _ => StepSchedule::Retry(after + self.retry),
                };
                self.retry = (self.retry * 2).min(MAX_RETRY_DELAY);
                let text = match e {
                    ServerError::Embed(e) => {
                        format!("rows are found by their words only, not by what they mean: {e}")
                    }
                    e => format!("what rows mean could not be stored: {e}"),
                };
                let is_new = self.trouble.as_ref() != Some(&text);
                self.trouble = Some(text.clone());
                Ok(is_new.then_some(text))
            }
        }
    }
}

/// An encoder on a thread of low priority. Threads that are started from it, such
/// as the engine's own, inherit that.
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

/// Lowers the priority of this thread. On Linux `nice` applies to a thread;
/// elsewhere it would slow the whole process, and capture with it.
#[cfg(target_os = "linux")]
pub(crate) fn step_back() {
    // If it fails, the work is done at normal priority.
    let _ = rustix::process::nice(10);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn step_back() {}
