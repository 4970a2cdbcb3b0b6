//! `remora status`: how much is remembered, and whether everything runs. Never
//! fails because of what it finds; `doctor` says how to fix it.

use std::fmt::Write;

use remora_app::status::{CaptureSwitch, StatusResponse, WorkerState};
use remora_app::{AppError, ErrorKind};
use remora_client::DataPaths;
use remora_server::crashes::{CRASH_LOOP_COUNT, describe_crashes};

use crate::args::StatusArgs;
use crate::commands::data::{DATABASE_GONE_MESSAGE, DataDir};
use crate::commands::pause;
use crate::commands::show::lines::{
    TimeFormatter, flatten_text, format_count, format_number, format_size, hang_text,
};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF_VARIABLE, RECALL_VARIABLE};
use crate::output::{Output, Style, escape_invisible};

pub(crate) fn run(args: &StatusArgs, out: &mut Output) -> Result<Exit, CliError> {
    let DataDir { app, environment } = DataDir::for_report()?;
    let mut found = app.status(if environment.is_on(OFF_VARIABLE) {
        CaptureSwitch::Off
    } else {
        CaptureSwitch::On
    });
    found.trouble = found.database_error.as_ref().map(describe_trouble);
    if args.json {
        out.print_json(&found)?;
    } else {
        print_text(&found, &app.paths, &environment, out)?;
    }
    Ok(Exit::GoOn)
}

/// What is wrong with the database, and what to do.
fn describe_trouble(error: &AppError) -> String {
    match error.kind {
        ErrorKind::DatabaseGone => format!("the database {DATABASE_GONE_MESSAGE}"),
        _ => format!("{error}; see `remora doctor`"),
    }
}

fn print_text(
    found: &StatusResponse,
    paths: &DataPaths,
    environment: &Environment,
    out: &mut Output,
) -> Result<(), CliError> {
    let version = concat!("remora ", env!("CARGO_PKG_VERSION"));
    out.print_text(&format!("{}\n", out.paint(Style::Bold, version)))?;
    let mut lines = vec![(
        "data",
        escape_invisible(&paths.home().display().to_string()),
        Style::Plain,
    )];
    if let Some(fault) = &found.data_dir_trouble {
        let text = format!("{}; nothing is captured", escape_invisible(fault));
        lines.push(("refused", text, Style::Red));
    }
    match &found.trouble {
        None => lines.extend(format_counts(found)),
        Some(trouble) => lines.push(("kept", trouble.clone(), Style::Red)),
    }
    if found.items.is_some_and(|items| items > 0) {
        let embedded = format_count(found.vectors.embedded, "item", "items");
        let mut text = format!(
            "{embedded}, {} waiting",
            format_number(found.vectors.waiting)
        );
        let mut style = Style::Plain;
        if let WorkerState::Runs(reply) = &found.worker_state {
            if reply.unembeddable > 0 {
                let rows = format_count(reply.unembeddable, "item", "items");
                let _ = write!(text, "; the model failed on {rows}");
            }
            if let Some(trouble) = &reply.embedding_trouble {
                let _ = write!(text, "; {}", flatten_text(trouble));
                style = Style::Yellow;
            }
        }
        lines.push(("vectors", text, style));
    }
    lines.push((
        "size",
        format!(
            "{} database, {} archive",
            format_size(found.db_bytes),
            format_size(found.archive_bytes)
        ),
        Style::Plain,
    ));
    let waiting = format_count(found.spool, "event", "events");
    let dead = format_count(found.dead, "dead letter", "dead letters");
    let style = if found.dead > 0 {
        Style::Yellow
    } else {
        Style::Plain
    };
    let mut text = format!("{waiting}, {dead}");
    if found.put_off > 0 {
        let events = format_count(found.put_off, "event", "events");
        let _ = write!(text, "; the worker died on {events}, see `remora doctor`");
    }
    lines.push(("waiting", text, style));
    lines.push(format_worker(found));
    if found.deaths.len() >= CRASH_LOOP_COUNT {
        let text = format!("{}; see `remora doctor`", describe_crashes(&found.deaths));
        lines.push(("crashes", text, Style::Red));
    }
    if let Some(fault) = &found.config_trouble {
        let text = format!("{fault}; nothing is stored until it can be read");
        lines.push(("config", text, Style::Red));
    }
    if environment.is_on(OFF_VARIABLE) {
        lines.push(("off", pause::SWITCHED_OFF.to_owned(), Style::Yellow));
    } else if environment.is_off(RECALL_VARIABLE) {
        let text = pause::RECALL_SWITCHED_OFF.to_owned();
        lines.push(("off", text, Style::Yellow));
    }
    for paused in found.paused.iter().map(pause::in_words) {
        let text = format!("{}; `{}` ends it", paused.what, paused.ender);
        lines.push(("off", text, Style::Yellow));
    }
    for (name, text, style) in lines {
        let lead = format!("  {name:<9} ");
        let wrapped = hang_text(&lead, &text);
        let body = wrapped.trim_end().strip_prefix(&lead).unwrap_or_default();
        let lead = out.paint(Style::Dim, &lead);
        out.print_text(&format!("{lead}{}\n", out.paint(style, body)))?;
    }
    Ok(())
}

fn format_counts(found: &StatusResponse) -> [(&'static str, String, Style); 2] {
    let mut kept = vec![
        format_count(found.observations, "observation", "observations"),
        format_count(found.prompts, "prompt", "prompts"),
        format_count(found.summaries, "summary", "summaries"),
        format_count(found.fixes, "fix", "fixes"),
        format_count(found.memories, "memory", "memories"),
    ];
    if found.messages > 0 {
        kept.push(format_count(found.messages, "message", "messages"));
    }
    if found.commits > 0 {
        kept.push(format_count(found.commits, "commit", "commits"));
    }
    let mut from = format!(
        "{} in {} of {}",
        format_count(found.events, "event", "events"),
        format_count(found.sessions, "session", "sessions"),
        format_count(found.projects, "project", "projects")
    );
    // One agent goes without saying.
    if found.agents.len() > 1 {
        let by_agent = found.agents.iter().map(|(name, count)| {
            let sessions = format_count(*count, "session", "sessions");
            format!("{}: {sessions}", escape_invisible(name))
        });
        let _ = write!(from, "; {}", by_agent.collect::<Vec<_>>().join(", "));
    }
    [
        ("kept", kept.join(", "), Style::Plain),
        ("from", from, Style::Plain),
    ]
}

fn format_worker(found: &StatusResponse) -> (&'static str, String, Style) {
    let (text, style) = match &found.worker_state {
        WorkerState::Runs(reply) => {
            let since = TimeFormatter::new().format_timestamp(reply.started);
            let runs = format!(
                "runs: process {}, version {}, since {since}",
                reply.pid, reply.version
            );
            match &reply.trouble {
                Some(trouble) => (
                    format!("{runs}; cannot store: {}", escape_invisible(trouble)),
                    Style::Red,
                ),
                None => (runs, Style::Green),
            }
        }
        WorkerState::Silent => (
            "runs, but does not answer; see `remora doctor`".to_owned(),
            Style::Yellow,
        ),
        WorkerState::None if found.spool > 0 => (
            "does not run; `remora worker start` takes what waits".to_owned(),
            Style::Yellow,
        ),
        WorkerState::None => (
            "does not run; the next event starts it".to_owned(),
            Style::Plain,
        ),
    };
    ("worker", text, style)
}
