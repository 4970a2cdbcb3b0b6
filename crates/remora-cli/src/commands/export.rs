//! `remora export`: everything as JSON lines, in a fixed order, so that two
//! exports of the same memory differ only in the time of their first line.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use remora_agents::read_origin;
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, Store};
use remora_server::archive::{self, Archive, ArchivedEvent};
use serde_json::json;

use crate::args::{self, ExportArgs};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::import::EXPORT_VERSION;
use crate::commands::parts::{self, StorePart};
use crate::commands::progress::Progress;
use crate::commands::show::lines::format_count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use remora_app::TimeSpanRequest;

/// Lines are handed on in pieces of about this size.
const CHUNK_BYTES: usize = 64 * 1024;

pub(crate) fn run(args: &ExportArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let store = data.app.open_store()?;
    let filter = match &store {
        Some(store) => build_filter(args, &data, &**store)?,
        None => Filter::default(),
    };
    let store = store.as_deref();
    let Some(path) = &args.out else {
        let mut pieces = ChunkWriter::new(|piece| out.print_text(piece));
        write_parts(args, &data, store, &filter, &mut pieces)?;
        return Ok(Exit::GoOn);
    };
    let lines = to_file(path, |file| {
        let mut pieces = ChunkWriter::new(|piece| Ok(file.write_all(piece.as_bytes())?));
        write_parts(args, &data, store, &filter, &mut pieces)
    })?;
    let lines = format_count(lines, "line", "lines");
    out.print_text(&format!("exported {lines} to {}\n", path.display()))?;
    Ok(Exit::GoOn)
}

fn build_filter(args: &ExportArgs, data: &DataDir, store: &dyn Store) -> Result<Filter, CliError> {
    let place = args::ProjectScopeArgs {
        all: true,
        project: args.project.clone(),
    };
    let span = TimeSpanRequest {
        since: args.since.clone(),
        until: None,
    };
    Ok(Filter {
        project: data
            .app
            .read_limits()?
            .resolve_project(&data.app, store, &place.to_choice())?,
        since: span.resolve(&data.app.clock.now())?.since,
        ..Filter::default()
    })
}

/// Writes beside the file and renames, so that it is whole or not there.
fn to_file(
    path: &Path,
    fill: impl FnOnce(&mut std::fs::File) -> Result<u64, CliError>,
) -> Result<u64, CliError> {
    let fault = |source| CliError::File {
        path: path.to_path_buf(),
        source,
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let text = format!("{}: no such folder", folder.display());
        return Err(CliError::Usage(text));
    }
    let mut fresh = tempfile::NamedTempFile::new_in(folder).map_err(fault)?;
    let count = fill(fresh.as_file_mut())?;
    fresh.as_file().sync_all().map_err(fault)?;
    fresh.persist(path).map_err(|e| fault(e.error))?;
    Ok(count)
}

/// Everything; returns how many lines.
fn write_parts(
    args: &ExportArgs,
    data: &DataDir,
    store: Option<&dyn Store>,
    filter: &Filter,
    pieces: &mut ChunkWriter<impl FnMut(&str) -> Result<(), CliError>>,
) -> Result<u64, CliError> {
    pieces.write_line(&json!({
        "remora": "export",
        "version": EXPORT_VERSION,
        "program": env!("CARGO_PKG_VERSION"),
        "time": format_rfc3339(clock::now_ms()),
    }))?;
    if let Some(store) = store {
        let all = parts::count_records(&store.count_contents()?);
        let mut progress = Progress::new("exporting");
        parts::visit_parts(store, filter, &mut |part| {
            progress.update_line(pieces.lines, all, "");
            pieces.write_line(&part)
        })?;
    }
    if args.events {
        write_raw_events(data, filter, pieces)?;
    }
    pieces.finish()
}

/// Raw events of the archive, each once: a worker that was killed may have
/// archived one twice.
fn write_raw_events(
    data: &DataDir,
    filter: &Filter,
    pieces: &mut ChunkWriter<impl FnMut(&str) -> Result<(), CliError>>,
) -> Result<(), CliError> {
    let archive = Archive::new(data.app.paths.archive_dir());
    let all = archive.disk_bytes();
    let mut progress = Progress::new("exporting raw events");
    let mut done = 0;
    let mut seen = HashSet::new();
    for file in archive.list_files()? {
        // `read_events` cannot be ended from its callback, so the first error is kept and
        // the rest of the file is skipped.
        let mut failed = None;
        let read = archive::read_events(&file, |event| {
            if failed.is_none()
                && matches_filter(&event, filter)
                && seen.insert(event.envelope.id.clone())
            {
                failed = pieces.write_line(&StorePart::Raw(Box::new(event))).err();
            }
        });
        read.map_err(|source| CliError::File {
            path: file.clone(),
            source,
        })?;
        if let Some(e) = failed {
            return Err(e);
        }
        done += std::fs::metadata(&file).map_or(0, |m| m.len());
        progress.update_line(done, all, "");
    }
    Ok(())
}

fn matches_filter(event: &ArchivedEvent, filter: &Filter) -> bool {
    filter.since.is_none_or(|since| event.envelope.at >= since)
        && filter
            .project
            .as_deref()
            .is_none_or(|only| only == project_of(event))
}

/// The key of the project that an archived event belongs to.
pub(crate) fn project_of(event: &ArchivedEvent) -> &str {
    match &event.envelope.project {
        Some(project) => &project.key,
        None => read_origin(&event.event).cwd,
    }
}

/// Lines, gathered into larger pieces.
struct ChunkWriter<F> {
    text: String,
    lines: u64,
    take: F,
}

impl<F: FnMut(&str) -> Result<(), CliError>> ChunkWriter<F> {
    fn new(take: F) -> Self {
        Self {
            text: String::new(),
            lines: 0,
            take,
        }
    }

    fn write_line(&mut self, value: &impl serde::Serialize) -> Result<(), CliError> {
        self.text.push_str(&serde_json::to_string(value)?);
        self.text.push('\n');
        self.lines += 1;
        if self.text.len() >= CHUNK_BYTES {
            (self.take)(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<u64, CliError> {
        (self.take)(&self.text)?;
        self.text.clear();
        Ok(self.lines)
    }
}
