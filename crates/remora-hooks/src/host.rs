//! What a host lends to the engine for one run. The engine itself looks at no
//! environment and knows no home.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use remora_core::model::{Model, ModelMessage};
use serde_json::{Map, Value};

use crate::handler::{Callbacks, CancelToken};
use crate::observe::HandlerObserver;

/// Whether a user can be asked during the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interactivity {
    /// Print mode with one prompt, scripts.
    #[default]
    Unattended,
    /// More prompts may come in by a stream, but no user can answer.
    Streaming,
    /// A user can answer questions.
    Interactive,
}

/// Whether the verifiers of agent handlers may run shell commands. Only those that
/// a permission rule or the harmlessness of the command allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifierShell {
    /// They read and search files.
    #[default]
    Off,
    /// They also run commands.
    On,
}

/// Receives each line of the step trace. `Sync`, because handlers run in threads.
pub type TraceSink<'a> = &'a (dyn Fn(&str) + Sync);

/// Calls tools of the servers that a session is connected with. Blocking, until
/// the deadline at most; bounds what it reads.
pub trait ToolServers: Sync {
    /// Calls a tool. A name that no server has is an error like any other.
    fn call_tool(
        &self,
        call: &ServerCall<'_>,
        deadline: Instant,
    ) -> Result<ServerReply, ServerCallError>;
}

/// One call of a server's tool.
#[derive(Debug, Clone, Copy)]
pub struct ServerCall<'a> {
    /// The server, by its name in the session.
    pub server: &'a str,
    /// The tool, by its name on the server.
    pub tool: &'a str,
    /// What it is called with.
    pub input: &'a Map<String, Value>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerReply {
    /// The texts of the answer, in order. Images and the like do not count.
    pub texts: Vec<String>,
    /// Whether the tool says that it failed.
    pub failed: bool,
}

/// Why a tool did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerCallError {
    /// The deadline came first.
    TimedOut,
    /// The server is not there, or refused the call.
    Failed(String),
}

/// The host's side of a run.
#[derive(Clone, Default)]
pub struct Host<'a> {
    /// The environment that handlers inherit.
    pub environment: Vec<(OsString, OsString)>,
    /// Where long texts and session variables go; `None` keeps neither.
    pub session_dir: Option<PathBuf>,
    /// Keeps the files of this event apart from those of equal events of the session.
    pub file_tag: Option<String>,
    /// Whether the session is interactive.
    pub attendance: Interactivity,
    /// Ends the handlers that the event waits for.
    pub cancel: Option<CancelToken>,
    /// The host's own code, for handlers that it registered.
    pub callbacks: Option<Arc<dyn Callbacks>>,
    /// Receives the step trace.
    pub trace: Option<TraceSink<'a>>,
    /// Follows handlers while they run.
    pub observer: Option<&'a dyn HandlerObserver>,
    /// When everything must have ended, whatever the time limits say.
    pub deadline: Option<Instant>,
    /// Answers prompt and agent handlers. Without one they are skipped.
    pub model: Option<&'a dyn Model>,
    /// Runs `mcp_tool` handlers. Without them these are skipped.
    pub servers: Option<&'a dyn ToolServers>,
    /// The conversation so far, which prompt handlers judge at a stop.
    pub conversation: &'a [ModelMessage],
    /// Whether verifiers run commands.
    pub verifier_shell: VerifierShell,
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
