//! Runs a plan: all handlers at once, each under its deadline, results back in
//! configured order; then merges, caps and joins with the permission rules.

use std::time::{Duration, Instant};

use remora_protocol::{Event, EventName, Outcome};
use serde_json::Value;

use crate::Engine;
use crate::answer::{self, Answer, Ended, Said, Status};
use crate::config::Kind;
use crate::handler::Finished;
use crate::host::Host;
use crate::layers::Entry;
use crate::limits::Spill;
use crate::merge::merge;
use crate::plan::{Plan, Row, Verdict};
use crate::report::{HandlerInfo, HandlerReport, Report};
use crate::session_env;
use crate::verdict;

mod background;
mod start;

pub use background::{Background, LateAnswer};
use start::Ran;

/// How much of a stream a report shows.
const SHOWN: usize = 256 << 10;

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
        Kind::Agent { .. } => Duration::from_mins(1),
        _ => entry.event.def().timeout,
    })
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
    let env_files = start::env_files(event, host, running.len(), &mut warnings);
    let results = start::all(engine, event, host, &running, &env_files);

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
                settle(row, result, handlers.len(), host, &mut background)
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
    verdict::settle(engine, event, host, &plan, &mut outcome, &mut warnings);
    verdict::removal(event, &handlers, &mut outcome);
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

fn settle(
    row: &Row<'_>,
    result: Ran,
    at: usize,
    host: &Host<'_>,
    background: &mut Vec<Background>,
) -> (HandlerReport, Answer) {
    let mut report = skipped(row, String::new());
    report.duration_ms = milliseconds(result.took);
    match result.finished {
        Finished::NotAvailable(why) => {
            why.clone_into(&mut report.why);
            (report, Answer::default())
        }
        Finished::Background(running) => {
            report.status = Status::Background;
            report.why =
                "it goes on without the host; what it says later cannot decide anything".into();
            let limit = running.async_limit().map(|limit| Instant::now() + limit);
            background.push(Background {
                handler: at,
                running,
                started: result.started,
                deadline: limit.map_or(result.deadline, |limit| limit.min(result.deadline)),
                session_dir: host.session_dir.clone(),
                event: row.entry.event,
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
            report.exit_code = exit_code(&output.ended);
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

fn exit_code(ended: &Ended) -> Option<i32> {
    match ended {
        Ended::Exit(code) => Some(*code),
        _ => None,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
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
