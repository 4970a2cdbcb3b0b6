//! Notifies the worker, or starts it detached when none listens. Never waits.

use std::fs::{File, FileTimes, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use remora_core::request::Request;

use crate::call::send_line;
use crate::{Connection, DataPaths};

/// How long a worker that is being started has before another one is tried.
const RESTART_DELAY: Duration = Duration::from_secs(2);

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyOutcome {
    /// A worker runs and knows.
    Notified,
    /// No worker listened, so one was started.
    Started,
    /// Somebody else is just starting one.
    Starting,
}

/// Makes sure that a worker looks into the spool. `program` is this binary.
pub fn notify_worker(
    paths: &DataPaths,
    program: &Path,
    version: &str,
    now: SystemTime,
) -> io::Result<NotifyOutcome> {
    if try_notify(paths, program, version) {
        return Ok(NotifyOutcome::Notified);
    }
    // Many hooks may find no worker at the same time; one of them starts it.
    let gate = open_gate(&gate_of(paths))?;
    let first = gate.try_lock().is_ok();
    if !first || tried_just_now(&gate, now) {
        return Ok(NotifyOutcome::Starting);
    }
    // The one that was being started may have come up since.
    if try_notify(paths, program, version) {
        return Ok(NotifyOutcome::Notified);
    }
    // Noted before the start: a program that cannot run is retried after the
    // delay, not by every hook.
    gate.set_times(FileTimes::new().set_modified(now))?;
    start_worker(paths, program)?;
    Ok(NotifyOutcome::Started)
}

/// The worker calls this once it listens: should it die now, the next hook
/// starts another at once.
pub fn came_up(paths: &DataPaths) -> io::Result<()> {
    let gate = open_gate(&gate_of(paths))?;
    gate.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))
}

/// Whether a worker listens; if so, it has been notified.
fn try_notify(paths: &DataPaths, program: &Path, version: &str) -> bool {
    match Connection::try_open(&paths.socket_file()) {
        Connection::Open(mut stream) => {
            let notice = Request::Notify {
                version: version.to_owned(),
                program: program.display().to_string(),
            };
            // A worker that exits now has read the spool, or its lock is free
            // for the next one.
            let _ = send_line(&mut stream, &notice);
            true
        }
        // A full queue is other hooks' notifications: the worker will look into
        // the spool for them.
        Connection::Busy => true,
        Connection::NotListening => false,
    }
}

fn gate_of(paths: &DataPaths) -> PathBuf {
    paths.run_dir().join("start.lock")
}

/// The gate; a new one has not been gone through yet.
fn open_gate(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    match options.open(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    if let Some(folder) = file.parent() {
        crate::make_our_folder(folder)?;
    }
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.create(true).truncate(false).open(file)?;
    file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))?;
    Ok(file)
}

/// A time in the future is a clock that went back, not a start.
fn tried_just_now(gate: &File, now: SystemTime) -> bool {
    let tried = gate.metadata().and_then(|m| m.modified());
    tried.is_ok_and(|tried| {
        now.duration_since(tried)
            .is_ok_and(|age| age < RESTART_DELAY)
    })
}

/// Starts a worker and does not wait for it. It leaves the session by itself
/// and closes what it inherited.
pub fn start_worker(paths: &DataPaths, program: &Path) -> io::Result<()> {
    let mut command = Command::new(program);
    command
        .args(["worker", "run"])
        // The session's own variables stay behind later, when the worker starts
        // itself again without them.
        .env("REMORA_HOME", paths.home())
        // A worker must not keep a project's folder, or a mounted disk, in use.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().map(drop)
}
