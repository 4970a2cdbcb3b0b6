//! The children that are alive now, so that a host that receives a signal can
//! end them: each has a session of its own, so the terminal's signals do not
//! reach it and it would live on.
//!
//! A process that is killed hears no signal. One that runs for long therefore keeps the list
//! in a file as well, for a guard that outlives it (`docs/design/0040`).

use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

use super::guard::{self, ChildTable};

static CHILDREN: Mutex<Children> = Mutex::new(Children {
    live: Vec::new(),
    table: None,
});

struct Children {
    live: Vec<(Pid, Option<ChildNumber>)>,
    table: Option<ChildTable>,
}

/// A child as the table knows it, before it has a process too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChildNumber {
    pub(super) row: usize,
    /// Never used again.
    pub(super) number: u64,
}

impl ChildNumber {
    /// The variable that the child carries.
    pub(super) fn mark(self) -> (&'static str, String) {
        let mark = guard::build_mark(std::process::id(), self.number);
        (guard::MARK_VARIABLE, mark)
    }
}

fn lock_children() -> MutexGuard<'static, Children> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the list is kept in this empty file, which a guard reads.
pub fn record_children(file: File) {
    lock_children().table = Some(ChildTable::new(file));
}

/// A child is about to be started. Written down before, because a process may be killed in
/// the instant in which the child is there and its id is not known yet.
pub(super) fn announce_child() -> Option<ChildNumber> {
    lock_children().table.as_mut().map(ChildTable::announce)
}

/// The announced child could not be started.
pub(super) fn withdraw_child(number: Option<ChildNumber>) {
    if let (Some(number), Some(table)) = (number, &mut lock_children().table) {
        table.remove(number);
    }
}

pub(super) fn register_child(pid: Pid, number: Option<ChildNumber>) {
    let mut children = lock_children();
    children.live.push((pid, number));
    if let (Some(number), Some(table)) = (number, &mut children.table) {
        table.add_process(number, pid);
    }
}

pub(super) fn unregister_child(pid: Pid) {
    let mut children = lock_children();
    let Some(at) = children.live.iter().position(|(live, _)| *live == pid) else {
        return;
    };
    let (_, number) = children.live.swap_remove(at);
    if let (Some(number), Some(table)) = (number, &mut children.table) {
        table.remove(number);
    }
}

/// Ends every handler that runs now, with its whole group. For a host that is
/// about to exit because of a signal.
pub fn end_all() {
    for (pid, _) in &lock_children().live {
        // Not yet waited for, or it would not be in the list.
        let _ = kill_process_group(*pid, Signal::KILL);
    }
}
