//! Sleep of threads of ours, on the clock of the session: a model that takes its
//! time, a slow server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::clock::to_us;

/// How long nothing may move the clock. Only a broken test reaches it.
const MAX_REAL_TIME: Duration = Duration::from_mins(2);

/// Everyone who sleeps.
#[derive(Debug, Default)]
pub(super) struct Naps {
    now_us: AtomicU64,
    due: Mutex<Vec<u64>>,
    moved: Condvar,
}

impl Naps {
    /// Sleeps so long.
    pub(super) fn sleep(&self, seconds: f64) {
        let due = self.now_us.load(Ordering::SeqCst) + to_us(seconds);
        let mut list = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(due);
        let waited = self
            .moved
            .wait_timeout_while(list, MAX_REAL_TIME, |list| list.contains(&due))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.1.timed_out(), "the clock stands still");
    }

    /// When the first one wakes.
    pub(super) fn next_due_us(&self) -> Option<u64> {
        let list = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().min().copied()
    }

    /// The clock has moved: wakes those whose time has come.
    pub(super) fn advance(&self, now_us: u64) {
        self.now_us.fetch_max(now_us, Ordering::SeqCst);
        let mut list = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|due| *due > now_us);
        drop(list);
        self.moved.notify_all();
    }
}
