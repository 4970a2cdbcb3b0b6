//! Handlers that go on after their event, and what they answer when they end.

use std::path::PathBuf;
use std::time::Instant;

use remora_core::EventName;
use serde_json::Value;

use super::{exit_code, to_millis, truncate_shown};
use crate::answer::{self, HandlerStatus, ProcessExit};
use crate::handler::RunningProcess;
use crate::limits::Spill;

/// A handler that goes on after its event.
pub struct BackgroundHandler {
    /// Its index among the report's handlers.
    pub handler: usize,
    pub(super) running: RunningProcess,
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    pub(super) session_dir: Option<PathBuf>,
    pub(super) event: EventName,
}

/// What a background handler answered when it ended: texts for the model's next
/// turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LateAnswer {
    /// How the handler ended.
    pub status: HandlerStatus,
    /// Why, in plain words.
    pub why: String,
    /// Its exit code; `None` if a signal or the host ended it.
    pub exit_code: Option<i32>,
    /// How long it took, from the event on.
    pub duration_ms: u64,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The object it answered with.
    pub answer: Option<Value>,
    /// Texts to deliver, each within its cap.
    pub context: Vec<String>,
}

impl BackgroundHandler {
    /// Waits for it, at most until its own deadline. Decisions come too late
    /// to count; only texts are delivered.
    pub fn wait(self) -> LateAnswer {
        let output = self.running.finish(self.deadline);
        let (status, why) = match &output.ended {
            ProcessExit::Exit(0) => (
                HandlerStatus::Ok,
                "its texts reach the model with the next turn".to_owned(),
            ),
            ProcessExit::Exit(code) => (
                HandlerStatus::Error,
                format!("exit code {code}, which comes too late to count"),
            ),
            ProcessExit::Signal(signal) => {
                (HandlerStatus::Error, format!("ended by signal {signal}"))
            }
            ProcessExit::TimedOut => (HandlerStatus::Timeout, "it did not end in time".to_owned()),
            ProcessExit::Failed(why) => (HandlerStatus::Error, why.clone()),
        };
        // Read whatever the exit code: the client ignores it for late answers.
        let late = answer::read_late_output(&output.stdout);
        // The report is already out, so warnings have no reader. `cap_text` says in the text
        // itself when it had to be cut.
        let mut warnings = Vec::new();
        let stem = format!("late-{}-{}", self.event, self.handler);
        let mut spill = Spill::new(self.session_dir.as_deref(), stem);
        let context = late
            .texts
            .into_iter()
            .map(|text| spill.cap_text(text, &mut warnings))
            .collect();
        LateAnswer {
            status,
            why,
            exit_code: exit_code(&output.ended),
            duration_ms: to_millis(self.started.elapsed()),
            stdout: truncate_shown(&output.stdout),
            stderr: truncate_shown(&output.stderr),
            answer: late.object,
            context,
        }
    }
}
