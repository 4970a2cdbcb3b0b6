//! `remora import`: memories from elsewhere. A file is checked before
//! anything of it is stored, and importing it twice changes nothing.

mod corpus;
mod database;
mod git;
mod line;
mod load;
mod source;
mod transcripts;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use remora_memory::store::Store;
use remora_redact::Redactor;
use remora_server::DeletionLog;
use serde_json::json;

use crate::args::{ImportCommand, ImportJsonlArgs, ImportSourceCommand};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::memory;
use crate::commands::vectors::{self, EmbeddingFollowUp, EmbeddingStats};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use remora_app::worker_lock::WorkerLock;
use remora_app::worker_lock::prepare_data_dir;

pub(crate) use line::EXPORT_VERSION;
pub(crate) use load::{ImportDestination, LoadStats};
pub(crate) use source::ImportSource;
pub(crate) use transcripts::{PastSession, past_sessions};

/// Items that an import embeds before it ends: some minutes, as long as a user
/// may want to wait.
const MAX_EMBEDDED_ITEMS: u64 = 20_000;
/// Errors that are listed one by one.
const MAX_SHOWN_ERRORS: usize = 20;

/// What is done with a line that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadLines {
    /// Nothing of the file is imported.
    Refuse,
    /// It is left out and reported.
    Skip,
}

/// A line that cannot be read.
#[derive(Debug)]
pub(crate) struct LineError {
    pub(crate) line: u64,
    pub(crate) reason: String,
}

pub(crate) fn run(command: &ImportCommand, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        ImportCommand::Sessions(spec, args) => transcripts::run(spec, args, out),
        ImportCommand::Source(source) => match source {
            ImportSourceCommand::Jsonl(args) => run_jsonl(args, out),
            ImportSourceCommand::ClaudeMem(args) => database::run(args, out),
            ImportSourceCommand::Git(args) => git::run(args, out),
            ImportSourceCommand::Memory(args) => memory::import_notes(args, out),
        },
    }
}

/// Whether vectors are made of what came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmbeddingChoice {
    Wanted,
    Unwanted,
}

impl EmbeddingChoice {
    fn from_flag(none: bool) -> Self {
        if none { Self::Unwanted } else { Self::Wanted }
    }
}

/// Embeds what came in, up to [`MAX_EMBEDDED_ITEMS`], and releases the store; a
/// worker embeds the rest.
fn embed_imported(
    data: &DataDir,
    store: Box<dyn Store>,
    mut guard: WorkerLock,
    wanted: EmbeddingChoice,
) -> Result<(EmbeddingStats, EmbeddingFollowUp), CliError> {
    let encoder = remora_app::build_encoder(&data.app.config);
    let made = match &encoder {
        Some(encoder) if wanted == EmbeddingChoice::Wanted => {
            vectors::embed_waiting(&*store, encoder, MAX_EMBEDDED_ITEMS)?
        }
        _ => EmbeddingStats::none_embedded(&*store)?,
    };
    let rest = EmbeddingFollowUp::from_stats(&data.app.config, &made);
    if rest == EmbeddingFollowUp::Worker {
        guard.leave_a_worker();
    }
    // Before the guard, which may start the worker: it must find the store
    // free.
    drop(store);
    drop(guard);
    Ok((made, rest))
}

fn run_jsonl(args: &ImportJsonlArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let redactor = data.app.build_redactor()?;
    prepare_data_dir(&data.app.paths)?;
    let source = ImportSource::open(Path::new(&args.file), data.app.paths.home())?;
    let bad = if args.skip_bad {
        BadLines::Skip
    } else {
        BadLines::Refuse
    };
    // Faults are found before the worker is disturbed.
    let checked = load::check_source(&source, args.project.as_deref())?;
    if bad == BadLines::Refuse && !checked.faults.is_empty() {
        return Err(bad_lines_error(&source.name, &checked.faults));
    }
    let guard = data.app.lock_worker()?;
    let store = data.app.open_writable_store()?;
    let target = ImportDestination {
        forgotten: DeletionLog::load(&data.app.paths)?,
        store: &*store,
        archive: Some(data.app.paths.archive_dir()),
        redactor: &redactor,
        project: args
            .project
            .as_deref()
            .map(|name| data.app.resolve_or_name_project(&*store, name))
            .transpose()?,
        now: clock::now_ms(),
    };
    let loaded = load::load_source(&source, &checked, target)?;
    // The copy outside of the database, which a rebuild reads; it must have
    // them from the start.
    if loaded.corrections > 0 {
        remora_server::overrides::save_overrides(&data.app.paths, &*store)?;
    }
    let (made, rest) = embed_imported(
        &data,
        store,
        guard,
        EmbeddingChoice::from_flag(args.no_vectors),
    )?;
    print_report(args, &checked.faults, &loaded, &made, out)?;
    if !args.json {
        rest.print_notice(&made, out)?;
    }
    Ok(made.to_exit())
}

fn bad_lines_error(name: &str, faults: &[LineError]) -> CliError {
    let mut text = String::new();
    for fault in faults.iter().take(MAX_SHOWN_ERRORS) {
        let _ = writeln!(text, "{name}:{}: {}", fault.line, fault.reason);
    }
    if faults.len() > MAX_SHOWN_ERRORS {
        let _ = writeln!(text, "and {} more", faults.len() - MAX_SHOWN_ERRORS);
    }
    text.push_str("nothing was imported; --skip-bad leaves such lines out");
    CliError::Usage(text)
}

/// Reads a corpus into an empty store, as `import jsonl` does.
pub(crate) fn into_store(
    source: &ImportSource,
    store: &dyn Store,
    redactor: &Redactor,
) -> Result<LoadStats, CliError> {
    let checked = load::check_source(source, None)?;
    if !checked.faults.is_empty() {
        return Err(bad_lines_error(&source.name, &checked.faults));
    }
    let target = ImportDestination {
        forgotten: DeletionLog::default(),
        store,
        archive: None,
        redactor,
        project: None,
        now: clock::now_ms(),
    };
    load::load_source(source, &checked, target)
}

fn print_report(
    args: &ImportJsonlArgs,
    faults: &[LineError],
    loaded: &LoadStats,
    made: &EmbeddingStats,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.json {
        let skipped: Vec<_> = faults
            .iter()
            .map(|fault| json!({ "line": fault.line, "reason": fault.reason }))
            .collect();
        let redacted: BTreeMap<&str, usize> = loaded
            .marks
            .iter()
            .map(|mark| (mark.kind, mark.count))
            .collect();
        let mut report = json!({
            "lines": loaded.lines,
            "items": loaded.items,
            "unchanged": loaded.unchanged,
            "sessions": loaded.sessions,
            "projects": loaded.projects,
            "files": loaded.files,
            "events": loaded.events,
            "raw": loaded.raw,
            "saved": loaded.saved,
            "redacted": redacted,
            "skipped": skipped,
            "embedded": made.embedded,
            "waiting": made.waiting,
        });
        made.add_trouble(&mut report);
        return out.print_json(&report);
    }
    let counts = [
        (loaded.items, "items"),
        (loaded.sessions, "sessions"),
        (loaded.projects, "projects"),
        (loaded.files, "files"),
        (loaded.events, "events"),
        (loaded.raw, "raw events"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| {
            let word = if *count == 1 {
                word.trim_end_matches('s')
            } else {
                word
            };
            format!("{count} {word}")
        })
        .collect();
    let counts = if counts.is_empty() {
        "nothing".to_owned()
    } else {
        counts.join(", ")
    };
    let there = match loaded.unchanged {
        0 => String::new(),
        1 => "; 1 item was there already".to_owned(),
        count => format!("; {count} items were there already"),
    };
    out.print_text(&format!("imported {counts}{there}\n"))?;
    if loaded.saved > 0 {
        let what = if loaded.saved == 1 {
            "1 item of a saved memory is"
        } else {
            &format!("{} items of saved memories are", loaded.saved)
        };
        out.print_text(&format!(
            "{what} left out: the files are the source, and items follow those that are here\n"
        ))?;
    }
    if !loaded.marks.is_empty() {
        let kinds: Vec<String> = loaded
            .marks
            .iter()
            .map(|mark| format!("{} {}", mark.count, mark.kind))
            .collect();
        out.print_text(&format!("redacted {}\n", kinds.join(", ")))?;
    }
    if !faults.is_empty() {
        let head = format!("left out {} bad lines:", faults.len());
        let head = out.paint(Style::Yellow, &head);
        out.print_text(&format!("{head}\n"))?;
        for fault in faults.iter().take(MAX_SHOWN_ERRORS) {
            out.print_text(&format!("  line {}: {}\n", fault.line, fault.reason))?;
        }
        if faults.len() > MAX_SHOWN_ERRORS {
            out.print_text(&format!("  and {} more\n", faults.len() - MAX_SHOWN_ERRORS))?;
        }
    }
    Ok(())
}
