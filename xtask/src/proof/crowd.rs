//! Many at once, a worker that dies again and again, a spool that has grown,
//! and a clock that goes back.

use std::fs::{File, FileTimes};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result};

use super::Trial;
use super::home::{FIRST_EVENT_MS, ProofHome, Tally, build_event, kill_process, pause_for};

/// Hooks at the same time.
const CROWD_HOOKS: usize = 64;

pub(super) fn at_once(trial: &Trial<'_>) -> Result<Tally> {
    let home = ProofHome::new(trial.program)?;
    let each = trial.pick_by_size(200, 12);
    let started = Instant::now();
    thread::scope(|scope| {
        let home = &home;
        let crowd: Vec<_> = (0..CROWD_HOOKS)
            .map(|one| {
                scope.spawn(move || {
                    (0..each)
                        .try_for_each(|n| home.send_hook(&build_event(one * each + n)).map(drop))
                })
            })
            .collect();
        crowd.into_iter().try_for_each(|one| {
            let ended = one.join();
            ended.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
        })
    })?;
    let hooks = started.elapsed();
    home.drain_spool()?;
    let rest = started.elapsed().saturating_sub(hooks);
    let sent: Vec<usize> = (0..CROWD_HOOKS * each).collect();
    let mut tally = home.compare_sent(&sent)?;
    tally.add_note(&format!(
        "{CROWD_HOOKS} x {each}; hooks took {:.1} s, the worker {:.1} s more",
        hooks.as_secs_f64(),
        rest.as_secs_f64()
    ));
    Ok(tally)
}

pub(super) fn try_killed_workers(trial: &Trial<'_>) -> Result<Tally> {
    let home = ProofHome::new(trial.program)?;
    let kills = trial.pick_by_size(100, 12);
    let all = trial.pick_by_size(20_000, 2_400);
    let each = all / kills;
    let mut dice = trial.seeded_random();
    home.paths.prepare_data_dir()?;
    for round in 0..kills {
        let first = round * each;
        thread::scope(|scope| -> Result<()> {
            let home = &home;
            // They come while the worker lives and dies.
            let writing = scope.spawn(move || {
                (first + 1..first + each)
                    .try_for_each(|n| home.spool_event(FIRST_EVENT_MS, &build_event(n)))
            });
            // A hook, because the next hook must bring a new worker.
            home.send_hook(&build_event(first))?;
            let worker = home.awaited_worker()?;
            pause_for(Duration::from_micros(dice.next_below(120_000)));
            kill_process(&worker.pid.to_string())?;
            let written = writing.join();
            written.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
        })?;
        wait_until_gone(&home)?;
    }
    home.drain_spool()?;
    let sent: Vec<usize> = (0..kills * each).collect();
    let mut tally = home.compare_sent(&sent)?;
    tally.add_note(&format!("killed {kills} times, seed {}", trial.seed));
    Ok(tally)
}

/// A process that is dying holds its socket a moment longer, and a hook would
/// poke it in vain.
pub(super) fn wait_until_gone(home: &ProofHome) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(10);
    let socket = home.paths.socket_file();
    while !matches!(
        remora_client::Connection::try_open(&socket),
        remora_client::Connection::NotListening
    ) {
        anyhow::ensure!(Instant::now() < end, "a killed worker does not go");
        pause_for(Duration::from_millis(1));
    }
    Ok(())
}

pub(super) fn try_backlog(trial: &Trial<'_>) -> Result<Tally> {
    let home = ProofHome::new(trial.program)?;
    let all = trial.pick_by_size(50_000, 5_000);
    for n in 0..all {
        home.spool_event(FIRST_EVENT_MS + i64::try_from(n)?, &build_event(n))?;
    }
    let started = Instant::now();
    home.drain_spool()?;
    let took = started.elapsed().as_secs_f64();
    let sent: Vec<usize> = (0..all).collect();
    let mut tally = home.compare_sent(&sent)?;
    let speed = f64::from(u32::try_from(all)?) / took;
    tally.add_note(&format!("drained in {took:.1} s, {speed:.0} events/s"));
    Ok(tally)
}

pub(super) fn try_clock_jumps(trial: &Trial<'_>) -> Result<Tally> {
    const YEAR_MS: i64 = 365 * 86_400_000;
    let home = ProofHome::new(trial.program)?;
    let mut dice = trial.seeded_random();
    let all = trial.pick_by_size(4_000, 600);
    home.paths.prepare_data_dir()?;
    // A start that was tried in the future, as the clock now says.
    let future = SystemTime::UNIX_EPOCH + Duration::from_hours(120 * 365 * 24);
    let gate = File::create(home.paths.run_dir().join("start.lock"))?;
    gate.set_times(FileTimes::new().set_modified(future))?;
    for n in 0..all {
        let now = match n % 5 {
            0 => FIRST_EVENT_MS - i64::try_from(n)?,
            1 => FIRST_EVENT_MS + i64::try_from(dice.next_below(1_000_000))? * 1000,
            2 => FIRST_EVENT_MS - i64::try_from(dice.next_below(40))? * YEAR_MS,
            3 => 0,
            _ => -i64::try_from(n)?,
        };
        home.spool_event(now, &build_event(n))?;
        // Some arrive while the worker is at it.
        if n % 200 == 100 {
            home.send_hook(&build_event(all + n))?;
        }
    }
    home.drain_spool()?;
    let hooks = (0..all).filter(|n| n % 200 == 100).map(|n| all + n);
    let sent: Vec<usize> = (0..all).chain(hooks).collect();
    let mut tally = home
        .compare_sent(&sent)
        .context("after the clock went back")?;
    tally.add_note("ids and times from 1970 to beyond now, in no order");
    Ok(tally)
}
