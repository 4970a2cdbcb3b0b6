//! Crash loops: workers that start and do not exit in order. While one runs, a
//! note says so; one that finds another's note counts a death, with what was in
//! progress then.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use remora_client::{CaptureFailureMark, DataPaths, write_our_file};

use crate::guard;
use crate::worker::place_of;

/// So many deaths within [`CRASH_LOOP_WINDOW_MS`] are a crash loop; one or two are
/// a reboot or a kill.
pub const CRASH_LOOP_COUNT: usize = 3;
/// Deaths longer ago than this do not count.
pub const CRASH_LOOP_WINDOW_MS: i64 = 3_600_000;
/// Deaths that are kept.
const MAX_KEPT_CRASHES: usize = 16;

/// A worker that did not exit in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCrash {
    /// When it was noticed, in milliseconds since 1970.
    pub noticed: i64,
    /// Its process id.
    pub pid: u32,
    /// The spool file it had in progress, if it was a single one: of a batch nobody
    /// knows which it was.
    pub event: Option<String>,
}

/// The deaths of the last hour, oldest first. `is_running` says whether a worker
/// holds the lock now: if none does, a note that is left is another death.
pub fn recent_deaths(paths: &DataPaths, now: i64, is_running: bool) -> Vec<WorkerCrash> {
    let mut deaths = read_deaths(paths);
    if !is_running {
        deaths.extend(read_death(paths, now));
    }
    // Also in the future, where a clock that was set back has put them.
    deaths.retain(|death| (now - death.noticed).abs() < CRASH_LOOP_WINDOW_MS);
    deaths
}

fn deaths_file(paths: &DataPaths) -> PathBuf {
    paths.run_dir().join("worker-deaths")
}

fn up_file(paths: &DataPaths) -> PathBuf {
    paths.run_dir().join("worker-up")
}

fn read_deaths(paths: &DataPaths) -> Vec<WorkerCrash> {
    let text = fs::read_to_string(deaths_file(paths)).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            Some(WorkerCrash {
                noticed: parts.next()?.parse().ok()?,
                pid: parts.next()?.parse().ok()?,
                event: parts.next().map(str::to_owned).filter(|name| name != "-"),
            })
        })
        .collect()
}

/// What a worker notes while it runs: its process, and device and inode of the
/// lock file that it holds.
#[derive(Debug, PartialEq, Eq)]
struct RunNote {
    pid: u32,
    lock: Option<(u64, u64)>,
}

impl RunNote {
    fn of_this_process(paths: &DataPaths) -> Self {
        Self {
            pid: std::process::id(),
            lock: place_of(&paths.lock()),
        }
    }

    /// One of an earlier version names no lock.
    fn read(up: &Path) -> Option<Self> {
        let text = fs::read_to_string(up).ok()?;
        let mut numbers = text.split_whitespace();
        let pid = numbers.next()?.parse().ok()?;
        let mut next = || numbers.next()?.parse().ok();
        let lock = next().and_then(|device| Some((device, next()?)));
        Some(Self { pid, lock })
    }

    fn write(&self, up: &Path) -> std::io::Result<()> {
        let text = match self.lock {
            Some((device, inode)) => format!("{} {device} {inode}", self.pid),
            None => self.pid.to_string(),
        };
        write_our_file(up, text.as_bytes())
    }
}

/// The death that a leftover note stands for. A worker whose lock file was replaced
/// lives on until its next look, so a note of another lock says nothing. The inode
/// of a file that is held open is not used again.
fn read_death(paths: &DataPaths, now: i64) -> Option<WorkerCrash> {
    let RunNote { pid, lock } = RunNote::read(&up_file(paths))?;
    if lock.is_some() && lock != place_of(&paths.lock()) {
        return None;
    }
    let mut names = guard::under_way(paths);
    Some(WorkerCrash {
        noticed: now,
        pid,
        event: names.pop().filter(|_| names.is_empty()),
    })
}

/// Removes the note of a worker that is ended by a signal, which is no crash.
pub fn end_orderly(paths: &DataPaths) {
    remove_own_note(&up_file(paths));
}

/// Removes the note of this process; one of a later worker stays.
fn remove_own_note(up: &Path) {
    if RunNote::read(up).is_some_and(|note| note.pid == std::process::id()) {
        let _ = fs::remove_file(up);
    }
}

/// The note that this worker is running.
#[derive(Debug)]
pub(crate) struct WorkerRun {
    up: PathBuf,
}

impl WorkerRun {
    /// Writes the note. The caller must hold the worker's lock: then a note that is
    /// there was left by a dead worker. In a crash loop, the next session says so.
    pub(crate) fn begin_run(paths: &DataPaths, now: i64) -> (Self, Option<String>) {
        let mut deaths = read_deaths(paths);
        let died = read_death(paths, now);
        let is_new = died.is_some();
        deaths.extend(died);
        if is_new {
            let from = deaths.len().saturating_sub(MAX_KEPT_CRASHES);
            let lines = deaths[from..].iter().fold(String::new(), |mut lines, d| {
                let event = d.event.as_deref().unwrap_or("-");
                // Writing to a string cannot fail.
                let _ = writeln!(lines, "{} {} {event}", d.noticed, d.pid);
                lines
            });
            // Best effort, here and below: nothing else depends on it.
            let _ = write_our_file(&deaths_file(paths), lines.as_bytes());
        }
        let up = up_file(paths);
        let _ = RunNote::of_this_process(paths).write(&up);
        deaths.retain(|death| (now - death.noticed).abs() < CRASH_LOOP_WINDOW_MS);
        let said = (is_new && deaths.len() >= CRASH_LOOP_COUNT).then(|| describe_crashes(&deaths));
        if let Some(said) = &said {
            let _ = CaptureFailureMark::for_data_dir(paths).record_failure(said);
        }
        (Self { up }, said)
    }

    /// Removes the note at an orderly exit.
    pub(crate) fn end_run(self) {
        remove_own_note(&self.up);
    }
}

/// One sentence about the deaths of the last hour.
pub fn describe_crashes(deaths: &[WorkerCrash]) -> String {
    let times = match deaths.len() {
        1 => "once".to_owned(),
        many => format!("{many} times"),
    };
    let last = deaths.last().and_then(|death| death.event.as_deref());
    let event = last.map_or(String::new(), |name| format!(", the last time on {name}"));
    format!("the background worker died {times} within an hour{event}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_794_700_000_000;

    #[test]
    fn workers_that_do_not_end_are_counted_and_told_of() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path());
        paths.prepare_data_dir().unwrap();
        let (life, said) = WorkerRun::begin_run(&paths, NOW);
        assert_eq!(said, None);
        assert_eq!(recent_deaths(&paths, NOW, true), []);
        life.end_run();
        assert_eq!(recent_deaths(&paths, NOW, false), []);
        for _ in 0..3 {
            // As after a kill: nothing ends it.
            let (_, said) = WorkerRun::begin_run(&paths, NOW);
            assert_eq!(said, None);
        }
        fs::write(paths.run_dir().join("under-way"), "0 a.json\n").unwrap();
        assert_eq!(recent_deaths(&paths, NOW, true).len(), 2);
        assert_eq!(recent_deaths(&paths, NOW, false).len(), 3);
        let (life, said) = WorkerRun::begin_run(&paths, NOW);
        let said = said.unwrap();
        assert_eq!(
            said,
            "the background worker died 3 times within an hour, the last time on a.json"
        );
        assert_eq!(
            CaptureFailureMark::for_data_dir(&paths).take_failure(),
            Some(said)
        );
        life.end_run();
        // A proper end, and it is not reported again.
        let (life, said) = WorkerRun::begin_run(&paths, NOW);
        assert_eq!(said, None);
        life.end_run();
        assert_eq!(recent_deaths(&paths, NOW + CRASH_LOOP_WINDOW_MS, false), []);
    }

    #[test]
    fn a_worker_that_lost_its_lock_has_not_died_of_that() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path());
        paths.prepare_data_dir().unwrap();
        fs::write(paths.lock(), "").unwrap();
        let note = |lock| RunNote { pid: 13, lock };
        let held = place_of(&paths.lock());
        note(held).write(&up_file(&paths)).unwrap();
        assert_eq!(recent_deaths(&paths, NOW, false).len(), 1);
        let other = held.map(|(device, inode)| (device, inode + 1));
        note(other).write(&up_file(&paths)).unwrap();
        assert_eq!(recent_deaths(&paths, NOW, false), []);
        let (life, _) = WorkerRun::begin_run(&paths, NOW);
        assert_eq!(read_deaths(&paths), []);
        // It is replaced in turn: the note of the later one stays.
        note(other).write(&up_file(&paths)).unwrap();
        life.end_run();
        end_orderly(&paths);
        assert_eq!(RunNote::read(&up_file(&paths)), Some(note(other)));
    }
}
