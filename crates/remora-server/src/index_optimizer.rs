//! When the worker brings together what it stored in many batches: in its spare
//! time, a little at a time, so that searches stay cheap and capture never
//! waits.

use std::time::{Duration, Instant};

use remora_memory::store::{IndexState, Store, StoreError};

/// Only after nothing has come for this long.
const IDLE_DELAY: Duration = Duration::from_secs(1);
/// After a turn it pauses this many times as long as the turn took.
const PAUSE_FACTOR: u32 = 3;
/// However short a turn was.
const MIN_PAUSE: Duration = Duration::from_millis(20);

/// What is left to do.
#[derive(Debug)]
pub(crate) struct IndexOptimizer {
    /// When there may be something to do; `None` until something is stored.
    next: Option<Instant>,
}

impl IndexOptimizer {
    /// Others may have stored much since the last worker ended.
    pub(crate) fn new() -> Self {
        Self {
            next: Some(Instant::now()),
        }
    }

    /// Something was stored.
    pub(crate) fn mark_stored(&mut self) {
        self.next.get_or_insert_with(Instant::now);
    }

    /// How long until there is something to do, if nothing comes and nothing
    /// came for `quiet`.
    pub(crate) fn wait(&self, quiet: Duration) -> Option<Duration> {
        let due = self.next?.saturating_duration_since(Instant::now());
        Some(due.max(IDLE_DELAY.saturating_sub(quiet)))
    }

    /// Does what is due. Only damage of the store is an error: without it,
    /// everything works, and what ails the store is said when it is written to.
    pub(crate) fn run_step(
        &mut self,
        store: &dyn Store,
        quiet: Duration,
    ) -> Result<(), StoreError> {
        if self.wait(quiet).is_none_or(|wait| !wait.is_zero()) {
            return Ok(());
        }
        let started = Instant::now();
        // Should it panic, it is not tried again before there is more to do.
        self.next = None;
        self.next = match store.optimize_index() {
            Ok(IndexState::Partly) => {
                let pause = (started.elapsed() * PAUSE_FACTOR).max(MIN_PAUSE);
                Some(Instant::now() + pause)
            }
            Err(e @ StoreError::Damaged(_)) => return Err(e),
            Ok(IndexState::Wholly) | Err(_) => None,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use remora_memory::store::{Batch, ItemWrite};
    use remora_memory::testing::item;
    use remora_store::{Access, SqliteStore};

    use super::*;

    fn add(store: &SqliteStore, count: usize) {
        for n in 0..count {
            let batch = Batch {
                items: vec![ItemWrite::Add(item(&format!("u{n}"), "a walrus"))],
                ..Batch::default()
            };
            store.apply(&batch).unwrap();
        }
    }

    #[test]
    fn it_waits_until_it_is_quiet_and_ends_when_all_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let store = crate::open_database(&folder.path().join("remora.db"), Access::Write).unwrap();
        add(&store, 40);
        let before = store.count_segments().unwrap();
        assert!(before > 1, "{before} pieces");
        let mut settling = IndexOptimizer::new();
        assert!(
            settling
                .wait(Duration::ZERO)
                .is_some_and(|wait| wait > Duration::ZERO)
        );
        settling.run_step(&store, Duration::ZERO).unwrap();
        assert_eq!(store.count_segments().unwrap(), before);
        while settling.wait(IDLE_DELAY).is_some() {
            settling.run_step(&store, IDLE_DELAY).unwrap();
        }
        assert_eq!(store.count_segments().unwrap(), 1);
        settling.mark_stored();
        assert_eq!(settling.wait(IDLE_DELAY), Some(Duration::ZERO));
    }
}
