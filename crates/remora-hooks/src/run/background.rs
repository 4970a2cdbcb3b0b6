//! Handlers that go on after their event, and what they answer when they end.

use std::path::PathBuf;
use std::time::Instant;

use remora_core::{Event, EventName};
use serde_json::Value;

use super::{exit_code, to_millis, truncate_shown};
use crate::answer::{self, HandlerStatus, ProcessExit};
use crate::config::{RewakeTexts, WaitMode};
use crate::deliver;
use crate::handler::{CancelToken, RunningProcess, WaitLimits};
use crate::limits::{MAX_LATE_TEXT_UTF16_UNITS, Spill};

/// What the end of a background handler can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BackgroundKind {
    /// Its texts reach the model later; nothing ends it but the session.
    Plain,
    /// Exit code 2 wakes the model; its time limit holds.
    Rewake(RewakeTexts),
}

impl BackgroundKind {
    /// A handler that was started in the background is what it was configured to be;
    /// one that sent itself there by its first line is a plain one.
    pub(crate) fn of_started(waiting: WaitMode, rewake: &RewakeTexts) -> Self {
        match waiting {
            WaitMode::AsyncRewake | WaitMode::BackgroundRewake => Self::Rewake(rewake.clone()),
            WaitMode::Sync | WaitMode::Async => Self::Plain,
        }
    }
}

/// A handler that goes on after its event.
pub struct BackgroundHandler {
    /// Its index among the report's handlers.
    pub handler: usize,
    pub(super) running: RunningProcess,
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    pub(super) session_dir: Option<PathBuf>,
    /// How the files of its long texts begin.
    pub(super) file_stem: String,
    pub(super) event: EventName,
    /// The event's name with its subject, as labels have it.
    pub(super) display_name: String,
    pub(super) kind: BackgroundKind,
}

/// What a background handler answered when it ended: texts for the model's next
/// turn.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
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
    /// It wakes the model, with this.
    pub wake: Option<WakeUp>,
}

/// What wakes an idle model, or joins a turn that is under way.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WakeUp {
    /// What the model reads, without the wrapper.
    pub text: String,
    /// The prompt of the turn that it begins: what `UserPromptSubmit` is fired with.
    pub prompt: String,
}

impl BackgroundHandler {
    /// Waits for it. One that wakes has its time limit, as in a session; a plain
    /// one has none there, so here its limit is how long the caller waits before
    /// it is ended.
    pub fn wait(self) -> LateAnswer {
        let deadline = Some(self.deadline);
        let plain = self.kind == BackgroundKind::Plain;
        let mut late = self.finish(deadline, None);
        if plain && late.status == HandlerStatus::Timeout {
            late.status = HandlerStatus::Cancelled;
            late.why = "it was still running when the wait for it ended".into();
        }
        late
    }

    /// Waits for it as a session does: until it ends, its time limit if it has
    /// one, or the token.
    pub(crate) fn wait_in_session(self, cancel: &CancelToken) -> LateAnswer {
        let limited = self.kind != BackgroundKind::Plain;
        let deadline = limited.then_some(self.deadline);
        self.finish(deadline, Some(cancel))
    }

    /// What its end can do.
    pub(crate) fn kind(&self) -> &BackgroundKind {
        &self.kind
    }

    /// Its event.
    pub(crate) fn event(&self) -> EventName {
        self.event
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    fn finish(self, deadline: Option<Instant>, cancel: Option<&CancelToken>) -> LateAnswer {
        let output = self.running.finish(WaitLimits {
            deadline,
            cancel,
            progress: None,
        });
        let late = match &self.kind {
            BackgroundKind::Plain => answer::read_late_output(&output.stdout),
            // Whatever else it says is dropped, JSON included.
            BackgroundKind::Rewake(_) => answer::LateOutput::default(),
        };
        // The report is already out, so warnings have no reader. `cap_text` says in the text
        // itself when it had to be cut.
        let mut warnings = Vec::new();
        let mut spill = Spill::new(self.session_dir.as_deref(), self.file_stem);
        let mut cap = |text| spill.cap_longer(text, MAX_LATE_TEXT_UTF16_UNITS, &mut warnings);
        let wake = match &self.kind {
            BackgroundKind::Rewake(texts) if output.ended == ProcessExit::Exit(2) => {
                // stdout as it is, an object too.
                let said = match output.stderr.trim() {
                    "" => &output.stdout,
                    _ => &output.stderr,
                };
                let said = cap(said.clone());
                Some(deliver::build_wake_up(&self.display_name, texts, &said))
            }
            _ => None,
        };
        let (status, why) = describe_end(&output.ended, wake.is_some());
        LateAnswer {
            status,
            why,
            exit_code: exit_code(&output.ended),
            duration_ms: to_millis(self.started.elapsed()),
            stdout: truncate_shown(&output.stdout),
            stderr: truncate_shown(&output.stderr),
            answer: late.object,
            context: late.text.map(cap).into_iter().collect(),
            wake,
        }
    }
}

fn describe_end(ended: &ProcessExit, wakes: bool) -> (HandlerStatus, String) {
    match ended {
        ProcessExit::Exit(2) if wakes => (
            HandlerStatus::Ok,
            "exit code 2 wakes the model with what it said".to_owned(),
        ),
        ProcessExit::Exit(0) => (
            HandlerStatus::Ok,
            "its texts reach the model with the next turn".to_owned(),
        ),
        ProcessExit::Exit(code) => (
            HandlerStatus::Error,
            format!("exit code {code}, which comes too late to count"),
        ),
        ProcessExit::Signal(signal) => (HandlerStatus::Error, format!("ended by signal {signal}")),
        ProcessExit::TimedOut => (HandlerStatus::Timeout, "it did not end in time".to_owned()),
        ProcessExit::Cancelled => (
            HandlerStatus::Cancelled,
            "the session ended before it did".to_owned(),
        ),
        ProcessExit::Failed(why) => (HandlerStatus::Error, why.clone()),
    }
}

/// The event's name as labels have it: with its subject, if it has one.
pub(crate) fn display_name(event: &Event) -> String {
    match event.subject_text() {
        // A watched file is no part of the name.
        Some(subject) if event.name != EventName::FileChanged => {
            format!("{}:{subject}", event.name)
        }
        _ => event.name.to_string(),
    }
}
