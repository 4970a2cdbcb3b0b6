//! `remora hooks serve` as a host speaks to it: one JSON object a line.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::session::POLL_INTERVAL;
use crate::client::process::kill_all;

/// The longest that one answer may take; no handler of a case has a longer limit that counts.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(40);

/// A running server; ended when dropped.
pub(super) struct Serve {
    child: Child,
    input: Option<ChildStdin>,
    received: Arc<Mutex<Received>>,
    next: u64,
}

#[derive(Default)]
struct Received {
    answers: BTreeMap<u64, Value>,
    wake_ups: Vec<Value>,
}

impl Drop for Serve {
    fn drop(&mut self) {
        self.input = None; // the end of its input ends it
        let end = Instant::now() + ANSWER_TIMEOUT;
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::park_timeout(POLL_INTERVAL);
        }
        kill_all(&[self.child.id()]);
        let _ = self.child.wait();
    }
}

impl Serve {
    pub(super) fn start(mut command: Command) -> Result<Self> {
        command.args(["hooks", "serve"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command
            .spawn()
            .context("cannot start `remora hooks serve`")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("no output")?;
        let received = Arc::new(Mutex::new(Received::default()));
        let shared = Arc::clone(&received);
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).unwrap_or_default();
                let mut received = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if message["method"] == "wake_up" {
                    received.wake_ups.push(message["params"].clone());
                } else if let Some(id) = message["id"].as_u64() {
                    received.answers.insert(id, message);
                }
            }
        });
        Ok(Self {
            child,
            input,
            received,
            next: 0,
        })
    }

    /// Sends a request; its id.
    pub(super) fn send(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.next += 1;
        let message = json!({
            "jsonrpc": "2.0", "id": self.next, "method": method, "params": params,
        });
        let input = self
            .input
            .as_mut()
            .context("the server's input is closed")?;
        writeln!(input, "{message}").with_context(|| format!("cannot send `{method}`"))?;
        Ok(self.next)
    }

    /// The result of a request, once it is there.
    pub(super) fn take_result(&mut self, id: u64) -> Result<Option<Value>> {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut answer) = received.answers.remove(&id) else {
            return Ok(None);
        };
        if !answer["error"].is_null() {
            bail!("the engine refuses: {}", answer["error"]);
        }
        Ok(Some(answer["result"].take()))
    }

    pub(super) fn wait_for_result(&mut self, id: u64) -> Result<Value> {
        let end = Instant::now() + ANSWER_TIMEOUT;
        loop {
            if let Some(result) = self.take_result(id)? {
                return Ok(result);
            }
            if Instant::now() > end {
                bail!("the engine does not answer");
            }
            thread::park_timeout(Duration::from_millis(5));
        }
    }

    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.send(method, params)?;
        self.wait_for_result(id)
            .with_context(|| format!("`{method}`"))
    }

    pub(super) fn take_wake_up(&self) -> Option<Value> {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        (!received.wake_ups.is_empty()).then(|| received.wake_ups.remove(0))
    }
}
