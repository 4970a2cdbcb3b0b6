//! Handlers that go on after their event, and what they say in the end.

use std::path::PathBuf;
use std::time::Instant;

use remora_protocol::EventName;
use serde_json::Value;

use super::{cut, exit_code, milliseconds};
use crate::answer::{self, Ended, Status};
use crate::handler::Running;
use crate::limits::Spill;

/// A handler that goes on after its event.
pub struct Background {
    /// Which one, as in the report.
    pub handler: usize,
    pub(super) running: Running,
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    pub(super) session_dir: Option<PathBuf>,
    pub(super) event: EventName,
}

/// What a background handler said in the end: texts for the model's next turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LateAnswer {
    /// How it ended.
    pub status: Status,
    /// Why, in plain words.
    pub why: String,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// How long it took, from the event on.
    pub duration_ms: u64,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote beside.
    pub stderr: String,
    /// The object it answered with.
    pub answer: Option<Value>,
    /// Texts to deliver, each within its cap.
    pub context: Vec<String>,
}

impl Background {
    /// Waits for it, at most until its own deadline. Decisions come too late
    /// to count; only texts are delivered.
    pub fn wait(self) -> LateAnswer {
        let output = self.running.finish(self.deadline);
        let (status, why) = match &output.ended {
            Ended::Exit(0) => (
                Status::Ok,
                "its texts reach the model with the next turn".to_owned(),
            ),
            Ended::Exit(code) => (
                Status::Error,
                format!("exit code {code}, which comes too late to count"),
            ),
            Ended::Signal(signal) => (Status::Error, format!("ended by signal {signal}")),
            Ended::TimedOut => (Status::Timeout, "it did not end in time".to_owned()),
            Ended::Failed(why) => (Status::Error, why.clone()),
        };
        let late = answer::late(&output.stdout);
        let mut warnings = Vec::new();
        let stem = format!("late-{}-{}", self.event, self.handler);
        let mut spill = Spill::new(self.session_dir.as_deref(), stem);
        let context = late
            .texts
            .into_iter()
            .map(|text| spill.cap(text, &mut warnings))
            .collect();
        LateAnswer {
            status,
            why,
            exit_code: exit_code(&output.ended),
            duration_ms: milliseconds(self.started.elapsed()),
            stdout: cut(&output.stdout),
            stderr: cut(&output.stderr),
            answer: late.object,
            context,
        }
    }
}
