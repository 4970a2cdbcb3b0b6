//! How hooks fared in real sessions, from the transcripts that the client keeps.
//!
//! The client writes down a run that failed, ran out of time, blocked or said
//! something. A run that succeeded in silence leaves no trace, except at a stop,
//! whose summary names every hook. So a hook without a trace has either never
//! fired or was always silent; nothing here pretends to know which.

mod record;

use std::collections::BTreeMap;

use remora_hooks::ConfiguredHandler;
use serde::Serialize;

pub use record::{HookRun, RunEnd, TranscriptReading};

/// How a hook is found again between sessions: the event, and what it runs.
type HookKey = (String, String);

/// Everything that is known of one hook.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookHealth {
    /// The event that it ran on.
    pub event: String,
    /// What it runs, as the client wrote it down.
    pub command: String,
    /// Where it is configured now, by the id of `remora hooks list`.
    pub id: Option<String>,
    /// What is to be said of it first.
    pub state: HealthState,
    /// Runs that left a trace.
    pub runs: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Runs that were ended at their time limit.
    pub timed_out: usize,
    /// Runs that were ended before it.
    pub cancelled: usize,
    /// Runs that blocked.
    pub blocked: usize,
    /// Half of the runs took at most so long.
    pub p50_ms: Option<u64>,
    /// 95 of 100 runs took at most so long.
    pub p95_ms: Option<u64>,
    /// Tokens that were injected, estimated.
    pub injected_tokens: u64,
    /// When it last ran.
    pub last_run: Option<String>,
    /// What the last failure said.
    pub last_error: Option<String>,
}

/// What is to be said of a hook first. In the order in which hooks are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HealthState {
    /// Some of its runs failed or ran out of time.
    Failing,
    /// It is configured, and no transcript knows it.
    NoTrace,
    /// It ran, and never failed, blocked or said anything.
    Silent,
    /// It ran.
    Fine,
}

impl HealthState {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::NoTrace => "no trace",
            Self::Silent => "silent",
            Self::Fine => "fine",
        }
    }
}

/// All hooks of all transcripts.
#[derive(Debug, Default)]
pub struct HealthReport {
    runs: BTreeMap<HookKey, Vec<HookRun>>,
}

impl HealthReport {
    /// Counts a run.
    pub fn add_run(&mut self, run: HookRun) {
        let key = (run.event.clone(), run.command.clone());
        self.runs.entry(key).or_default().push(run);
    }

    /// How many runs there are.
    pub fn run_count(&self) -> usize {
        self.runs.values().map(Vec::len).sum()
    }

    /// Every hook that ran or is configured, failing ones first.
    pub fn list_hooks<'a>(
        &self,
        configured: impl Iterator<Item = (&'a ConfiguredHandler, String)>,
    ) -> Vec<HookHealth> {
        let mut ids: BTreeMap<HookKey, String> = BTreeMap::new();
        for (handler, id) in configured {
            let event = handler.event.as_str();
            let config = &handler.config;
            // The client writes the status message down in the place of the command.
            let texts = [config.status_message.clone(), Some(config.kind.label())];
            let mut keys = texts
                .into_iter()
                .flatten()
                .map(|text| (event.to_owned(), text));
            let known = keys.clone().find(|key| self.runs.contains_key(key));
            if let Some(key) = known.or_else(|| keys.next_back()) {
                ids.insert(key, id);
            }
        }
        let mut hooks: Vec<HookHealth> = self
            .runs
            .iter()
            .map(|(key, runs)| summarize(key, runs, ids.get(key).cloned()))
            .collect();
        for (key, id) in &ids {
            if !self.runs.contains_key(key) {
                hooks.push(summarize(key, &[], Some(id.clone())));
            }
        }
        hooks.sort_by_key(|hook| {
            let failures = hook.failed + hook.timed_out;
            (
                hook.state,
                std::cmp::Reverse(failures),
                std::cmp::Reverse(hook.runs),
            )
        });
        hooks
    }
}

fn summarize(key: &HookKey, runs: &[HookRun], id: Option<String>) -> HookHealth {
    let count = |end: RunEnd| runs.iter().filter(|run| run.end == end).count();
    let mut took: Vec<u64> = runs.iter().filter_map(|run| run.duration_ms).collect();
    took.sort_unstable();
    let (failed, timed_out) = (count(RunEnd::Failed), count(RunEnd::TimedOut));
    let blocked = count(RunEnd::Blocked);
    let last = runs.iter().max_by(|a, b| a.at.cmp(&b.at));
    let state = if failed + timed_out > 0 {
        HealthState::Failing
    } else if runs.is_empty() {
        HealthState::NoTrace
    } else if blocked == 0 && runs.iter().all(|run| !run.said_something) {
        HealthState::Silent
    } else {
        HealthState::Fine
    };
    let failures = runs
        .iter()
        .filter(|run| matches!(run.end, RunEnd::Failed | RunEnd::TimedOut));
    HookHealth {
        event: key.0.clone(),
        command: key.1.clone(),
        id,
        state,
        runs: runs.len(),
        failed,
        timed_out,
        cancelled: count(RunEnd::Cancelled),
        blocked,
        p50_ms: percentile(&took, 50),
        p95_ms: percentile(&took, 95),
        injected_tokens: runs.iter().map(|run| u64::from(run.injected_tokens)).sum(),
        last_run: last.map(|run| run.at.clone()).filter(|at| !at.is_empty()),
        last_error: failures
            .max_by(|a, b| a.at.cmp(&b.at))
            .and_then(|run| run.error.clone()),
    }
}

/// The value that so many of a hundred are not above.
fn percentile(sorted: &[u64], hundredths: usize) -> Option<u64> {
    let rank = (sorted.len() * hundredths).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests;
