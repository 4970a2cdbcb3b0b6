//! The exit codes.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done; for an event: go on, also when the user is to be asked.
    GoOn,
    /// 1: it could not be done; stderr says what and where.
    Failed,
    /// 2: the event is blocked or the turn is stopped.
    Blocked,
    /// 130: the user ended it by Ctrl-C; what was done until then stays.
    Stopped,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::GoOn => 0,
            Exit::Failed => 1,
            Exit::Blocked => 2,
            Exit::Stopped => 130,
        })
    }
}
