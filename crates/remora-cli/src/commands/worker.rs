//! `remora worker`: the background process, by hand.

pub(crate) mod saved_index;
mod surroundings;

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::sync::Arc;
use std::time::{Duration, Instant};

use remora_app::build_encoder;
use remora_app::config::Config;
use remora_app::worker_lock::{prepare_data_dir, stop_worker};
use remora_client::{DataPaths, NotifyOutcome, list_spooled, notify_worker, send_request};
use remora_core::request::{Reply, Request};
use remora_core::time::format_rfc3339;
use remora_server::commits::GitCapture;
use remora_server::embeddings::{BackgroundEmbedding, TextEncoder};
use remora_server::{IdleTask, WorkerExit, WorkerSettings};
use serde_json::json;

use crate::args::{WorkerArgs, WorkerCommand, WorkerLogsArgs};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::folders;
use crate::commands::show::lines::format_count;
use remora_app::status::{count_put_off, is_locked};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use crate::signals;
use saved_index::SavedFiles;

/// The worker works out meanings after nothing has come for this long.
const IDLE_DELAY: Duration = Duration::from_secs(5);
/// The worker keeps the encoder in memory for so long after its last use:
/// between two prompts of a session that is worked in.
const WORKER_KEEPS_ENCODER: Duration = Duration::from_mins(10);
/// For a request that the worker answers at once.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);
/// Draining a large spool may take its time.
const DRAIN_TIMEOUT: Duration = Duration::from_mins(10);
/// An event may end so many workers before it is put off.
const MAX_DRAIN_ATTEMPTS: u32 = 6;
/// A worker is expected to be up, or gone, after this.
const START_STOP_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn run(command: &WorkerCommand, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        WorkerCommand::Run => run_worker(out),
        WorkerCommand::Start(args) => run_start(args, out),
        WorkerCommand::Stop(args) => run_stop(args, out),
        WorkerCommand::Restart(args) => {
            let data = DataDir::open()?;
            stop_worker(&data.app.paths)?;
            run_start(args, out)
        }
        WorkerCommand::Status(args) => run_status(args, out),
        WorkerCommand::Logs(args) => run_logs(args, out),
        WorkerCommand::Drain(args) => run_drain(args, out),
        WorkerCommand::Retry(args) => run_retry(args, out),
    }
}

/// The worker itself, in this process. Started by a hook it has no terminal and
/// no descriptor of the client's.
fn run_worker(out: &mut Output) -> Result<Exit, CliError> {
    remora_client::leave_session();
    remora_client::close_inherited();
    let data = DataDir::open()?;
    // Before the store and the socket are opened: it may replace this process
    // by a new one.
    surroundings::drop_session_variables(&data.environment);
    let settings = build_worker_settings(&data);
    let mark = data.app.paths.sync_mark();
    prepare_data_dir(&data.app.paths)?;
    // Hooks read no settings; the mark makes them wait for the disk.
    let marked = if data.app.config.get_flag("spool.fsync") {
        remora_client::write_our_file(&mark, b"")
    } else {
        match fs::remove_file(&mark) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    };
    marked.map_err(|source| CliError::File { path: mark, source })?;
    // Without it a signal ends the worker all the same, only less orderly.
    let _ = signals::end_worker(data.app.paths.clone());
    match remora_server::run_worker(&settings)? {
        WorkerExit::AlreadyRunning => {
            out.print_text("a worker runs already\n")?;
            Ok(Exit::GoOn)
        }
        WorkerExit::Idle | WorkerExit::Stopped | WorkerExit::Replaced | WorkerExit::Homeless => {
            Ok(Exit::GoOn)
        }
    }
}

/// What the worker needs, from the configuration.
pub(crate) fn build_worker_settings(data: &DataDir) -> WorkerSettings {
    let encoder = worker_encoder(&data.app.config);
    WorkerSettings {
        paths: data.app.paths.clone(),
        // A port, so that the proof can link a store that fails; no fault can
        // be switched on in the product.
        open_store: remora_server::open_store,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        policy: data.app.config.capture_policy(),
        ignore: data.app.config.get_list("capture.ignore"),
        idle: Duration::from_secs(data.app.config.get_number("worker.idle_minutes") * 60),
        archive_cap: data.app.config.get_number("archive.max_mb") * 1024 * 1024,
        background_embedding: build_background(&data.app.config, encoder.clone()),
        encoder,
        saved: Some(Arc::new(SavedFiles::new(data))),
        git: if data.app.config.get_flag("capture.git") {
            GitCapture::On
        } else {
            GitCapture::Off
        },
        chore: data
            .app
            .config
            .get_flag("folders.auto")
            .then_some(folders::refresh_notes as IdleTask),
        clock: clock::now_ms,
    }
}

/// The encoder that the worker embeds items and prompts with.
fn worker_encoder(config: &Config) -> Option<Arc<dyn TextEncoder>> {
    let encoder = build_encoder(config)?.kept_for(WORKER_KEEPS_ENCODER);
    Some(Arc::new(encoder))
}

/// What the worker does in its spare time, as the configuration says.
fn build_background(
    config: &Config,
    encoder: Option<Arc<dyn TextEncoder>>,
) -> Option<BackgroundEmbedding> {
    Some(BackgroundEmbedding {
        encoder: encoder.filter(|_| config.get_flag("search.background"))?,
        after: IDLE_DELAY,
    })
}

/// The worker of this data directory, if one answers.
pub(crate) fn find_running_worker(paths: &DataPaths) -> Option<Reply> {
    send_request(&paths.socket_file(), &Request::Status, REPLY_TIMEOUT).ok()
}

fn run_start(args: &WorkerArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let before = find_running_worker(&data.app.paths);
    let reply = match &before {
        Some(reply) => reply.clone(),
        None => match start_worker(&data.app.paths)? {
            StartOutcome::Answers(reply) => reply,
            StartOutcome::Busy => return print_busy(args, out),
        },
    };
    if args.json {
        out.print_json(&json!({ "started": before.is_none(), "worker": reply }))?;
    } else {
        let word = if before.is_none() {
            "started"
        } else {
            "runs already"
        };
        out.print_text(&format!(
            "worker {word}: process {}, version {}\n",
            reply.pid, reply.version
        ))?;
    }
    Ok(Exit::GoOn)
}

fn print_busy(args: &WorkerArgs, out: &mut Output) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(&json!({ "started": true, "worker": null }))?;
    } else {
        out.print_text(
            "the worker has started and does not answer yet: it may be bringing a large database \
             up to date\n`remora worker status` says when it is done\n",
        )?;
    }
    Ok(Exit::GoOn)
}

/// What became of a worker that was started.
enum StartOutcome {
    Answers(Reply),
    /// It holds its lock, and is at something that it cannot be asked about.
    Busy,
}

/// Starts a worker unless one runs, and waits a while until it answers.
fn start_worker(paths: &DataPaths) -> Result<StartOutcome, CliError> {
    let program = std::env::current_exe()?;
    let version = env!("CARGO_PKG_VERSION");
    let end = Instant::now() + START_STOP_TIMEOUT;
    prepare_data_dir(paths)?;
    loop {
        if let Some(reply) = find_running_worker(paths) {
            return Ok(StartOutcome::Answers(reply));
        }
        if Instant::now() > end {
            if is_locked(paths) {
                return Ok(StartOutcome::Busy);
            }
            return Err(CliError::Usage(format!(
                "the worker does not come up; {} may say why",
                paths.worker_log().display()
            )));
        }
        // In every round: another process may be the one that starts it, and
        // may fail.
        let notified = notify_worker(paths, &program, version, clock::now());
        match notified.map_err(|e| refuse_start(paths, &e))? {
            NotifyOutcome::Notified | NotifyOutcome::Started | NotifyOutcome::Starting => {
                wait_briefly();
            }
        }
    }
}

fn refuse_start(paths: &DataPaths, error: &io::Error) -> CliError {
    let run = paths.run_dir();
    CliError::Usage(format!(
        "the worker cannot be started from {}: {error}",
        run.display()
    ))
}

/// A short wait between two looks at another process.
fn wait_briefly() {
    std::thread::park_timeout(Duration::from_millis(20));
}

fn run_stop(args: &WorkerArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::with_default_config()?;
    // With the default settings: a worker must be stoppable while `config.toml`
    // cannot be read.
    let ended = stop_worker(&data.app.paths)?;
    if args.json {
        out.print_json(&json!({ "stopped": ended.is_some(), "pid": ended.map(|r| r.pid) }))?;
    } else {
        out.print_text(match ended {
            Some(_) => "worker stopped\n",
            None => "no worker runs\n",
        })?;
    }
    Ok(Exit::GoOn)
}

fn run_status(args: &WorkerArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::with_default_config()?;
    let reply = find_running_worker(&data.app.paths);
    let backlog = list_spooled(&data.app.paths, usize::MAX).map_or(0, |files| files.len());
    if args.json {
        out.print_json(&json!({ "running": reply.is_some(), "spool": backlog, "worker": reply }))?;
        return Ok(Exit::GoOn);
    }
    let text = match reply {
        Some(r) => {
            let trouble = r
                .trouble
                .map(|t| format!("{}\n", out.paint(Style::Yellow, &t)))
                .unwrap_or_default();
            format!(
                "worker runs: process {}, version {}, since {}\nstored {}, dead letters {}, waiting {backlog}\n{trouble}",
                r.pid,
                r.version,
                format_rfc3339(r.started),
                r.stored,
                r.dead
            )
        }
        None if is_locked(&data.app.paths) => {
            format!("a worker runs and does not answer yet; waiting {backlog}\n")
        }
        None => format!("no worker runs; waiting {backlog}\n"),
    };
    out.print_text(&text)?;
    Ok(Exit::GoOn)
}

fn run_logs(args: &WorkerLogsArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::with_default_config()?;
    let path = data.app.paths.worker_log();
    let file = match fs::File::open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Exit::GoOn),
        other => other.map_err(|source| CliError::File { path, source })?,
    };
    let wanted = |line: &String| {
        args.event
            .as_ref()
            .is_none_or(|id| line.contains(id.as_str()))
    };
    let mut lines: Vec<String> = BufReader::new(file)
        .lines()
        .map_while(Result::ok)
        .filter(wanted)
        .collect();
    let from = lines.len().saturating_sub(args.lines);
    for line in lines.drain(from..) {
        out.print_text(&format!("{line}\n"))?;
    }
    Ok(Exit::GoOn)
}

fn run_drain(args: &WorkerArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let before = list_spooled(&data.app.paths, usize::MAX).map_or(0, |files| files.len());
    let reply = if before == 0 && find_running_worker(&data.app.paths).is_none() {
        None
    } else {
        let reply = drain_spool(&data.app.paths)?;
        if let Some(trouble) = &reply.trouble {
            return Err(CliError::Usage(format!(
                "the worker cannot store: {trouble}"
            )));
        }
        Some(reply)
    };
    let put_off = count_put_off(&data.app.paths);
    let drained = (before as u64).saturating_sub(put_off);
    if args.json {
        out.print_json(&json!({ "drained": drained, "put_off": put_off, "worker": reply }))?;
    } else {
        let events = format_count(drained, "event", "events");
        let rest = match put_off {
            0 => String::new(),
            n => format!(
                "; {} put off, see `remora doctor`",
                format_count(n, "event is", "events are")
            ),
        };
        out.print_text(&format!("drained {events}{rest}\n"))?;
    }
    Ok(Exit::GoOn)
}

/// Waits until the worker has ingested its current batch. One that dies meanwhile
/// is started again: the event that it died on goes last, and is then put off.
fn drain_spool(paths: &DataPaths) -> Result<Reply, CliError> {
    let mut attempts = 1;
    loop {
        start_worker(paths)?;
        match send_request(&paths.socket_file(), &Request::Drain, DRAIN_TIMEOUT) {
            // A worker that died has hung up; one that is slow is still at
            // work.
            Err(e) if attempts < MAX_DRAIN_ATTEMPTS && !is_timeout(&e) => attempts += 1,
            other => {
                return other.map_err(|e| {
                    CliError::Usage(format!("the worker did not say that it was done: {e}"))
                });
            }
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}

fn run_retry(args: &WorkerArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let put_off = count_put_off(&data.app.paths);
    if put_off > 0 {
        // A worker that runs keeps its own list.
        stop_worker(&data.app.paths)?;
        remora_server::forget_suspects(&data.app.paths).map_err(|source| CliError::File {
            path: data.app.paths.run_dir(),
            source,
        })?;
    }
    let retried = put_off + remora_server::retry_dead_letters(&data.app.paths)? as u64;
    if retried > 0 {
        drain_spool(&data.app.paths)?;
    }
    let put_off = count_put_off(&data.app.paths);
    let dead = remora_server::dead_letters(&data.app.paths)?;
    if args.json {
        let still: Vec<_> = dead.iter().map(|(_, letter)| letter).collect();
        out.print_json(&json!({ "retried": retried, "dead": still, "put_off": put_off }))?;
    } else {
        let letters = format_count(
            dead.len() as u64,
            "dead letter is left",
            "dead letters are left",
        );
        out.print_text(&format!("tried {retried} again; {letters}\n"))?;
        if put_off > 0 {
            let events = format_count(put_off, "event", "events");
            out.print_text(&format!(
                "the worker died on {events}, see `remora doctor`\n"
            ))?;
        }
        for (_, letter) in dead {
            out.print_text(&format!("  {} {}\n", letter.id, letter.reason))?;
        }
    }
    Ok(Exit::GoOn)
}
