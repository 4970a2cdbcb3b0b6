//! `remora worker`: the background process, by hand.

pub(crate) mod saved_index;
mod surroundings;

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::sync::Arc;
use std::time::{Duration, Instant};

use remora_client::{Paths, Woken, ask, waiting, wake};
use remora_memory::Policy;
use remora_memory::redact::Rules;
use remora_protocol::request::{Reply, Request};
use remora_protocol::time::rfc3339;
use remora_server::commits::GitCapture;
use remora_server::{Chore, Ended, Settings, Suspect, suspects};
use serde_json::json;

use crate::args::{Worker, WorkerLogs, WorkerPlain};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::folders;
use crate::commands::show::lines::count;
use crate::commands::status::is_locked;
use crate::commands::tier;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use crate::signals;
use saved_index::SavedFiles;

/// A moment, for a question that is answered at once.
const MOMENT: Duration = Duration::from_secs(2);
/// Draining a large spool may take its time.
const LONG: Duration = Duration::from_mins(10);
/// An event may end so many workers before it is put off.
const MAX_DRAIN_ATTEMPTS: u32 = 6;
/// A worker is expected to be up, or gone, after this.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(command: &Worker, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        Worker::Run => serve(out),
        Worker::Start(args) => start(args, out),
        Worker::Stop(args) => stop(args, out),
        Worker::Restart(args) => {
            let data = Data::open()?;
            end(&data.paths)?;
            start(args, out)
        }
        Worker::Status(args) => status(args, out),
        Worker::Logs(args) => logs(args, out),
        Worker::Drain(args) => drain(args, out),
        Worker::Retry(args) => retry(args, out),
    }
}

/// The worker itself, in this process. Started by a hook it has no terminal
/// and no descriptor of anybody else's.
fn serve(out: &mut Output) -> Result<Exit, CliError> {
    remora_client::leave_session();
    remora_client::close_inherited();
    let data = Data::open()?;
    surroundings::drop_session_variables(&data.environment);
    let settings = settings(&data);
    let mark = data.paths.sync_mark();
    data.paths.prepare().map_err(|source| CliError::File {
        path: data.paths.home().to_path_buf(),
        source,
    })?;
    let marked = if data.config.flag("spool.fsync") {
        remora_client::write_our_file(&mark, b"")
    } else {
        match fs::remove_file(&mark) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    };
    marked.map_err(|source| CliError::File { path: mark, source })?;
    // Without it a signal ends the worker all the same, only less orderly.
    let _ = signals::end_worker(data.paths.clone());
    match remora_server::serve(&settings)? {
        Ended::AlreadyRunning => {
            out.text("a worker runs already\n")?;
            Ok(Exit::GoOn)
        }
        Ended::Idle | Ended::Stopped | Ended::Replaced | Ended::Homeless => Ok(Exit::GoOn),
    }
}

/// What the worker needs, from the configuration.
pub(crate) fn settings(data: &Data) -> Settings {
    let encoder = tier::worker_encoder(&data.config);
    Settings {
        paths: data.paths.clone(),
        open_store: remora_server::open_store,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        policy: policy(data),
        ignore: data.config.list("capture.ignore"),
        idle: Duration::from_secs(data.config.number("worker.idle_minutes") * 60),
        archive_cap: data.config.number("archive.max_mb") * 1024 * 1024,
        meanings: tier::background(&data.config, encoder.clone()),
        encoder,
        saved: Some(Arc::new(SavedFiles::new(data))),
        git: if data.config.flag("capture.git") {
            GitCapture::On
        } else {
            GitCapture::Off
        },
        chore: data
            .config
            .flag("folders.auto")
            .then_some(folders::refresh as Chore),
        clock: clock::millis,
    }
}

/// What is kept, from the configuration.
pub(crate) fn policy(data: &Data) -> Policy {
    Policy {
        redaction: Rules {
            patterns: data.config.table("redact.patterns"),
            deny_paths: data.config.list("redact.deny_paths"),
        },
        skip_tools: data.config.list("capture.skip_tools"),
    }
}

/// The worker of this data directory, if one answers.
pub(crate) fn running(paths: &Paths) -> Option<Reply> {
    ask(&paths.socket(), &Request::Status, MOMENT).ok()
}

fn start(args: &WorkerPlain, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let before = running(&data.paths);
    let reply = match &before {
        Some(reply) => reply.clone(),
        None => match up(&data.paths)? {
            Up::Answers(reply) => reply,
            Up::Busy => return busy(args, out),
        },
    };
    if args.json {
        out.json(&json!({ "started": before.is_none(), "worker": reply }))?;
    } else {
        let word = if before.is_none() {
            "started"
        } else {
            "runs already"
        };
        out.text(&format!(
            "worker {word}: process {}, version {}\n",
            reply.pid, reply.version
        ))?;
    }
    Ok(Exit::GoOn)
}

fn busy(args: &WorkerPlain, out: &mut Output) -> Result<Exit, CliError> {
    if args.json {
        out.json(&json!({ "started": true, "worker": null }))?;
    } else {
        out.text(
            "the worker has started and does not answer yet: it may be bringing a large database \
             up to date\n`remora worker status` says when it is done\n",
        )?;
    }
    Ok(Exit::GoOn)
}

/// What became of a worker that was started.
enum Up {
    Answers(Reply),
    /// It holds its lock, and is at something that it cannot be asked about.
    Busy,
}

/// Starts a worker unless one runs, and waits a while until it answers.
fn up(paths: &Paths) -> Result<Up, CliError> {
    let program = std::env::current_exe()?;
    let version = env!("CARGO_PKG_VERSION");
    let end = Instant::now() + PATIENCE;
    paths.prepare().map_err(|source| CliError::File {
        path: paths.home().to_path_buf(),
        source,
    })?;
    loop {
        if let Some(reply) = running(paths) {
            return Ok(Up::Answers(reply));
        }
        if Instant::now() > end {
            if is_locked(paths) {
                return Ok(Up::Busy);
            }
            return Err(CliError::Usage(format!(
                "the worker does not come up; {} may say why",
                paths.worker_log().display()
            )));
        }
        match wake(paths, &program, version, clock::now())? {
            Woken::Poked | Woken::Started | Woken::Starting => pause(),
        }
    }
}

/// A short wait between two looks at another process.
fn pause() {
    std::thread::park_timeout(Duration::from_millis(20));
}

fn stop(args: &WorkerPlain, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::unconfigured()?;
    let ended = end(&data.paths)?;
    if args.json {
        out.json(&json!({ "stopped": ended.is_some(), "pid": ended.map(|r| r.pid) }))?;
    } else {
        out.text(match ended {
            Some(_) => "worker stopped\n",
            None => "no worker runs\n",
        })?;
    }
    Ok(Exit::GoOn)
}

/// Ends the worker, if one runs, and waits until its lock is free.
pub(crate) fn end(paths: &Paths) -> Result<Option<Reply>, CliError> {
    let Ok(reply) = ask(&paths.socket(), &Request::Stop, MOMENT) else {
        return Ok(None);
    };
    let lock = paths.lock();
    let file = fs::File::open(&lock).map_err(|source| CliError::File {
        path: lock.clone(),
        source,
    })?;
    let end = Instant::now() + PATIENCE;
    while file.try_lock().is_err() {
        if Instant::now() > end {
            return Err(CliError::Usage(format!(
                "the worker (process {}) does not end",
                reply.pid
            )));
        }
        pause();
    }
    Ok(Some(reply))
}

fn status(args: &WorkerPlain, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::unconfigured()?;
    let reply = running(&data.paths);
    let backlog = waiting(&data.paths, usize::MAX).map_or(0, |files| files.len());
    if args.json {
        out.json(&json!({ "running": reply.is_some(), "spool": backlog, "worker": reply }))?;
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
                rfc3339(r.started),
                r.stored,
                r.dead
            )
        }
        None if is_locked(&data.paths) => {
            format!("a worker runs and does not answer yet; waiting {backlog}\n")
        }
        None => format!("no worker runs; waiting {backlog}\n"),
    };
    out.text(&text)?;
    Ok(Exit::GoOn)
}

fn logs(args: &WorkerLogs, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::unconfigured()?;
    let path = data.paths.worker_log();
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
        out.text(&format!("{line}\n"))?;
    }
    Ok(Exit::GoOn)
}

fn drain(args: &WorkerPlain, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let before = waiting(&data.paths, usize::MAX).map_or(0, |files| files.len());
    let reply = if before == 0 && running(&data.paths).is_none() {
        None
    } else {
        let reply = drain_spool(&data.paths)?;
        if let Some(trouble) = &reply.trouble {
            return Err(CliError::Usage(format!(
                "the worker cannot store: {trouble}"
            )));
        }
        Some(reply)
    };
    let put_off = put_off_count(&data.paths);
    let drained = (before as u64).saturating_sub(put_off);
    if args.json {
        out.json(&json!({ "drained": drained, "put_off": put_off, "worker": reply }))?;
    } else {
        let events = count(drained, "event", "events");
        let rest = match put_off {
            0 => String::new(),
            n => format!(
                "; {} put off, see `remora doctor`",
                count(n, "event is", "events are")
            ),
        };
        out.text(&format!("drained {events}{rest}\n"))?;
    }
    Ok(Exit::GoOn)
}

/// Waits until the worker has taken what it takes now. One that dies meanwhile
/// is started again: the event that it died on goes last, and is then put off.
fn drain_spool(paths: &Paths) -> Result<Reply, CliError> {
    let mut attempts = 1;
    loop {
        up(paths)?;
        match ask(&paths.socket(), &Request::Drain, LONG) {
            Err(e) if attempts < MAX_DRAIN_ATTEMPTS && !is_timeout(&e) => attempts += 1,
            other => return Ok(other?),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}

/// How many events wait because workers died on them.
pub(crate) fn put_off_count(paths: &Paths) -> u64 {
    let spool = paths.spool();
    let put_off = suspects(paths).into_iter().filter(Suspect::goes_last);
    put_off.filter(|s| spool.join(&s.name).exists()).count() as u64
}

fn retry(args: &WorkerPlain, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let put_off = put_off_count(&data.paths);
    if put_off > 0 {
        // A worker that runs keeps its own list.
        end(&data.paths)?;
        remora_server::forget_suspects(&data.paths).map_err(|source| CliError::File {
            path: data.paths.run(),
            source,
        })?;
    }
    let retried = put_off + remora_server::retry(&data.paths)? as u64;
    if retried > 0 {
        drain_spool(&data.paths)?;
    }
    let put_off = put_off_count(&data.paths);
    let dead = remora_server::dead_letters(&data.paths)?;
    if args.json {
        let still: Vec<_> = dead.iter().map(|(_, letter)| letter).collect();
        out.json(&json!({ "retried": retried, "dead": still, "put_off": put_off }))?;
    } else {
        let letters = count(
            dead.len() as u64,
            "dead letter is left",
            "dead letters are left",
        );
        out.text(&format!("tried {retried} again; {letters}\n"))?;
        if put_off > 0 {
            let events = count(put_off, "event", "events");
            out.text(&format!(
                "the worker died on {events}, see `remora doctor`\n"
            ))?;
        }
        for (_, letter) in dead {
            out.text(&format!("  {} {}\n", letter.id, letter.reason))?;
        }
    }
    Ok(Exit::GoOn)
}
