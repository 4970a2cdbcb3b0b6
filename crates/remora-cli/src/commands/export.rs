//! `remora export`: everything as JSON lines, in a fixed order, so that two
//! exports of the same memory differ only in the time of their first line.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use remora_memory::store::{Filter, Store};
use remora_protocol::time::rfc3339;
use remora_server::archive::{self, Archive, Archived};
use serde_json::{Value, json};

use crate::args::{self, Export};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::import::VERSION;
use crate::commands::parts::{self, Part};
use crate::commands::progress::Progress;
use crate::commands::reader::Reader;
use crate::commands::search::when;
use crate::commands::show::lines::count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// Lines are handed on in pieces of about this size.
const PIECE: usize = 64 * 1024;

pub(crate) fn run(args: &Export, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let store = data.store()?;
    let filter = match &store {
        Some(store) => filter(args, &data, store)?,
        None => Filter::default(),
    };
    let store = store.as_ref().map(|store| store as &dyn Store);
    let Some(path) = &args.out else {
        let mut pieces = Pieces::new(|piece| out.text(piece));
        write(args, &data, store, &filter, &mut pieces)?;
        return Ok(Exit::GoOn);
    };
    let lines = to_file(path, |file| {
        let mut pieces = Pieces::new(|piece| Ok(file.write_all(piece.as_bytes())?));
        write(args, &data, store, &filter, &mut pieces)
    })?;
    let lines = count(lines, "line", "lines");
    out.text(&format!("exported {lines} to {}\n", path.display()))?;
    Ok(Exit::GoOn)
}

fn filter(args: &Export, data: &Data, store: &dyn Store) -> Result<Filter, CliError> {
    let place = args::Where {
        all: true,
        project: args.project.clone(),
    };
    let span = args::Span {
        since: args.since.clone(),
        until: None,
    };
    Ok(Filter {
        project: Reader::of(data)?.project(data, store, &place)?,
        since: when::span(&span)?.since,
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
fn write(
    args: &Export,
    data: &Data,
    store: Option<&dyn Store>,
    filter: &Filter,
    pieces: &mut Pieces<impl FnMut(&str) -> Result<(), CliError>>,
) -> Result<u64, CliError> {
    pieces.line(&json!({
        "remora": "export",
        "version": VERSION,
        "program": env!("CARGO_PKG_VERSION"),
        "time": rfc3339(clock::millis()),
    }))?;
    if let Some(store) = store {
        let all = parts::rows(&store.counts()?);
        let mut progress = Progress::new("exporting");
        parts::each(store, filter, &mut |part| {
            progress.at(pieces.lines, all, "");
            pieces.line(&part)
        })?;
    }
    if args.events {
        raw(data, filter, pieces)?;
    }
    pieces.finish()
}

/// Raw events of the archive, each once: a worker that was killed may have
/// archived one twice.
fn raw(
    data: &Data,
    filter: &Filter,
    pieces: &mut Pieces<impl FnMut(&str) -> Result<(), CliError>>,
) -> Result<(), CliError> {
    let archive = Archive::new(data.paths.archive());
    let all = archive.bytes();
    let mut progress = Progress::new("exporting raw events");
    let mut done = 0;
    let mut seen = HashSet::new();
    for file in archive.files()? {
        let mut failed = None;
        let read = archive::read(&file, |event| {
            if failed.is_none() && wanted(&event, filter) && seen.insert(event.envelope.id.clone())
            {
                failed = pieces.line(&Part::Raw(Box::new(event))).err();
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
        progress.at(done, all, "");
    }
    Ok(())
}

fn wanted(event: &Archived, filter: &Filter) -> bool {
    filter.since.is_none_or(|since| event.envelope.at >= since)
        && filter
            .project
            .as_deref()
            .is_none_or(|only| only == project_of(event))
}

/// The key of the project that an archived event belongs to.
pub(crate) fn project_of(event: &Archived) -> &str {
    match &event.envelope.project {
        Some(project) => &project.key,
        None => event
            .event
            .get("cwd")
            .and_then(Value::as_str)
            .unwrap_or_default(),
    }
}

/// Lines, gathered into larger pieces.
struct Pieces<F> {
    text: String,
    lines: u64,
    take: F,
}

impl<F: FnMut(&str) -> Result<(), CliError>> Pieces<F> {
    fn new(take: F) -> Self {
        Self {
            text: String::new(),
            lines: 0,
            take,
        }
    }

    fn line(&mut self, value: &impl serde::Serialize) -> Result<(), CliError> {
        self.text.push_str(&serde_json::to_string(value)?);
        self.text.push('\n');
        self.lines += 1;
        if self.text.len() >= PIECE {
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
