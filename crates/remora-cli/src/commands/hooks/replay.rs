//! `remora hooks replay`: recorded events played again, and what would be decided
//! otherwise.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use remora_core::{Event, EventName};
use remora_files::{Durability, ReadError, ReplaceOptions, read_file, replace_file};
use remora_hook_tools::recording::{
    Decision, RecordedEvent, ShownThen, find_shown, read_recording,
};
use remora_hooks::{Engine, Host, PlanVerdict, Run};
use remora_instructions::normalise_path;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::lint::format_count;
use super::{event_name, load_engine};
use crate::args::HooksReplayArgs;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use crate::settings::SessionSettings;
use crate::signals;

/// The longest file of decisions that is read.
const MAX_DECISIONS_BYTES: u64 = 512 << 20;

/// Decisions by the line of their event.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SavedDecisions {
    /// Whether hooks ran, or were only planned.
    plan: bool,
    decisions: BTreeMap<usize, Decision>,
}

/// One event that is decided otherwise.
#[derive(Debug, Serialize)]
struct ReplayDifference {
    line: usize,
    event: &'static str,
    subject: String,
    then: ShownThen,
    before: Option<Decision>,
    now: Decision,
}

pub(super) fn run(args: &HooksReplayArgs, out: &mut Output) -> Result<Exit, CliError> {
    let settings = SessionSettings::from_args(&args.session, Environment::from_process())?;
    let only = args.event.as_deref().map(event_name).transpose()?;
    let file = resolve_path(&args.file, &settings);
    let events = read_recording(&file).map_err(|error| CliError::Usage(error.to_string()))?;
    let kept = if let Some(path) = &args.decisions {
        resolve_path(path, &settings)
    } else {
        let mut name = file.clone().into_os_string();
        name.push(".decisions.json");
        name.into()
    };
    let saved = if args.save {
        None
    } else {
        read_decisions(&kept, args.decisions.is_some())?
    };
    if let Some(saved) = &saved
        && saved.plan != args.plan
    {
        let how = if saved.plan { "with" } else { "without" };
        return Err(CliError::Usage(format!(
            "{}: these decisions were saved {how} --plan; do the same again, or save them anew",
            kept.display()
        )));
    }
    let engine = load_engine(&settings, args.session.verbose)?;
    let decisions = decide_events(args, &settings, &engine, &events, only)?;
    if args.save {
        return save_decisions(args, &kept, decisions, out);
    }
    let differences = find_differences(&events, &decisions, saved.as_ref());
    print_differences(args, &differences, decisions.len(), saved.is_some(), out)?;
    Ok(if differences.is_empty() {
        Exit::GoOn
    } else {
        Exit::Failed
    })
}

fn resolve_path(file: &Path, settings: &SessionSettings) -> PathBuf {
    let here = settings.environment.directory();
    let here = here.unwrap_or(&settings.places.project);
    normalise_path(&here.join(file))
}

fn read_decisions(file: &Path, wanted: bool) -> Result<Option<SavedDecisions>, CliError> {
    let failed = |problem: String| CliError::Usage(format!("{}: {problem}", file.display()));
    match read_file(file, MAX_DECISIONS_BYTES) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| failed(format!("not saved decisions: {error}"))),
        Err(ReadError::Missing) if !wanted => Ok(None),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn save_decisions(
    args: &HooksReplayArgs,
    file: &Path,
    decisions: BTreeMap<usize, Decision>,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let count = decisions.len();
    let saved = SavedDecisions {
        plan: args.plan,
        decisions,
    };
    let bytes = serde_json::to_vec(&saved)?;
    // What hooks said of an event may quote it.
    replace_file(file, &bytes, &ReplaceOptions::private(Durability::None)).map_err(|source| {
        CliError::File {
            path: file.to_path_buf(),
            source,
        }
    })?;
    if args.session.json {
        out.print_json(&json!({ "saved": file, "events": count }))?;
    } else {
        let text = format!(
            "{} decided, kept in {}\n",
            format_count(count, "event"),
            file.display()
        );
        out.print_text(&escape_invisible(&text))?;
    }
    Ok(Exit::GoOn)
}

fn decide_events(
    args: &HooksReplayArgs,
    settings: &SessionSettings,
    engine: &Engine,
    events: &[RecordedEvent],
    only: Option<EventName>,
) -> Result<BTreeMap<usize, Decision>, CliError> {
    if !args.plan {
        settings.environment.check_run_depth()?;
    }
    let folder = tempfile::Builder::new()
        .prefix("remora-replay-")
        .tempdir()?;
    signals::watch_signals(Some(folder.path().to_path_buf()))?;
    let mut decisions = BTreeMap::new();
    for recorded in events {
        if only.is_some_and(|name| name != recorded.event.name) {
            continue;
        }
        let event = recorded.make_unreal();
        let decision = if args.plan {
            plan_event(engine, &event)
        } else {
            let dir = folder.path().join(recorded.line.to_string());
            fs::create_dir_all(&dir)?;
            let host = Host {
                environment: settings.environment.for_handlers(&settings.places.home),
                session_dir: Some(dir.clone()),
                attendance: settings.attendance,
                ..Host::default()
            };
            let Run {
                report, background, ..
            } = engine.run(&event, &host);
            drop(background);
            fs::remove_dir_all(&dir)?;
            Decision::from_report(&report)
        };
        decisions.insert(recorded.line, decision);
    }
    Ok(decisions)
}

fn plan_event(engine: &Engine, event: &Event) -> Decision {
    let plan = engine.plan(event);
    let running = plan.rows.iter().filter(|r| r.verdict == PlanVerdict::Runs);
    Decision {
        decision: "planned".to_owned(),
        ran: running.map(|row| row.entry.config.kind.label()).collect(),
        ..Decision::default()
    }
}

fn find_differences(
    events: &[RecordedEvent],
    decisions: &BTreeMap<usize, Decision>,
    saved: Option<&SavedDecisions>,
) -> Vec<ReplayDifference> {
    let shown = find_shown(events);
    let mut differences = Vec::new();
    for (recorded, then) in events.iter().zip(shown) {
        let Some(now) = decisions.get(&recorded.line) else {
            continue;
        };
        let before = saved.map(|saved| saved.decisions.get(&recorded.line).cloned());
        let differs = match &before {
            Some(before) => before.as_ref() != Some(now),
            // Nothing was saved: only what the recording shows can be compared.
            None => match then {
                ShownThen::Ran => now.keeps_from_running(),
                ShownThen::DidNotRun => now.decision == "allow",
                ShownThen::Unknown => false,
            },
        };
        if differs {
            differences.push(ReplayDifference {
                line: recorded.line,
                event: recorded.event.name.as_str(),
                subject: recorded.describe_subject(),
                then,
                before: before.flatten(),
                now: now.clone(),
            });
        }
    }
    differences
}

fn print_differences(
    args: &HooksReplayArgs,
    differences: &[ReplayDifference],
    played: usize,
    has_saved: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.session.json {
        return out.print_json(&json!({
            "events": played,
            "compared_with": if has_saved { "decisions" } else { "recording" },
            "differences": differences,
        }));
    }
    let mut text = String::new();
    for difference in differences {
        push_difference(&mut text, difference, out);
    }
    let compared = if has_saved {
        "the saved decisions"
    } else {
        "what the recording shows; `--save` keeps decisions to compare with"
    };
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "{} played, {} differ from {compared}",
        format_count(played, "event"),
        differences.len()
    );
    out.print_text(&text)
}

fn push_difference(text: &mut String, difference: &ReplayDifference, out: &Output) {
    let then = match difference.then {
        ShownThen::Ran => "  (ran then)",
        ShownThen::DidNotRun => "  (did not run then)",
        ShownThen::Unknown => "",
    };
    let title = format!("{} {}", difference.event, difference.subject);
    let _ = writeln!(
        text,
        "{}: {}{}",
        difference.line,
        out.paint(Style::Bold, escape_invisible(&title).trim_end()),
        out.paint(Style::Dim, then)
    );
    let rows = match &difference.before {
        Some(before) => before.list_differences(&difference.now),
        None => Decision::default()
            .list_differences(&difference.now)
            .into_iter()
            .filter(|(name, ..)| matches!(*name, "decision" | "reason"))
            .collect(),
    };
    for (name, before, now) in rows {
        for (mark, said, style) in [('-', before, Style::Red), ('+', now, Style::Green)] {
            for line in said.lines() {
                let line = format!("{mark} {name}: {}", escape_invisible(line));
                let _ = writeln!(text, "  {}", out.paint(style, &line));
            }
        }
    }
}
