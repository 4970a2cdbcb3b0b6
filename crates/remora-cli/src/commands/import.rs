//! `remora import`: memories from elsewhere. A file is looked through before
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

use remora_memory::redact::Redactor;
use remora_memory::store::Store;
use remora_server::Forgotten;
use remora_store::SqliteStore;
use serde_json::json;

use crate::args::{Import, ImportJsonl};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::search::scope;
use crate::commands::vectors::{self, Made, Rest};
use crate::commands::{memory, tier, worker};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(crate) use line::VERSION;
pub(crate) use load::{Loaded, Target};
pub(crate) use source::Source;
pub(crate) use transcripts::{PastSession, past_sessions};

/// Rows whose meaning is worked out before the import is over: some minutes,
/// and as long as a person may want to wait.
const AT_ONCE: u64 = 20_000;
/// Faults that are told one by one.
const TOLD: usize = 20;

/// What is done with a line that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadLines {
    /// Nothing of the file is imported.
    Refuse,
    /// It is left out, and told.
    Skip,
}

/// A line that cannot be read.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) line: u64,
    pub(crate) reason: String,
}

pub(crate) fn run(command: &Import, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        Import::Jsonl(args) => jsonl(args, out),
        Import::ClaudeCode(args) => transcripts::run(args, out),
        Import::ClaudeMem(args) => database::run(args, out),
        Import::Git(args) => git::run(args, out),
        Import::Memory(args) => memory::import_notes(args, out),
    }
}

/// Whether vectors are made of what came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vectors {
    Wanted,
    Unwanted,
}

impl Vectors {
    fn asked(none: bool) -> Self {
        if none { Self::Unwanted } else { Self::Wanted }
    }
}

/// Makes vectors of what came in, as far as that takes no time, and lets go of
/// the store; a worker makes the rest.
fn embed(
    data: &Data,
    store: SqliteStore,
    mut guard: Exclusive,
    wanted: Vectors,
) -> Result<(Made, Rest), CliError> {
    let encoder = tier::encoder(&data.config);
    let made = match &encoder {
        Some(encoder) if wanted == Vectors::Wanted => vectors::make(&store, encoder, AT_ONCE)?,
        _ => Made::nothing(&store)?,
    };
    let rest = Rest::of(&data.config, &made);
    if rest == Rest::Worker {
        guard.leave_a_worker();
    }
    // Before the guard, which may start the worker.
    drop(store);
    drop(guard);
    Ok((made, rest))
}

fn jsonl(args: &ImportJsonl, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let redactor = redactor(&data)?;
    data.paths.prepare().map_err(|source| CliError::File {
        path: data.paths.home().to_path_buf(),
        source,
    })?;
    let source = Source::open(Path::new(&args.file), data.paths.home())?;
    let bad = if args.skip_bad {
        BadLines::Skip
    } else {
        BadLines::Refuse
    };
    // Faults are found before the worker is disturbed.
    let checked = load::check(&source, args.project.as_deref())?;
    if bad == BadLines::Refuse && !checked.faults.is_empty() {
        return Err(refused(&source.name, &checked.faults));
    }
    let guard = Exclusive::take(&data.paths)?;
    let store = data.writable()?;
    let target = Target {
        forgotten: Forgotten::load(&data.paths)?,
        store: &store,
        archive: Some(data.paths.archive()),
        redactor: &redactor,
        project: args
            .project
            .as_deref()
            .map(|name| scope::named_or_new(&data, &store, name))
            .transpose()?,
        now: clock::millis(),
    };
    let loaded = load::load(&source, &checked, target)?;
    if loaded.corrections > 0 {
        remora_server::overrides::save(&data.paths, &store)?;
    }
    let (made, rest) = embed(&data, store, guard, Vectors::asked(args.no_vectors))?;
    report(args, &checked.faults, &loaded, &made, out)?;
    if !args.json {
        rest.say(&made, out)?;
    }
    Ok(made.exit())
}

/// The redactor of this configuration.
pub(crate) fn redactor(data: &Data) -> Result<Redactor, CliError> {
    let rules = worker::policy(data).redaction;
    Redactor::new(&rules)
        .map_err(|e| CliError::Usage(format!("{}: {e}", data.paths.config().display())))
}

fn refused(name: &str, faults: &[Fault]) -> CliError {
    let mut text = String::new();
    for fault in faults.iter().take(TOLD) {
        let _ = writeln!(text, "{name}:{}: {}", fault.line, fault.reason);
    }
    if faults.len() > TOLD {
        let _ = writeln!(text, "and {} more", faults.len() - TOLD);
    }
    text.push_str("nothing was imported; --skip-bad leaves such lines out");
    CliError::Usage(text)
}

/// Reads a corpus into an empty store, as `import jsonl` does.
pub(crate) fn into_store(
    source: &Source,
    store: &dyn Store,
    redactor: &Redactor,
) -> Result<Loaded, CliError> {
    let checked = load::check(source, None)?;
    if !checked.faults.is_empty() {
        return Err(refused(&source.name, &checked.faults));
    }
    let target = Target {
        forgotten: Forgotten::default(),
        store,
        archive: None,
        redactor,
        project: None,
        now: clock::millis(),
    };
    load::load(source, &checked, target)
}

fn report(
    args: &ImportJsonl,
    faults: &[Fault],
    loaded: &Loaded,
    made: &Made,
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
        let mut told = json!({
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
        made.add_trouble(&mut told);
        return out.json(&told);
    }
    let counts = [
        (loaded.items, "items"),
        (loaded.sessions, "sessions"),
        (loaded.projects, "projects"),
        (loaded.files, "files"),
        (loaded.events, "events"),
        (loaded.raw, "raw events"),
    ];
    let told: Vec<String> = counts
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
    let told = if told.is_empty() {
        "nothing".to_owned()
    } else {
        told.join(", ")
    };
    let there = match loaded.unchanged {
        0 => String::new(),
        1 => "; 1 item was there already".to_owned(),
        count => format!("; {count} items were there already"),
    };
    out.text(&format!("imported {told}{there}\n"))?;
    if loaded.saved > 0 {
        let what = if loaded.saved == 1 {
            "1 row of a saved memory is"
        } else {
            &format!("{} rows of saved memories are", loaded.saved)
        };
        out.text(&format!(
            "{what} left out: the files are the truth, and rows follow those that are here\n"
        ))?;
    }
    if !loaded.marks.is_empty() {
        let kinds: Vec<String> = loaded
            .marks
            .iter()
            .map(|mark| format!("{} {}", mark.count, mark.kind))
            .collect();
        out.text(&format!("redacted {}\n", kinds.join(", ")))?;
    }
    if !faults.is_empty() {
        let head = format!("left out {} bad lines:", faults.len());
        let head = out.paint(Style::Yellow, &head);
        out.text(&format!("{head}\n"))?;
        for fault in faults.iter().take(TOLD) {
            out.text(&format!("  line {}: {}\n", fault.line, fault.reason))?;
        }
        if faults.len() > TOLD {
            out.text(&format!("  and {} more\n", faults.len() - TOLD))?;
        }
    }
    Ok(())
}
