//! A callback: the host's own code, under a deadline that the host cannot break.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Instant;

use remora_core::Event;
use serde_json::Value;

use super::{HandlerCall, failed_output};
use crate::answer::{HandlerOutput, ProcessExit};

/// The host's side of callbacks: one port for all of them.
pub trait Callbacks: Send + Sync {
    /// Runs one and returns the object it answers with, `None` for no answer. An
    /// error is a failed handler. Called in a thread of its own; the event goes on
    /// without it at the deadline.
    fn call(&self, call: CallbackCall) -> Result<Option<Value>, String>;
}

/// One call of a callback.
#[derive(Debug, Clone)]
pub struct CallbackCall {
    /// Which one.
    pub id: String,
    /// The event.
    pub event: Event,
    /// When nobody waits for the answer any more.
    pub deadline: Instant,
}

pub(super) fn run_callback(
    call: &HandlerCall<'_>,
    callbacks: &Arc<dyn Callbacks>,
    id: &str,
    deadline: Instant,
) -> HandlerOutput {
    let (answer, answered) = sync_channel(1);
    let callbacks = Arc::clone(callbacks);
    let request = CallbackCall {
        id: id.to_owned(),
        event: call.event.clone(),
        deadline,
    };
    // Not a scoped thread: the host's code may hang, and the event must not.
    let thread = thread::Builder::new().name("callback".into());
    let started = thread.spawn(move || {
        // The receiver is gone after the deadline.
        let _ = answer.send(callbacks.call(request));
    });
    if let Err(error) = started {
        return failed_output(format!("no thread for it ({error})"));
    }
    let left = deadline.saturating_duration_since(Instant::now());
    match answered.recv_timeout(left) {
        Ok(Ok(Some(answer))) if !answer.is_object() => {
            failed_output("its answer must be an object")
        }
        Ok(Ok(answer)) => HandlerOutput {
            ended: ProcessExit::Exit(0),
            // An object that says `async` is an answer without content: the host does its work
            // by itself, and nothing is delivered.
            stdout: answer
                .filter(|a| a.get("async") != Some(&Value::Bool(true)))
                .map_or_else(String::new, |a| a.to_string()),
            stderr: String::new(),
        },
        Ok(Err(why)) => failed_output(why),
        Err(RecvTimeoutError::Timeout) => HandlerOutput {
            ended: ProcessExit::TimedOut,
            stdout: String::new(),
            stderr: String::new(),
        },
        Err(RecvTimeoutError::Disconnected) => failed_output("the host's code failed"),
    }
}
