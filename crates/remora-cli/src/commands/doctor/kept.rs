//! What is kept: the database page by page, its version, and the archive.

use std::fs::{self, File};
use std::path::Path;

use remora_memory::store::{Batch, Filter, Page, Store, StoreError};
use remora_server::archive::{self, Archive};
use remora_server::identity::look_up_project;
use remora_server::{is_gone, join};
use remora_store::{Access, SqliteStore};

use super::{Check, Patient, quoted};
use crate::commands::show::lines::{count, flat, size};

/// Archive files are unpacked up to this many bytes, the newest first.
const UNPACKED: u64 = 64 * 1024 * 1024;
/// A row of tomorrow is a clock that was wrong.
const DAY: i64 = 24 * 3600 * 1000;
const REBUILD: &str = "`remora rebuild`";

/// The checks, and how many events have ever been stored, if that is known.
pub(super) fn check(patient: &Patient) -> (Vec<Check>, Option<u64>) {
    let (mut checks, events) = database(patient);
    checks.extend(aside(patient));
    checks.push(raw_events(patient));
    (checks, events)
}

fn database(patient: &Patient) -> (Vec<Check>, Option<u64>) {
    let file = patient.paths.database();
    let opened = if file.exists() {
        remora_store::open(&file, Access::Read)
    } else {
        Err(StoreError::Empty)
    };
    let looked = opened.and_then(|store| {
        let faults = store.integrity()?;
        let counts = store.counts()?;
        Ok((store, faults, counts))
    });
    match looked {
        Err(StoreError::Empty) if is_gone(&patient.paths) => {
            let message = "is gone or empty, but the archive is there";
            (vec![Check::fail("database", message, REBUILD)], None)
        }
        Err(StoreError::Empty) => (vec![Check::ok("database", "nothing stored yet")], Some(0)),
        Err(e) => (vec![unreadable(&e)], None),
        Ok((_, faults, counts)) if !faults.is_empty() => {
            let first = flat(&faults[0]);
            let message = format!("damaged: {first} ({} in all)", faults.len());
            (
                vec![Check::fail("database", message, REBUILD)],
                Some(counts.events),
            )
        }
        Ok((store, _, counts)) => {
            let events = count(counts.events, "event", "events");
            let message = format!("sound; {events}, {}", size(counts.bytes));
            let mut checks = vec![newer(&store).unwrap_or_else(|| Check::ok("database", message))];
            checks.extend(future(patient, &store));
            checks.extend(earlier(patient, &store));
            (checks, Some(counts.events))
        }
    }
}

fn unreadable(error: &StoreError) -> Check {
    let fix = match error {
        StoreError::Again(_) => "try again in a moment",
        StoreError::Newer { .. } => "update remora",
        StoreError::Damaged(_) | StoreError::Failed(_) | StoreError::Empty => REBUILD,
    };
    Check::fail("database", flat(&error.to_string()), fix)
}

/// Whether a newer version wrote it. The connection only reads, so the empty
/// batch is refused in any case; the reason tells.
fn newer(store: &SqliteStore) -> Option<Check> {
    match store.apply(&Batch::default()) {
        Err(StoreError::Newer { found, known }) => Some(Check::fail(
            "database",
            format!("a newer version wrote it (schema {found}, this one knows {known})"),
            "update remora; until then nothing new is stored",
        )),
        _ => None,
    }
}

/// Rows from the future were captured while the clock was wrong.
fn future(patient: &Patient, store: &dyn Store) -> Option<Check> {
    let ahead = Filter {
        since: Some(patient.now.saturating_add(DAY)),
        ..Filter::default()
    };
    let page = Page::newest(1);
    let found = store.events(&ahead, page).ok()?;
    (!found.is_empty()).then(|| {
        Check::warn(
            "order of time",
            "some events are from the future: the clock was, or is, wrong",
            "compare `date` with another clock",
        )
    })
}

/// This folder had another key, and what is remembered under it is not found.
fn earlier(patient: &Patient, store: &dyn Store) -> Option<Check> {
    let here = patient.environment.directory()?;
    let project = look_up_project(&patient.paths, here, None).project;
    let old = join::earlier(store, &project).ok()?.into_iter().next()?;
    let (old, new) = (&old.key, &project.key);
    Some(Check::warn(
        "project",
        format!(
            "this folder was {old} before and is {new} now; what is remembered of the one is not given in the other"
        ),
        format!("`remora projects join {}`", quoted(Path::new(old))),
    ))
}

/// Databases that were found damaged and put aside.
fn aside(patient: &Patient) -> Option<Check> {
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
    let many = count(
        found.len() as u64,
        "damaged database was put aside and rebuilt",
        "damaged databases were put aside and rebuilt",
    );
    Some(Check::warn(
        "put aside",
        many,
        format!(
            "import again what came from another memory system; when nothing is missing: `rm {}*`",
            quoted(last)
        ),
    ))
}

fn raw_events(patient: &Patient) -> Check {
    let folder = patient.paths.archive();
    let archive = Archive::new(&folder);
    let files = match archive.files() {
        Ok(files) => files,
        Err(e) => {
            let message = format!("{}: {e}", folder.display());
            let fix = format!("`chmod u+rx {}`", quoted(&folder));
            return Check::fail("archive", message, fix);
        }
    };
    let mut left = UNPACKED;
    let mut bad = 0;
    for file in files.iter().rev() {
        let bytes = fs::metadata(file).map_or(0, |meta| meta.len());
        let read = if bytes <= left {
            left -= bytes;
            archive::read(file, |_| {})
        } else {
            File::open(file).map(|_| 0)
        };
        match read {
            Ok(parts) => bad += parts,
            Err(e) => {
                let message = format!("{}: {e}", file.display());
                return Check::fail("archive", message, format!("`chmod u+r {}`", quoted(file)));
            }
        }
    }
    if bad > 0 {
        let parts = count(bad, "part cannot", "parts cannot");
        return Check::warn(
            "archive",
            format!("{parts} be read; a rebuild would go without them"),
            "keep the database: copy it before `remora rebuild`",
        );
    }
    let files = count(files.len() as u64, "file", "files");
    Check::ok(
        "archive",
        format!("readable; {files}, {}", size(archive.bytes())),
    )
}
