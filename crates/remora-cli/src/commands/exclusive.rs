//! Writing without a worker in the way: it is ended, its lock is held for as
//! long as this lives, and afterwards it runs again if it ran before.

use std::fs::File;
use std::time::{Duration, Instant};

use remora_client::{Connection, Paths, append_our_file, waiting, wake};

use crate::clock;
use crate::commands::worker;
use crate::error::CliError;

/// Somebody else who writes is given this long.
const PATIENCE: Duration = Duration::from_secs(10);
/// And this long where it can be left to a worker.
const SOON: Duration = Duration::from_secs(2);

/// The worker's place, taken.
#[derive(Debug)]
pub(crate) struct Exclusive {
    paths: Paths,
    lock: Option<File>,
    ran: bool,
}

impl Exclusive {
    /// Ends the worker, if one runs, and takes its lock.
    pub(crate) fn take(paths: &Paths) -> Result<Self, CliError> {
        let file = open(paths)?;
        let end = Instant::now() + PATIENCE;
        let mut ran = false;
        loop {
            // A hook may start another one while the first is on its way out.
            ran |= worker::end(paths)?.is_some();
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
        remora_server::forget::resume(paths)?;
        Ok(this)
    }

    /// Takes the lock if no worker has it. Others of our kind are soon done.
    pub(crate) fn if_free(paths: &Paths) -> Option<Self> {
        let file = open(paths).ok()?;
        let end = Instant::now() + SOON;
        while file.try_lock().is_err() {
            let nobody = matches!(Connection::try_open(&paths.socket()), Connection::Nobody);
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

/// The lock, not taken yet.
fn open(paths: &Paths) -> Result<File, CliError> {
    paths.prepare().map_err(|source| CliError::File {
        path: paths.home().to_path_buf(),
        source,
    })?;
    let path = paths.lock();
    append_our_file(&path).map_err(|source| CliError::File { path, source })
}

impl Drop for Exclusive {
    fn drop(&mut self) {
        drop(self.lock.take());
        let waits = waiting(&self.paths, 1).is_ok_and(|files| !files.is_empty());
        if self.ran || waits {
            let program = std::env::current_exe();
            // If it does not start now, the next hook starts it.
            let _ = program.and_then(|program| {
                wake(
                    &self.paths,
                    &program,
                    env!("CARGO_PKG_VERSION"),
                    clock::now(),
                )
            });
        }
    }
}
