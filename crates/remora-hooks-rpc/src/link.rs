//! The way to the host: lines out, and requests of ours with their answers.

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a call outlasts its deadline. The engine has the same deadline and must
/// see it pass: it takes no answer for a no, and an error for none.
const CALL_GRACE: Duration = Duration::from_secs(1);

/// What the host answers to a request of ours.
type HostAnswer = Result<Value, String>;

/// Shared by all threads of a server.
pub(crate) struct Link {
    output: Mutex<Box<dyn Write + Send>>,
    /// Requests without an answer yet; `None` once the host is gone.
    pending: Mutex<Option<HashMap<String, SyncSender<HostAnswer>>>>,
    calls: AtomicU64,
}

impl Link {
    pub(crate) fn new(output: Box<dyn Write + Send>) -> Self {
        Self {
            output: Mutex::new(output),
            pending: Mutex::new(Some(HashMap::new())),
            calls: AtomicU64::new(0),
        }
    }

    /// Sends one object as one line. A host that reads no more will close our
    /// input too, so a failure needs no answer of its own.
    pub(crate) fn send(&self, message: &Value) {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        write_line(output, message);
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send(&build_notification(method, params));
    }

    /// The same, unless another thread is writing: what the host can do without must
    /// not wait behind a host that does not read.
    pub(crate) fn notify_if_free(&self, method: &str, params: &Value) {
        let output = match self.output.try_lock() {
            Ok(output) => output,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        write_line(output, &build_notification(method, params));
    }

    /// Asks the host and waits for its answer, until a little after the deadline.
    pub(crate) fn call(&self, method: &str, params: &Value, deadline: Instant) -> HostAnswer {
        let id = format!("remora-{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1);
        let (answer, answered) = sync_channel(1);
        match self.lock_pending().as_mut() {
            Some(pending) => pending.insert(id.clone(), answer),
            None => return Err("the host is gone".to_owned()),
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let left = deadline.saturating_duration_since(Instant::now()) + CALL_GRACE;
        let result = answered.recv_timeout(left);
        if let Some(pending) = self.lock_pending().as_mut() {
            pending.remove(&id);
        }
        match result {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err("the host did not answer in time".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("the host is gone".to_owned()),
        }
    }

    /// Hands an answer to the call that waits for it. One that comes too late, or
    /// that no call asked for, is dropped.
    pub(crate) fn resolve(&self, id: &Value, result: HostAnswer) {
        let waiting = id
            .as_str()
            .and_then(|id| self.lock_pending().as_mut()?.remove(id));
        if let Some(answer) = waiting {
            let _ = answer.try_send(result);
        }
    }

    /// The host is gone: no call waits any longer.
    pub(crate) fn hang_up(&self) {
        *self.lock_pending() = None;
    }

    fn lock_pending(&self) -> MutexGuard<'_, Option<HashMap<String, SyncSender<HostAnswer>>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn build_notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn write_line(mut output: MutexGuard<'_, Box<dyn Write + Send>>, message: &Value) {
    let line = format!("{message}\n");
    let _ = output
        .write_all(line.as_bytes())
        .and_then(|()| output.flush());
}
