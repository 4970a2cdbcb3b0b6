//! A session: everything that lies between two events. One engine after another,
//! a state, and handlers that go on.
//!
//! The host says what happens, the session what follows. A host's loop is:
//! `fire` each event and put its deliveries into the conversation; before a
//! request is built, `take_deliveries`; while nothing happens, `tick`.
//!
//! `SessionState` is a value and holds every rule; this file adds what is not:
//! the snapshot of the settings, and processes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use remora_core::{Event, EventName};
use serde_json::{Map, Value};

use crate::answer::HandlerStatus;
use crate::deliver::Delivery;
use crate::error::LoadError;
use crate::host::{Host, Interactivity};
use crate::layers::SettingsPaths;
use crate::names;
use crate::plan::SessionHandler;
use crate::report::{Explanation, Report};
use crate::run::{LateAnswer, SessionHandlers, WakeUp};
use crate::trust::Trust;
use crate::{Engine, EngineOptions, run};

mod background;
mod config_files;
mod env_files;
mod hooks;
mod state;
mod stop_loop;
mod watch;

pub use background::RunningHandler;
use background::{BackgroundPool, EndedHandler};
pub use hooks::{CallbackHandler, HeadHooks, HeadOrigin, NamedHooks, RegisterError};
pub use state::{RequestPoint, SessionPhase, SessionState};
pub use stop_loop::StopDecision;
pub use watch::FileChangeKind;

/// How a session is hosted.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Trust and modes of the engine.
    pub engine: EngineOptions,
    /// Whether a user can answer, or at least send more prompts.
    pub attendance: Interactivity,
    /// Whether the user accepted this very folder. An unattended session counts as
    /// trusted, but the hooks of a project's agents need more.
    pub folder: Trust,
    /// Where variables and long texts go; `None` keeps neither.
    pub session_dir: Option<PathBuf>,
}

/// An event and what follows from it.
#[derive(Debug)]
pub struct Fired {
    /// The event as handlers read it, with what the session filled in.
    pub event: Event,
    /// Each handler with its result, and the outcome.
    pub report: Report,
    /// What the model reads because of it, at once.
    pub deliveries: Vec<Delivery>,
    /// On the events that end an agent: whether it ends.
    pub stop: Option<StopDecision>,
    /// On a change of settings: whether they were read again.
    pub reload: Option<Reload>,
}

/// What a change of settings led to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reload {
    /// The settings are in force from the next event on.
    Accepted,
    /// A handler refused; the hooks stay as they were.
    Refused,
    /// They cannot be read; the hooks stay as they were.
    Failed(String),
}

/// What happened while no event did.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionNotice {
    /// A handler that went on has ended. Its texts wait for a request.
    BackgroundEnded {
        /// Its id in reports.
        handler: String,
        /// The event that started it.
        event: &'static str,
        /// What it answered.
        late: Box<LateAnswer>,
    },
    /// The idle model is to go on: begin a turn with this prompt.
    WakeUp(WakeUp),
}

/// One session. Events may be fired from several threads at once.
pub struct Session {
    inner: Mutex<Inner>,
    pool: Arc<BackgroundPool>,
    options: SessionOptions,
    places: SettingsPaths,
    closed: AtomicBool,
}

struct Inner {
    engine: Arc<Engine>,
    state: SessionState,
    /// Fields that every event of the session carries.
    base: Map<String, Value>,
    notices: Vec<SessionNotice>,
    /// Raised when what is watched may be another.
    watch_revision: u64,
}

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Its settings.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The system.
    #[error("the session cannot begin: {0}")]
    System(#[from] io::Error),
}

impl Session {
    /// Begins a session in the project that the settings belong to.
    pub fn open(places: SettingsPaths, options: SessionOptions) -> Result<Self, SessionError> {
        let engine = Engine::load(places.clone(), options.engine)?;
        let matchers = engine
            .layers
            .entries
            .iter()
            .filter(|e| e.event == EventName::FileChanged)
            .map(|e| e.matcher.as_deref());
        let watch = watch::WatchLists::from_matchers(matchers);
        let state = SessionState::new(places.project.clone(), watch);
        Self::with_engine(engine, state, places, options)
    }

    /// Goes on with a state that was stored. Handlers in the background do not
    /// outlive the session that started them.
    pub fn resume(
        mut state: SessionState,
        places: SettingsPaths,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let engine = Engine::load(places.clone(), options.engine)?;
        state.hooks.compile_all();
        Self::with_engine(engine, state, places, options)
    }

    fn with_engine(
        engine: Engine,
        state: SessionState,
        places: SettingsPaths,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        Ok(Self {
            inner: Mutex::new(Inner {
                engine: Arc::new(engine),
                state,
                base: Map::new(),
                notices: Vec::new(),
                watch_revision: 0,
            }),
            pool: BackgroundPool::new()?,
            options,
            places,
            closed: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fires an event: runs its handlers and changes the state by what they said.
    /// `stop_hook_active` is filled in.
    pub fn fire(&self, event: &Event, host: &Host<'_>) -> Fired {
        let mut host = self.complete_host(host);
        let mut inner = self.lock();
        self.collect_ended(&mut inner);
        let number = inner.state.number_event();
        host.file_tag.get_or_insert_with(|| number.to_string());
        inner.note_base(event);
        inner.state.begin_event(event);
        // The directory counts at once, what handlers say when they have said it.
        inner.watch_revision += 1;
        let event = inner.state.complete_event(event);
        let engine = Arc::clone(&inner.engine);
        let here = inner.state.hooks.list_for(&event);
        let everywhere = inner.state.hooks.list_everywhere();
        drop(inner);
        // Without the lock: other events may be fired meanwhile, and see the same settings.
        let here: Vec<&SessionHandler> = here.iter().map(AsRef::as_ref).collect();
        let everywhere: Vec<&SessionHandler> = everywhere.iter().map(AsRef::as_ref).collect();
        let handlers = SessionHandlers {
            here: &here,
            everywhere: &everywhere,
        };
        let mut run = run::run_event(&engine, &event, &host, handlers);
        let reload = (event.name == EventName::ConfigChange)
            .then(|| reload_engine(&engine, &event, run.report.outcome.blocked));
        for handler in run.background {
            let id = run.report.handlers[handler.handler].info.id.clone();
            self.pool.adopt(handler, id);
        }
        for (id, handler) in run.of_verifiers {
            self.pool.adopt(handler, id);
        }

        let mut inner = self.lock();
        let cap = stop_loop::parse_block_cap(find_variable(&engine, &host, names::BLOCK_CAP_VAR));
        let stop = inner.state.finish_event(&event, &run.report.outcome, cap);
        if matches!(stop, Some(StopDecision::Overridden { .. })) {
            run.deliveries.clear();
        }
        for handler in &run.report.handlers {
            if handler.status == HandlerStatus::Ok {
                inner.state.hooks.note_success(&handler.info.id);
            }
        }
        remove_stale_files(&inner.state, event.name, &run.env_files);
        inner.state.env_files.replace(event.name, &run.env_files);
        if event.name == EventName::SessionEnd && event.str_field("reason") == Some("clear") {
            for file in inner.state.env_files.take_all() {
                // Gone already is as good.
                let _ = std::fs::remove_file(file);
            }
        }
        let reload = reload.map(|(reload, engine)| {
            if let Some(engine) = engine {
                inner.engine = Arc::new(engine);
            }
            reload
        });
        inner.watch_revision += 1;
        drop(inner);
        Fired {
            event,
            report: run.report,
            deliveries: run.deliveries,
            stop,
            reload,
        }
    }

    /// Which handlers the event would run, and why.
    pub fn preview(&self, event: &Event) -> Explanation {
        let inner = self.lock();
        let event = inner.state.complete_event(event);
        let engine = Arc::clone(&inner.engine);
        let extra = inner.state.hooks.list_for(&event);
        drop(inner);
        let extra: Vec<&SessionHandler> = extra.iter().map(AsRef::as_ref).collect();
        let plan = engine.plan_with(&event, &extra);
        Explanation::new(event.name.as_str(), &plan, engine.collect_warnings(&plan))
    }

    /// What has happened meanwhile. Call it while the session is idle, and as often
    /// as the host likes; `wait_for_notice` says when it is worth it.
    pub fn tick(&self) -> Vec<SessionNotice> {
        let mut inner = self.lock();
        self.collect_ended(&mut inner);
        let mut notices = std::mem::take(&mut inner.notices);
        // A run with one prompt is over when its turn is.
        if self.options.attendance != Interactivity::Unattended {
            notices.extend(inner.state.take_wake().map(SessionNotice::WakeUp));
        }
        notices
    }

    /// Waits until `tick` has something to say, or the time is over.
    pub fn wait_for_notice(&self, limit: Duration) -> bool {
        if !self.lock().notices.is_empty() {
            return true;
        }
        self.pool.wait_for_end(limit)
    }

    /// What the next request of the main conversation carries besides. Ask when the
    /// request is about to be built, once, and only behind a prompt or the results
    /// of tools: a request that a Stop hook caused carries nothing.
    pub fn take_deliveries(&self, point: RequestPoint) -> Vec<Delivery> {
        let mut inner = self.lock();
        self.collect_ended(&mut inner);
        inner.state.take_deliveries(point)
    }

    /// The turn ended without `Stop`: it was interrupted, a hook stopped it, or it
    /// reached a limit.
    pub fn end_turn(&self) {
        self.lock().state.end_turn();
    }

    /// Whether a turn is under way.
    pub fn phase(&self) -> SessionPhase {
        self.lock().state.phase
    }

    /// Whether the main agent's next `Stop` has `stop_hook_active`.
    pub fn is_stop_hook_active(&self) -> bool {
        self.lock().state.is_stop_hook_active()
    }

    /// What to put in front of each shell command, in the same shell.
    pub fn shell_prelude(&self) -> String {
        self.lock().state.env_files.read_prelude()
    }

    /// A skill was used: its hooks run in the main conversation from now on. Call it
    /// before `PostToolUse` of the call, or behind `UserPromptExpansion`.
    pub fn add_skill(&self, skill: HeadHooks) -> Result<(), RegisterError> {
        self.lock().state.hooks.add_skill(skill)
    }

    /// A subagent begins: its hooks run for it alone, until its `SubagentStop`.
    pub fn add_agent(&self, agent_id: &str, agent: HeadHooks) -> Result<(), RegisterError> {
        let folder = self.options.folder;
        self.lock().state.hooks.add_agent(agent_id, agent, folder)
    }

    /// A subagent ended without `SubagentStop`; `false` if it had no hooks.
    pub fn remove_agent(&self, agent_id: &str) -> bool {
        self.lock().state.hooks.remove_agent(agent_id)
    }

    /// The session itself is that agent: its hooks run for all of it, subagents
    /// included. It is one agent at a time.
    pub fn add_main_agent(&self, agent: HeadHooks) -> Result<(), RegisterError> {
        let folder = self.options.folder;
        self.lock().state.hooks.add_main_agent(agent, folder)
    }

    /// The session is no agent any more; `false` if it was none.
    pub fn remove_main_agent(&self) -> bool {
        self.lock().state.hooks.remove_main_agent()
    }

    /// Hooks that the host brings for the whole session, subagents included. Of equal
    /// names the last one counts.
    pub fn add_hooks(&self, named: NamedHooks) -> Result<(), RegisterError> {
        self.lock().state.hooks.add_named(named)
    }

    /// Takes such hooks back; `false` if there are none of that name.
    pub fn remove_hooks(&self, name: &str) -> bool {
        self.lock().state.hooks.remove_named(name)
    }

    /// The host's own code; it runs through `Host::callbacks`.
    pub fn add_callback(&self, callback: CallbackHandler) -> Result<(), RegisterError> {
        self.lock().state.hooks.add_callback(callback)
    }

    /// Takes a callback back; `false` if there is none of that id.
    pub fn remove_callback(&self, id: &str) -> bool {
        self.lock().state.hooks.remove_callback(id)
    }

    /// The hooks of all skills are over.
    pub fn clear_skills(&self) {
        self.lock().state.hooks.remove_skills();
    }

    /// Reads the settings again without asking `ConfigChange` handlers.
    pub fn reload(&self) -> Result<(), LoadError> {
        let engine = Arc::clone(&self.lock().engine);
        let fresh = engine.reload()?;
        let mut inner = self.lock();
        inner.engine = Arc::new(fresh);
        inner.watch_revision += 1;
        Ok(())
    }

    /// The settings in force.
    pub fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.lock().engine)
    }

    /// Another number as soon as `list_watched_paths` may say something else.
    pub fn watch_revision(&self) -> u64 {
        self.lock().watch_revision
    }

    /// Every path to watch now: settings, and what `FileChanged` handlers wait for.
    pub fn list_watched_paths(&self) -> Vec<PathBuf> {
        let inner = self.lock();
        let mut paths = config_files::list_files(&self.places);
        if inner.engine.has_handlers(EventName::FileChanged) {
            paths.extend(inner.state.watch.list_paths(&inner.state.cwd));
        }
        paths.sort();
        paths.dedup();
        paths
    }

    /// The events that a change on the disk means: fire them.
    pub fn describe_change(&self, path: &Path, kind: FileChangeKind) -> Vec<Event> {
        let inner = self.lock();
        let mut events = Vec::new();
        if let Some(source) = config_files::find_source(&self.places, path) {
            events.push(inner.build_event(
                EventName::ConfigChange,
                [("source", source), ("file_path", &path.to_string_lossy())],
            ));
        }
        if inner.engine.has_handlers(EventName::FileChanged)
            && let Some(shown) = inner.state.watch.name_change(&inner.state.cwd, path)
        {
            events.push(inner.build_event(
                EventName::FileChanged,
                [("file_path", shown.as_str()), ("event", kind.as_str())],
            ));
        }
        events
    }

    /// Handlers that go on now.
    pub fn list_running(&self) -> Vec<RunningHandler> {
        self.pool.list_running()
    }

    /// The state as a value.
    pub fn snapshot(&self) -> SessionState {
        self.lock().state.clone()
    }

    /// Ends the session, behind `SessionEnd`, as the client does. Without a user,
    /// plain background handlers are ended and those that would wake go on to their
    /// own end; with one it is the other way round. Handlers of `SessionEnd` go on
    /// in any case. What they say reaches no one.
    pub fn close(&self) -> SessionRemainder {
        self.closed.store(true, Ordering::Relaxed);
        match self.options.attendance {
            Interactivity::Interactive => self.pool.end_rewake(),
            Interactivity::Unattended | Interactivity::Streaming => self.pool.end_plain(),
        }
        SessionRemainder {
            pool: Arc::clone(&self.pool),
        }
    }

    fn complete_host<'a>(&self, host: &Host<'a>) -> Host<'a> {
        let mut host = host.clone();
        host.attendance = self.options.attendance;
        if host.session_dir.is_none() {
            host.session_dir.clone_from(&self.options.session_dir);
        }
        host
    }

    fn collect_ended(&self, inner: &mut Inner) {
        for ended in self.pool.take_ended() {
            inner.note_ended(ended);
        }
    }
}

impl Drop for Session {
    /// A session that is not closed leaves no process.
    fn drop(&mut self) {
        if !self.closed.load(Ordering::Relaxed) {
            self.pool.end_all();
        }
    }
}

/// Handlers that outlive their session. Dropping it leaves them to themselves.
pub struct SessionRemainder {
    pool: Arc<BackgroundPool>,
}

impl SessionRemainder {
    /// Those that still go on.
    pub fn list_running(&self) -> Vec<RunningHandler> {
        self.pool.list_running()
    }

    /// Waits for all of them; `false` if the time is over.
    pub fn wait(&self, limit: Duration) -> bool {
        self.pool.wait_for_all(limit)
    }

    /// Ends all of them.
    pub fn end(&self) {
        self.pool.end_all();
    }
}

impl Inner {
    fn note_base(&mut self, event: &Event) {
        // A subagent has fields and a directory of its own.
        if event.str_field("agent_id").is_some() {
            return;
        }
        for key in ["session_id", "transcript_path", "prompt_id"] {
            if let Some(value) = event.fields.get(key) {
                self.base.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(cwd) = event.str_field("cwd") {
            self.state.change_directory(Path::new(cwd));
        }
    }

    fn build_event<'a>(
        &self,
        name: EventName,
        own: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Event {
        let mut fields = self.base.clone();
        fields.insert("cwd".into(), self.state.cwd.to_string_lossy().into());
        fields.insert("hook_event_name".into(), name.as_str().into());
        for (key, value) in own {
            fields.insert(key.to_owned(), value.into());
        }
        Event { name, fields }
    }

    fn note_ended(&mut self, ended: EndedHandler) {
        // As in the client: what these say reaches no one, except by waking.
        let silent = matches!(ended.event, EventName::FileChanged | EventName::PreCompact);
        if !silent {
            for text in &ended.late.context {
                self.state.add_text(text.clone());
            }
        }
        if let Some(wake) = &ended.late.wake {
            self.state.add_wake(wake.clone());
        }
        if ended.late.status == HandlerStatus::Ok {
            self.state.hooks.note_success(&ended.id);
        }
        self.notices.push(SessionNotice::BackgroundEnded {
            handler: ended.id,
            event: ended.event.as_str(),
            late: Box::new(ended.late),
        });
    }
}

fn reload_engine(engine: &Engine, event: &Event, refused: bool) -> (Reload, Option<Engine>) {
    // Skills are the host's to read.
    if refused || event.str_field("source") == Some("skills") {
        let reload = if refused {
            Reload::Refused
        } else {
            Reload::Accepted
        };
        return (reload, None);
    }
    match engine.reload() {
        Ok(engine) => (Reload::Accepted, Some(engine)),
        Err(error) => (Reload::Failed(error.to_string()), None),
    }
}

fn find_variable<'a>(engine: &'a Engine, host: &'a Host<'_>, name: &str) -> Option<&'a str> {
    let of_settings = engine.layers.env.get(name).map(String::as_str);
    of_settings.or_else(|| host.find_variable(name))
}

/// Removes files of the event's last firing that this one did not replace.
fn remove_stale_files(state: &SessionState, event: EventName, fresh: &[PathBuf]) {
    if fresh.is_empty() {
        return;
    }
    for file in state.env_files.of_event(event) {
        if !fresh.contains(file) {
            // Gone already is as good.
            let _ = std::fs::remove_file(file);
        }
    }
}
