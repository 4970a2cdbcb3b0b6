//! How a handler's part in its event ended: judged where it ran, so that an observer
//! learns at once what it came to.

use remora_core::EventName;

use super::{BackgroundKind, exit_code};
use crate::answer::{self, HandlerOutput, HandlerResult, HandlerStatus, ProcessExit};
use crate::config::{HandlerKind, OnFailure};
use crate::handler::{HandlerCompletion, RunningProcess};
use crate::layers::ConfiguredHandler;

/// Of a handler that the event does not wait for.
pub(super) const BACKGROUND_TEXT: &str =
    "it goes on without the host; what it says later cannot decide anything";

/// The end of a handler's part.
pub(super) enum HandlerEnd {
    /// It answered, or failed.
    Judged(Box<JudgedHandler>),
    /// It goes on without the host.
    Background(RunningProcess, BackgroundKind),
    /// It cannot run here; nothing was started.
    NotAvailable(&'static str),
}

/// What a handler said, and what that means.
pub(super) struct JudgedHandler {
    pub(super) result: HandlerResult,
    pub(super) output: HandlerOutput,
    /// Of a process that exited by itself.
    pub(super) exit_code: Option<i32>,
}

impl HandlerEnd {
    /// Reads the answer of a handler that has run. Pure.
    pub(super) fn judge(entry: &ConfiguredHandler, completion: HandlerCompletion) -> Self {
        match completion {
            HandlerCompletion::NotAvailable(why) => Self::NotAvailable(why),
            HandlerCompletion::Background(running, kind) => Self::Background(running, kind),
            HandlerCompletion::Judged(judged) => {
                let (result, output) = *judged;
                Self::Judged(Box::new(JudgedHandler {
                    result,
                    output,
                    exit_code: None,
                }))
            }
            HandlerCompletion::Done(output) => {
                let on_failure = failure_effect(entry, &output.ended);
                let result = answer::read_answer(entry.event.def(), &output, on_failure);
                Self::Judged(Box::new(JudgedHandler {
                    exit_code: exit_code(&output.ended),
                    result,
                    output,
                }))
            }
        }
    }

    /// Its status, why, and its exit code.
    pub(super) fn summarize(&self) -> (HandlerStatus, &str, Option<i32>) {
        match self {
            Self::Judged(judged) => {
                let result = &judged.result;
                (result.status, &result.why, judged.exit_code)
            }
            Self::Background(..) => (HandlerStatus::Background, BACKGROUND_TEXT, None),
            Self::NotAvailable(why) => (HandlerStatus::Skipped, why, None),
        }
    }
}

/// A callback that is not answered in time is a guard that has not said yes.
fn failure_effect(entry: &ConfiguredHandler, ended: &ProcessExit) -> OnFailure {
    let guards = matches!(
        entry.event,
        EventName::PreToolUse | EventName::UserPromptSubmit
    );
    match entry.config.kind {
        HandlerKind::Callback { .. } if guards && *ended == ProcessExit::TimedOut => {
            OnFailure::Block
        }
        _ => entry.config.on_failure,
    }
}
