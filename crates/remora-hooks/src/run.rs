//! Runs a plan: all handlers at once, each under its deadline, results back in
//! configured order; then merges, caps and joins with the permission rules.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use remora_core::text::truncate_bytes;
use remora_core::{Event, EventName, Outcome};
use serde_json::Value;

use crate::Engine;
use crate::answer::{self, Answer, HandlerStatus, ProcessExit};
use crate::config::HandlerKind;
use crate::deliver::{self, Delivery, Speaker};
use crate::host::Host;
use crate::layers::ConfiguredHandler;
use crate::limits::Spill;
use crate::merge::merge_answers;
use crate::plan::{Plan, PlanVerdict, PlannedHandler, SessionHandler};
use crate::report::{HandlerInfo, HandlerReport, Report};
use crate::session_env;
use crate::verdict;

mod background;
mod end;
mod start;

pub use background::{BackgroundHandler, LateAnswer, WakeUp};
pub(crate) use background::{BackgroundKind, display_name};
use end::{BACKGROUND_TEXT, HandlerEnd};
use start::HandlerRun;

/// How much of a stream a report shows. Reports are printed and piped; the whole
/// text, up to 16 MiB, has already been read into the answer.
const MAX_SHOWN_BYTES: usize = 256 << 10;

/// A run: its report, and the handlers that still go on. Dropping those ends
/// them.
pub struct Run {
    /// Each handler with its result, and the outcome.
    pub report: Report,
    /// What the model reads because of the event, at once.
    pub deliveries: Vec<Delivery>,
    /// What still goes on.
    pub background: Vec<BackgroundHandler>,
    /// Where its handlers set variables.
    pub(crate) env_files: Vec<std::path::PathBuf>,
    /// What verifiers started in the background, with its id.
    pub(crate) of_verifiers: Vec<(String, BackgroundHandler)>,
}

/// Handlers that a session adds to those of its settings.
#[derive(Clone, Copy, Default)]
pub(crate) struct SessionHandlers<'a> {
    /// Those that the event reaches.
    pub(crate) here: &'a [&'a SessionHandler],
    /// Those of any event, for whoever acts in the session: verifiers too.
    pub(crate) everywhere: &'a [&'a SessionHandler],
}

/// A handler's time limit: its own, else the event's, else the kind's.
pub(crate) fn time_limit(entry: &ConfiguredHandler) -> Duration {
    entry.config.timeout.unwrap_or(match entry.config.kind {
        // A model call has its own default, whatever the event's is.
        HandlerKind::Prompt { .. } => Duration::from_secs(30),
        HandlerKind::Agent { .. } => Duration::from_mins(1),
        _ => entry.event.def().timeout,
    })
}

pub(crate) fn run_event(
    engine: &Engine,
    event: &Event,
    host: &Host<'_>,
    extra: SessionHandlers<'_>,
) -> Run {
    let plan = engine.plan_with(event, extra.here);
    let mut warnings = engine.collect_warnings(&plan);
    trace_plan(&plan, host);
    let running: Vec<&PlannedHandler<'_>> = plan
        .rows
        .iter()
        .filter(|r| r.verdict == PlanVerdict::Runs)
        .collect();
    let env_files = start::env_files(event, host, running.len(), &mut warnings);
    let of_verifiers = Mutex::new(Vec::new());
    let start = start::RunStart {
        engine,
        event,
        host,
        env_files: &env_files,
        everywhere: extra.everywhere,
        of_verifiers: &of_verifiers,
    };
    let results = start::run_handlers(start, &running);

    let mut handlers = Vec::new();
    let mut answers = Vec::new();
    let mut kinds = Vec::new();
    let mut background = Vec::new();
    // Results come in plan order, not in the order in which handlers ended: the merge
    // depends on enumeration order alone.
    let mut results = results.into_iter();
    for row in &plan.rows {
        let (report, answer) = match row.verdict {
            // A handler that does not match is no part of the run; `explain` lists it.
            PlanVerdict::Misses => continue,
            PlanVerdict::Runs => {
                let Some(result) = results.next() else {
                    continue;
                };
                finish_handler(row, result, event, handlers.len(), host, &mut background)
            }
            PlanVerdict::Exhausted => report_exhausted(row, &plan, &mut warnings),
            _ => (
                skipped_report(row, row.explain_verdict(&plan)),
                Answer::default(),
            ),
        };
        host.trace_step(|| trace_result(&report));
        handlers.push(report);
        answers.push(answer);
        kinds.push(&row.entry.config.kind);
    }
    // Merged before capped: texts of a losing answer are dropped, and need no file.
    let mut outcome = merge_answers(event, &answers);
    cap_outcome(&mut outcome, event, host, &mut warnings);
    let speakers: Vec<Speaker<'_>> = kinds
        .into_iter()
        .zip(&answers)
        .map(|(kind, answer)| Speaker {
            label: kind.label(),
            is_model: matches!(kind, HandlerKind::Prompt { .. } | HandlerKind::Agent { .. }),
            answer,
        })
        .collect();
    let deliveries = deliver::list_deliveries(event, &speakers, &outcome);
    verdict::complete_outcome(engine, event, host, &plan, &mut outcome, &mut warnings);
    verdict::check_removal(event, &handlers, &mut outcome);
    // After all handlers, in file order: the last one wins for equal names.
    if event.name.def().env_file {
        outcome.env = session_env::collect_variables(&env_files, host, &mut warnings);
    }
    host.trace_step(|| format!("outcome: {}", format_summary(&outcome)));
    let report = Report {
        event: event.name.as_str(),
        query: plan.query.map(str::to_owned),
        warnings,
        handlers,
        outcome,
    };
    Run {
        report,
        deliveries,
        background,
        env_files,
        of_verifiers: of_verifiers
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner),
    }
}

fn finish_handler(
    row: &PlannedHandler<'_>,
    result: HandlerRun,
    event: &Event,
    at: usize,
    host: &Host<'_>,
    background: &mut Vec<BackgroundHandler>,
) -> (HandlerReport, Answer) {
    let mut report = skipped_report(row, String::new());
    report.duration_ms = to_millis(result.took);
    match result.end {
        HandlerEnd::NotAvailable(why) => {
            why.clone_into(&mut report.why);
            (report, Answer::default())
        }
        HandlerEnd::Judged(judged) => {
            let end::JudgedHandler {
                result,
                output,
                exit_code,
            } = *judged;
            report.status = result.status;
            report.why = result.why;
            report.exit_code = exit_code;
            report.stdout = truncate_shown(&output.stdout);
            report.stderr = truncate_shown(&output.stderr);
            report.answer = result.object;
            (report, result.answer)
        }
        HandlerEnd::Background(running, kind) => {
            report.status = HandlerStatus::Background;
            BACKGROUND_TEXT.clone_into(&mut report.why);
            background.push(BackgroundHandler {
                handler: at,
                running,
                started: result.started,
                deadline: result.deadline,
                session_dir: host.session_dir.clone(),
                file_stem: tag_files(format!("late-{}-{at}", row.entry.event), host),
                event: row.entry.event,
                display_name: display_name(event),
                kind,
            });
            (report, Answer::default())
        }
    }
}

fn skipped_report(row: &PlannedHandler<'_>, why: String) -> HandlerReport {
    HandlerReport {
        info: HandlerInfo::new(row.entry),
        status: HandlerStatus::Skipped,
        why,
        exit_code: None,
        duration_ms: 0,
        stdout: String::new(),
        stderr: String::new(),
        answer: None,
    }
}

/// A matcher that used up its steps. Where the handler could deny a call, the
/// call is blocked: a guard that could not be asked has not said yes.
fn report_exhausted(
    row: &PlannedHandler<'_>,
    plan: &Plan<'_>,
    warnings: &mut Vec<String>,
) -> (HandlerReport, Answer) {
    let why = row.explain_verdict(plan);
    warnings.push(format!("{}: {why}", row.id()));
    let mut report = skipped_report(row, why.clone());
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
    report.status = HandlerStatus::Blocked;
    (report, answer)
}

fn cap_outcome(outcome: &mut Outcome, event: &Event, host: &Host<'_>, warnings: &mut Vec<String>) {
    // Tool calls of one turn run at the same time; the id keeps their files apart.
    let stem = match event.str_field("tool_use_id") {
        Some(id) => format!("hook-{}-{id}", event.name),
        None => format!("hook-{}", event.name),
    };
    let stem = tag_files(stem, host);
    // The id comes from outside and becomes a part of a file name.
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
    // Reasons are not in this list: the client never caps those.
    for text in outcome
        .context
        .iter_mut()
        .chain(&mut outcome.messages)
        .chain(&mut outcome.initial_user_message)
    {
        *text = spill.cap_text(std::mem::take(text), warnings);
    }
}

fn tag_files(stem: String, host: &Host<'_>) -> String {
    match &host.file_tag {
        Some(tag) => format!("{stem}-{tag}"),
        None => stem,
    }
}

fn exit_code(ended: &ProcessExit) -> Option<i32> {
    match ended {
        ProcessExit::Exit(code) => Some(*code),
        _ => None,
    }
}

fn to_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn truncate_shown(text: &str) -> String {
    if text.len() <= MAX_SHOWN_BYTES {
        return text.to_owned();
    }
    let start = truncate_bytes(text, MAX_SHOWN_BYTES);
    format!("{start}\n… {} more bytes", text.len() - start.len())
}

fn trace_plan(plan: &Plan<'_>, host: &Host<'_>) {
    for row in &plan.rows {
        host.trace_step(|| {
            let verb = if row.verdict == PlanVerdict::Runs {
                "runs"
            } else {
                "does not run"
            };
            format!("match {}: {verb}: {}", row.id(), row.explain_verdict(plan))
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

fn format_summary(outcome: &Outcome) -> String {
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
