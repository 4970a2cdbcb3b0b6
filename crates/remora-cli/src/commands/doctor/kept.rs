//! What is kept: the database page by page, its version, and the archive.

use std::fs::{self, File};
use std::path::Path;

use remora_memory::store::{Batch, Filter, PageRequest, Store, StoreError};
use remora_server::archive::{self, Archive};
use remora_server::identity::look_up_project;
use remora_server::{is_gone, join};
use remora_store::{Access, SqliteStore};

use super::{Diagnosis, DoctorContext, quote_path};
use crate::commands::show::lines::{flatten_text, format_count, format_size};

/// Archive files are unpacked up to this many bytes, the newest first.
const MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024;
/// An item of tomorrow is a clock that was wrong.
const DAY_MS: i64 = 24 * 3600 * 1000;
const REBUILD_COMMAND: &str = "`remora rebuild`";

/// The checks, and how many events have ever been stored, if that is known.
pub(super) fn check_stored_data(patient: &DoctorContext) -> (Vec<Diagnosis>, Option<u64>) {
    let (mut checks, events) = check_database(patient);
    checks.extend(check_damaged_copies(patient));
    checks.push(raw_events(patient));
    (checks, events)
}

fn check_database(patient: &DoctorContext) -> (Vec<Diagnosis>, Option<u64>) {
    let file = patient.paths.database_file();
    let opened = if file.exists() {
        remora_server::open_database(&file, Access::Read)
    } else {
        Err(StoreError::Empty)
    };
    let looked = opened.and_then(|store| {
        let faults = store.check_integrity()?;
        let counts = store.count_contents()?;
        Ok((store, faults, counts))
    });
    match looked {
        Err(StoreError::Empty) if is_gone(&patient.paths) => {
            let message = "is gone or empty, but the archive is there";
            (
                vec![Diagnosis::fail("database", message, REBUILD_COMMAND)],
                None,
            )
        }
        Err(StoreError::Empty) => (
            vec![Diagnosis::ok("database", "nothing stored yet")],
            Some(0),
        ),
        Err(e) => (vec![diagnose_store_error(&e)], None),
        Ok((_, faults, counts)) if !faults.is_empty() => {
            let first = flatten_text(&faults[0]);
            let message = format!("damaged: {first} ({} in all)", faults.len());
            (
                vec![Diagnosis::fail("database", message, REBUILD_COMMAND)],
                Some(counts.events),
            )
        }
        Ok((store, _, counts)) => {
            let events = format_count(counts.events, "event", "events");
            let message = format!("sound; {events}, {}", format_size(counts.bytes));
            let mut checks = vec![
                check_schema_version(&store).unwrap_or_else(|| Diagnosis::ok("database", message)),
            ];
            checks.extend(check_future_events(patient, &store));
            checks.extend(check_earlier_key(patient, &store));
            (checks, Some(counts.events))
        }
    }
}

fn diagnose_store_error(error: &StoreError) -> Diagnosis {
    let fix = match error {
        StoreError::Again(_) => "try again in a moment",
        StoreError::Newer { .. } => "update remora",
        StoreError::Damaged(_) | StoreError::Failed(_) | StoreError::Empty => REBUILD_COMMAND,
    };
    Diagnosis::fail("database", flatten_text(&error.to_string()), fix)
}

/// Whether a newer version wrote it. The connection only reads, so the empty
/// batch is refused in any case; the reason says why.
fn check_schema_version(store: &SqliteStore) -> Option<Diagnosis> {
    match store.apply(&Batch::default()) {
        Err(StoreError::Newer { found, known }) => Some(Diagnosis::fail(
            "database",
            format!("a newer version wrote it (schema {found}, this one knows {known})"),
            "update remora; until then nothing new is stored",
        )),
        _ => None,
    }
}

/// Items from the future were captured while the clock was wrong.
fn check_future_events(patient: &DoctorContext, store: &dyn Store) -> Option<Diagnosis> {
    let ahead = Filter {
        since: Some(patient.now.saturating_add(DAY_MS)),
        ..Filter::default()
    };
    let page = PageRequest::newest(1);
    let found = store.list_events(&ahead, page).ok()?;
    (!found.is_empty()).then(|| {
        Diagnosis::warn(
            "order of time",
            "some events are from the future: the clock was, or is, wrong",
            "compare `date` with another clock",
        )
    })
}

/// This folder had another key, and what is remembered under it is not found.
fn check_earlier_key(patient: &DoctorContext, store: &dyn Store) -> Option<Diagnosis> {
    let here = patient.environment.directory()?;
    let project = look_up_project(&patient.paths, here, None).project;
    let old = join::list_earlier_projects(store, &project)
        .ok()?
        .into_iter()
        .next()?;
    let (old, new) = (&old.key, &project.key);
    Some(Diagnosis::warn(
        "project",
        format!(
            "this folder was {old} before and is {new} now; what is remembered of the one is not injected in the other"
        ),
        format!(
            "`remora projects join {}`",
            quote_path(Path::new(old.as_str()))
        ),
    ))
}

/// Databases that were found damaged and put aside.
fn check_damaged_copies(patient: &DoctorContext) -> Option<Diagnosis> {
    let entries = fs::read_dir(patient.paths.home()).ok()?;
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("remora.db.damaged-")
                && !name.ends_with("-wal")
                && !name.ends_with("-shm")
        })
        .collect();
    found.sort();
    let last = found.last()?;
    let many = format_count(
        found.len() as u64,
        "damaged database was put aside and rebuilt",
        "damaged databases were put aside and rebuilt",
    );
    Some(Diagnosis::warn(
        "put aside",
        many,
        format!(
            "import again what came from another memory system; when nothing is missing: `rm {}*`",
            quote_path(last)
        ),
    ))
}

fn raw_events(patient: &DoctorContext) -> Diagnosis {
    let folder = patient.paths.archive_dir();
    let archive = Archive::new(&folder);
    let files = match archive.list_files() {
        Ok(files) => files,
        Err(e) => {
            let message = format!("{}: {e}", folder.display());
            let fix = format!("`chmod u+rx {}`", quote_path(&folder));
            return Diagnosis::fail("archive", message, fix);
        }
    };
    let mut left = MAX_UNPACKED_BYTES;
    let mut bad = 0;
    for file in files.iter().rev() {
        let bytes = fs::metadata(file).map_or(0, |meta| meta.len());
        let read = if bytes <= left {
            left -= bytes;
            archive::read_events(file, |_| {})
        } else {
            File::open(file).map(|_| 0)
        };
        match read {
            Ok(parts) => bad += parts,
            Err(e) => {
                let message = format!("{}: {e}", file.display());
                return Diagnosis::fail(
                    "archive",
                    message,
                    format!("`chmod u+r {}`", quote_path(file)),
                );
            }
        }
    }
    if bad > 0 {
        let parts = format_count(bad, "part cannot", "parts cannot");
        return Diagnosis::warn(
            "archive",
            format!("{parts} be read; a rebuild would go without them"),
            "keep the database: copy it before `remora rebuild`",
        );
    }
    let files = format_count(files.len() as u64, "file", "files");
    Diagnosis::ok(
        "archive",
        format!("readable; {files}, {}", format_size(archive.disk_bytes())),
    )
}
