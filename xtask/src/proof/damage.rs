//! A database that was damaged in many ways, with and without a journal beside
//! it: it is put aside, and made anew from the archive.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::Trial;
use super::home::{Home, Tally, event, kill};

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
enum End {
    Stopped,
    Killed,
}

const WAYS: &[Damage] = &[
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
    let part = trial.pick(600, 120);
    for way in WAYS {
        for end in [End::Stopped, End::Killed] {
            let one = one(trial, *way, end, part).with_context(|| format!("{way:?}, {end:?}"))?;
            if !one.holds() {
                bail!("{way:?}, {end:?}: {one:?}");
            }
            tally.add(&one);
        }
    }
    let ways = WAYS.len();
    tally.say(&format!("{ways} ways, worker stopped and killed before"));
    Ok(tally)
}

fn one(trial: &Trial<'_>, way: Damage, end: End, part: usize) -> Result<Tally> {
    let home = Home::new(trial.program)?;
    for n in 0..part {
        home.put(super::home::NOW, &event(n))?;
    }
    home.drain()?;
    match end {
        End::Stopped => home.stop()?,
        End::Killed => kill(&home.awaited_worker()?.pid.to_string())?,
    }
    hurt(&home.paths.database(), way)?;
    // What comes next finds out.
    for n in part..part + 5 {
        home.hook(&event(n))?;
    }
    // A worker that stumbles says so, and is right at the next try.
    let mut drained = home.drain();
    for _ in 0..5 {
        if drained.is_ok() {
            break;
        }
        drained = home.drain();
    }
    drained?;
    home.judge(&(0..part + 5).collect::<Vec<_>>())
}

fn hurt(database: &Path, way: Damage) -> Result<()> {
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
