//! Events that make the worker panic, and a worker that is killed in the middle
//! of a batch: each costs no other event, and in the end not even itself.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use remora_memory::CapturePolicy;
use remora_memory::store::{Batch, Store, StoreError};
use remora_memory::testing::FaultyStore;
use remora_server::{WorkerExit, WorkerSettings, open_store, run_worker};
use serde_json::Value;

use super::Trial;
use super::home::{FIRST_EVENT_MS, ProofHome, Tally, build_event, kill_process, pause_for};

/// Every so many events there is one that the store panics on.
const POISON_INTERVAL_EVENTS: usize = 41;
const POISON_WORD: &str = "hemlock";
const WORKER_TIMEOUT: Duration = Duration::from_secs(30);

fn panic_on_poison(batch: &Batch) {
    assert!(!format!("{batch:?}").contains(POISON_WORD), "poison");
}

fn open_poisoned(database: &std::path::Path) -> Result<Box<dyn Store>, StoreError> {
    let store = open_store(database)?;
    Ok(Box::new(FaultyStore::new(store, panic_on_poison)))
}

fn build_poison(n: usize) -> Value {
    let mut event = build_event(n);
    event["tool_response"]["stderr"] = POISON_WORD.into();
    event
}

/// A worker in this process, behind a store that panics on some events. All
/// others must be stored; the product's own worker stores the rest afterwards.
pub(super) fn try_panics(trial: &Trial<'_>) -> Result<Tally> {
    let home = ProofHome::new(trial.program)?;
    let all = trial.pick_by_size(8_000, 1_500);
    home.paths.prepare_data_dir()?;
    let is_poison = |n: usize| n % POISON_INTERVAL_EVENTS == 7;
    for n in 0..all {
        let event = if is_poison(n) {
            build_poison(n)
        } else {
            build_event(n)
        };
        home.spool_event(FIRST_EVENT_MS + i64::try_from(n)?, &event)?;
    }
    let settings = WorkerSettings {
        paths: home.paths.clone(),
        open_store: open_poisoned,
        version: "999.0.0".to_owned(),
        policy: CapturePolicy::default(),
        ignore: Vec::new(),
        idle: Duration::from_mins(10),
        archive_cap: u64::MAX,
        background_embedding: None,
        encoder: None,
        saved: None,
        git: remora_server::commits::GitCapture::Off,
        chore: None,
        clock: || FIRST_EVENT_MS,
    };
    let worker = thread::spawn(move || run_worker(&settings));
    home.awaited_worker()?;
    home.drain_spool()?;
    home.stop()?;
    match worker.join() {
        Ok(ended) => ensure!(ended? == WorkerExit::Stopped, "the worker did not go on"),
        Err(_) => bail!("the worker panicked"),
    }
    let sound: Vec<usize> = (0..all).filter(|n| !is_poison(*n)).collect();
    let before = home.compare_sent(&sound)?;
    ensure!(
        before.is_complete(),
        "a panic cost other events: {before:?}"
    );
    let dead = remora_server::dead_letters(&home.paths)?.len();
    ensure!(
        dead == all - sound.len(),
        "{dead} dead letters for {} events that panic",
        all - sound.len()
    );
    home.run_remora(&["worker", "retry"])?;
    let mut tally = home.compare_sent(&(0..all).collect::<Vec<_>>())?;
    tally.add_note(&format!("{dead} events panicked, and were stored later"));
    Ok(tally)
}

/// Killed as soon as it has noted what it is about to read.
pub(super) fn killed_within_a_batch(trial: &Trial<'_>) -> Result<Tally> {
    let home = ProofHome::new(trial.program)?;
    let kills = trial.pick_by_size(60, 10);
    let each = trial.pick_by_size(300, 100);
    let mut dice = trial.seeded_random();
    home.paths.prepare_data_dir()?;
    let under_way = home.paths.run_dir().join("under-way");
    let up = home.paths.run_dir().join("worker-up");
    let mut within = 0;
    for round in 0..kills {
        let first = round * each;
        for n in first + 1..first + each {
            home.spool_event(FIRST_EVENT_MS, &build_event(n))?;
        }
        let before = fs::read(&under_way).ok();
        home.send_hook(&build_event(first))?;
        // It answers only between two batches: its own note says who it is.
        let end = Instant::now() + WORKER_TIMEOUT;
        while fs::read(&under_way).ok() == before || !under_way.exists() {
            let waits = !remora_client::list_spooled(&home.paths, 1)?.is_empty();
            if !waits || Instant::now() > end {
                break;
            }
            thread::yield_now();
        }
        pause_for(Duration::from_micros(dice.next_below(4_000)));
        let worker = fs::read_to_string(&up).context("no worker came up")?;
        // The process comes first; behind it the note says which lock it held.
        let process = worker.split_whitespace().next();
        kill_process(process.context("the note names no worker")?)?;
        super::crowd::wait_until_gone(&home)?;
        within += usize::from(under_way.exists());
    }
    home.drain_spool()?;
    // A kill gives up no event; what it interrupted is tried again.
    home.run_remora(&["worker", "retry"])?;
    let dead = remora_server::dead_letters(&home.paths)?.len();
    ensure!(dead == 0, "{dead} events were given up because of kills");
    let sent: Vec<usize> = (0..kills * each).collect();
    ensure!(within > 0, "no worker was killed within a batch");
    let mut tally = home.compare_sent(&sent).context("after the kills")?;
    tally.add_note(&format!("killed {kills} times, {within} within a batch"));
    Ok(tally)
}
