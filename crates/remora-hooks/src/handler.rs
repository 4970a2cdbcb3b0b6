//! The kinds of handlers, and what the engine passes to each.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use remora_core::Event;
use remora_http::LookupExit;

use crate::Engine;
use crate::answer::{HandlerOutput, HandlerResult, ProcessExit};
use crate::config::{HandlerKind, WaitMode};
use crate::host::{Host, Interactivity};
use crate::layers::{ConfiguredHandler, Layers, SettingsPaths};
use crate::plan::SessionHandler;
use crate::run::{BackgroundHandler, BackgroundKind};

mod agent;
mod arguments;
mod callback;
mod command;
mod http;
mod process;
mod prompt;
mod server_tool;

pub use callback::{CallbackCall, Callbacks};
pub use process::{CancelToken, end_all_children, guard_children, record_children};
pub(crate) use process::{ProgressSink, RunningProcess, WaitLimits};

/// One handler about to run.
pub(crate) struct HandlerCall<'a> {
    /// Fires the events of a verifier's own calls.
    pub(crate) engine: &'a Engine,
    pub(crate) entry: &'a ConfiguredHandler,
    pub(crate) event: &'a Event,
    /// The event as one line of JSON with its newline.
    pub(crate) line: &'a str,
    pub(crate) layers: &'a Layers,
    pub(crate) places: &'a SettingsPaths,
    pub(crate) host: &'a Host<'a>,
    /// Handlers of the session that a verifier's own events reach.
    pub(crate) everywhere: &'a [&'a SessionHandler],
    /// Where a verifier leaves what goes on, with its id.
    pub(crate) of_verifiers: &'a Mutex<Vec<(String, BackgroundHandler)>>,
    /// The file for session variables, on the events that have one.
    pub(crate) env_file: Option<PathBuf>,
    /// Receives what a command says while it runs.
    pub(crate) progress: Option<ProgressSink<'a>>,
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
    /// A model or a server answered, or did not.
    Judged(Box<(HandlerResult, HandlerOutput)>),
    /// It goes on without the host.
    Background(RunningProcess, BackgroundKind),
    /// It cannot run here; nothing was started.
    NotAvailable(&'static str),
}

/// Of a handler that asks a model where there is none.
const NO_MODEL_TEXT: &str = "not available: no model configured; the event goes on";

/// Of a handler that calls a server where none is connected.
const NO_SERVERS_TEXT: &str = "not available: no MCP servers here; the event goes on";

/// Runs one handler to its end or its deadline. Never panics, never outlives
/// the deadline, bounds what it reads.
pub(crate) fn run_handler(call: &HandlerCall<'_>, deadline: Instant) -> HandlerCompletion {
    match &call.entry.config.kind {
        HandlerKind::Command { waiting, .. } => {
            let background = match waiting {
                WaitMode::Sync => false,
                WaitMode::Async | WaitMode::BackgroundRewake => true,
                // A run with one prompt has no idle model to wake, so the client waits for the
                // handler there, and exit code 2 blocks as usual.
                WaitMode::AsyncRewake => call.host.attendance != Interactivity::Unattended,
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
        HandlerKind::Callback { id } => match &call.host.callbacks {
            Some(callbacks) => {
                HandlerCompletion::Done(callback::run_callback(call, callbacks, id, deadline))
            }
            None => HandlerCompletion::NotAvailable("the host that registered it is not there"),
        },
        // Without a model or servers these are reported as skipped, not as failed: a feature
        // that the host does not have must not look like a broken hook.
        HandlerKind::McpTool {
            server,
            tool,
            input,
        } => match call.host.servers {
            None => HandlerCompletion::NotAvailable(NO_SERVERS_TEXT),
            Some(servers) => {
                server_tool::run_server_tool(call, server, tool, input, servers, deadline)
            }
        },
        HandlerKind::Prompt {
            prompt,
            model,
            after_no,
        } => match call.host.model {
            None => HandlerCompletion::NotAvailable(NO_MODEL_TEXT),
            Some(asked) => {
                let handler = prompt::PromptHandler {
                    prompt,
                    model: model.as_deref(),
                    after_no: *after_no,
                };
                prompt::run_prompt(call, &handler, asked, deadline)
            }
        },
        HandlerKind::Agent { prompt, model } => match call.host.model {
            None => HandlerCompletion::NotAvailable(NO_MODEL_TEXT),
            Some(asked) => agent::run_agent(call, prompt, model.as_deref(), asked, deadline),
        },
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
        Ok(running) => running.finish(WaitLimits {
            deadline: Some(deadline),
            ..WaitLimits::default()
        }),
        Err(why) => failed_output(why),
    }
}

/// Looks a name up for http handlers.
fn run_lookup(program: &str, args: &[String], deadline: Instant) -> LookupExit {
    let output = capture_output(program, args, &[], deadline);
    match output.ended {
        ProcessExit::Exit(code) => LookupExit::Exited(code, output.stdout),
        ProcessExit::TimedOut | ProcessExit::Cancelled => LookupExit::TimedOut,
        ProcessExit::Signal(signal) => LookupExit::Failed(format!("signal {signal}")),
        ProcessExit::Failed(why) => LookupExit::Failed(why),
    }
}
