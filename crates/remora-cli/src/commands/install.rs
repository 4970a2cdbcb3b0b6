//! `remora install` and `uninstall`: Remora's hooks in an agent's settings.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use remora_agents::install::file::{self as settings_text, Outcome, Report};
use remora_agents::install::{Entry, What};
use remora_agents::{AgentSpec, Places, Scope};
use serde_json::{Value, json};

use crate::args::{Install, Uninstall};
use crate::commands::data::Data;
use crate::commands::worker;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(crate) fn install(args: &Install, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let spec = agent(&args.agent)?;
    let file = settings_file(&data, spec, args.project)?;
    let program = std::env::current_exe()?;
    let entry = Entry {
        program: &program,
        spec,
    };
    if args.dry_run {
        let (report, text) = settings_text::preview(&file, &entry)?;
        if args.json {
            let mut value = told(&report);
            value["dry_run"] = json!(true);
            value["text"] = json!(text);
            out.json(&value)?;
        } else {
            say(out, &report, "would be")?;
            if report.outcome != Outcome::Unchanged {
                out.text(&format!("\n{text}"))?;
            }
        }
        return Ok(Exit::GoOn);
    }
    data.paths.prepare().map_err(|source| CliError::File {
        path: data.paths.home().to_path_buf(),
        source,
    })?;
    let report = settings_text::install(&file, &record(&data), &entry)?;
    let tried = self_test(&program, spec);
    if args.json {
        let mut value = told(&report);
        value["self_test"] = match &tried {
            Ok(()) => json!("passed"),
            Err(why) => json!({ "failed": why }),
        };
        out.json(&value)?;
    } else {
        say(out, &report, "was")?;
        match &tried {
            Ok(()) => {
                let ok = out.paint(Style::Green, "ok");
                out.text(&format!(
                    "self-test: {ok}: an event was captured, stored and found\n"
                ))?;
                out.text("Start a session; `remora status` shows what is remembered.\n")?;
            }
            Err(why) => {
                let bad = out.paint(Style::Red, "failed");
                out.text(&format!(
                    "self-test: {bad}: {why}\n  `remora doctor` says more\n"
                ))?;
            }
        }
    }
    Ok(match tried {
        Ok(()) => Exit::GoOn,
        Err(_) => Exit::Failed,
    })
}

pub(crate) fn uninstall(args: &Uninstall, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let spec = agent(&args.agent)?;
    let file = settings_file(&data, spec, args.project)?;
    let report = settings_text::uninstall(&file, &record(&data), spec)?;
    if args.purge {
        worker::end(&data.paths)?;
        purge(data.paths.home())?;
    }
    if args.json {
        let mut value = told(&report);
        value["purged"] = json!(args.purge);
        out.json(&value)?;
    } else {
        say(out, &report, "was")?;
        if args.purge {
            let home = data.paths.home().display();
            out.text(&format!("{home} and everything in it was removed\n"))?;
        }
    }
    Ok(Exit::GoOn)
}

/// The agent of that name, or an error that lists those there are.
pub(crate) fn agent(name: &str) -> Result<&'static AgentSpec, CliError> {
    remora_agents::find(name).ok_or_else(|| {
        CliError::Usage(format!(
            "`{name}` is not an agent Remora knows; known: {}",
            remora_agents::known_names().join(", ")
        ))
    })
}

pub(crate) fn places(data: &Data, spec: &AgentSpec) -> Result<Places, CliError> {
    let missing = |what: &str| CliError::Usage(format!("{what} is not known"));
    let environment = &data.environment;
    Ok(Places {
        home: environment
            .home()
            .ok_or_else(|| missing("the home directory"))?,
        config_dir: environment.get(spec.config_variable).map(PathBuf::from),
        root: environment
            .directory()
            .cloned()
            .ok_or_else(|| missing("the current directory"))?,
    })
}

fn settings_file(data: &Data, spec: &AgentSpec, project: bool) -> Result<PathBuf, CliError> {
    let scope = if project { Scope::Project } else { Scope::User };
    Ok((spec.settings_file)(&places(data, spec)?, scope))
}

/// Where it is written down what installing changed.
fn record(data: &Data) -> PathBuf {
    data.paths.home().join("installed.json")
}

/// Removes a data directory, after a look that it is one.
fn purge(home: &Path) -> Result<(), CliError> {
    if !home.exists() {
        return Ok(());
    }
    let ours = ["spool", "run", "archive"]
        .iter()
        .all(|name| home.join(name).is_dir());
    if !ours {
        return Err(CliError::Usage(format!(
            "{}: does not look like a data directory; nothing was removed",
            home.display()
        )));
    }
    fs::remove_dir_all(home).map_err(|source| CliError::File {
        path: home.to_path_buf(),
        source,
    })
}

/// Runs the hook as the agent would, on an event of its own, in a data
/// directory of its own, and looks whether the event arrives.
fn self_test(program: &Path, spec: &AgentSpec) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let mark = "remora-self-test";
    let event = json!({
        "session_id": mark,
        "transcript_path": "",
        "cwd": place.path(),
        "hook_event_name": "UserPromptSubmit",
        "prompt": mark,
    });
    let answer = call(
        program,
        &["hook", spec.name],
        place.path(),
        &event.to_string(),
    )?;
    serde_json::from_str::<Value>(answer.trim())
        .map_err(|_| format!("the hook answered with something else than JSON: {answer}"))?;
    call(program, &["worker", "drain"], place.path(), "")?;
    let found = call(
        program,
        &["search", "--all", "--json", mark],
        place.path(),
        "",
    );
    let ended = call(program, &["worker", "stop"], place.path(), "");
    if !found?.contains(mark) {
        return Err("the event was captured, but is not found".to_owned());
    }
    ended.map(drop)
}

fn call(program: &Path, args: &[&str], home: &Path, input: &str) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("`remora {}`: {e}", args.join(" "));
    let mut child = Command::new(program)
        .args(args)
        .current_dir(home)
        .env("REMORA_HOME", home.join("data"))
        .env_remove("REMORA_OFF")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that does not want it says so in its exit code.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output().map_err(failed)?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(format!(
            "`remora {}` failed: {}",
            args.join(" "),
            why.trim()
        ));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn told(report: &Report) -> Value {
    let changes: Vec<Value> = report
        .changes
        .iter()
        .map(|change| json!({ "event": change.event, "change": word(change.what) }))
        .collect();
    json!({
        "file": report.file,
        "outcome": outcome(report.outcome),
        "changes": changes,
        "warnings": report.warnings,
        "backup": report.backup,
    })
}

fn word(what: What) -> &'static str {
    match what {
        What::Added => "added",
        What::Updated => "updated",
        What::Removed => "removed",
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unchanged => "unchanged",
        Outcome::Created => "created",
        Outcome::Edited => "edited",
        Outcome::Restored => "restored",
        Outcome::Deleted => "deleted",
    }
}

fn say(out: &mut Output, report: &Report, verb: &str) -> Result<(), CliError> {
    let file = out.paint(Style::Bold, &report.file.display().to_string());
    let text = match report.outcome {
        Outcome::Unchanged => format!("{file}: nothing to change\n"),
        Outcome::Created => format!("{file} {verb} created\n"),
        Outcome::Edited => format!("{file} {verb} edited\n"),
        Outcome::Restored => format!("{file} {verb} restored, byte for byte\n"),
        Outcome::Deleted => format!("{file} {verb} deleted: it held nothing else\n"),
    };
    out.text(&text)?;
    for kind in [What::Added, What::Updated, What::Removed] {
        let events: Vec<&str> = report
            .changes
            .iter()
            .filter(|change| change.what == kind)
            .map(|change| change.event.as_str())
            .collect();
        if !events.is_empty() {
            out.text(&format!("  {}: {}\n", word(kind), events.join(", ")))?;
        }
    }
    if let Some(backup) = &report.backup {
        out.text(&format!("  the file as it was: {}\n", backup.display()))?;
    }
    for warning in &report.warnings {
        let warning = out.paint(Style::Yellow, &format!("warning: {warning}"));
        out.text(&format!("  {warning}\n"))?;
    }
    Ok(())
}
