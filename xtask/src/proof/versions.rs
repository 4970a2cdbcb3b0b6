//! Two versions at once: an older worker, which runs in this process, makes
//! way for the program under trial; that one makes way for what calls itself
//! newer; an older one that is started then goes away again.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use remora_core::request::Request;
use remora_memory::CapturePolicy;
use remora_server::{WorkerExit, WorkerSettings, run_worker};

use super::Trial;
use super::home::{FIRST_EVENT_MS, ProofHome, Tally, build_event, pause_for};

pub(super) fn run(trial: &Trial<'_>) -> Result<Tally> {
    let home = ProofHome::new(trial.program)?;
    let each = trial.pick_by_size(400, 60);
    let older = WorkerSettings {
        paths: home.paths.clone(),
        version: "0.0.1".to_owned(),
        policy: CapturePolicy::default(),
        ignore: Vec::new(),
        idle: Duration::from_mins(10),
        archive_cap: u64::MAX,
        open_store: remora_server::open_store,
        background_embedding: None,
        encoder: None,
        saved: None,
        git: remora_server::commits::GitCapture::Off,
        chore: None,
        clock: || FIRST_EVENT_MS,
    };
    let first = {
        let older = older.clone();
        thread::spawn(move || run_worker(&older))
    };
    let before = home.awaited_worker()?;
    ensure!(before.version == "0.0.1", "another worker is there");
    for n in 0..each {
        home.spool_event(FIRST_EVENT_MS, &build_event(n))?;
    }
    for n in each..each * 2 {
        home.send_hook(&build_event(n))?;
    }
    match first.join() {
        Ok(ended) => ensure!(
            ended? == WorkerExit::Replaced,
            "the older one did not make way"
        ),
        Err(_) => bail!("the older worker panicked"),
    }
    let second = home.awaited_worker()?;
    ensure!(second.version != "0.0.1", "the older one is still there");
    // The same program under another name plays the newer one.
    let newer = home.paths.home().join("remora-newer");
    fs::copy(trial.program, &newer)?;
    let notice = Request::Notify {
        version: "999.0.0".to_owned(),
        program: newer.display().to_string(),
    };
    let socket = home.paths.socket_file();
    thread::scope(|scope| -> Result<()> {
        let home = &home;
        let sending = scope.spawn(move || {
            (each * 2..each * 3).try_for_each(|n| home.send_hook(&build_event(n)).map(drop))
        });
        // A notice is not answered.
        let _ = remora_client::send_request(&socket, &notice, Duration::from_millis(100));
        let sent = sending.join();
        sent.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
    })?;
    let end = Instant::now() + Duration::from_secs(20);
    while home.awaited_worker()?.pid == second.pid {
        ensure!(Instant::now() < end, "it did not make way for the newer");
        pause_for(Duration::from_millis(5));
    }
    ensure!(
        run_worker(&older)? == WorkerExit::AlreadyRunning,
        "two workers at once"
    );
    home.drain_spool()?;
    let mut tally = home.compare_sent(&(0..each * 3).collect::<Vec<_>>())?;
    tally.add_note("0.0.1 in this process, then the program, then it again as 999.0.0");
    Ok(tally)
}
