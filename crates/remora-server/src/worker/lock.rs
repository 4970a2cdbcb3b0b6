//! The lock of a data directory: whoever holds it is its worker.

use std::fs::File;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use remora_client::{Paths, append_our_file};

use crate::{ServerError, at};

/// How long a worker that is going away is waited for.
const HANDOVER: Duration = Duration::from_secs(5);

/// The lock says who the worker is. One that is going away, with its socket
/// already closed, is waited for.
pub(super) fn take(paths: &Paths) -> Result<Option<File>, ServerError> {
    let path = paths.lock();
    let file = append_our_file(&path).map_err(at(&path))?;
    let end = Instant::now() + HANDOVER;
    let (_alarm, pause) = channel::<()>();
    while file.try_lock().is_err() {
        if paths.socket().exists() && answers(paths) || Instant::now() > end {
            return Ok(None);
        }
        let _ = pause_for(&pause, Duration::from_millis(20));
    }
    Ok(Some(file))
}

fn pause_for(never: &Receiver<()>, time: Duration) -> Result<(), RecvTimeoutError> {
    never.recv_timeout(time)
}

fn answers(paths: &Paths) -> bool {
    !matches!(
        remora_client::Connection::try_open(&paths.socket()),
        remora_client::Connection::Nobody
    )
}
