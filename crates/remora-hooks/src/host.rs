//! What a host lends to the engine for one run. The engine itself looks at no
//! environment and knows no home.

use std::ffi::OsString;
use std::path::PathBuf;

/// Whether a user can be asked during the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interactivity {
    /// Print mode, SDK, scripts.
    #[default]
    Unattended,
    /// A user can answer questions.
    Interactive,
}

/// Receives each line of the step trace. `Sync`, because handlers run in threads.
pub type TraceSink<'a> = &'a (dyn Fn(&str) + Sync);

/// The host's side of a run.
#[derive(Clone, Default)]
pub struct Host<'a> {
    /// The environment that handlers inherit.
    pub environment: Vec<(OsString, OsString)>,
    /// Where long texts and session variables go; `None` keeps neither.
    pub session_dir: Option<PathBuf>,
    /// Whether the session is interactive.
    pub attendance: Interactivity,
    /// Receives the step trace.
    pub trace: Option<TraceSink<'a>>,
}

impl Host<'_> {
    // A closure, so that an untraced run does not format its lines.
    pub(crate) fn trace_step(&self, line: impl FnOnce() -> String) {
        if let Some(trace) = self.trace {
            trace(&line());
        }
    }

    pub(crate) fn find_variable(&self, name: &str) -> Option<&str> {
        self.environment
            .iter()
            // Of equal names the last counts, as in the environment of a child.
            .rev()
            .find(|(k, _)| k == name)
            .and_then(|(_, v)| v.to_str())
    }
}
