//! What surrounds the scripted client: the session under test, processes at gates,
//! the script that drives, and what has been seen so far.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use remora_core::model::ModelMessage;
use remora_core::{Event, EventName};
use remora_hooks::{CancelToken, FileChangeKind, Fired, Host, Session, VerifierShell};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::case::{Case, RECORDER, write_file};
use super::clock::{Clock, Gate, is_alive, own_session, session_of, to_us, wait_for};
use super::drive::Drive;
use super::model::{ScriptedModel, Seen};
use crate::models::servers::ScriptedServers;

mod listener;
mod run;
mod titles;

use listener::{Listener, VERIFIER_EVENTS, listen_to};
pub(super) use run::Run;
use titles::{stub_id, title_of};

/// How long a change on the disk takes to be noticed.
const FILE_NOTICE_SECONDS: f64 = 0.5;
const CONFIG_NOTICE_SECONDS: f64 = 1.0;

/// One event as the recording lists it.
#[derive(Debug, Clone)]
pub(super) struct Dispatch {
    pub(super) event: EventName,
    pub(super) title: String,
    pub(super) ran: Vec<String>,
    /// The event of a verifier as its handlers read it; which ones is known from that.
    pub(super) of_verifier: Option<Value>,
    /// Requests of each conversation before it.
    pub(super) requests: BTreeMap<&'static str, usize>,
}

/// The limits of a handler that may never let it come to its end.
#[derive(Debug, Clone, Copy)]
struct Limit {
    us: u64,
    kills: bool,
}

/// What the next moment brings.
enum Moment {
    Gate(Gate, Option<Limit>),
    /// The engine ends the process behind the gate at its limit.
    Killed(Gate),
    Tick,
}

/// Why a session ends before its script does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interruption {
    /// The turn alone.
    Escape,
    /// The user leaves.
    Exit,
    /// A signal.
    Signal,
}

pub(super) struct World<'a> {
    pub(super) case: &'a Case,
    pub(super) session: Session,
    pub(super) clock: Clock,
    drive: RefCell<Drive>,
    pub(super) runs: RefCell<Vec<Run>>,
    pub(super) seen: Arc<Seen>,
    pub(super) model: ScriptedModel,
    pub(super) servers: ScriptedServers,
    listener: Arc<Listener>,
    /// Turns that have ended.
    pub(super) results: Cell<usize>,
    pub(super) prompts: RefCell<VecDeque<String>>,
    pub(super) interruption: Cell<Option<Interruption>>,
    /// Command lines of the stub, as recorded.
    pub(super) commands: RefCell<BTreeMap<String, String>>,
    cancel: RefCell<CancelToken>,
    keys: RefCell<Vec<String>>,
    expected_runs: Cell<usize>,
    limits: RefCell<BTreeMap<String, Limit>>,
    changes: RefCell<Vec<(u64, PathBuf, FileChangeKind)>>,
    timer_us: Cell<Option<u64>>,
    /// Ids of handlers that the event waits for.
    waited_for: RefCell<BTreeSet<String>>,
    /// The user is asked something.
    asks: Cell<bool>,
    /// The recording would have had the last event.
    pub(super) recorded: Cell<bool>,
    /// Where the event that is fired now is listed.
    fired_at: Cell<usize>,
    /// An event is under way.
    fires: Cell<bool>,
    /// And its handlers are being ended.
    cancelled: Cell<bool>,
    tool_pid: Cell<Option<i32>>,
}

impl<'a> World<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        let session = Session::open(case.settings_paths(), case.session_options()).unwrap();
        for event in VERIFIER_EVENTS {
            session.add_callback(listen_to(event)).unwrap();
        }
        let clock = Clock::new(case.gates());
        let seen = Arc::new(Seen::default());
        let naps = Arc::clone(&clock.naps);
        let pass = move |seconds| naps.sleep(seconds);
        Self {
            case,
            session,
            model: ScriptedModel::new(case, Arc::clone(&clock.naps), Arc::clone(&seen)),
            servers: ScriptedServers::new(&case.strings("args"), &case.root, pass),
            listener: Arc::new(Listener(Arc::clone(&seen))),
            seen,
            clock,
            drive: RefCell::new(Drive::new(&case.value["drive"])),
            runs: RefCell::default(),
            results: Cell::new(0),
            prompts: RefCell::default(),
            interruption: Cell::new(None),
            commands: RefCell::default(),
            cancel: RefCell::new(CancelToken::new().unwrap()),
            keys: RefCell::default(),
            expected_runs: Cell::new(0),
            limits: RefCell::default(),
            changes: RefCell::default(),
            timer_us: Cell::new(None),
            waited_for: RefCell::default(),
            asks: Cell::new(false),
            recorded: Cell::new(false),
            fired_at: Cell::new(0),
            fires: Cell::new(false),
            cancelled: Cell::new(false),
            tool_pid: Cell::new(None),
        }
    }

    /// Fires an event while time passes, and notes what ran. The conversation is what
    /// prompt handlers judge.
    pub(super) fn fire(&self, fields: Value, conversation: &[ModelMessage]) -> Fired {
        let event = Event::from_value(fields, None).unwrap();
        let planned = self.session.preview(&event);
        let mut ran = Vec::new();
        let mut recorded = false;
        for row in planned.handlers.iter().filter(|row| row.matches) {
            recorded |= row.info.label == RECORDER;
            if let Some(id) = stub_id(&row.info.label) {
                self.note_limit(&id, &row.info.label, row.info.timeout);
                if self.is_waited_for(&row.info.label) {
                    self.waited_for.borrow_mut().insert(id.clone());
                }
                let command = self.case.restore_paths(&row.info.label);
                self.commands.borrow_mut().insert(id.clone(), command);
                ran.push(id);
            }
        }
        ran.sort();
        self.expected_runs.set(self.expected_runs.get() + ran.len());
        self.recorded.set(recorded);
        let listed = recorded || !ran.is_empty();
        let mut dispatches = self.seen.dispatches.lock().unwrap();
        let at = dispatches.len();
        if listed {
            dispatches.push(Dispatch {
                event: event.name,
                title: String::new(),
                ran,
                of_verifier: None,
                requests: self.seen.copy_requests(),
            });
        }
        drop(dispatches);
        self.fired_at.set(at);
        let host = Host {
            environment: self.case.environment(),
            cancel: Some(self.cancel.borrow().clone()),
            callbacks: Some(self.listener.clone()),
            model: Some(&self.model),
            servers: Some(&self.servers),
            conversation,
            verifier_shell: VerifierShell::On,
            ..Host::default()
        };
        self.fires.set(true);
        self.cancelled.set(false);
        let fired = std::thread::scope(|scope| {
            let session = &self.session;
            let thread = scope.spawn(move || session.fire(&event, &host));
            self.run_until(|| thread.is_finished());
            thread.join().unwrap()
        });
        self.fires.set(false);
        if listed {
            self.seen.dispatches.lock().unwrap()[at].title = title_of(&fired.event);
        }
        self.settle();
        fired
    }

    fn note_limit(&self, id: &str, label: &str, seconds: f64) {
        let asked = label.split("\"asyncTimeout\":").nth(1);
        let asked = asked.and_then(|rest| rest.split('}').next()?.parse::<u64>().ok());
        let us = to_us(seconds).min(asked.map_or(u64::MAX, |millis| millis * 1000));
        let plain = matches!(self.read_waiting(label), (true, false));
        let kills = !plain && !label.contains("{\"async\":true");
        let mut limits = self.limits.borrow_mut();
        limits.insert(id.to_owned(), Limit { us, kills });
    }

    /// How the handler is configured: `async`, `asyncRewake`.
    fn read_waiting(&self, label: &str) -> (bool, bool) {
        let documents = self.case.value["files"].as_object().into_iter().flatten();
        let mut handlers = documents
            .filter_map(|(_, text)| serde_json::from_str::<Value>(text.as_str()?).ok())
            .flat_map(|document| {
                let events = document["hooks"].as_object().cloned().unwrap_or_default();
                let groups = events
                    .into_iter()
                    .filter_map(|(_, groups)| groups.as_array().cloned());
                groups.flatten().collect::<Vec<_>>()
            })
            .filter_map(|group| group["hooks"].as_array().cloned())
            .flatten()
            .filter(|handler| handler["command"] == label);
        // Of equal handlers the last is in force.
        handlers.next_back().map_or((false, false), |handler| {
            (handler["async"] == true, handler["asyncRewake"] == true)
        })
    }

    /// Whether the event waits for the handler.
    fn is_waited_for(&self, label: &str) -> bool {
        match self.read_waiting(label) {
            (true, _) => false,
            (false, true) => !self.case.is_interactive() && !self.has_drive(),
            (false, false) => true,
        }
    }

    /// Lets time pass until it is so.
    pub(super) fn run_until(&self, mut done: impl FnMut() -> bool) {
        let mut idle = 0;
        while !done() {
            wait_for("everything sleeps or has ended", || {
                done() || (self.is_settled() && self.is_blocked())
            });
            if done() || self.poll_drive() {
                continue;
            }
            if self.step() {
                idle = 0;
                continue;
            }
            // What is left comes to its end in real time.
            idle += 1;
            assert!(
                idle < 60_000,
                "{}: nothing happens any more",
                self.case.name
            );
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Lets so much time pass.
    pub(super) fn pass(&self, seconds: f64) {
        let due = self.clock.now_us() + to_us(seconds);
        self.timer_us.set(Some(due));
        self.run_until(|| self.clock.now_us() >= due || self.interruption.get().is_some());
        self.timer_us.set(None);
    }

    /// Goes to the next moment; `false` if there is none.
    fn step(&self) -> bool {
        let now = self.clock.now_us();
        let later = |due: &u64| *due > now;
        let mut moments: Vec<(u64, Moment)> = Vec::new();
        moments.extend(self.next_gate());
        let drive_due = self.drive.borrow().due_us().filter(later);
        let changes = self.changes.borrow();
        let change_due = changes.iter().map(|(due, ..)| *due).filter(later).min();
        drop(changes);
        let timer_due = self.timer_us.get().filter(later);
        for due in [
            drive_due,
            change_due,
            timer_due,
            self.clock.naps.next_due_us(),
        ] {
            moments.extend(due.map(|due| (due, Moment::Tick)));
        }
        // Of equal times the process comes first: it was there first.
        let Some((due, moment)) = moments.into_iter().min_by_key(|(due, _)| *due) else {
            return false;
        };
        self.clock.advance(due);
        match moment {
            // Who naps has been woken by the clock.
            Moment::Tick => {}
            Moment::Killed(gate) => wait_for("its limit ends a handler", || !is_alive(gate.pid)),
            Moment::Gate(gate, held) => {
                if let Some(limit) = held {
                    // It sleeps longer than a limit that must not end it: let the limit pass.
                    let passed = Duration::from_micros(limit.us + limit.us / 4);
                    wait_for("a limit that ends nothing has passed", || {
                        gate.seen.elapsed() > passed
                    });
                }
                self.clock.open(&gate);
            }
        }
        true
    }

    fn next_gate(&self) -> Option<(u64, Moment)> {
        let gates = self.clock.list_gates();
        let moments = gates.into_iter().map(|gate| {
            let runs = self.runs.borrow();
            let run = runs
                .iter()
                .rfind(|r| session_of(r.pid) == Some(gate.session));
            let limit = run.and_then(|run| {
                let limit = *self.limits.borrow().get(&run.id)?;
                let slept_us = gate.due_us - run.began_us;
                (limit.us < slept_us).then_some((limit, run.began_us + limit.us))
            });
            match limit {
                None => (gate.due_us, Moment::Gate(gate, None)),
                Some((limit, killed_us)) if limit.kills => (killed_us, Moment::Killed(gate)),
                Some((limit, _)) => (gate.due_us, Moment::Gate(gate, Some(limit))),
            }
        });
        moments.min_by_key(|(due, _)| *due)
    }

    /// Waits until everything that was started sleeps or has ended.
    pub(super) fn settle(&self) {
        wait_for("everything sleeps or has ended", || self.is_settled());
    }

    fn is_settled(&self) -> bool {
        self.note_runs();
        let gates = self.clock.list_gates();
        let sleeps = |session: i32| gates.iter().any(|gate| gate.session == session);
        let runs = self.runs.borrow();
        let started = runs.len() >= self.expected_runs.get();
        let quiet = |run: &Run| {
            run.is_finished() || !is_alive(run.pid) || session_of(run.pid).is_none_or(sleeps)
        };
        let running = self.session.list_running();
        started
            && runs.iter().all(quiet)
            && running.iter().all(|running| sleeps(running.pid.cast_signed()))
            // A tool of the client runs in the test's own session.
            && self.tool_pid.get().is_none_or(|pid| !is_alive(pid) || sleeps(own_session()))
    }

    /// Whether what the client waits for sleeps. Until it does, no time passes.
    fn is_blocked(&self) -> bool {
        let gates = self.clock.list_gates();
        let sleeps = |session: i32| gates.iter().any(|gate| gate.session == session);
        if self.tool_pid.get().is_some() {
            return sleeps(own_session());
        }
        if !self.fires.get() {
            return true;
        }
        if self.cancelled.get() {
            return false;
        }
        if self.clock.naps.next_due_us().is_some() {
            return true;
        }
        let runs = self.runs.borrow();
        runs.iter()
            .filter(|run| run.dispatch >= self.fired_at.get())
            .any(|run| {
                let waited_for = self.waited_for.borrow().contains(&run.id);
                let went_on = run.read("out").starts_with("{\"async\":true");
                waited_for && !went_on && session_of(run.pid).is_some_and(sleeps)
            })
    }

    fn note_runs(&self) {
        let mut runs = self.runs.borrow_mut();
        let known: BTreeSet<PathBuf> = runs.iter().map(|run| run.file.clone()).collect();
        let mut fresh = Vec::new();
        for entry in fs::read_dir(self.case.runs()).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let parts: Vec<&str> = name.split('.').collect();
            if let [id, _, pid] = parts[..]
                && !known.contains(&entry.path())
            {
                fresh.push(Run {
                    id: id.to_owned(),
                    dispatch: self.seen.dispatches.lock().unwrap().len().saturating_sub(1),
                    file: entry.path(),
                    pid: pid.parse().unwrap(),
                    began_us: self.clock.now_us(),
                });
            }
        }
        fresh.sort_by(|a, b| a.file.cmp(&b.file));
        runs.extend(fresh);
    }

    /// Does the steps of the script that can be done now; `true` if there was one.
    fn poll_drive(&self) -> bool {
        let mut moved = false;
        loop {
            let Some(step) = self.drive.borrow().step().cloned() else {
                return moved;
            };
            let overdue = self
                .drive
                .borrow()
                .due_us()
                .is_some_and(|due| due <= self.clock.now_us());
            if !overdue && !self.do_step(&step) {
                return moved;
            }
            self.drive.borrow_mut().advance(self.clock.now_us());
            moved = true;
        }
    }

    /// Whether the step is done.
    fn do_step(&self, step: &Value) -> bool {
        let count = |at: usize| usize::try_from(step[at].as_u64().unwrap()).unwrap();
        let text = |at: usize| step[at].as_str().unwrap();
        match text(0) {
            "say" => self.prompts.borrow_mut().push_back(text(1).to_owned()),
            "put" => self.put_files(&step[1], step[2] == "inplace"),
            "rm" => {
                let path = self.case.root.join(text(1));
                fs::remove_file(&path).unwrap();
                self.note_change(&path, FileChangeKind::Unlink);
            }
            "key" => self.press_key(text(1)),
            "kill" => self.interrupt(Interruption::Signal),
            "result" => return self.results.get() >= count(1),
            "requests" => {
                let requests = self.seen.requests.lock().unwrap();
                return requests.get("main").is_some_and(|n| *n >= count(1));
            }
            "event" => {
                let event = EventName::parse(text(1)).unwrap();
                let dispatches = self.seen.dispatches.lock().unwrap();
                return dispatches.iter().filter(|d| d.event == event).count() >= count(2);
            }
            "run" | "done" => {
                let runs = self.runs.borrow();
                let of_id = runs.iter().filter(|run| run.id == text(1));
                let counted = of_id.filter(|run| text(0) == "run" || run.is_finished());
                return counted.count() >= count(2);
            }
            "sleep" => return false,
            other => panic!("unknown step {other}"),
        }
        true
    }

    fn put_files(&self, files: &Value, in_place: bool) {
        for (path, content) in files.as_object().unwrap() {
            let path = self.case.root.join(path);
            let kind = if path.exists() {
                FileChangeKind::Change
            } else {
                FileChangeKind::Add
            };
            let text = content
                .as_str()
                .map_or_else(|| content.to_string(), str::to_owned);
            if in_place {
                write_file(&path, &text);
            } else {
                let beside = path.with_extension("new");
                write_file(&beside, &text);
                fs::rename(beside, &path).unwrap();
            }
            self.note_change(&path, kind);
        }
    }

    /// The watcher will notice it.
    pub(super) fn note_change(&self, path: &Path, kind: FileChangeKind) {
        let settings = path.extension().is_some_and(|e| e == "json");
        let seconds = if settings {
            CONFIG_NOTICE_SECONDS
        } else {
            FILE_NOTICE_SECONDS
        };
        let due = self.clock.now_us() + to_us(seconds);
        self.changes.borrow_mut().push((due, path.to_owned(), kind));
    }

    /// The next change that the watcher has noticed by now.
    pub(super) fn take_change(&self) -> Option<(PathBuf, FileChangeKind)> {
        let mut changes = self.changes.borrow_mut();
        let at = changes
            .iter()
            .position(|(due, ..)| *due <= self.clock.now_us())?;
        let (_, path, kind) = changes.remove(at);
        Some((path, kind))
    }

    pub(super) fn has_change(&self) -> bool {
        let now = self.clock.now_us();
        self.changes.borrow().iter().any(|(due, ..)| *due <= now)
    }

    fn press_key(&self, key: &str) {
        let mut keys = self.keys.borrow_mut();
        keys.push(key.to_owned());
        let again = keys.iter().filter(|pressed| *pressed == key).count() >= 2;
        drop(keys);
        match key {
            _ if self.asks.get() => {}
            "Escape" => self.interrupt(Interruption::Escape),
            // The first asks, the second leaves.
            "C-c" | "C-d" if again => self.interrupt(Interruption::Exit),
            _ => {}
        }
    }

    /// Asks the user, who presses a key; `None` if the session ends instead.
    pub(super) fn ask_user(&self) -> Option<String> {
        let before = self.keys.borrow().len();
        self.asks.set(true);
        self.run_until(|| {
            self.keys.borrow().len() > before
                || self.interruption.get().is_some()
                || self.is_drive_over()
        });
        self.asks.set(false);
        self.keys.borrow().get(before).cloned()
    }

    fn interrupt(&self, how: Interruption) {
        self.interruption.set(Some(how));
        self.cancelled.set(self.fires.get());
        self.cancel.replace(CancelToken::new().unwrap()).cancel();
        if let Some(pid) = self.tool_pid.get().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// A program of the client runs until it ends.
    pub(super) fn wait_for_tool(&self, child: &mut std::process::Child) -> i32 {
        self.tool_pid.set(Some(child.id().cast_signed()));
        let mut code = None;
        self.run_until(|| {
            code = code.or_else(|| child.try_wait().unwrap());
            code.is_some()
        });
        self.tool_pid.set(None);
        code.and_then(|status| status.code()).unwrap_or(-1)
    }

    /// The session is over; what outlives it comes to its own end.
    pub(super) fn leave(&self) {
        let remainder = self.session.close();
        wait_for("nothing is left of the session", || {
            for gate in self.clock.list_gates() {
                self.clock.open(&gate);
            }
            let alive = self.runs.borrow().iter().any(|run| is_alive(run.pid));
            let mut files = self.case.value["truth"]["files_after"]
                .as_object()
                .into_iter()
                .flatten();
            // Written by a child of a handler, which may not have come to its gate yet.
            let written =
                files.all(|(file, text)| text.is_null() || self.case.root.join(file).exists());
            written
                && remainder.list_running().is_empty()
                && !alive
                && self.clock.list_gates().is_empty()
        });
    }

    pub(super) fn is_drive_over(&self) -> bool {
        self.drive.borrow().is_over()
    }

    pub(super) fn has_drive(&self) -> bool {
        self.case.value["drive"].is_array()
    }
}
