//! What the worker does besides ingesting events: idle work, and keeping items
//! in step with files and with git. A failure here never stops capture.

use std::time::Duration;

use remora_memory::store::StoreError;

use super::Worker;
use crate::ServerError;
use crate::ingest::Touched;
use crate::panics::catch_panic;
use crate::project_activity::list_project_activity;
use crate::saved::{RefreshResult, RefreshScope, TurnBoundary};

impl Worker<'_> {
    /// Something was stored, so idle work may have something to do.
    pub(super) fn mark_stored(&mut self) {
        self.spare.mark_stored();
        self.settling.mark_stored();
    }

    /// Embeds items and optimizes the index if nothing has arrived for a while;
    /// returns how long until there is more to do.
    pub(super) fn use_spare_time(&mut self, idle: Duration) -> Option<Duration> {
        if self.trouble.is_some() {
            return None;
        }
        let said = match &self.ingest {
            Some(ingest) => catch_panic(|| {
                self.settling.run_step(ingest.store(), idle)?;
                self.spare.run_step(ingest.store(), idle)
            })
            .unwrap_or_else(|panicked| Err(ServerError::Panicked(panicked))),
            None => Ok(None),
        };
        match said {
            Ok(None) => {}
            Ok(Some(text)) => self.log_line(&text),
            // The next batch opens the store again.
            Err(e) => self.in_trouble(&e),
        }
        self.take_in_commits(idle);
        self.saved.start_check(idle);
        self.changes.run_step();
        let waits = [
            self.saved.wait(idle),
            self.changes.wait(),
            self.commits.wait(idle),
            self.settling.wait(idle),
        ];
        waits
            .into_iter()
            .flatten()
            .chain(self.spare.wait(idle))
            .min()
    }

    /// Stores what git has said about projects in use, and asks about the next.
    fn take_in_commits(&mut self, idle: Duration) {
        let Some(ingest) = &self.ingest else { return };
        let said = catch_panic(|| self.commits.run_step(ingest.store(), idle))
            .unwrap_or_else(|panicked| Err(ServerError::Panicked(panicked)));
        match said {
            Ok(None) => {}
            Ok(Some(text)) => {
                self.mark_stored();
                self.log_line(&text);
            }
            Err(e @ ServerError::Store(StoreError::Damaged(_))) => self.in_trouble(&e),
            Err(e) => self.log_line(&format!("warning: commits: {e}")),
        }
    }

    /// Updates the items of saved memories from their files, and asks git about the
    /// projects of the last batch.
    pub(super) fn keep_in_step(&mut self, reach: RefreshScope) {
        let touched = std::mem::take(&mut self.touched);
        if self.trouble.is_some() {
            return;
        }
        let done = catch_panic(|| self.follow_projects(&touched, reach))
            .unwrap_or_else(|panicked| Err(ServerError::Panicked(panicked)));
        match done {
            Ok(done) => {
                if done.wrote {
                    self.mark_stored();
                }
                for line in done.lines {
                    self.log_line(&line);
                }
            }
            Err(e @ ServerError::Store(StoreError::Damaged(_))) => self.in_trouble(&e),
            // Logged, not treated as trouble: capture goes on, and the next refresh tries
            // again.
            Err(e) => {
                if let Some(line) = self.saved.log_once(format!("saved memories: {e}")) {
                    self.log_line(&line);
                }
            }
        }
    }

    fn follow_projects(
        &mut self,
        touched: &Touched,
        reach: RefreshScope,
    ) -> Result<RefreshResult, ServerError> {
        let Some(ingest) = &mut self.ingest else {
            return Ok(RefreshResult::default());
        };
        let now = (self.settings.clock)();
        let active = list_project_activity(&self.settings.paths, touched);
        if active.iter().any(|project| project.starts) {
            self.embedder.warm_up(ingest.store())?;
        }
        for project in &active {
            if ingest.join_folders(&project.project, now)? > 0 {
                // The old key no longer names a project.
                self.saved.reset_cache();
            }
        }
        // In reverse, because `mark_used` puts each project first and the most recent
        // one has to end up there.
        for project in active.iter().rev() {
            self.saved.mark_used(&project.project, project.edge);
            for root in &project.roots {
                self.changes.queue_root(root.clone());
            }
            if project.edge == TurnBoundary::Turn {
                self.commits.queue_project(&project.project);
            }
        }
        let (store, paths) = (ingest.store(), &self.settings.paths);
        self.saved
            .refresh_items(store, paths, now, reach, active.len())
    }

    pub(super) fn run_upkeep(&mut self) {
        if let Err(panicked) = catch_panic(|| self.tidy_all()) {
            self.log_line(&format!("warning: tidying {panicked}"));
        }
    }

    fn tidy_all(&mut self) {
        self.changes.remove_stale();
        let cap = self.settings.archive_cap;
        if let Some(ingest) = &mut self.ingest {
            let archive = ingest.archive();
            // The cap holds even where compaction fails.
            let compacted = archive.compact_files();
            let trimmed = archive.trim_to_bytes(cap).map(drop);
            if let Err(e) = compacted.and(trimmed) {
                self.log_line(&format!("the archive could not be tidied: {e}"));
            }
        }
        let chore = self.settings.chore;
        if let Some(done) = chore.and_then(|chore| chore(&self.settings.paths)) {
            self.log_line(&done);
        }
    }
}
