//! The worker, what waits for it, what it could not understand, what hooks
//! could not capture, and what the logs say.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use remora_client::{Failure, waiting};
use remora_server::lives::{DEATHS_IN_LOOP, describe, recent_deaths};
use remora_server::{Suspect, suspects};

use super::{Check, Patient};
use crate::clock;
use crate::commands::show::lines::{count, fit, flat};
use crate::commands::status::{Worker, worker};
use crate::config::Config;

/// Events that wait longer than this are not being taken.
const LATE: Duration = Duration::from_mins(1);
/// How much of a log is looked at, from its end.
const TAIL: u64 = 256 * 1024;
/// Log lines older than this are history.
const RECENT: i64 = 24 * 3600 * 1000;
/// How a worker's line begins that tells of trouble, after its moment.
const TROUBLE: [&str; 3] = [
    "warning:",
    "the database is damaged",
    "the archive could not",
];

pub(super) fn check(patient: &Patient) -> Vec<Check> {
    let state = worker(&patient.paths);
    vec![
        running(patient, &state),
        crashes(patient, &state),
        put_off(patient),
        backlog(patient, &state),
        dead(patient),
        capture(patient),
        logs(patient),
    ]
}

fn running(patient: &Patient, state: &Worker) -> Check {
    let own = env!("CARGO_PKG_VERSION");
    match state {
        Worker::Runs(reply) => {
            if let Some(trouble) = &reply.trouble {
                return Check::fail(
                    "worker",
                    format!("cannot store: {}", flat(trouble)),
                    "free the disk or the database, then `remora worker drain`",
                );
            }
            if reply.version != own {
                return Check::warn(
                    "worker",
                    format!("is version {}, this program is {own}", reply.version),
                    "`remora worker restart`",
                );
            }
            Check::ok("worker", format!("runs, process {}", reply.pid))
        }
        Worker::Silent => {
            let kill = match last_pid(&patient.paths.worker_log()) {
                Some(pid) => format!("`kill -9 {pid}`, then `remora worker start`"),
                None => "end the process `remora worker run`, then `remora worker start`".into(),
            };
            Check::fail("worker", "runs, but does not answer", kill)
        }
        Worker::None if Config::load(&patient.paths.config()).is_err() => Check::ok(
            "worker",
            "does not run, and cannot before the configuration is corrected; events wait",
        ),
        Worker::None => Check::ok("worker", "does not run; the next event starts it"),
    }
}

/// Workers that start and do not end.
fn crashes(patient: &Patient, state: &Worker) -> Check {
    let is_running = !matches!(state, Worker::None);
    let deaths = recent_deaths(&patient.paths, patient.now, is_running);
    if deaths.len() < DEATHS_IN_LOOP {
        return Check::ok("crashes", "the worker ends as it should");
    }
    let event = deaths.iter().rev().find_map(|death| death.event.as_ref());
    let fix = match event {
        Some(name) => blame(patient, name),
        None => "`remora worker logs` says what it did last; look for what kills it".to_owned(),
    };
    Check::fail("crashes", describe(&deaths), fix)
}

/// Events that are taken after all others, or later still.
fn put_off(patient: &Patient) -> Check {
    let spool = patient.paths.spool();
    let mut events = suspects(&patient.paths);
    events.retain(|s| s.goes_last() && spool.join(&s.name).exists());
    let Some(worst) = events.iter().max_by_key(|s| s.deaths) else {
        return Check::ok("put off", "no event");
    };
    let message = format!(
        "{} put off; the worker died {} on {}",
        count(events.len() as u64, "event is", "events are"),
        count(u64::from(worst.deaths), "time", "times"),
        worst.name
    );
    Check::warn("put off", message, blame(patient, &worst.name))
}

/// What to do about an event that workers die on.
fn blame(patient: &Patient, name: &str) -> String {
    let file = super::quoted(&patient.paths.spool().join(name));
    format!("`remora worker retry` tries it again; if that fails, move {file} away and report it")
}

/// The process that last said in the log that it had started.
fn last_pid(log: &Path) -> Option<u32> {
    let text = tail(log)?;
    let line = text
        .lines()
        .rev()
        .find(|l| l.contains(" started, process "))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn backlog(patient: &Patient, state: &Worker) -> Check {
    let mut files = waiting(&patient.paths, usize::MAX).unwrap_or_default();
    // Those have a line of their own.
    let put_off: HashSet<String> = suspects(&patient.paths)
        .into_iter()
        .filter(Suspect::goes_last)
        .map(|suspect| suspect.name)
        .collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default();
        !put_off.contains(name.to_string_lossy().as_ref())
    });
    let Some(oldest) = files.first() else {
        return Check::ok("backlog", "nothing waits");
    };
    let events = count(files.len() as u64, "event waits", "events wait");
    let written = fs::metadata(oldest).and_then(|meta| meta.modified());
    let age = written
        .ok()
        .and_then(|at| clock::now().duration_since(at).ok());
    if age.is_none_or(|age| age <= LATE) {
        return Check::ok("backlog", format!("{events}, since just now"));
    }
    let minutes = age.unwrap_or_default().as_secs() / 60;
    let message = format!(
        "{events}, the first for {}",
        count(minutes, "minute", "minutes")
    );
    match state {
        // A large backlog takes its time, and the worker is at it.
        Worker::Runs(reply) if reply.trouble.is_none() => {
            Check::warn("backlog", message, "`remora worker drain` waits for it")
        }
        _ => Check::fail("backlog", message, "`remora worker drain`"),
    }
}

fn dead(patient: &Patient) -> Check {
    match remora_server::dead_letters(&patient.paths) {
        Err(e) => Check::fail("dead letters", e.to_string(), "make the folder readable"),
        Ok(letters) => match letters.last() {
            None => Check::ok("dead letters", "none"),
            Some((_, last)) => Check::warn(
                "dead letters",
                format!(
                    "{} not understood; the last: {}",
                    count(letters.len() as u64, "event was", "events were"),
                    fit(&flat(&last.reason), 120)
                ),
                "`remora worker retry`, after an update",
            ),
        },
    }
}

/// The mark stays: the next session still has to tell.
fn capture(patient: &Patient) -> Check {
    let Some(reason) = Failure::of(&patient.paths).look() else {
        return Check::ok("capture", "no hook has failed since the last session began");
    };
    let reason = flat(&reason);
    Check::warn(
        "capture",
        format!("a hook could not capture its event: {reason}"),
        "if nothing else fails here it is over: the next session says so once",
    )
}

fn logs(patient: &Patient) -> Check {
    let paths = &patient.paths;
    // A hook writes only what goes wrong; the worker also what goes right.
    let hooks = recent(patient, &paths.hook_log(), |_| true);
    let worker = recent(patient, &paths.worker_log(), |text| {
        TROUBLE.iter().any(|start| text.starts_with(start))
    });
    let (log, lines) = if hooks.is_empty() {
        (paths.worker_log(), worker)
    } else {
        (paths.hook_log(), hooks)
    };
    match lines.last() {
        None => Check::ok("logs", "no trouble in the last 24 hours"),
        Some(last) => Check::warn(
            "logs",
            format!(
                "{} of trouble in the last 24 hours; the last: {}",
                count(lines.len() as u64, "line", "lines"),
                fit(&flat(last), 160)
            ),
            format!("`tail {}`", super::quoted(&log)),
        ),
    }
}

/// The lines of the last day that matter.
fn recent(patient: &Patient, log: &Path, matters: impl Fn(&str) -> bool) -> Vec<String> {
    let text = tail(log).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (moment, rest) = line.split_once(' ')?;
            let moment: Timestamp = moment.parse().ok()?;
            let age = patient.now.saturating_sub(moment.as_millisecond());
            (age < RECENT && matters(rest)).then(|| rest.to_owned())
        })
        .collect()
}

/// The end of a file, from a whole line on.
fn tail(file: &Path) -> Option<String> {
    let mut file = File::open(file).ok()?;
    let from = file.metadata().ok()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(if from == 0 {
        text
    } else {
        text.split_once('\n')
            .map(|(_, rest)| rest.to_owned())
            .unwrap_or_default()
    })
}
