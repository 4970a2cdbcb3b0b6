//! Writing without a worker in the way: it is ended, its lock is held for as
//! long as this lives, and afterwards it runs again if it ran before.

use std::fs::File;
use std::time::{Duration, Instant};

use remora_client::{Connection, DataPaths, append_our_file, list_spooled, notify_worker};

use crate::clock;
use crate::commands::data::prepare_data_dir;
use crate::commands::worker;
use crate::error::CliError;

/// How long to wait for another process that writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// And this long where it can be left to a worker.
const SHORT_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The worker's lock, held.
#[derive(Debug)]
pub(crate) struct WorkerLock {
    paths: DataPaths,
    lock: Option<File>,
    ran: bool,
}

impl WorkerLock {
    /// Ends the worker, if one runs, and takes its lock.
    pub(crate) fn acquire_lock(paths: &DataPaths) -> Result<Self, CliError> {
        let file = open_lock_file(paths)?;
        let end = Instant::now() + LOCK_TIMEOUT;
        let mut ran = false;
        loop {
            // A hook may start another one while the first is on its way out.
            ran |= worker::stop_worker(paths)?.is_some();
            if file.try_lock().is_ok() {
                break;
            }
            if Instant::now() > end {
                return Err(CliError::Usage(format!(
                    "{}: another process holds it; wait until it is done",
                    paths.lock().display()
                )));
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let this = Self {
            paths: paths.clone(),
            lock: Some(file),
            ran,
        };
        // A deletion that was cut short comes before anything else is written.
        remora_server::forget::resume_deletion(paths)?;
        Ok(this)
    }

    /// Takes the lock if no worker has it. Others of our kind are soon done.
    pub(crate) fn if_free(paths: &DataPaths) -> Option<Self> {
        let file = open_lock_file(paths).ok()?;
        let end = Instant::now() + SHORT_LOCK_TIMEOUT;
        while file.try_lock().is_err() {
            let nobody = matches!(
                Connection::try_open(&paths.socket_file()),
                Connection::NotListening
            );
            if !nobody || Instant::now() > end {
                return None;
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
        Some(Self {
            paths: paths.clone(),
            lock: Some(file),
            ran: false,
        })
    }

    /// Lets a worker run afterwards, also if none ran before.
    pub(crate) fn leave_a_worker(&mut self) {
        self.ran = true;
    }
}

/// The lock, not held yet.
fn open_lock_file(paths: &DataPaths) -> Result<File, CliError> {
    prepare_data_dir(paths)?;
    let path = paths.lock();
    append_our_file(&path).map_err(|source| CliError::File { path, source })
}

impl Drop for WorkerLock {
    fn drop(&mut self) {
        drop(self.lock.take());
        let waits = list_spooled(&self.paths, 1).is_ok_and(|files| !files.is_empty());
        if self.ran || waits {
            let program = std::env::current_exe();
            // If it does not start now, the next hook starts it.
            let _ = program.and_then(|program| {
                notify_worker(
                    &self.paths,
                    &program,
                    env!("CARGO_PKG_VERSION"),
                    clock::now(),
                )
            });
        }
    }
}
