//! What a host lends to the engine for one run. The engine itself looks at no
//! environment and knows no home.

use std::ffi::OsString;
use std::path::PathBuf;

/// Whether a person sits in front of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interactivity {
    /// Print mode, SDK, scripts.
    #[default]
    Unattended,
    /// A person can be asked.
    Interactive,
}

/// A line of the step trace.
pub type TraceSink<'a> = &'a (dyn Fn(&str) + Sync);

/// The host's side of a run.
#[derive(Clone, Default)]
pub struct Host<'a> {
    /// What handlers inherit.
    pub environment: Vec<(OsString, OsString)>,
    /// Where long texts and session variables go; `None` keeps neither.
    pub session_dir: Option<PathBuf>,
    /// Whether a person is there.
    pub attendance: Interactivity,
    /// Receives the step trace.
    pub trace: Option<TraceSink<'a>>,
}

impl Host<'_> {
    pub(crate) fn trace_step(&self, line: impl FnOnce() -> String) {
        if let Some(trace) = self.trace {
            trace(&line());
        }
    }

    pub(crate) fn find_variable(&self, name: &str) -> Option<&str> {
        self.environment
            .iter()
            .rev()
            .find(|(k, _)| k == name)
            .and_then(|(_, v)| v.to_str())
    }
}
