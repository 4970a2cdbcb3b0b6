//! Pokes the worker, or starts it detached when nobody listens. Never waits.

use std::fs::{File, FileTimes, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use remora_protocol::request::Request;

use crate::call::send;
use crate::{Connection, Paths};

/// A worker that is being started is given this long before another is tried.
const GRACE: Duration = Duration::from_secs(2);

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// A worker runs and knows.
    Poked,
    /// One was started.
    Started,
    /// Somebody else is just starting one.
    Starting,
}

/// Sees to it that a worker looks into the spool. `program` is this binary.
pub fn wake(paths: &Paths, program: &Path, version: &str, now: SystemTime) -> io::Result<Woken> {
    if poke(paths, program, version) {
        return Ok(Woken::Poked);
    }
    // Many hooks may find nobody at the same time; one of them starts it.
    let gate = open(&gate_of(paths))?;
    let first = gate.try_lock().is_ok();
    if !first || tried_just_now(&gate, now) {
        return Ok(Woken::Starting);
    }
    // The one that was being started may have come up since.
    if poke(paths, program, version) {
        return Ok(Woken::Poked);
    }
    gate.set_times(FileTimes::new().set_modified(now))?;
    start_worker(paths, program)?;
    Ok(Woken::Started)
}

/// To be said by the worker once it listens: should it die now, the next hook
/// starts another at once.
pub fn came_up(paths: &Paths) -> io::Result<()> {
    let gate = open(&gate_of(paths))?;
    gate.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))
}

/// Whether somebody listens; if so, they have been told.
fn poke(paths: &Paths, program: &Path, version: &str) -> bool {
    match Connection::try_open(&paths.socket()) {
        Connection::Open(mut stream) => {
            let poke = Request::Poke {
                version: version.to_owned(),
                program: program.display().to_string(),
            };
            // A worker that goes away now has read the spool, or its lock is
            // free for the next one.
            let _ = send(&mut stream, &poke);
            true
        }
        Connection::Busy => true,
        Connection::Nobody => false,
    }
}

fn gate_of(paths: &Paths) -> PathBuf {
    paths.run().join("start.lock")
}

/// The gate; a new one has not been gone through yet.
fn open(file: &Path) -> io::Result<File> {
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
    tried.is_ok_and(|tried| now.duration_since(tried).is_ok_and(|age| age < GRACE))
}

/// Starts a worker and does not wait for it. It leaves the session by itself
/// and closes what it inherited.
pub fn start_worker(paths: &Paths, program: &Path) -> io::Result<()> {
    let mut command = Command::new(program);
    command
        .args(["worker", "run"])
        .env("REMORA_HOME", paths.home())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().map(drop)
}
