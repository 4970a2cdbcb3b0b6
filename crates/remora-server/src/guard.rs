//! The crash guard: an event that kills the worker must not kill every worker
//! after it, and a worker that is merely killed must cost no event.
//!
//! Before anything of a batch is read, its names are written to a small file. A
//! worker that finds such a file at its start knows that the one before died
//! there. A panic is caught and shows by itself which event it was; what remains
//! is a kill, a power cut, or memory or stack that ran out, and none of these says
//! whether the event is to blame. So no event is given up for it: suspects are
//! ingested one at a time, one that was in progress at several deaths only after
//! all others, and if that fails too, later and later. Until then it stays in the
//! spool as it came.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use remora_client::{DataPaths, replace_our_file, write_our_file};

/// After so many deaths an event is ingested after all others.
const MIN_DEFERRAL_CRASHES: u32 = 3;
/// After one more it waits this long, and after each further one four times as
/// long.
const MIN_RETRY_DELAY_MS: i64 = 60_000;
const MAX_RETRY_DELAY_MS: i64 = 24 * 3_600_000;

/// An event that was in progress when a worker died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectEvent {
    /// Its file in the spool.
    pub name: String,
    /// How many workers died while it was in progress.
    pub deaths: u32,
    /// It is not tried before this time, in milliseconds since 1970.
    pub retry_at: i64,
}

impl SuspectEvent {
    /// Whether it is ingested only after all others.
    pub fn goes_last(&self) -> bool {
        self.deaths >= MIN_DEFERRAL_CRASHES
    }

    /// Whether it is not even tried now.
    fn is_waiting(&self, now: i64) -> bool {
        // A clock that was set back must not make it wait for ever.
        self.goes_last() && self.retry_at > now && self.retry_at <= now + MAX_RETRY_DELAY_MS
    }
}

/// The suspect events, as the last worker recorded them.
pub fn list_suspects(paths: &DataPaths) -> Vec<SuspectEvent> {
    read_suspects(&suspects_file(paths))
}

/// Forgets all suspects: the events are ingested as if nothing had happened. The
/// caller must hold the worker's lock.
pub fn forget_suspects(paths: &DataPaths) -> std::io::Result<()> {
    for file in [suspects_file(paths), under_way_file(paths)] {
        match fs::remove_file(&file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

/// The names that the last worker had in progress; none if it exited in order.
pub(crate) fn under_way(paths: &DataPaths) -> Vec<String> {
    read_under_way(&under_way_file(paths))
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

fn suspects_file(paths: &DataPaths) -> PathBuf {
    paths.run_dir().join("suspects")
}

fn under_way_file(paths: &DataPaths) -> PathBuf {
    paths.run_dir().join("under-way")
}

/// Reads lines of deaths and name. The file of a killed worker may be cut off;
/// lines that cannot be read are left out.
fn read_under_way(file: &Path) -> Vec<(String, u32)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (deaths, name) = line.split_once(' ')?;
            Some((name.to_owned(), deaths.parse().ok()?))
        })
        .collect()
}

/// Reads lines of deaths, time and name.
fn read_suspects(file: &Path) -> Vec<SuspectEvent> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            Some(SuspectEvent {
                deaths: parts.next()?.parse().ok()?,
                retry_at: parts.next()?.parse().ok()?,
                name: parts.next()?.to_owned(),
            })
        })
        .collect()
}

#[derive(Debug)]
pub(crate) struct CrashGuard {
    spool: PathBuf,
    under_way: PathBuf,
    file: PathBuf,
    suspects: Vec<SuspectEvent>,
    /// What the last worker died on, until its death is counted.
    died_on: Vec<(String, u32)>,
}

impl CrashGuard {
    pub(crate) fn new(paths: &DataPaths) -> Self {
        let under_way = under_way_file(paths);
        let file = suspects_file(paths);
        Self {
            spool: paths.spool_dir(),
            suspects: read_suspects(&file),
            died_on: read_under_way(&under_way),
            under_way,
            file,
        }
    }

    /// Counts the death that left a note, if any, once.
    pub(crate) fn count_deaths(&mut self, now: i64) {
        let died_on = std::mem::take(&mut self.died_on);
        if died_on.is_empty() {
            return;
        }
        for (name, deaths) in died_on {
            self.add_suspect(name, deaths + 1, now);
        }
        // Events that have left the spool since are no suspects any more.
        let spool = &self.spool;
        self.suspects.retain(|s| spool.join(&s.name).exists());
        // In this order: dying in between counts a death twice, the other order would
        // lose it.
        self.save_suspects();
        let _ = fs::remove_file(&self.under_way);
    }

    fn add_suspect(&mut self, name: String, deaths: u32, now: i64) {
        self.suspects.retain(|suspect| suspect.name != name);
        self.suspects.push(SuspectEvent {
            name,
            deaths,
            retry_at: now + retry_delay_ms(deaths),
        });
    }

    /// How many suspects there are.
    pub(crate) fn len(&self) -> usize {
        self.suspects.len()
    }

    /// Which of the spooled files are ingested now: one suspect that is not
    /// deferred, alone; or else all that are no suspects; or else one deferred.
    pub(crate) fn select_batch(&self, files: Vec<PathBuf>, limit: usize, now: i64) -> Vec<PathBuf> {
        if self.suspects.is_empty() {
            return files;
        }
        let find = |file: &Path| {
            let name = name_of(file);
            self.suspects.iter().find(move |s| s.name == name)
        };
        let alone = |goes_last: bool| {
            files.iter().find(|file| {
                find(file).is_some_and(|s| s.goes_last() == goes_last && !s.is_waiting(now))
            })
        };
        // Suspects before the others, because they are older and the events of a
        // session have to be ingested in order.
        if let Some(file) = alone(false) {
            return vec![file.clone()];
        }
        let last = alone(true).cloned();
        let others: Vec<PathBuf> = files
            .into_iter()
            .filter(|file| find(file).is_none())
            .take(limit)
            .collect();
        if others.is_empty() {
            last.into_iter().collect()
        } else {
            others
        }
    }

    /// The files that are not tried for now.
    pub(crate) fn list_waiting(&self, now: i64) -> HashSet<&str> {
        let waiting = self.suspects.iter().filter(|s| s.is_waiting(now));
        waiting.map(|s| s.name.as_str()).collect()
    }

    /// Notes the files that are about to be read.
    pub(crate) fn begin_batch(&self, names: &[String]) {
        let lines = names.iter().fold(String::new(), |mut lines, name| {
            let known = self.suspects.iter().find(|s| s.name == *name);
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{} {name}", known.map_or(0, |s| s.deaths));
            lines
        });
        // Without the note a death would go unnoticed, which is no reason to stop.
        let _ = write_our_file(&self.under_way, lines.as_bytes());
    }

    /// Clears the note: the files are stored, or known not to be to blame.
    pub(crate) fn finish_batch(&mut self, names: &[String]) {
        let known = self.suspects.len();
        if known > 0 {
            self.suspects.retain(|s| !names.contains(&s.name));
        }
        if self.suspects.len() < known {
            self.save_suspects();
        }
        let _ = fs::remove_file(&self.under_way);
    }

    /// Defers an event that can neither be stored nor buried for now.
    pub(crate) fn put_off(&mut self, name: &str, now: i64) {
        let known = self.suspects.iter().find(|s| s.name == name);
        let deaths = known.map_or(0, |s| s.deaths).max(MIN_DEFERRAL_CRASHES) + 1;
        self.add_suspect(name.to_owned(), deaths, now);
        self.save_suspects();
    }

    /// Best effort: if it fails, deaths are counted from zero again.
    fn save_suspects(&self) {
        if self.suspects.is_empty() {
            let _ = fs::remove_file(&self.file);
            return;
        }
        let lines = self.suspects.iter().fold(String::new(), |mut lines, s| {
            let _ = writeln!(lines, "{} {} {}", s.deaths, s.retry_at, s.name);
            lines
        });
        let partial = self.file.with_extension("tmp");
        let partial = partial.file_name().unwrap_or_default();
        let _ = replace_our_file(partial, &self.file, lines.as_bytes());
    }
}

/// How long an event waits after so many deaths: not at all until it has failed
/// once more in last place.
fn retry_delay_ms(deaths: u32) -> i64 {
    let Some(more) = deaths.checked_sub(MIN_DEFERRAL_CRASHES + 1) else {
        return 0;
    };
    let factor = 4i64.checked_pow(more).unwrap_or(i64::MAX);
    MIN_RETRY_DELAY_MS
        .saturating_mul(factor)
        .min(MAX_RETRY_DELAY_MS)
}

/// The name of a spool file in these line-based notes.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .replace('\n', "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_794_700_000_000;

    fn counted(paths: &DataPaths) -> CrashGuard {
        let mut guard = CrashGuard::new(paths);
        guard.count_deaths(NOW);
        guard
    }

    #[test]
    fn deaths_are_counted_for_each_event_and_none_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path());
        paths.prepare_data_dir().unwrap();
        let files: Vec<PathBuf> = ["a", "b", "c"]
            .iter()
            .map(|name| paths.spool_dir().join(name))
            .collect();
        for file in &files {
            fs::write(file, "").unwrap();
        }
        let names: Vec<String> = files.iter().map(|f| name_of(f)).collect();
        let choose = |guard: &CrashGuard, now| guard.select_batch(files.clone(), 512, now);
        let guard = counted(&paths);
        assert_eq!(choose(&guard, NOW), files);
        guard.begin_batch(&names);
        // Dead in the batch: from now on one at a time, in their order.
        let mut guard = counted(&paths);
        assert_eq!(choose(&guard, NOW), files[..1]);
        guard.begin_batch(&names[..1]);
        guard.finish_batch(&names[..1]);
        let left = guard.select_batch(files[1..].to_vec(), 512, NOW);
        assert_eq!(left, files[1..2]);
        // Two more deaths on `b`; `c` keeps its one.
        for _ in 0..2 {
            guard.begin_batch(&names[1..2]);
            guard = counted(&paths);
        }
        let deaths: Vec<u32> = list_suspects(&paths).iter().map(|s| s.deaths).collect();
        assert_eq!(deaths, [1, 3]);
        assert_eq!(
            guard.select_batch(files[1..].to_vec(), 512, NOW),
            files[2..]
        );
        guard.finish_batch(&names[2..]);
        // It goes after `a`, which is new, and is tried at once after that.
        let both = files[..2].to_vec();
        assert_eq!(guard.select_batch(both.clone(), 512, NOW), files[..1]);
        assert_eq!(
            guard.select_batch(files[1..2].to_vec(), 512, NOW),
            files[1..2]
        );
        guard.begin_batch(&names[1..2]);
        let guard = counted(&paths);
        assert_eq!(guard.select_batch(both.clone(), 512, NOW), files[..1]);
        assert!(
            guard
                .select_batch(files[1..2].to_vec(), 512, NOW)
                .is_empty()
        );
        assert!(guard.list_waiting(NOW).contains("b"));
        let later = NOW + MIN_RETRY_DELAY_MS;
        assert_eq!(
            guard.select_batch(files[1..2].to_vec(), 512, later),
            files[1..2]
        );
        // A clock that was set back does not make it wait for years.
        let back = NOW - 10 * MAX_RETRY_DELAY_MS;
        assert_eq!(
            guard.select_batch(files[1..2].to_vec(), 512, back),
            files[1..2]
        );
        forget_suspects(&paths).unwrap();
        assert_eq!(choose(&counted(&paths), NOW), files);
    }

    #[test]
    fn an_event_waits_longer_and_longer_up_to_a_day() {
        let minutes: Vec<i64> = (2..12).map(|n| retry_delay_ms(n) / 60_000).collect();
        assert_eq!(minutes, [0, 0, 1, 4, 16, 64, 256, 1024, 1440, 1440]);
        assert_eq!(retry_delay_ms(u32::MAX), MAX_RETRY_DELAY_MS);
    }

    #[test]
    fn what_has_left_the_spool_is_no_suspect() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path());
        paths.prepare_data_dir().unwrap();
        fs::write(paths.run_dir().join("under-way"), "0 gone.json\n").unwrap();
        assert_eq!(counted(&paths).len(), 0);
        assert_eq!(list_suspects(&paths), []);
    }
}
