//! Starts all handlers of a plan at once and waits for them.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use remora_core::{Event, EventName};

use super::end::HandlerEnd;
use super::{time_limit, to_millis};
use crate::Engine;
use crate::answer::{HandlerOutput, ProcessExit};
use crate::handler::{self, HandlerCompletion};
use crate::host::Host;
use crate::layers::LayerSource;
use crate::names;
use crate::observe::{HandlerNotice, HandlerStage};
use crate::plan::{PlannedHandler, SessionHandler};
use crate::run::BackgroundHandler;

/// The most that all handlers of `SessionEnd` may take, whatever they ask for: the
/// user waits for the program to exit.
const MAX_SESSION_END_TIMEOUT: Duration = Duration::from_mins(1);
/// The stack of a thread that serves one handler: half the default, since dozens
/// of them may wait at once.
const THREAD_STACK_BYTES: usize = 1 << 20;

/// A handler that ended, or that goes on in the background.
pub(super) struct HandlerRun {
    pub(super) end: HandlerEnd,
    pub(super) started: Instant,
    pub(super) took: Duration,
    pub(super) deadline: Instant,
}

impl HandlerRun {
    fn to_stage(&self) -> HandlerStage<'_> {
        let (status, why, exit_code) = self.end.summarize();
        HandlerStage::Finished {
            status,
            why,
            exit_code,
            duration_ms: to_millis(self.took),
        }
    }
}

fn observe_handler(host: &Host<'_>, row: &PlannedHandler<'_>, stage: HandlerStage<'_>) {
    if let Some(observer) = host.observer {
        observer.observe(&HandlerNotice {
            handler: &row.id(),
            event: row.entry.event,
            stage,
        });
    }
}

/// What all handlers of one event share.
#[derive(Clone, Copy)]
pub(super) struct RunStart<'a> {
    pub(super) engine: &'a Engine,
    pub(super) event: &'a Event,
    pub(super) host: &'a Host<'a>,
    pub(super) env_files: &'a [PathBuf],
    /// Handlers of the session that verifiers' own events reach.
    pub(super) everywhere: &'a [&'a SessionHandler],
    /// Where verifiers leave what goes on.
    pub(super) of_verifiers: &'a Mutex<Vec<(String, BackgroundHandler)>>,
}

/// Starts everything together and waits for all of it.
pub(super) fn run_handlers(start: RunStart<'_>, rows: &[&PlannedHandler<'_>]) -> Vec<HandlerRun> {
    let RunStart {
        engine,
        event,
        host,
        env_files,
        everywhere,
        of_verifiers,
    } = start;
    // Serialised once for all handlers: one line and a newline, as the client sends it.
    let mut line = event.to_line();
    line.push('\n');
    let began = Instant::now();
    let budget = (event.name == EventName::SessionEnd).then(|| session_end_budget(engine, host));
    let seats = HandlerSlots::new();
    let one = &|at: usize| {
        // Before the clock starts: waiting for a slot does not count against a time limit.
        let _seat = seats.acquire_slot();
        let entry = rows[at].entry;
        let kind = &entry.config.kind;
        let observe = |stage: HandlerStage<'_>| observe_handler(host, rows[at], stage);
        let progress = |stdout: &str, stderr: &str| {
            observe(HandlerStage::Progress { stdout, stderr });
        };
        // Before the clock starts, too: a host that is slow to listen costs no time limit.
        if host.observer.is_some() {
            observe(HandlerStage::Started {
                kind: kind.as_str(),
                label: &entry.config.label(),
            });
        }
        let started = Instant::now();
        let deadline = match budget {
            // The budget is shared, so it runs from the start of the event.
            Some(budget) => began + entry.config.timeout.unwrap_or(budget).min(budget),
            None => started + time_limit(entry),
        };
        let deadline = host.deadline.map_or(deadline, |end| end.min(deadline));
        host.trace_step(|| {
            format!(
                "start {} ({}): {}",
                rows[at].id(),
                kind.as_str(),
                kind.label()
            )
        });
        let call = handler::HandlerCall {
            engine,
            entry,
            event,
            line: &line,
            layers: &engine.layers,
            places: &engine.places,
            host,
            everywhere,
            of_verifiers,
            env_file: env_files.get(at).cloned(),
            progress: host.observer.is_some().then_some(&progress),
        };
        let end = HandlerEnd::judge(entry, handler::run_handler(&call, deadline));
        let run = HandlerRun {
            end,
            started,
            took: started.elapsed(),
            deadline,
        };
        observe(run.to_stage());
        run
    };
    // The last one runs on this thread: most events have a single handler.
    let Some(last) = rows.len().checked_sub(1) else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let others: Vec<_> = (0..last)
            .map(|at| {
                let thread = thread::Builder::new().stack_size(THREAD_STACK_BYTES);
                // If the system grants no more threads, the rest runs one after another, below.
                thread.spawn_scoped(scope, move || one(at)).map_err(|_| at)
            })
            .collect();
        let own = one(last);
        // A panic in one handler's thread is that handler's failure, not the run's.
        let failed = |at: usize| {
            let why = "the engine failed while running it".to_owned();
            let output = HandlerOutput {
                ended: ProcessExit::Failed(why),
                stdout: String::new(),
                stderr: String::new(),
            };
            let run = HandlerRun {
                end: HandlerEnd::judge(rows[at].entry, HandlerCompletion::Done(output)),
                started: began,
                took: began.elapsed(),
                deadline: began,
            };
            observe_handler(host, rows[at], run.to_stage());
            run
        };
        let others = others.into_iter().enumerate();
        let others = others.map(|(at, thread)| match thread {
            // Joined in plan order; that nothing outlives the call is the scope's doing.
            Ok(thread) => thread.join().unwrap_or_else(|_| failed(at)),
            Err(at) => one(at),
        });
        others.chain([own]).collect()
    })
}

/// Lets as many handlers run at once as the process may open files for; the
/// others wait for a slot. A guard must not fail for want of a descriptor.
struct HandlerSlots {
    free: Mutex<usize>,
    freed: Condvar,
}

struct HandlerSlot<'a>(&'a HandlerSlots);

impl HandlerSlots {
    /// Descriptors of one child: three pipes, both ends while it starts, and one
    /// that reports its exit; rounded up.
    const FILES_PER_CHILD: u64 = 8;
    /// Descriptors left to the rest of the process.
    const RESERVED_FILES: u64 = 64;

    fn new() -> Self {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let free = limit
            .unwrap_or(u64::MAX)
            .saturating_sub(Self::RESERVED_FILES)
            / Self::FILES_PER_CHILD;
        Self {
            // At least one, or a tiny limit would block the event for ever.
            free: Mutex::new(usize::try_from(free).unwrap_or(usize::MAX).max(1)),
            freed: Condvar::new(),
        }
    }

    fn acquire_slot(&self) -> HandlerSlot<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        HandlerSlot(self)
    }
}

impl Drop for HandlerSlot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

/// The budget that all handlers of `SessionEnd` share. As in the client, time
/// limits in settings files raise it and a plugin's do not.
fn session_end_budget(engine: &Engine, host: &Host<'_>) -> Duration {
    let set = engine
        .layers
        .env
        .get(names::SESSION_END_TIMEOUT_VAR)
        .map(String::as_str);
    // An explicit number wins over everything and has no upper bound, as in the client.
    if let Some(ms) = set
        .or_else(|| host.find_variable(names::SESSION_END_TIMEOUT_VAR))
        .and_then(|v| v.parse().ok())
    {
        return Duration::from_millis(ms);
    }
    let written = engine
        .layers
        .entries
        .iter()
        .filter(|e| e.event == EventName::SessionEnd && e.place.source != LayerSource::Plugin)
        .filter_map(|e| e.config.timeout)
        .max();
    written
        .unwrap_or_default()
        .max(EventName::SessionEnd.def().timeout)
        .min(MAX_SESSION_END_TIMEOUT)
}

/// One file for each handler that may set session variables.
pub(super) fn env_files(
    event: &Event,
    host: &Host<'_>,
    count: usize,
    warnings: &mut Vec<String>,
) -> Vec<PathBuf> {
    let Some(dir) = host
        .session_dir
        .as_ref()
        .filter(|_| event.name.def().env_file && count > 0)
    else {
        return Vec::new();
    };
    // A run never fails; handlers still run, without the variable.
    if let Err(error) = std::fs::create_dir_all(dir) {
        warnings.push(format!(
            "{}: cannot be made ({error}); handlers cannot set variables",
            dir.display()
        ));
        return Vec::new();
    }
    // The client's own names, `sessionstart-hook-0.sh`: the number is the position among
    // the handlers that run.
    let stem = event.name.as_str().to_lowercase();
    let files: Vec<PathBuf> = (0..count)
        .map(|n| dir.join(format!("{stem}-hook-{n}.sh")))
        .collect();
    for file in &files {
        // A file of an earlier firing of the same event no longer counts. Most often there is
        // none, so the error is ignored.
        let _ = std::fs::remove_file(file);
    }
    files
}
