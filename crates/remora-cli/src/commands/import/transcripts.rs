//! `remora import` of an agent's past sessions: its transcripts become the
//! items that its hooks would have made. Importing again brings only what is
//! new, and may be broken off at any time.

mod bring;
mod find;
mod location;
mod state;
mod stream;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remora_agents::AgentSpec;
use remora_agents::transcript::TranscriptSpec;
use remora_core::record::Kind;
use remora_memory::store::Store;
use remora_server::ingest::{EventRedactor, ImportIngest};
use serde_json::{Value, json};

use self::bring::{ImportPreview, ImportStats, ReadAhead};
use self::find::TranscriptScan;
use self::location::TranscriptDirs;
use self::state::ImportState;
use super::{EmbeddingChoice, MAX_SHOWN_ERRORS, embed_imported};
use crate::args::ImportSessionsArgs;
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::install;
use crate::commands::show::lines::{format_count, format_counts, format_size};
use crate::commands::vectors::EmbeddingStats;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use remora_app::TimeSpanRequest;

/// Lines that cannot be read which are remembered.
const MAX_UNREADABLE_LINES: usize = 10_000;

/// A line that cannot be read; line 0 is the whole file.
#[derive(Debug)]
struct UnreadableLine {
    file: PathBuf,
    line: u64,
    reason: String,
}

impl UnreadableLine {
    fn format_location(&self) -> String {
        let file = self.file.display();
        match self.line {
            0 => file.to_string(),
            line => format!("{file}:{line}"),
        }
    }
}

pub(crate) use self::bring::PastSession;

/// The sessions of an agent whose transcripts are under a folder, as their
/// events, in the order in which they began. All of them are over.
pub(crate) fn past_sessions(
    spec: &'static AgentSpec,
    folder: &Path,
) -> Result<Vec<PastSession>, CliError> {
    let paths = [folder.to_path_buf()];
    let state = ImportState::in_memory();
    let found = find::find_transcripts(format_of(spec)?, &paths, &state, None, i64::MAX)?;
    Ok(bring::read_sessions(&found))
}

fn format_of(spec: &'static AgentSpec) -> Result<&'static TranscriptSpec, CliError> {
    let none = || CliError::Usage(format!("{} keeps no past sessions", spec.name));
    spec.transcripts.as_ref().ok_or_else(none)
}

pub(super) fn run(
    spec: &'static AgentSpec,
    args: &ImportSessionsArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let redactor = data.app.build_redactor()?;
    let format = format_of(spec)?;
    let since = TimeSpanRequest {
        since: args.since.clone(),
        until: None,
    }
    .resolve(&data.app.clock.now())?
    .since;
    let paths = if args.paths.is_empty() {
        default_folders(&data, spec, format)?
    } else {
        let whole = |path: &PathBuf| {
            std::path::absolute(path).map_err(|source| CliError::File {
                path: path.clone(),
                source,
            })
        };
        args.paths.iter().map(whole).collect::<Result<_, _>>()?
    };
    let mut state = match since {
        None => {
            let folder = data.app.paths.home().join("import");
            ImportState::open(folder.join(format!("{}.json", spec.name)))
        }
        // `--since` leaves lines out; a saved position would keep a later
        // import from ever reading them.
        Some(_) => ImportState::in_memory(),
    };
    // Before the lock: a wrong path must not stop the worker.
    let found = find::find_transcripts(format, &paths, &state, since, clock::now_ms())?;
    if args.dry_run {
        let preview = bring::preview_import(spec.name, &found, since);
        return print_preview(args, &found, &preview, out);
    }
    let guard = data.app.lock_worker()?;
    let store = data.app.open_writable_store()?;
    let project = args.project.as_deref();
    let project = project
        .map(|name| data.app.resolve_or_name_project(&*store, name))
        .transpose()?;
    let ahead = ReadAhead {
        agent: spec.name,
        found: &found,
        cleaner: EventRedactor::new(&redactor, data.app.config.get_list("capture.ignore")),
        places: TranscriptDirs::new(data.app.paths.clone(), data.environment.home(), project),
        since,
    };
    let mut ingest = ImportIngest::new(&*store, data.app.config.capture_policy(), &data.app.paths)?;
    // By difference: a fix is written again whenever its error comes back.
    let before = count_fixes(&*store)?;
    let mut brought = bring::import_transcripts(ahead, &mut ingest, &mut state)?;
    brought.fixes = count_fixes(&*store)?.saturating_sub(before);
    // A user who interrupts wants to stop, not to wait for embeddings.
    let wanted = EmbeddingChoice::from_flag(args.no_vectors || brought.stopped);
    let (made, rest) = embed_imported(&data, store, guard, wanted)?;
    if args.json {
        as_json(&found, &brought, &made, out)?;
    } else {
        as_text(&found, &brought, out)?;
        rest.print_notice(&made, out)?;
        if brought.stopped {
            let (read, all) = (
                format_size(brought.read),
                format_size(found.count_unread_bytes()),
            );
            out.print_text(&format!(
                "stopped after {read} of {all}; the same command brings the rest\n"
            ))?;
        } else if brought.events > 0 {
            out.print_text("try: remora sessions · remora search --all WORDS · remora recap\n")?;
        }
    }
    Ok(if brought.stopped {
        Exit::Stopped
    } else {
        made.to_exit()
    })
}

/// The folders in which the agent keeps its transcripts, as far as they are
/// there.
fn default_folders(
    data: &DataDir,
    spec: &AgentSpec,
    format: &TranscriptSpec,
) -> Result<Vec<PathBuf>, CliError> {
    let folders = (format.folders)(&install::build_agent_paths(data, spec)?);
    let there: Vec<PathBuf> = folders.iter().filter(|f| f.is_dir()).cloned().collect();
    if there.is_empty() {
        let missing = folders.first().cloned().unwrap_or_default();
        return Err(CliError::Usage(format!(
            "{}: no such folder; name the folder or the transcripts, or set {}",
            missing.display(),
            spec.environment.config_variable
        )));
    }
    Ok(there)
}

/// How many fixes are known.
fn count_fixes(store: &dyn Store) -> Result<u64, CliError> {
    let counts = store.count_contents()?.items;
    let fixes = counts.iter().find(|(kind, _)| *kind == Kind::Fix);
    Ok(fixes.map_or(0, |(_, count)| *count))
}

/// Items as users count them.
struct ImportCounts {
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    fixes: u64,
}

impl ImportCounts {
    fn from_stats(brought: &ImportStats) -> Self {
        let rows = |wanted: &dyn Fn(Kind) -> bool| {
            let rows = brought.rows.iter().filter(|(kind, _)| wanted(**kind));
            rows.map(|(_, count)| count).sum()
        };
        Self {
            sessions: brought.sessions.len() as u64,
            prompts: rows(&|kind| kind == Kind::Prompt),
            observations: rows(&Kind::is_observation),
            summaries: rows(&|kind| kind == Kind::Summary),
            fixes: brought.fixes,
        }
    }
}

fn as_text(
    found: &TranscriptScan,
    brought: &ImportStats,
    out: &mut Output,
) -> Result<(), CliError> {
    let counted = ImportCounts::from_stats(brought);
    let files = format_count(found.count_files(), "transcript", "transcripts");
    let counts = [
        (counted.sessions, "session", "sessions"),
        (counted.prompts, "prompt", "prompts"),
        (counted.observations, "observation", "observations"),
        (counted.summaries, "summary", "summaries"),
        (counted.fixes, "fix", "fixes"),
    ];
    let counts = format_counts(&counts).unwrap_or_else(|| "nothing new".to_owned());
    out.print_text(&format!(
        "read {files}, {}: {counts}\n",
        format_size(brought.read)
    ))?;
    let mut known = Vec::new();
    if brought.repeated > 0 {
        known.push(format_count(brought.repeated, "event", "events"));
    }
    if found.unchanged > 0 {
        known.push(format_count(
            found.unchanged,
            "unchanged transcript",
            "unchanged transcripts",
        ));
    }
    if !known.is_empty() {
        out.print_text(&format!("here already: {}\n", known.join(", ")))?;
    }
    if !brought.marks.is_empty() {
        let kinds: Vec<String> = brought
            .marks
            .iter()
            .map(|mark| format!("{} {}", mark.count, mark.kind))
            .collect();
        out.print_text(&format!("redacted {}\n", kinds.join(", ")))?;
    }
    left_out(&brought.bad, out)
}

fn left_out(bad: &[UnreadableLine], out: &mut Output) -> Result<(), CliError> {
    if bad.is_empty() {
        return Ok(());
    }
    let lines = format_count(bad.len() as u64, "line", "lines");
    let head = format!("left out {lines} that cannot be read:");
    out.print_text(&format!("{}\n", out.paint(Style::Yellow, &head)))?;
    for bad in bad.iter().take(MAX_SHOWN_ERRORS) {
        out.print_text(&format!(
            "  {}: {}\n",
            escape_invisible(&bad.format_location()),
            bad.reason
        ))?;
    }
    if bad.len() > MAX_SHOWN_ERRORS {
        out.print_text(&format!("  and {} more\n", bad.len() - MAX_SHOWN_ERRORS))?;
    }
    Ok(())
}

fn skipped_to_json(bad: &[UnreadableLine]) -> Vec<Value> {
    bad.iter()
        .map(|bad| json!({ "file": bad.file, "line": bad.line, "reason": bad.reason }))
        .collect()
}

fn as_json(
    found: &TranscriptScan,
    brought: &ImportStats,
    made: &EmbeddingStats,
    out: &mut Output,
) -> Result<(), CliError> {
    let counted = ImportCounts::from_stats(brought);
    let redacted: BTreeMap<&str, usize> = brought
        .marks
        .iter()
        .map(|mark| (mark.kind, mark.count))
        .collect();
    let mut report = json!({
        "files": found.count_files(),
        "unchanged": found.unchanged,
        "bytes": brought.read,
        "events": brought.events,
        "known": brought.repeated,
        "sessions": counted.sessions,
        "prompts": counted.prompts,
        "observations": counted.observations,
        "summaries": counted.summaries,
        "fixes": counted.fixes,
        "redacted": redacted,
        "skipped": skipped_to_json(&brought.bad),
        "stopped": brought.stopped,
        "embedded": made.embedded,
        "waiting": made.waiting,
    });
    made.add_trouble(&mut report);
    out.print_json(&report)
}

fn print_preview(
    args: &ImportSessionsArgs,
    found: &TranscriptScan,
    preview: &ImportPreview,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(&json!({
            "dry_run": true,
            "files": found.count_files(),
            "unchanged": found.unchanged,
            "bytes": found.count_unread_bytes(),
            "sessions": preview.sessions.len(),
            "prompts": preview.prompts,
            "calls": preview.calls,
            "failures": preview.failures,
            "turns": preview.turns,
            "skipped": skipped_to_json(&preview.bad),
        }))?;
        return Ok(Exit::GoOn);
    }
    let counts = [
        format_count(preview.sessions.len() as u64, "session", "sessions"),
        format_count(preview.prompts, "prompt", "prompts"),
        format_count(preview.calls, "call", "calls"),
        format_count(preview.failures, "failed call", "failed calls"),
        format_count(preview.turns, "turn", "turns"),
    ];
    let files = format_count(found.count_files(), "transcript", "transcripts");
    out.print_text(&format!(
        "would read {files}, {}: {}\n",
        format_size(found.count_unread_bytes()),
        counts.join(", ")
    ))?;
    left_out(&preview.bad, out)?;
    Ok(Exit::GoOn)
}
