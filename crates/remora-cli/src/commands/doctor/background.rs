//! The worker, what waits for it, what it could not understand, what hooks
//! could not capture, and what the logs say.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use remora_client::{CaptureFailureMark, list_spooled};
use remora_server::crashes::{CRASH_LOOP_COUNT, describe_crashes, recent_deaths};
use remora_server::{SuspectEvent, list_suspects};

use super::{Diagnosis, DoctorContext};
use crate::clock;
use crate::commands::show::lines::{flatten_text, format_count, truncate_columns};
use remora_app::config::Config;
use remora_app::status::{WorkerState, query_worker};

/// Events that wait longer than this are not being ingested.
const MAX_BACKLOG_AGE: Duration = Duration::from_mins(1);
/// How much of a log is read, from its end.
const MAX_LOG_TAIL_BYTES: u64 = 256 * 1024;
/// Log lines older than this are history.
const RECENT_LOG_MS: i64 = 24 * 3600 * 1000;
/// How a worker's line begins that reports trouble, after its time.
const PROBLEM_PREFIXES: [&str; 3] = [
    "warning:",
    "the database is damaged",
    "the archive could not",
];

pub(super) fn check_background(patient: &DoctorContext) -> Vec<Diagnosis> {
    let state = query_worker(&patient.paths);
    vec![
        check_worker(patient, &state),
        check_crashes(patient, &state),
        put_off(patient),
        check_backlog(patient, &state),
        check_dead_letters(patient),
        check_capture(patient),
        check_logs(patient),
    ]
}

fn check_worker(patient: &DoctorContext, state: &WorkerState) -> Diagnosis {
    let own = env!("CARGO_PKG_VERSION");
    match state {
        WorkerState::Runs(reply) => {
            if let Some(trouble) = &reply.trouble {
                return Diagnosis::fail(
                    "worker",
                    format!("cannot store: {}", flatten_text(trouble)),
                    "free the disk or the database, then `remora worker drain`",
                );
            }
            if reply.version != own {
                return Diagnosis::warn(
                    "worker",
                    format!("is version {}, this program is {own}", reply.version),
                    "`remora worker restart`",
                );
            }
            Diagnosis::ok("worker", format!("runs, process {}", reply.pid))
        }
        WorkerState::Silent => {
            let kill = match last_pid(&patient.paths.worker_log()) {
                Some(pid) => format!("`kill -9 {pid}`, then `remora worker start`"),
                None => "end the process `remora worker run`, then `remora worker start`".into(),
            };
            Diagnosis::fail("worker", "runs, but does not answer", kill)
        }
        WorkerState::None if Config::load(&patient.paths.config_file()).is_err() => Diagnosis::ok(
            "worker",
            "does not run, and cannot before the configuration is corrected; events wait",
        ),
        WorkerState::None => Diagnosis::ok("worker", "does not run; the next event starts it"),
    }
}

/// Workers that start and do not end.
fn check_crashes(patient: &DoctorContext, state: &WorkerState) -> Diagnosis {
    let is_running = !matches!(state, WorkerState::None);
    let deaths = recent_deaths(&patient.paths, patient.now, is_running);
    if deaths.len() < CRASH_LOOP_COUNT {
        return Diagnosis::ok("crashes", "the worker ends as it should");
    }
    let event = deaths.iter().rev().find_map(|death| death.event.as_ref());
    let fix = match event {
        Some(name) => format_retry_advice(patient, name),
        None => "`remora worker logs` says what it did last; look for what kills it".to_owned(),
    };
    Diagnosis::fail("crashes", describe_crashes(&deaths), fix)
}

/// Events that are ingested after all others, or later still.
fn put_off(patient: &DoctorContext) -> Diagnosis {
    let spool = patient.paths.spool_dir();
    let mut events = list_suspects(&patient.paths);
    events.retain(|s| s.goes_last() && spool.join(&s.name).exists());
    let Some(worst) = events.iter().max_by_key(|s| s.deaths) else {
        return Diagnosis::ok("put off", "no event");
    };
    let message = format!(
        "{} put off; the worker died {} on {}",
        format_count(events.len() as u64, "event is", "events are"),
        format_count(u64::from(worst.deaths), "time", "times"),
        worst.name
    );
    Diagnosis::warn(
        "put off",
        message,
        format_retry_advice(patient, &worst.name),
    )
}

/// What to do about an event that workers die on.
fn format_retry_advice(patient: &DoctorContext, name: &str) -> String {
    let file = super::quote_path(&patient.paths.spool_dir().join(name));
    format!("`remora worker retry` tries it again; if that fails, move {file} away and report it")
}

/// The process that last said in the log that it had started.
fn last_pid(log: &Path) -> Option<u32> {
    let text = read_tail(log)?;
    let line = text
        .lines()
        .rev()
        .find(|l| l.contains(" started, process "))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn check_backlog(patient: &DoctorContext, state: &WorkerState) -> Diagnosis {
    let mut files = list_spooled(&patient.paths, usize::MAX).unwrap_or_default();
    // Those have a line of their own.
    let put_off: HashSet<String> = list_suspects(&patient.paths)
        .into_iter()
        .filter(SuspectEvent::goes_last)
        .map(|suspect| suspect.name)
        .collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default();
        !put_off.contains(name.to_string_lossy().as_ref())
    });
    let Some(oldest) = files.first() else {
        return Diagnosis::ok("backlog", "nothing waits");
    };
    let events = format_count(files.len() as u64, "event waits", "events wait");
    let written = fs::metadata(oldest).and_then(|meta| meta.modified());
    let age = written
        .ok()
        .and_then(|at| clock::now().duration_since(at).ok());
    if age.is_none_or(|age| age <= MAX_BACKLOG_AGE) {
        return Diagnosis::ok("backlog", format!("{events}, since just now"));
    }
    let minutes = age.unwrap_or_default().as_secs() / 60;
    let message = format!(
        "{events}, the first for {}",
        format_count(minutes, "minute", "minutes")
    );
    match state {
        // A large backlog takes its time, and the worker is at it.
        WorkerState::Runs(reply) if reply.trouble.is_none() => {
            Diagnosis::warn("backlog", message, "`remora worker drain` waits for it")
        }
        _ => Diagnosis::fail("backlog", message, "`remora worker drain`"),
    }
}

fn check_dead_letters(patient: &DoctorContext) -> Diagnosis {
    match remora_server::dead_letters(&patient.paths) {
        Err(e) => Diagnosis::fail("dead letters", e.to_string(), "make the folder readable"),
        Ok(letters) => match letters.last() {
            None => Diagnosis::ok("dead letters", "none"),
            Some((_, last)) => Diagnosis::warn(
                "dead letters",
                format!(
                    "{} not understood; the last: {}",
                    format_count(letters.len() as u64, "event was", "events were"),
                    truncate_columns(&flatten_text(&last.reason), 120)
                ),
                "`remora worker retry`, after an update",
            ),
        },
    }
}

/// The mark stays: the next session still has to show the message.
fn check_capture(patient: &DoctorContext) -> Diagnosis {
    let Some(reason) = CaptureFailureMark::for_data_dir(&patient.paths).peek_failure() else {
        return Diagnosis::ok("capture", "no hook has failed since the last session began");
    };
    let reason = flatten_text(&reason);
    Diagnosis::warn(
        "capture",
        format!("a hook could not capture its event: {reason}"),
        "if nothing else fails here it is over: the next session says so once",
    )
}

fn check_logs(patient: &DoctorContext) -> Diagnosis {
    let paths = &patient.paths;
    // A hook writes only what goes wrong; the worker also what goes right.
    let hooks = read_recent_lines(patient, &paths.hook_log(), |_| true);
    let worker = read_recent_lines(patient, &paths.worker_log(), |text| {
        PROBLEM_PREFIXES.iter().any(|start| text.starts_with(start))
    });
    let (log, lines) = if hooks.is_empty() {
        (paths.worker_log(), worker)
    } else {
        (paths.hook_log(), hooks)
    };
    match lines.last() {
        None => Diagnosis::ok("logs", "no trouble in the last 24 hours"),
        Some(last) => Diagnosis::warn(
            "logs",
            format!(
                "{} of trouble in the last 24 hours; the last: {}",
                format_count(lines.len() as u64, "line", "lines"),
                truncate_columns(&flatten_text(last), 160)
            ),
            format!("`tail {}`", super::quote_path(&log)),
        ),
    }
}

/// The lines of the last day that matter.
fn read_recent_lines(
    patient: &DoctorContext,
    log: &Path,
    matters: impl Fn(&str) -> bool,
) -> Vec<String> {
    let text = read_tail(log).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (time, rest) = line.split_once(' ')?;
            let time: Timestamp = time.parse().ok()?;
            let age = patient.now.saturating_sub(time.as_millisecond());
            (age < RECENT_LOG_MS && matters(rest)).then(|| rest.to_owned())
        })
        .collect()
}

/// The end of a file, from a whole line on.
fn read_tail(file: &Path) -> Option<String> {
    let mut file = File::open(file).ok()?;
    let from = file
        .metadata()
        .ok()?
        .len()
        .saturating_sub(MAX_LOG_TAIL_BYTES);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_LOG_TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(if from == 0 {
        text
    } else {
        text.split_once('\n')
            .map(|(_, rest)| rest.to_owned())
            .unwrap_or_default()
    })
}
