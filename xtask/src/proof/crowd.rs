//! Many at once, a worker that dies again and again, a spool that has grown,
//! and a clock that goes back.

use std::fs::{File, FileTimes};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result};

use super::Trial;
use super::home::{Home, NOW, Tally, event, kill, pause};

/// Hooks at the same time.
const CROWD: usize = 64;

pub(super) fn at_once(trial: &Trial<'_>) -> Result<Tally> {
    let home = Home::new(trial.program)?;
    let each = trial.pick(200, 12);
    let started = Instant::now();
    thread::scope(|scope| {
        let home = &home;
        let crowd: Vec<_> = (0..CROWD)
            .map(|one| {
                scope.spawn(move || {
                    (0..each).try_for_each(|n| home.hook(&event(one * each + n)).map(drop))
                })
            })
            .collect();
        crowd.into_iter().try_for_each(|one| {
            let ended = one.join();
            ended.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
        })
    })?;
    let hooks = started.elapsed();
    home.drain()?;
    let rest = started.elapsed().saturating_sub(hooks);
    let sent: Vec<usize> = (0..CROWD * each).collect();
    let mut tally = home.judge(&sent)?;
    tally.say(&format!(
        "{CROWD} x {each}; hooks took {:.1} s, the worker {:.1} s more",
        hooks.as_secs_f64(),
        rest.as_secs_f64()
    ));
    Ok(tally)
}

pub(super) fn killed(trial: &Trial<'_>) -> Result<Tally> {
    let home = Home::new(trial.program)?;
    let kills = trial.pick(100, 12);
    let all = trial.pick(20_000, 2_400);
    let each = all / kills;
    let mut dice = trial.dice();
    home.paths.prepare()?;
    for round in 0..kills {
        let first = round * each;
        thread::scope(|scope| -> Result<()> {
            let home = &home;
            // They come while the worker lives and dies.
            let writing = scope.spawn(move || {
                (first + 1..first + each).try_for_each(|n| home.put(NOW, &event(n)))
            });
            // A hook, because the next hook must bring a new worker.
            home.hook(&event(first))?;
            let worker = home.awaited_worker()?;
            pause(Duration::from_micros(dice.below(120_000)));
            kill(&worker.pid.to_string())?;
            let written = writing.join();
            written.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
        })?;
        gone(&home)?;
    }
    home.drain()?;
    let sent: Vec<usize> = (0..kills * each).collect();
    let mut tally = home.judge(&sent)?;
    tally.say(&format!("killed {kills} times, seed {}", trial.seed));
    Ok(tally)
}

/// A process that is dying holds its socket a moment longer, and a hook would
/// poke it in vain.
pub(super) fn gone(home: &Home) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(10);
    let socket = home.paths.socket();
    while !matches!(
        remora_client::Connection::try_open(&socket),
        remora_client::Connection::Nobody
    ) {
        anyhow::ensure!(Instant::now() < end, "a killed worker does not go");
        pause(Duration::from_millis(1));
    }
    Ok(())
}

pub(super) fn backlog(trial: &Trial<'_>) -> Result<Tally> {
    let home = Home::new(trial.program)?;
    let all = trial.pick(50_000, 5_000);
    for n in 0..all {
        home.put(NOW + i64::try_from(n)?, &event(n))?;
    }
    let started = Instant::now();
    home.drain()?;
    let took = started.elapsed().as_secs_f64();
    let sent: Vec<usize> = (0..all).collect();
    let mut tally = home.judge(&sent)?;
    let speed = f64::from(u32::try_from(all)?) / took;
    tally.say(&format!("drained in {took:.1} s, {speed:.0} events/s"));
    Ok(tally)
}

pub(super) fn clock(trial: &Trial<'_>) -> Result<Tally> {
    const YEAR: i64 = 365 * 86_400_000;
    let home = Home::new(trial.program)?;
    let mut dice = trial.dice();
    let all = trial.pick(4_000, 600);
    home.paths.prepare()?;
    // A start that was tried in the future, as the clock now says.
    let future = SystemTime::UNIX_EPOCH + Duration::from_hours(120 * 365 * 24);
    let gate = File::create(home.paths.run().join("start.lock"))?;
    gate.set_times(FileTimes::new().set_modified(future))?;
    for n in 0..all {
        let now = match n % 5 {
            0 => NOW - i64::try_from(n)?,
            1 => NOW + i64::try_from(dice.below(1_000_000))? * 1000,
            2 => NOW - i64::try_from(dice.below(40))? * YEAR,
            3 => 0,
            _ => -i64::try_from(n)?,
        };
        home.put(now, &event(n))?;
        // Some arrive while the worker is at it.
        if n % 200 == 100 {
            home.hook(&event(all + n))?;
        }
    }
    home.drain()?;
    let hooks = (0..all).filter(|n| n % 200 == 100).map(|n| all + n);
    let sent: Vec<usize> = (0..all).chain(hooks).collect();
    let mut tally = home.judge(&sent).context("after the clock went back")?;
    tally.say("ids and times from 1970 to beyond now, in no order");
    Ok(tally)
}
