//! The kinds of handlers, and what the engine passes to each.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use remora_core::Event;

use crate::answer::{HandlerOutput, ProcessExit};
use crate::config::{HandlerKind, WaitMode};
use crate::host::{Host, Interactivity};
use crate::layers::{ConfiguredHandler, Layers, SettingsPaths};

mod command;
mod http;
mod process;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod resolver;

pub(crate) use process::RunningProcess;
pub use process::end_all_children;

/// One handler about to run.
pub(crate) struct HandlerCall<'a> {
    pub(crate) entry: &'a ConfiguredHandler,
    pub(crate) event: &'a Event,
    /// The event as one line of JSON with its newline.
    pub(crate) line: &'a str,
    pub(crate) layers: &'a Layers,
    pub(crate) places: &'a SettingsPaths,
    pub(crate) host: &'a Host<'a>,
    /// The file for session variables, on the events that have one.
    pub(crate) env_file: Option<PathBuf>,
}

impl HandlerCall<'_> {
    /// A variable as a handler would see it: settings win over the host.
    pub(crate) fn find_variable(&self, name: &str) -> Option<&str> {
        self.layers
            .env
            .get(name)
            .map(String::as_str)
            .or_else(|| self.host.find_variable(name))
    }
}

/// How running a handler ended for the engine.
pub(crate) enum HandlerCompletion {
    /// It ended, and its output is complete.
    Done(HandlerOutput),
    /// It goes on without the host.
    Background(RunningProcess),
    /// It cannot run here; nothing was started.
    NotAvailable(&'static str),
}

/// Runs one handler to its end or its deadline. Never panics, never outlives
/// the deadline, bounds what it reads.
pub(crate) fn run_handler(call: &HandlerCall<'_>, deadline: Instant) -> HandlerCompletion {
    match &call.entry.config.kind {
        HandlerKind::Command { waiting, .. } => {
            let background = match waiting {
                WaitMode::Sync => false,
                WaitMode::Async => true,
                // An unattended session has no idle model to wake, so the client runs the handler
                // synchronously there, and exit code 2 blocks as usual.
                WaitMode::AsyncRewake => call.host.attendance == Interactivity::Interactive,
            };
            command::run_command(call, deadline, background)
        }
        HandlerKind::Http {
            url,
            headers,
            allowed_env_vars,
        } => HandlerCompletion::Done(http::run_http(
            call,
            url,
            headers,
            allowed_env_vars,
            deadline,
        )),
        // Reported as skipped, not as failed: `onFailure: block` must not turn a missing
        // feature of this engine into a denied call.
        HandlerKind::McpTool { .. } => HandlerCompletion::NotAvailable(
            "mcp_tool handlers are not available yet; the event goes on",
        ),
        HandlerKind::Prompt { .. } => HandlerCompletion::NotAvailable(
            "prompt handlers are not available yet; the event goes on",
        ),
        HandlerKind::Agent { .. } => HandlerCompletion::NotAvailable(
            "agent handlers are not available yet; the event goes on",
        ),
    }
}

fn failed_output(why: impl Into<String>) -> HandlerOutput {
    HandlerOutput {
        ended: ProcessExit::Failed(why.into()),
        stdout: String::new(),
        stderr: String::new(),
    }
}

/// Runs a program to its end or the deadline and returns what it said.
pub(crate) fn capture_output(
    program: &str,
    args: &[String],
    environment: &[(OsString, OsString)],
    deadline: Instant,
) -> HandlerOutput {
    let spawn = process::Spawn {
        program,
        args,
        // A directory that always exists and holds nothing of the repository.
        cwd: Path::new("/"),
        environment,
    };
    match spawn.start("") {
        Ok(running) => running.finish(deadline),
        Err(why) => failed_output(why),
    }
}
