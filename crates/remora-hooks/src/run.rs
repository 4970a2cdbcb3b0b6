//! Runs a plan: all handlers at once, each under its deadline, results back in
//! configured order; then merges, caps and joins with the permission rules.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use remora_protocol::{Event, EventName, Outcome};
use serde_json::Value;

use crate::Engine;
use crate::answer::{self, Answer, Ended, Output, Said, Status};
use crate::config::Kind;
use crate::handler::{self, Finished, Running};
use crate::host::Host;
use crate::layers::{Entry, Source};
use crate::limits::Spill;
use crate::merge::merge;
use crate::names;
use crate::plan::{Plan, Row, Verdict};
use crate::report::{HandlerInfo, HandlerReport, Report};
use crate::session_env;
use crate::verdict;

/// How much of a stream a report shows.
const SHOWN: usize = 256 << 10;
/// The most the last event of a session may take.
const SESSION_END_MAX: Duration = Duration::from_secs(60);

/// What a thread that serves a child needs: no recursion, small buffers.
const STACK: usize = 256 << 10;

/// A handler that goes on after its event.
pub struct Background {
    /// Which one, as in the report.
    pub handler: usize,
    running: Running,
    deadline: Instant,
    event: EventName,
}

/// What a background handler said in the end: texts for the model's next turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LateAnswer {
    /// Which one, as in the report.
    pub handler: usize,
    /// How it ended.
    pub status: Status,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote beside.
    pub stderr: String,
    /// Texts to deliver.
    pub context: Vec<String>,
}

impl Background {
    /// Waits for it, at most until its own deadline. Decisions come too late
    /// to count; only texts are delivered.
    pub fn wait(self) -> LateAnswer {
        let output = self.running.finish(self.deadline);
        let said = answer::read(
            self.event.def(),
            &output,
            crate::config::OnFailure::Continue,
        );
        let context = [
            said.answer.context.filter(|c| !c.plain).map(|c| c.text),
            said.answer.message,
        ];
        LateAnswer {
            handler: self.handler,
            status: said.status,
            stdout: cut(&output.stdout),
            stderr: cut(&output.stderr),
            context: context.into_iter().flatten().collect(),
        }
    }
}

/// A run: its report, and the handlers that still go on. Dropping those ends
/// them.
pub struct Run {
    /// What happened.
    pub report: Report,
    /// What still goes on.
    pub background: Vec<Background>,
}

/// A handler's time limit: its own, else the event's, else the kind's.
pub(crate) fn time_limit(entry: &Entry) -> Duration {
    entry.config.timeout.unwrap_or(match entry.config.kind {
        Kind::Prompt { .. } => Duration::from_secs(30),
        Kind::Agent { .. } => Duration::from_secs(60),
        _ => entry.event.def().timeout,
    })
}

/// A handler that has left the engine's hands.
struct Ran {
    finished: Finished,
    took: Duration,
    deadline: Instant,
}

pub(crate) fn run(engine: &Engine, event: &Event, host: &Host<'_>) -> Run {
    let plan = engine.plan(event);
    let mut warnings = engine.warnings(&plan);
    trace_plan(&plan, host);
    let running: Vec<&Row<'_>> = plan
        .rows
        .iter()
        .filter(|r| r.verdict == Verdict::Runs)
        .collect();
    let env_files = env_files(event, host, running.len(), &mut warnings);
    let results = start_all(engine, event, host, &running, &env_files);

    let mut handlers = Vec::new();
    let mut answers = Vec::new();
    let mut background = Vec::new();
    let mut results = results.into_iter();
    for row in &plan.rows {
        let (report, answer) = match row.verdict {
            Verdict::Misses => continue,
            Verdict::Runs => {
                let Some(result) = results.next() else {
                    continue;
                };
                settle(row, result, handlers.len(), &mut background)
            }
            Verdict::Exhausted => exhausted(row, &plan, &mut warnings),
            _ => (skipped(row, row.why(&plan)), Answer::default()),
        };
        host.step(|| trace_result(&report));
        handlers.push(report);
        answers.push(answer);
    }
    let mut outcome = merge(event, &answers);
    cap(&mut outcome, event, host, &mut warnings);
    verdict::settle(engine, event, host, &plan, &mut outcome);
    if event.name.def().env_file {
        outcome.env = session_env::collect(&env_files, host, &mut warnings);
    }
    host.step(|| format!("outcome: {}", summary(&outcome)));
    let report = Report {
        event: event.name.as_str(),
        query: plan.query.map(str::to_owned),
        warnings,
        handlers,
        outcome,
    };
    Run { report, background }
}

/// Starts everything together and waits for all of it.
fn start_all(
    engine: &Engine,
    event: &Event,
    host: &Host<'_>,
    rows: &[&Row<'_>],
    env_files: &[PathBuf],
) -> Vec<Ran> {
    let mut line = event.to_line();
    line.push('\n');
    let started = Instant::now();
    let budget = (event.name == EventName::SessionEnd).then(|| session_end_budget(engine, host));
    let one = &|at: usize| {
        let entry = rows[at].entry;
        let limit = match budget {
            Some(budget) => entry.config.timeout.unwrap_or(budget).min(budget),
            None => time_limit(entry),
        };
        let deadline = started + limit;
        host.step(|| {
            format!(
                "start {} ({}): {}",
                rows[at].id(),
                entry.config.kind.as_str(),
                entry.config.kind.label()
            )
        });
        let call = handler::Call {
            entry,
            event,
            line: &line,
            layers: &engine.layers,
            places: &engine.places,
            host,
            env_file: env_files.get(at).cloned(),
        };
        let finished = handler::run(&call, deadline);
        Ran {
            finished,
            took: started.elapsed(),
            deadline,
        }
    };
    // The last one runs on this thread: most events have a single handler.
    let Some(last) = rows.len().checked_sub(1) else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let others: Vec<_> = (0..last)
            .map(|at| {
                let thread = thread::Builder::new().stack_size(STACK);
                // Where no more threads are to be had, one after the other must do.
                thread.spawn_scoped(scope, move || one(at)).map_err(|_| at)
            })
            .collect();
        let own = one(last);
        let failed = || {
            let why = "the engine failed while running it".to_owned();
            let output = Output {
                ended: Ended::Failed(why),
                stdout: String::new(),
                stderr: String::new(),
            };
            Ran {
                finished: Finished::Done(output),
                took: started.elapsed(),
                deadline: started,
            }
        };
        let others = others.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| failed()),
            Err(at) => one(at),
        });
        others.chain([own]).collect()
    })
}

/// All handlers of the last event share a budget; time limits written in
/// settings files raise it, a plugin's do not.
fn session_end_budget(engine: &Engine, host: &Host<'_>) -> Duration {
    if let Some(ms) = host
        .variable(names::SESSION_END_MS)
        .and_then(|v| v.parse().ok())
    {
        return Duration::from_millis(ms);
    }
    let written = engine
        .layers
        .entries
        .iter()
        .filter(|e| e.event == EventName::SessionEnd && e.place.source != Source::Plugin)
        .filter_map(|e| e.config.timeout)
        .max();
    written
        .unwrap_or_default()
        .max(EventName::SessionEnd.def().timeout)
        .min(SESSION_END_MAX)
}

fn env_files(
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
    if let Err(error) = std::fs::create_dir_all(dir) {
        warnings.push(format!(
            "{}: cannot be made ({error}); handlers cannot set variables",
            dir.display()
        ));
        return Vec::new();
    }
    let stem = event.name.as_str().to_lowercase();
    let files: Vec<PathBuf> = (0..count)
        .map(|n| dir.join(format!("{stem}-hook-{n}.sh")))
        .collect();
    for file in &files {
        // A file of an earlier firing of the same event no longer counts.
        let _ = std::fs::remove_file(file);
    }
    files
}

fn settle(
    row: &Row<'_>,
    result: Ran,
    at: usize,
    background: &mut Vec<Background>,
) -> (HandlerReport, Answer) {
    let mut report = skipped(row, String::new());
    report.duration_ms = u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX);
    match result.finished {
        Finished::NotAvailable(why) => {
            why.clone_into(&mut report.why);
            (report, Answer::default())
        }
        Finished::Background(running) => {
            report.status = Status::Background;
            report.why =
                "it goes on without the host; what it says later cannot decide anything".into();
            let event = row.entry.event;
            background.push(Background {
                handler: at,
                running,
                deadline: result.deadline,
                event,
            });
            (report, Answer::default())
        }
        Finished::Done(output) => {
            let Said {
                status,
                why,
                object,
                answer,
            } = answer::read(row.entry.event.def(), &output, row.entry.config.on_failure);
            report.status = status;
            report.why = why;
            report.exit_code = match output.ended {
                Ended::Exit(code) => Some(code),
                _ => None,
            };
            report.stdout = cut(&output.stdout);
            report.stderr = cut(&output.stderr);
            report.answer = object;
            (report, answer)
        }
    }
}

fn skipped(row: &Row<'_>, why: String) -> HandlerReport {
    HandlerReport {
        info: HandlerInfo::new(row.entry),
        status: Status::Skipped,
        why,
        exit_code: None,
        duration_ms: 0,
        stdout: String::new(),
        stderr: String::new(),
        answer: None,
    }
}

/// A matcher that cannot be decided: a guard must not be skipped for it.
fn exhausted(
    row: &Row<'_>,
    plan: &Plan<'_>,
    warnings: &mut Vec<String>,
) -> (HandlerReport, Answer) {
    let why = row.why(plan);
    warnings.push(format!("{}: {why}", row.id()));
    let mut report = skipped(row, why.clone());
    let mut answer = Answer::default();
    match row.entry.event {
        EventName::PreToolUse => answer.block = Some(why),
        EventName::PermissionRequest => {
            answer.request = Some(answer::RequestDecision::Deny {
                message: why,
                interrupt: false,
            });
        }
        _ => return (report, answer),
    }
    report.status = Status::Blocked;
    (report, answer)
}

fn cap(outcome: &mut Outcome, event: &Event, host: &Host<'_>, warnings: &mut Vec<String>) {
    let stem = match event.str("tool_use_id") {
        Some(id) => format!("hook-{}-{id}", event.name),
        None => format!("hook-{}", event.name),
    };
    let stem: String = stem
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let mut spill = Spill::new(host.session_dir.as_deref(), stem);
    for text in outcome
        .context
        .iter_mut()
        .chain(&mut outcome.messages)
        .chain(&mut outcome.initial_user_message)
    {
        *text = spill.cap(std::mem::take(text), warnings);
    }
}

fn cut(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let mut end = SHOWN;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n… {} more bytes", &text[..end], text.len() - end)
}

fn trace_plan(plan: &Plan<'_>, host: &Host<'_>) {
    for row in &plan.rows {
        host.step(|| {
            let verb = if row.verdict == Verdict::Runs {
                "runs"
            } else {
                "does not run"
            };
            format!("match {}: {verb}: {}", row.id(), row.why(plan))
        });
    }
}

fn trace_result(report: &HandlerReport) -> String {
    let status = serde_json::to_value(report.status).ok();
    let status = status.as_ref().and_then(Value::as_str).unwrap_or_default();
    let code = report
        .exit_code
        .map_or_else(String::new, |c| format!(", exit {c}"));
    let why = if report.why.is_empty() {
        String::new()
    } else {
        format!(": {}", report.why)
    };
    let said = report
        .answer
        .as_ref()
        .map_or_else(String::new, |a| format!("; answer {a}"));
    format!(
        "done {}: {status}{code}, {} ms{why}{said}",
        report.info.id, report.duration_ms
    )
}

fn summary(outcome: &Outcome) -> String {
    let mut words = vec![
        if outcome.blocked {
            "blocked"
        } else {
            "not blocked"
        }
        .to_owned(),
    ];
    words.extend(
        outcome
            .permission
            .map(|p| format!("hooks say {}", p.as_str())),
    );
    words.extend(
        outcome
            .final_decision
            .map(|p| format!("final {}", p.as_str())),
    );
    if !outcome.go_on {
        words.push("the turn ends".into());
    }
    words.join(", ")
}
