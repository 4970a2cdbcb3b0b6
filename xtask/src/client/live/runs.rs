//! What the stub leaves behind: one file a run, and what it printed and how it ended beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The recorder's id.
pub(super) const RECORDER_ID: &str = "rec";

/// One run of the stub.
#[derive(Clone, Debug)]
pub(super) struct StubRun {
    pub(super) id: String,
    /// When it began, in nanoseconds of the system's clock.
    pub(super) began: u128,
    /// When it ended by itself; nothing if it was killed.
    pub(super) ended: Option<u128>,
    pub(super) pid: u32,
    pub(super) stdin: String,
    /// What it printed, both streams.
    pub(super) printed: String,
    /// Whether its first words send it to the background.
    pub(super) says_async: bool,
    /// Lines that it was asked to log.
    pub(super) log: Vec<String>,
    pub(super) path: PathBuf,
}

impl StubRun {
    pub(super) fn event(&self) -> Value {
        serde_json::from_str(&self.stdin).unwrap_or_default()
    }

    /// The file beside it with this ending.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        with_ending(&self.path, ending)
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// All runs so far, oldest first.
pub(super) fn read_runs(folder: &Path) -> Result<Vec<StubRun>> {
    let mut runs = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("in {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let parts: Vec<&str> = name.split('.').collect();
        let [id, began, pid] = parts[..] else {
            continue; // what one printed, or its gate
        };
        let (Ok(began), Ok(pid)) = (began.parse(), pid.parse()) else {
            continue;
        };
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let mut lines = text.lines().skip(1); // the first is its folder
        let read = |ending: &str| fs::read_to_string(with_ending(&path, ending));
        let out = read("out").unwrap_or_default();
        runs.push(StubRun {
            id: id.to_owned(),
            began,
            ended: read_end(&with_ending(&path, "rc")),
            pid,
            stdin: lines.next().unwrap_or_default().to_owned(),
            says_async: is_async_line(&out),
            printed: out + &read("err").unwrap_or_default(),
            log: lines.map(str::to_owned).collect(),
            path: path.clone(),
        });
    }
    runs.sort_by_key(|run| run.began);
    Ok(runs)
}

fn is_async_line(out: &str) -> bool {
    let first = out.lines().next().unwrap_or_default();
    serde_json::from_str::<Value>(first).is_ok_and(|line| line["async"] == true)
}

fn read_end(path: &Path) -> Option<u128> {
    // Empty while it is being written.
    let ended = fs::metadata(path).ok().filter(|found| found.len() > 0)?;
    let at = ended.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(at.as_nanos())
}

/// The clock that the stub reads.
#[expect(
    clippy::disallowed_methods,
    reason = "handlers and requests are put in order by the clock that the stub's shell reads"
)]
pub(super) fn read_clock() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map(|since| since.as_nanos()).unwrap_or_default()
}

/// Whether a process runs; one that has ended and was not waited for does not.
pub(super) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|rest| !rest.starts_with(['Z', 'X']))
}
