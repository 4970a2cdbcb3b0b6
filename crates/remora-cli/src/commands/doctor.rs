//! `remora doctor`: looks for faults, and says how to mend each. Changes
//! nothing. One file for each part that is looked at.

mod agents;
mod background;
mod config;
mod folders;
mod kept;
mod search;

use remora_client::Paths;
use serde::Serialize;
use serde_json::json;

use crate::args::Doctor;
use crate::clock;
use crate::commands::pause;
use crate::commands::show::lines::{count, hang};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::data_directory;
use crate::output::{Output, Style, visible};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    level: Level,
    message: String,
    /// The command or step that mends it.
    fix: Option<String>,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self {
            name,
            level: Level::Ok,
            message: message.into(),
            fix: None,
        }
    }

    fn warn(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            name,
            level: Level::Warn,
            message: message.into(),
            fix: Some(fix.into()),
        }
    }

    fn fail(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            level: Level::Fail,
            ..Self::warn(name, message, fix)
        }
    }
}

/// What the parts look at.
#[derive(Debug)]
struct Patient {
    paths: Paths,
    environment: Environment,
    /// Milliseconds since 1970.
    now: i64,
}

pub(crate) fn run(args: &Doctor, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::read();
    let checks = match data_directory(&environment) {
        None => vec![Check::fail(
            "data directory",
            "not known: neither HOME nor REMORA_HOME is an absolute path",
            "set HOME, or REMORA_HOME to an absolute path",
        )],
        Some(paths) => examine(&Patient {
            paths,
            environment,
            now: clock::millis(),
        }),
    };
    let worst = checks.iter().map(|check| check.level).max();
    let failed = worst == Some(Level::Fail);
    if args.json {
        out.json(&json!({ "ok": !failed, "checks": checks }))?;
    } else {
        say(&checks, out)?;
    }
    Ok(if failed { Exit::Failed } else { Exit::GoOn })
}

fn examine(patient: &Patient) -> Vec<Check> {
    let mut checks = folders::check(patient);
    // In a folder of someone else there is nothing more to look for.
    if patient.paths.find_fault().is_some() {
        return checks;
    }
    checks.extend(config::check(patient));
    checks.extend(background::check(patient));
    let paused = pause::told(&patient.paths).into_iter();
    checks.extend(paused.map(|p| Check::warn("paused", p.what, format!("`{}`", p.ender))));
    let (kept, events) = kept::check(patient);
    checks.extend(kept);
    checks.extend(search::check(patient));
    checks.extend(agents::check(patient, events));
    checks
}

fn say(checks: &[Check], out: &mut Output) -> Result<(), CliError> {
    let wide = checks.iter().map(|check| check.name.len()).max();
    let wide = wide.unwrap_or(0);
    for check in checks {
        let (word, style) = match check.level {
            Level::Ok => ("ok", Style::Green),
            Level::Warn => ("warn", Style::Yellow),
            Level::Fail => ("FAIL", Style::Red),
        };
        let lead = format!("{word:<4}  {:<wide$}  ", check.name);
        let painted = format!(
            "{}  {:<wide$}  ",
            out.paint(style, &format!("{word:<4}")),
            check.name
        );
        let told = hang(&lead, &visible(&check.message));
        out.text(&told.replacen(&lead, &painted, 1))?;
        if let Some(fix) = &check.fix {
            let lead = format!("{:indent$}-> ", "", indent = 8 + wide);
            // A command must stay in one piece to be copied.
            let fix = visible(fix);
            out.text(&if fix.contains('`') {
                format!("{lead}{fix}\n")
            } else {
                hang(&lead, &fix)
            })?;
        }
    }
    let of = |level| checks.iter().filter(|c| c.level == level).count() as u64;
    let (failed, warned) = (of(Level::Fail), of(Level::Warn));
    let text = match (failed, warned) {
        (0, 0) => "everything is well".to_owned(),
        _ => format!(
            "{}, {}",
            count(failed, "fault", "faults"),
            count(warned, "warning", "warnings")
        ),
    };
    out.text(&format!("\n{text}\n"))
}

/// A path in a command that a shell reads.
fn quoted(path: &std::path::Path) -> String {
    crate::output::quoted(&path.display().to_string())
}
