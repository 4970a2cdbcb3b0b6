//! The lock of a data directory: the process that holds it is its worker.

use std::fs::File;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use remora_client::{DataPaths, append_our_file};

use crate::{ServerError, io_error_at};

/// How long to wait for a worker that is exiting.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(5);

/// Takes the lock; `None` if another worker has it. One whose socket is closed
/// already is about to exit, and is waited for.
pub(super) fn acquire_lock(paths: &DataPaths) -> Result<Option<File>, ServerError> {
    let path = paths.lock();
    let file = append_our_file(&path).map_err(io_error_at(&path))?;
    let end = Instant::now() + HANDOVER_TIMEOUT;
    // Nothing is ever sent: receiving with a timeout is the pause.
    let (_alarm, pause) = channel::<()>();
    // The system releases the lock with the process, so a killed worker leaves none.
    while file.try_lock().is_err() {
        if paths.socket_file().exists() && is_worker_answering(paths) || Instant::now() > end {
            return Ok(None);
        }
        let _ = pause_for(&pause, Duration::from_millis(20));
    }
    Ok(Some(file))
}

fn pause_for(never: &Receiver<()>, time: Duration) -> Result<(), RecvTimeoutError> {
    never.recv_timeout(time)
}

fn is_worker_answering(paths: &DataPaths) -> bool {
    !matches!(
        remora_client::Connection::try_open(&paths.socket_file()),
        remora_client::Connection::NotListening
    )
}
