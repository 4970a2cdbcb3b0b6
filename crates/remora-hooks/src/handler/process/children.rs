//! The children that are alive now, so that a host that receives a signal can
//! end them: each has a session of its own, so the terminal's signals do not
//! reach it and it would live on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

static LIVE_CHILDREN: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn lock_children() -> MutexGuard<'static, Vec<Pid>> {
    LIVE_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn register_child(pid: Pid) {
    lock_children().push(pid);
}

pub(super) fn unregister_child(pid: Pid) {
    lock_children().retain(|p| *p != pid);
}

/// Ends every handler that runs now, with its whole group. For a host that is
/// about to exit because of a signal.
pub fn end_all() {
    for pid in lock_children().iter() {
        // Not yet waited for, or it would not be in the list.
        let _ = kill_process_group(*pid, Signal::KILL);
    }
}
