//! The script of a longer session: what the user says and does to files, and what is waited for
//! in between.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::folder::{LiveFolder, write_file};
use super::model::{LiveModel, RequestKind};
use super::runs::{RECORDER_ID, read_clock, read_runs};
use super::session::POLL_INTERVAL;

/// How long a wait lasts that has no limit of its own.
const WAIT_TIMEOUT: Duration = Duration::from_secs(45);

/// How a session is spoken to.
pub(super) trait Hands {
    fn say(&mut self, text: &str) -> Result<()>;
    fn press(&mut self, key: &str) -> Result<()>;
    fn send_signal(&mut self, name: &str) -> Result<()>;
    /// Turns that have ended, where the client says so.
    fn count_results(&self) -> usize;
}

/// A file that the script wrote or removed.
#[derive(Clone)]
pub(super) struct Change {
    pub(super) at: u128,
    /// Relative to the home.
    pub(super) name: String,
    /// Its new content; nothing if it was removed.
    pub(super) text: Option<String>,
}

impl Change {
    /// Does it to the files.
    pub(super) fn apply(&self, folder: &LiveFolder, in_place: bool) -> Result<()> {
        let path = folder.home.join(&self.name);
        let Some(text) = &self.text else {
            return fs::remove_file(&path)
                .with_context(|| format!("cannot remove {}", path.display()));
        };
        if in_place {
            return write_file(&path, text);
        }
        let beside = path.with_extension("new");
        write_file(&beside, text)?;
        fs::rename(&beside, &path).with_context(|| format!("cannot replace {}", path.display()))
    }
}

/// Plays the whole script. What does not happen in time is left to the comparison: for some
/// cases that is the truth.
pub(super) fn play_script(
    folder: &LiveFolder,
    model: &LiveModel,
    hands: &mut dyn Hands,
    changes: &mut Vec<Change>,
) -> Result<()> {
    for step in folder.value["drive"].as_array().into_iter().flatten() {
        let text = |at: usize| step[at].as_str().unwrap_or_default();
        let count = |at: usize| usize::try_from(step[at].as_u64().unwrap_or(1)).unwrap_or(1);
        match text(0) {
            "say" => hands.say(text(1))?,
            "key" => hands.press(text(1))?,
            "kill" => hands.send_signal(text(1))?,
            "sleep" => {
                let seconds = step[1].as_f64().context("how long a pause is")?;
                wait_until(Duration::from_secs_f64(seconds), || Ok(false))?;
            }
            "put" => {
                for (name, content) in step[1].as_object().into_iter().flatten() {
                    let written = content
                        .as_str()
                        .map_or_else(|| content.to_string(), str::to_owned);
                    let change = note_change(name, Some(written));
                    change.apply(folder, text(2) == "inplace")?;
                    changes.push(change);
                }
            }
            "rm" => {
                let change = note_change(text(1), None);
                change.apply(folder, false)?;
                changes.push(change);
            }
            "result" => wait_until(limit(step, 2), || Ok(hands.count_results() >= count(1)))?,
            "requests" => wait_until(limit(step, 2), || {
                Ok(model.count(RequestKind::Main) >= count(1))
            })?,
            "event" => wait_until(limit(step, 3), || {
                let runs = read_runs(&folder.runs())?;
                let recorded = runs.iter().filter(|run| run.id == RECORDER_ID);
                let events = recorded.filter(|run| run.event()["hook_event_name"] == text(1));
                Ok(events.count() >= count(2))
            })?,
            "run" | "done" => wait_until(limit(step, 3), || {
                let runs = read_runs(&folder.runs())?;
                let of_id = runs.iter().filter(|run| run.id == text(1));
                let counted = of_id.filter(|run| text(0) == "run" || run.ended.is_some());
                Ok(counted.count() >= count(2))
            })?,
            other => bail!("the script knows no step `{other}`"),
        }
    }
    Ok(())
}

fn note_change(name: &str, text: Option<String>) -> Change {
    Change {
        at: read_clock(),
        name: name.to_owned(),
        text,
    }
}

fn limit(step: &Value, at: usize) -> Duration {
    step[at]
        .as_f64()
        .map_or(WAIT_TIMEOUT, Duration::from_secs_f64)
}

fn wait_until(limit: Duration, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let end = Instant::now() + limit;
    while !is_so()? {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::park_timeout(POLL_INTERVAL.min(left));
    }
    Ok(())
}
