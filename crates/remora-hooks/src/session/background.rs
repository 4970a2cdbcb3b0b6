//! Handlers that go on while the session does: one thread each, their results in
//! one list, and what ends them.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use remora_core::EventName;

use crate::handler::CancelToken;
use crate::run::{BackgroundHandler, BackgroundKind, LateAnswer};

/// How long the end of handlers that were killed may take. Only a process that
/// the system cannot end reaches it.
const MAX_END_TIME: Duration = Duration::from_secs(5);

/// A handler that goes on now.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RunningHandler {
    /// Its id in reports.
    pub id: String,
    /// The event that started it.
    pub event: &'static str,
    /// Its process, which leads a group and a session of its own.
    pub pid: u32,
    /// Its end can wake the model.
    pub wakes: bool,
    #[serde(skip)]
    serial: u64,
}

impl RunningHandler {
    fn is_of_session_end(&self) -> bool {
        self.event == EventName::SessionEnd.as_str()
    }
}

/// A handler that went on and has ended.
pub(super) struct EndedHandler {
    pub(super) id: String,
    pub(super) event: EventName,
    pub(super) late: LateAnswer,
}

/// All handlers in the background of one session.
pub(super) struct BackgroundPool {
    lists: Mutex<Lists>,
    changed: Condvar,
    plain: CancelToken,
    rewake: CancelToken,
    of_session_end: CancelToken,
}

#[derive(Default)]
struct Lists {
    running: Vec<RunningHandler>,
    ended: VecDeque<EndedHandler>,
    next_serial: u64,
}

impl BackgroundPool {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            lists: Mutex::default(),
            changed: Condvar::new(),
            plain: CancelToken::new()?,
            rewake: CancelToken::new()?,
            of_session_end: CancelToken::new()?,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves the handler until it ends.
    pub(super) fn adopt(self: &Arc<Self>, handler: BackgroundHandler, id: String) {
        let wakes = *handler.kind() != BackgroundKind::Plain;
        let event = handler.event();
        let token = match (event, wakes) {
            (EventName::SessionEnd, _) => &self.of_session_end,
            (_, true) => &self.rewake,
            (_, false) => &self.plain,
        }
        .clone();
        let mut lists = self.lock();
        let serial = lists.next_serial;
        lists.next_serial += 1;
        lists.running.push(RunningHandler {
            id: id.clone(),
            event: event.as_str(),
            pid: handler.pid(),
            wakes,
            serial,
        });
        drop(lists);
        let pool = Arc::clone(self);
        let thread = thread::Builder::new().name("background handler".into());
        let started = thread.spawn(move || {
            let late = handler.wait_in_session(&token);
            let mut lists = pool.lock();
            lists.running.retain(|r| r.serial != serial);
            lists.ended.push_back(EndedHandler { id, event, late });
            drop(lists);
            pool.changed.notify_all();
        });
        if started.is_err() {
            // No thread: the handler was dropped with the closure, which ends it.
            self.lock().running.retain(|r| r.serial != serial);
        }
    }

    pub(super) fn list_running(&self) -> Vec<RunningHandler> {
        self.lock().running.clone()
    }

    pub(super) fn take_ended(&self) -> Vec<EndedHandler> {
        self.lock().ended.drain(..).collect()
    }

    /// Waits until a handler has ended that was not taken yet.
    pub(super) fn wait_for_end(&self, limit: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), limit, |lists| {
                lists.ended.is_empty() && !lists.running.is_empty()
            })
            .unwrap_or_else(PoisonError::into_inner);
        !waited.0.ended.is_empty()
    }

    /// Waits until none is left.
    pub(super) fn wait_for_all(&self, limit: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), limit, |lists| !lists.running.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        waited.0.running.is_empty()
    }

    pub(super) fn end_plain(&self) {
        self.plain.cancel();
        self.wait_for_none_of(|handler| !handler.wakes && !handler.is_of_session_end());
    }

    pub(super) fn end_rewake(&self) {
        self.rewake.cancel();
        self.wait_for_none_of(|handler| handler.wakes && !handler.is_of_session_end());
    }

    pub(super) fn end_all(&self) {
        self.plain.cancel();
        self.rewake.cancel();
        self.of_session_end.cancel();
        self.wait_for_none_of(|_| true);
    }

    /// Those that were ended are gone when the call returns: their threads only have
    /// to notice.
    fn wait_for_none_of(&self, ended: impl Fn(&RunningHandler) -> bool) {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), MAX_END_TIME, |lists| {
                lists.running.iter().any(&ended)
            });
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}
