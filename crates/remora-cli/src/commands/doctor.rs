//! `remora doctor`: diagnoses problems and suggests a fix for each. Changes
//! nothing. One file for each part that is checked.

mod agents;
mod background;
mod config;
mod folders;
mod kept;
mod search;

use remora_client::DataPaths;
use serde::Serialize;
use serde_json::json;

use crate::args::DoctorArgs;
use crate::clock;
use crate::commands::pause;
use crate::commands::show::lines::{format_count, hang_text};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::data_directory;
use crate::output::{Output, Style, escape_invisible};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum DiagnosisLevel {
    Ok,
    Warn,
    Fail,
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Diagnosis {
    name: &'static str,
    level: DiagnosisLevel,
    message: String,
    /// The command or step that fixes it.
    fix: Option<String>,
}

impl Diagnosis {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            level: DiagnosisLevel::Ok,
            message: message.into(),
            fix: None,
        }
    }

    fn warn(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            name,
            level: DiagnosisLevel::Warn,
            message: message.into(),
            fix: Some(fix.into()),
        }
    }

    fn fail(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            level: DiagnosisLevel::Fail,
            ..Self::warn(name, message, fix)
        }
    }
}

/// What the parts look at.
#[derive(Debug)]
struct DoctorContext {
    paths: DataPaths,
    environment: Environment,
    /// Milliseconds since 1970.
    now: i64,
}

pub(crate) fn run(args: &DoctorArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let checks = match data_directory(&environment) {
        None => vec![Diagnosis::fail(
            "data directory",
            "not known: neither HOME nor REMORA_HOME is an absolute path",
            "set HOME, or REMORA_HOME to an absolute path",
        )],
        Some(paths) => run_checks(&DoctorContext {
            paths,
            environment,
            now: clock::now_ms(),
        }),
    };
    let worst = checks.iter().map(|check| check.level).max();
    let failed = worst == Some(DiagnosisLevel::Fail);
    if args.json {
        out.print_json(&json!({ "ok": !failed, "checks": checks }))?;
    } else {
        print_diagnoses(&checks, out)?;
    }
    Ok(if failed { Exit::Failed } else { Exit::GoOn })
}

fn run_checks(patient: &DoctorContext) -> Vec<Diagnosis> {
    let mut checks = folders::check_data_dir(patient);
    // In a folder of someone else there is nothing more to look for.
    if patient.paths.find_fault().is_some() {
        return checks;
    }
    checks.extend(config::check_config(patient));
    checks.extend(background::check_background(patient));
    let paused = pause::describe_pauses(&patient.paths).into_iter();
    checks.extend(paused.map(|p| Diagnosis::warn("paused", p.what, format!("`{}`", p.ender))));
    let (kept, events) = kept::check_stored_data(patient);
    checks.extend(kept);
    checks.extend(search::check_search(patient));
    checks.extend(agents::check_agents(patient, events));
    checks
}

fn print_diagnoses(checks: &[Diagnosis], out: &mut Output) -> Result<(), CliError> {
    let wide = checks.iter().map(|check| check.name.len()).max();
    let wide = wide.unwrap_or(0);
    for check in checks {
        let (word, style) = match check.level {
            DiagnosisLevel::Ok => ("ok", Style::Green),
            DiagnosisLevel::Warn => ("warn", Style::Yellow),
            DiagnosisLevel::Fail => ("FAIL", Style::Red),
        };
        let lead = format!("{word:<4}  {:<wide$}  ", check.name);
        let painted = format!(
            "{}  {:<wide$}  ",
            out.paint(style, &format!("{word:<4}")),
            check.name
        );
        let told = hang_text(&lead, &escape_invisible(&check.message));
        out.print_text(&told.replacen(&lead, &painted, 1))?;
        if let Some(fix) = &check.fix {
            let lead = format!("{:indent$}-> ", "", indent = 8 + wide);
            // A command must stay in one piece to be copied.
            let fix = escape_invisible(fix);
            out.print_text(&if fix.contains('`') {
                format!("{lead}{fix}\n")
            } else {
                hang_text(&lead, &fix)
            })?;
        }
    }
    let of = |level| checks.iter().filter(|c| c.level == level).count() as u64;
    let (failed, warned) = (of(DiagnosisLevel::Fail), of(DiagnosisLevel::Warn));
    let text = match (failed, warned) {
        (0, 0) => "everything is well".to_owned(),
        _ => format!(
            "{}, {}",
            format_count(failed, "fault", "faults"),
            format_count(warned, "warning", "warnings")
        ),
    };
    out.print_text(&format!("\n{text}\n"))
}

/// A path in a command that a shell reads.
fn quote_path(path: &std::path::Path) -> String {
    crate::output::quote_for_shell(&path.display().to_string())
}
