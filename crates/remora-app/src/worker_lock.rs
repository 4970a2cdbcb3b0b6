//! Writing without a worker in the way: it is ended, its lock is held for as
//! long as this lives, and afterwards it runs again if it ran before.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use remora_client::{
    Connection, DataPaths, append_our_file, list_spooled, notify_worker, send_request,
};
use remora_core::request::{Reply, Request};

use crate::app::App;
use crate::error::{AppError, ErrorKind, Result};

/// How long to wait for another process that writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// And this long where it can be left to a worker.
const SHORT_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// A worker is expected to be gone after this.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// For a request that the worker answers at once.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// The worker's lock, held.
#[derive(Debug)]
pub struct WorkerLock {
    paths: DataPaths,
    /// What a worker is started from.
    program: Option<PathBuf>,
    now_ms: fn() -> i64,
    lock: Option<File>,
    ran: bool,
}

impl App {
    /// Ends the worker, if one runs, and takes its lock.
    pub fn lock_worker(&self) -> Result<WorkerLock> {
        let paths = &self.paths;
        let file = open_lock_file(paths)?;
        let end = Instant::now() + LOCK_TIMEOUT;
        let mut ran = false;
        loop {
            // A hook may start another one while the first is on its way out.
            ran |= stop_worker(paths)?.is_some();
            if file.try_lock().is_ok() {
                break;
            }
            if Instant::now() > end {
                let text = format!(
                    "{}: another process holds it; wait until it is done",
                    paths.lock().display()
                );
                return Err(AppError::new(ErrorKind::Busy, text));
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let lock = self.hold_lock(file, ran);
        // A deletion that was cut short comes before anything else is written.
        remora_server::forget::resume_deletion(paths)?;
        Ok(lock)
    }

    /// Takes the lock if no worker has it. Others of our kind are soon done.
    pub fn lock_if_free(&self) -> Option<WorkerLock> {
        let file = open_lock_file(&self.paths).ok()?;
        let end = Instant::now() + SHORT_LOCK_TIMEOUT;
        while file.try_lock().is_err() {
            let nobody = matches!(
                Connection::try_open(&self.paths.socket_file()),
                Connection::NotListening
            );
            if !nobody || Instant::now() > end {
                return None;
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
        Some(self.hold_lock(file, false))
    }

    fn hold_lock(&self, file: File, ran: bool) -> WorkerLock {
        WorkerLock {
            paths: self.paths.clone(),
            program: self.program.clone(),
            now_ms: self.clock.now_ms,
            lock: Some(file),
            ran,
        }
    }

    /// Makes the data directory, if it is not there yet.
    pub fn prepare_data_dir(&self) -> Result<()> {
        prepare_data_dir(&self.paths)
    }
}

impl WorkerLock {
    /// Lets a worker run afterwards, also if none ran before.
    pub fn leave_a_worker(&mut self) {
        self.ran = true;
    }
}

/// Makes a data directory, if it is not there yet.
pub fn prepare_data_dir(paths: &DataPaths) -> Result<()> {
    let made = paths.prepare_data_dir();
    made.map_err(|source| AppError::file(paths.home(), source))
}

/// Ends the worker of a data directory; what it last said, if one ran.
pub fn stop_worker(paths: &DataPaths) -> Result<Option<Reply>> {
    let Ok(reply) = send_request(&paths.socket_file(), &Request::Stop, REPLY_TIMEOUT) else {
        return Ok(None);
    };
    let lock = paths.lock();
    let file = File::open(&lock).map_err(|source| AppError::file(&lock, source))?;
    let end = Instant::now() + STOP_TIMEOUT;
    // The lock, not the process id: it is free only when the store is closed.
    while file.try_lock().is_err() {
        if Instant::now() > end {
            let text = format!("the worker (process {}) does not end", reply.pid);
            return Err(AppError::new(ErrorKind::Busy, text));
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    Ok(Some(reply))
}

/// The lock, not held yet.
fn open_lock_file(paths: &DataPaths) -> Result<File> {
    prepare_data_dir(paths)?;
    let path = paths.lock();
    append_our_file(&path).map_err(|source| AppError::file(&path, source))
}

impl Drop for WorkerLock {
    fn drop(&mut self) {
        drop(self.lock.take());
        let waits = list_spooled(&self.paths, 1).is_ok_and(|files| !files.is_empty());
        let since_1970 = u64::try_from((self.now_ms)()).unwrap_or_default();
        let now = UNIX_EPOCH + Duration::from_millis(since_1970);
        if let Some(program) = self.program.as_deref().filter(|_| self.ran || waits) {
            // If it does not start now, the next hook starts it.
            let _ = notify_worker(&self.paths, program, env!("CARGO_PKG_VERSION"), now);
        }
    }
}
