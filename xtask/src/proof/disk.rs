//! A disk that is full, or may not be written to, and is well again. The disk
//! is a small one of the trial's own, mounted where nobody else sees it.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use remora_client::{list_spooled, read_spooled};
use serde_json::Value;

use super::home::{ProofHome, Tally, build_event, kill_process};
use super::{Trial, TrialSize};

pub(super) fn try_full_disk(trial: &Trial<'_>) -> Result<Tally> {
    on_a_disk(trial, "full")
}

pub(super) fn read_only(trial: &Trial<'_>) -> Result<Tally> {
    on_a_disk(trial, "read-only")
}

/// Runs this program again, where a disk can be mounted.
fn on_a_disk(trial: &Trial<'_>, name: &str) -> Result<Tally> {
    let disk = tempfile::Builder::new().prefix("remora-proof-").tempdir()?;
    let root = fs::metadata("/proc/self")?.uid() == 0;
    let mut command = Command::new("unshare");
    command.arg(if root { "--mount" } else { "--map-root-user" });
    if !root {
        command.arg("--mount");
    }
    command
        .arg(std::env::current_exe()?)
        .args(["proof", "--seed", &trial.seed.to_string(), "--inside", name])
        .arg(disk.path())
        .arg("--program")
        .arg(trial.program);
    if trial.size == TrialSize::Quick {
        command.arg("--quick");
    }
    let done = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("this trial needs `unshare` and `mount` (util-linux)")?;
    let said = serde_json::from_slice(&done.stdout).unwrap_or_default();
    match Tally::from_json(&said) {
        Some(tally) if done.status.success() => Ok(tally),
        _ => bail!("it could not be run on a disk of its own; see above"),
    }
}

/// The trial itself, in the namespace.
pub(super) fn run_on_disk(trial: &Trial<'_>, name: &str, disk: &Path) -> Result<Tally> {
    mount_disk(&["-t", "tmpfs", "-o", "size=24m,mode=700", "none"], disk)?;
    let home = ProofHome::create_within(trial.program, disk)?;
    let part = trial.pick_by_size(300, 60);
    let mut numbers = 0..;
    let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<usize>>();
    let before = take(part);
    for n in &before {
        home.send_hook(&build_event(*n))?;
    }
    home.drain_spool()?;
    let mut certain = before;
    let during = take(part);
    let mut captured = HashSet::new();
    let message = match name {
        "full" => {
            let ballast = disk.join("ballast");
            fill_disk(&ballast)?;
            let at_once = home.start_session("while it is full")?;
            ensure!(at_once.is_some(), "a start that fails does not say so");
            // Room for some events, hardly for what the worker makes of them;
            // then for none.
            let (some, none) = during.split_at(part / 2);
            let size = fs::metadata(&ballast)?.len();
            let less = fs::OpenOptions::new().write(true).open(&ballast)?;
            less.set_len(size.saturating_sub(256 * 1024))?;
            send_events(&home, some, &mut captured)?;
            fill_disk(&ballast)?;
            send_events(&home, none, &mut captured)?;
            // Dying changes nothing, with or without room.
            if let Some(worker) = home.worker_status() {
                kill_process(&worker.pid.to_string())?;
            }
            fs::remove_file(ballast)?;
            home.start_session("well again")?
        }
        "read-only" => {
            home.stop()?;
            mount_disk(&["-o", "remount,ro"], disk)?;
            send_events(&home, &during, &mut captured)?;
            let message = home.start_session("while it is read-only")?;
            mount_disk(&["-o", "remount,rw"], disk)?;
            message
        }
        other => bail!("there is no trial `{other}`"),
    };
    let after = take(part);
    for n in &after {
        home.send_hook(&build_event(*n))?;
    }
    certain.extend(after);
    certain.extend(&captured);
    home.drain_spool()?;
    let mut tally = home.compare_sent(&certain)?;
    let refused: Vec<usize> = during
        .into_iter()
        .filter(|n| !captured.contains(n))
        .collect();
    // The worker may have ingested some before they were seen in the spool.
    let rest = home.compare_sent(&refused)?;
    tally.sent += rest.sent;
    tally.stored += rest.stored;
    tally.doubled += rest.doubled;
    tally.refused = rest.lost;
    ensure!(
        tally.refused > 0,
        "the disk was never {name}: the trial shows nothing"
    );
    let message = message.context("events were refused, and no message says so")?;
    ensure!(
        message.contains("remora doctor"),
        "the message names no way out: {message}"
    );
    ensure!(
        home.start_session("later")?.is_none(),
        "the user sees the message more than once"
    );
    tally.add_note("a tmpfs of its own; the user saw one message about what was refused");
    home.stop()?;
    Ok(tally)
}

/// Sends events, and notes those that reached the spool.
fn send_events(home: &ProofHome, numbers: &[usize], captured: &mut HashSet<usize>) -> Result<()> {
    for n in numbers {
        home.send_hook(&build_event(*n))?;
        for file in list_spooled(&home.paths, usize::MAX)? {
            let Ok(spooled) = read_spooled(&file, u64::MAX) else {
                continue;
            };
            let event: Value = serde_json::from_slice(&spooled.payload)?;
            let id = event["tool_use_id"].as_str().unwrap_or_default();
            captured.extend(
                id.strip_prefix("toolu_")
                    .and_then(|n| n.parse::<usize>().ok()),
            );
        }
    }
    Ok(())
}

/// Writes until nothing more fits.
fn fill_disk(file: &Path) -> Result<()> {
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)?;
    for size in [64 * 1024, 4096, 1] {
        while file.write(&vec![b'x'; size]).is_ok_and(|n| n > 0) {}
    }
    Ok(())
}

fn mount_disk(args: &[&str], at: &Path) -> Result<()> {
    let done = Command::new("mount").args(args).arg(at).status();
    let done = done.context("this trial needs `mount` (util-linux)")?;
    ensure!(done.success(), "mount {} failed: {done}", args.join(" "));
    Ok(())
}
