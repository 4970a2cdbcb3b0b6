//! Plays cases, several at once: each through the engine, in a session folder of
//! its own.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use remora_core::{DecodeError, Event};
use remora_hooks::{Engine, Host, Report, Run, SampleFields, SampleSession};
use serde_json::{Map, Value};

use super::expect::Mismatch;
use super::{CaseEvent, CaseResult, HookCase};

/// Where cases are played.
pub struct CaseStage<'a> {
    /// The settings under test.
    pub engine: &'a Engine,
    /// The session that made-up events belong to.
    pub session: &'a SampleSession,
    /// What the hooks find around them; each case has its own folder below the
    /// session folder.
    pub host: &'a Host<'a>,
    /// The folder that hooks work in.
    pub project: &'a Path,
    /// How many cases are played at once.
    pub jobs: usize,
}

/// Plays all cases; the results are in their order.
pub fn play_cases(cases: &[HookCase], stage: &CaseStage<'_>) -> Vec<CaseResult> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(cases.len()));
    thread::scope(|scope| {
        for _ in 0..stage.jobs.clamp(1, cases.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { return };
                    let result = play_case(at, case, stage);
                    if let Ok(mut results) = results.lock() {
                        results.push((at, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn play_case(at: usize, case: &HookCase, stage: &CaseStage<'_>) -> CaseResult {
    let start = Instant::now();
    let (mismatches, handlers) = match build_event(case, stage.session) {
        Ok(event) => {
            let report = run_event(at, case, &event, stage);
            let mismatches = case.expect.compare(&report, stage.project);
            (mismatches, report.handlers)
        }
        Err(error) => {
            let mismatch = Mismatch {
                key: "event".to_owned(),
                expected: "an event".to_owned(),
                found: error.to_string(),
            };
            (vec![mismatch], Vec::new())
        }
    };
    CaseResult {
        file: case.file.clone(),
        name: case.name.clone(),
        passed: mismatches.is_empty(),
        mismatches,
        duration_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        handlers,
    }
}

fn run_event(at: usize, case: &HookCase, event: &Event, stage: &CaseStage<'_>) -> Report {
    let mut host = stage.host.clone();
    host.session_dir = host
        .session_dir
        .map(|dir: PathBuf| dir.join(at.to_string()));
    let env = case.env.iter();
    host.environment
        .extend(env.map(|(name, value)| (name.into(), value.into())));
    let Run {
        mut report,
        background,
        ..
    } = stage.engine.run(event, &host);
    for handler in background {
        let at = handler.handler;
        let late = handler.wait();
        report.outcome.context.extend(late.context);
        if let Some(row) = report.handlers.get_mut(at) {
            row.status = late.status;
            row.why = late.why;
            row.exit_code = late.exit_code;
            row.duration_ms = late.duration_ms;
            row.stdout = late.stdout;
            row.stderr = late.stderr;
            row.answer = late.answer;
        }
    }
    report
}

fn build_event(case: &HookCase, session: &SampleSession) -> Result<Event, DecodeError> {
    match &case.event {
        CaseEvent::Whole(event) => Ok(event.clone()),
        CaseEvent::Fields { name, fields } => {
            session.build_event(*name, read_sample_fields(fields))
        }
    }
}

/// The keys of a case as what is said of a made-up event.
fn read_sample_fields(fields: &Map<String, Value>) -> SampleFields<'_> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let others = fields.get("fields").and_then(Value::as_object);
    let mut others: Vec<(&str, Value)> = others
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value.clone()))
        .collect();
    if let Some(mode) = fields.get("permission_mode") {
        others.push(("permission_mode", mode.clone()));
    }
    SampleFields {
        tool: text("tool"),
        command: text("command"),
        path: text("path"),
        content: text("content"),
        url: text("url"),
        input: fields.get("tool_input").and_then(Value::as_object).cloned(),
        response: fields.get("tool_response").cloned(),
        error: text("error"),
        prompt: text("prompt"),
        source: text("source"),
        trigger: text("trigger"),
        reason: text("reason"),
        message: text("message"),
        notification_type: text("notification_type"),
        agent_type: text("agent_type"),
        follows_block: fields.get("stop_hook_active") == Some(&Value::Bool(true)),
        others,
    }
}
