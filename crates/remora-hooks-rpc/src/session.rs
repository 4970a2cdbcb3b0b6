//! One session that is served, and what the program around lends to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use remora_hooks::{
    CallbackCall, Callbacks, Engine, Host, Interactivity, Session, SessionNotice, SessionState,
};
use remora_watch::{FileWatcher, QUIET_TIME, WatchError};
use serde_json::{Value, json};

use crate::link::Link;

/// How long one wait for a background handler or a file lasts; a closed session is noticed
/// after that.
const NOTICE_WAIT: Duration = Duration::from_millis(250);

/// What a host says of a session that it opens.
#[derive(Debug, Default)]
pub struct OpenRequest {
    /// The project's folder.
    pub project: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folder of managed settings.
    pub managed: Option<PathBuf>,
    /// One more layer: a file, or an object.
    pub settings: Option<Value>,
    /// Folders of plugins.
    pub plugins: Vec<PathBuf>,
    /// More MCP servers: files, or objects.
    pub mcp_config: Vec<Value>,
    /// Which of `user`, `project` and `local` are read.
    pub setting_sources: Option<Vec<String>>,
    /// The permission mode, instead of the events' own. There is such a mode.
    pub permission_mode: Option<String>,
    /// `full`, `bare` or `safe`.
    pub mode: Option<String>,
    /// Whether a user can answer.
    pub attendance: Interactivity,
    /// Whether the folder is trusted; what the user said to the client if absent.
    pub trusted: Option<bool>,
    /// A state that `snapshot` returned, to go on with.
    pub state: Option<Box<SessionState>>,
    /// Variables besides the server's own; `None` takes one away.
    pub environment: BTreeMap<String, Option<String>>,
    /// Whether handlers may record the session in a memory.
    pub memory: MemoryUse,
}

/// Whether a session is one that a memory may record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryUse {
    /// It is tried out: memory is switched off for its handlers.
    #[default]
    Off,
    /// It is a user's, as in the client.
    On,
}

/// Why a session was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A parameter is wrong.
    #[error("`{key}` {why}")]
    Param {
        /// Which one.
        key: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// A session, and what belongs to it.
pub struct Opened {
    /// The session.
    pub session: Session,
    /// What it runs with.
    pub host: Box<dyn SessionHost>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Opens sessions: knows homes, environments, models and servers.
pub trait Opener: Send + Sync {
    /// Opens one.
    fn open(&self, request: OpenRequest) -> Result<Opened, OpenError>;
}

/// What lasts as long as a session: its environment, model, servers and folder.
pub trait SessionHost: Send + Sync {
    /// Lends it to one event.
    fn lend(&self) -> Host<'_>;

    /// The settings were read again; returns what the user should know.
    fn follow_reload(&self, engine: &Engine) -> Vec<String>;
}

/// A session that a host has opened.
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) session: Session,
    pub(crate) host: Box<dyn SessionHost>,
    link: Arc<Link>,
    /// Whether a thread waits for handlers in the background.
    waits: Mutex<bool>,
    closed: AtomicBool,
    /// Whether the host follows handlers while they run.
    pub(crate) observes: bool,
}

impl Served {
    pub(crate) fn new(name: String, opened: Opened, link: Arc<Link>, observes: bool) -> Self {
        Self {
            name,
            session: opened.session,
            host: opened.host,
            link,
            waits: Mutex::new(false),
            closed: AtomicBool::new(false),
            observes,
        }
    }

    /// From here on it says nothing more.
    pub(crate) fn mark_closed(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// The host's own code, by way of the host.
    pub(crate) fn callbacks(&self) -> Arc<dyn Callbacks> {
        Arc::new(RemoteCallbacks {
            session: self.name.clone(),
            link: Arc::clone(&self.link),
        })
    }

    /// Says what has happened while no event did.
    pub(crate) fn send_notices(&self) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        for notice in self.session.tick() {
            let (method, mut params) = match notice {
                SessionNotice::BackgroundEnded {
                    handler,
                    event,
                    late,
                } => (
                    "background_ended",
                    json!({"handler": handler, "event": event, "late": late}),
                ),
                SessionNotice::WakeUp(wake) => ("wake_up", json!(wake)),
            };
            params["session"] = self.name.as_str().into();
            self.link.notify(method, &params);
        }
    }

    /// Says what a handler does; progress only if that does not wait.
    pub(crate) fn notify_handler(&self, method: &str, mut params: Value, weight: NoticeWeight) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        params["session"] = self.name.as_str().into();
        match weight {
            NoticeWeight::Needed => self.link.notify(method, &params),
            NoticeWeight::Spare => self.link.notify_if_free(method, &params),
        }
    }

    /// A watcher that watches already, so that no change after `open` is missed.
    pub(crate) fn start_watcher(&self) -> Result<FileWatcher, WatchError> {
        let mut watcher = FileWatcher::new(QUIET_TIME)?;
        watcher.set_paths(self.session.list_watched_paths());
        Ok(watcher)
    }

    /// Says which events changes on the disk mean, until the session is closed.
    pub(crate) fn watch_files(&self, mut watcher: FileWatcher) {
        while !self.closed.load(Ordering::Relaxed) {
            for event in watcher.wait_for_events(&self.session, NOTICE_WAIT) {
                let params = json!({"session": self.name, "event": event.fields});
                self.link.notify("changed", &params);
            }
        }
    }

    /// Whether the caller is to wait for handlers that go on; one thread does at most.
    pub(crate) fn begin_waiting(&self) -> bool {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = !*waits && !self.session.list_running().is_empty();
        *waits = *waits || begins;
        begins
    }

    /// No thread could be had for it.
    pub(crate) fn stop_waiting(&self) {
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// Says what handlers answered as they end, until none goes on.
    pub(crate) fn wait_for_background(&self) {
        loop {
            if self.session.wait_for_notice(NOTICE_WAIT) {
                self.send_notices();
            }
            let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
            // With the lock, so that a handler that begins now gets a thread of its own.
            if self.closed.load(Ordering::Relaxed) || self.session.list_running().is_empty() {
                *waits = false;
                drop(waits);
                self.send_notices();
                return;
            }
        }
    }
}

/// Whether a host can do without a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoticeWeight {
    Needed,
    Spare,
}

struct RemoteCallbacks {
    session: String,
    link: Arc<Link>,
}

impl Callbacks for RemoteCallbacks {
    fn call(&self, call: CallbackCall) -> Result<Option<Value>, String> {
        let left = call
            .deadline
            .saturating_duration_since(std::time::Instant::now());
        let params = json!({
            "session": self.session,
            "callback": call.id,
            "event": call.event.fields,
            "timeout_ms": u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
        });
        let answer = self.link.call("callback", &params, call.deadline)?;
        Ok(Some(answer).filter(|answer| !answer.is_null()))
    }
}
