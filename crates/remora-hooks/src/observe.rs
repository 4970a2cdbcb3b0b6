//! What a host may follow of an event's handlers while they run: that one began,
//! what it says, how it ended.

use remora_core::EventName;

use crate::answer::HandlerStatus;

/// Follows handlers while they run. Called in the threads that serve them, several
/// at once: a call that waits delays its handler's deadline.
pub trait HandlerObserver: Sync {
    /// Something happened to a handler.
    fn observe(&self, notice: &HandlerNotice<'_>);
}

/// What happened to one handler. Each that starts also finishes, before its event
/// is over; a verifier's own events are followed like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlerNotice<'a> {
    /// Its id in reports.
    pub handler: &'a str,
    /// The event.
    pub event: EventName,
    /// What happened.
    pub stage: HandlerStage<'a>,
}

/// How far a handler has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerStage<'a> {
    /// It begins.
    Started {
        /// Its kind, by the name in settings.
        kind: &'static str,
        /// The status message, else what the handler does.
        label: &'a str,
    },
    /// It said something: the end of what came since the last such notice, 1 KiB of
    /// each stream at most, and once a second at most.
    Progress {
        /// Of standard output.
        stdout: &'a str,
        /// Of standard error.
        stderr: &'a str,
    },
    /// It ended, or goes on in the background.
    Finished {
        /// How.
        status: HandlerStatus,
        /// Why, in plain words.
        why: &'a str,
        /// Its exit code; `None` if it did not exit by itself.
        exit_code: Option<i32>,
        /// How long it took.
        duration_ms: u64,
    },
}
