//! A database that was damaged in many ways, with and without a journal beside
//! it: it is put aside, and rebuilt from the archive.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::Trial;
use super::home::{ProofHome, Tally, build_event, kill_process};

#[derive(Debug, Clone, Copy)]
enum Damage {
    Gone,
    Empty,
    CutInTheHeader,
    CutInTheMiddle,
    LastPageMissing,
    Garbage,
    GarbageBehindTheHeader,
    GarbageInTheMiddle,
}

/// How the worker before it ended.
#[derive(Debug, Clone, Copy)]
enum WorkerEnd {
    Stopped,
    Killed,
}

const DAMAGES: &[Damage] = &[
    Damage::Gone,
    Damage::Empty,
    Damage::CutInTheHeader,
    Damage::CutInTheMiddle,
    Damage::LastPageMissing,
    Damage::Garbage,
    Damage::GarbageBehindTheHeader,
    Damage::GarbageInTheMiddle,
];

pub(super) fn run(trial: &Trial<'_>) -> Result<Tally> {
    let mut tally = Tally::default();
    let part = trial.pick_by_size(600, 120);
    for way in DAMAGES {
        for end in [WorkerEnd::Stopped, WorkerEnd::Killed] {
            let one =
                try_damage(trial, *way, end, part).with_context(|| format!("{way:?}, {end:?}"))?;
            if !one.is_complete() {
                bail!("{way:?}, {end:?}: {one:?}");
            }
            tally.add_tally(&one);
        }
    }
    let ways = DAMAGES.len();
    tally.add_note(&format!("{ways} ways, worker stopped and killed before"));
    Ok(tally)
}

fn try_damage(trial: &Trial<'_>, way: Damage, end: WorkerEnd, part: usize) -> Result<Tally> {
    let home = ProofHome::new(trial.program)?;
    for n in 0..part {
        home.spool_event(super::home::FIRST_EVENT_MS, &build_event(n))?;
    }
    home.drain_spool()?;
    match end {
        WorkerEnd::Stopped => home.stop()?,
        WorkerEnd::Killed => kill_process(&home.awaited_worker()?.pid.to_string())?,
    }
    damage_database(&home.paths.database_file(), way)?;
    // What comes next finds out.
    for n in part..part + 5 {
        home.send_hook(&build_event(n))?;
    }
    // A worker that stumbles says so, and is right at the next try.
    let mut drained = home.drain_spool();
    for _ in 0..5 {
        if drained.is_ok() {
            break;
        }
        drained = home.drain_spool();
    }
    drained?;
    home.compare_sent(&(0..part + 5).collect::<Vec<_>>())
}

fn damage_database(database: &Path, way: Damage) -> Result<()> {
    let size = fs::metadata(database)?.len();
    let file = OpenOptions::new().write(true).open(database)?;
    let garbage = |from: u64, to: u64| {
        let bytes = vec![0xa5; usize::try_from(to.saturating_sub(from))?];
        Ok(file.write_all_at(&bytes, from)?)
    };
    match way {
        Damage::Gone => Ok(fs::remove_file(database)?),
        Damage::Empty => Ok(file.set_len(0)?),
        Damage::CutInTheHeader => Ok(file.set_len(70)?),
        Damage::CutInTheMiddle => Ok(file.set_len(size / 2)?),
        Damage::LastPageMissing => Ok(file.set_len(size - 4096)?),
        Damage::Garbage => garbage(0, size),
        Damage::GarbageBehindTheHeader => garbage(4096, size),
        Damage::GarbageInTheMiddle => garbage(size / 4, size / 4 * 3),
    }
}
