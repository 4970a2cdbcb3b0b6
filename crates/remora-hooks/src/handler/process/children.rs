//! The children that are alive now, so that a host that is told to end can
//! take them along: each has a session of its own and would live on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

static ALIVE: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn alive() -> MutexGuard<'static, Vec<Pid>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn remember(pid: Pid) {
    alive().push(pid);
}

pub(super) fn forget(pid: Pid) {
    alive().retain(|p| *p != pid);
}

/// Ends every handler that runs now, with its whole group. For a host that has
/// been told to end.
pub fn end_all() {
    for pid in alive().iter() {
        // Not yet waited for, or it would not be in the list.
        let _ = kill_process_group(*pid, Signal::KILL);
    }
}
