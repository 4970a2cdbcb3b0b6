//! The kinds of handlers, and what each gets to do its work.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use remora_protocol::Event;

use crate::answer::{Ended, Output};
use crate::config::{Kind, Waiting};
use crate::host::{Attendance, Host};
use crate::layers::{Entry, Layers, Places};

mod command;
mod http;
mod process;

pub(crate) use process::Running;
pub use process::end_all_children;

/// One handler about to run.
pub(crate) struct Call<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) event: &'a Event,
    /// The event as one line of JSON with its newline.
    pub(crate) line: &'a str,
    pub(crate) layers: &'a Layers,
    pub(crate) places: &'a Places,
    pub(crate) host: &'a Host<'a>,
    /// The file for session variables, on the events that have one.
    pub(crate) env_file: Option<PathBuf>,
}

impl Call<'_> {
    /// A variable as a handler would see it: settings win over the host.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.layers
            .env
            .get(name)
            .map(String::as_str)
            .or_else(|| self.host.variable(name))
    }
}

/// How a handler left the engine's hands.
pub(crate) enum Finished {
    /// It ended.
    Done(Output),
    /// It goes on without the host.
    Background(Running),
    /// It cannot run here; nothing was started.
    NotAvailable(&'static str),
}

/// Runs one handler to its end or its deadline. Never panics, never outlives
/// the deadline, bounds what it reads.
pub(crate) fn run(call: &Call<'_>, deadline: Instant) -> Finished {
    match &call.entry.config.kind {
        Kind::Command { waiting, .. } => {
            let background = match waiting {
                Waiting::Sync => false,
                Waiting::Async => true,
                // Nobody is there to be woken, so the turn waits.
                Waiting::AsyncRewake => call.host.attendance == Attendance::Interactive,
            };
            command::run(call, deadline, background)
        }
        Kind::Http {
            url,
            headers,
            allowed_env_vars,
        } => Finished::Done(http::run(call, url, headers, allowed_env_vars, deadline)),
        Kind::McpTool { .. } => {
            Finished::NotAvailable("mcp_tool handlers are not available yet; the event goes on")
        }
        Kind::Prompt { .. } => {
            Finished::NotAvailable("prompt handlers are not available yet; the event goes on")
        }
        Kind::Agent { .. } => {
            Finished::NotAvailable("agent handlers are not available yet; the event goes on")
        }
    }
}

fn failure(why: impl Into<String>) -> Output {
    Output {
        ended: Ended::Failed(why.into()),
        stdout: String::new(),
        stderr: String::new(),
    }
}

/// Runs a program to its end or the deadline and returns what it said.
pub(crate) fn capture(
    program: &str,
    args: &[String],
    environment: &[(OsString, OsString)],
    deadline: Instant,
) -> Output {
    let spawn = process::Spawn {
        program,
        args,
        cwd: Path::new("/"),
        environment,
    };
    match spawn.start("") {
        Ok(running) => running.finish(deadline),
        Err(why) => failure(why),
    }
}
