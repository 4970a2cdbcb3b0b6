//! When the worker works out meanings: in its spare time, a little at a time,
//! so that at most about a quarter of one core is busy. Whatever goes wrong here
//! is said once and never held against capture.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use remora_embed::{Effort, EmbedError, Meaning};
use remora_memory::store::{Store, StoreError};

use super::{Budget, Encode, Step, step};
use crate::ServerError;
use crate::panics::catch;

/// After a turn it pauses this many times as long as the turn took.
const PAUSES: u32 = 3;
/// However short a turn was.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
/// After this the encoder is asked to rest; it knows itself how long it has not
/// been used.
const REST: Duration = Duration::from_secs(61);
/// A store that would not have it is tried again after this, then later and
/// later.
const RETRY: Duration = Duration::from_mins(1);
const LATEST_RETRY: Duration = Duration::from_hours(1);

/// Meanings in the background.
#[derive(Debug, Clone)]
pub struct Background {
    /// What works them out.
    pub encoder: Arc<dyn Encode>,
    /// Only after nothing has come for this long.
    pub after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
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
pub(crate) struct Spare {
    background: Option<Background>,
    next: Next,
    rest: Option<Instant>,
    retry: Duration,
    told: Option<String>,
}

impl Spare {
    pub(crate) fn new(background: Option<Background>) -> Self {
        Self {
            next: if background.is_some() {
                Next::At(Instant::now())
            } else {
                Next::Never
            },
            background,
            rest: None,
            retry: RETRY,
            told: None,
        }
    }

    /// Something was stored.
    pub(crate) fn stored(&mut self) {
        if self.next == Next::Nothing {
            self.next = Next::At(Instant::now());
        }
    }

    /// Whether there is, or may be, something left that can be done now.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.next, Next::At(_))
    }

    /// How long until there is something to do, if nothing comes and nothing
    /// came for `quiet`.
    pub(crate) fn wait(&self, quiet: Duration) -> Option<Duration> {
        let now = Instant::now();
        let turn = match (&self.background, self.next) {
            (Some(background), Next::At(at) | Next::Retry(at)) => {
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
    pub(crate) fn turn(
        &mut self,
        store: &dyn Store,
        quiet: Duration,
    ) -> Result<Option<String>, ServerError> {
        let now = Instant::now();
        let Some(background) = &self.background else {
            return Ok(None);
        };
        if self.rest.is_some_and(|at| at <= now) {
            background.encoder.rest(now);
            self.rest = None;
        }
        let due = matches!(self.next, Next::At(at) | Next::Retry(at) if at <= now);
        if !due || quiet < background.after {
            return Ok(None);
        }
        let low = Low(background.encoder.as_ref());
        let done = catch(|| step(store, &low, Budget::QUIET))
            .unwrap_or_else(|panicked| Err(ServerError::Panicked(panicked)));
        let after = Instant::now();
        match done {
            Ok(Step { done, more }) => {
                if done > 0 {
                    self.rest = Some(after + REST);
                }
                self.retry = RETRY;
                self.told = None;
                let pause = (now.elapsed() * PAUSES).max(SHORTEST_PAUSE);
                self.next = if more {
                    Next::At(after + pause)
                } else {
                    Next::Nothing
                };
                Ok(None)
            }
            Err(ServerError::Store(StoreError::Damaged(reason))) => {
                Err(StoreError::Damaged(reason).into())
            }
            Err(ServerError::Embed(e)) => {
                self.next = Next::Never;
                Ok(Some(format!(
                    "rows are found by their words only, not by what they mean: {e}"
                )))
            }
            Err(e) => {
                self.next = Next::Retry(after + self.retry);
                self.retry = (self.retry * 2).min(LATEST_RETRY);
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
struct Low<'a>(&'a dyn Encode);

impl Encode for Low<'_> {
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        now: Instant,
    ) -> Result<Vec<Meaning>, EmbedError> {
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

    fn rest(&self, now: Instant) {
        self.0.rest(now);
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
