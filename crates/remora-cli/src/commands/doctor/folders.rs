//! The data directory: that it is there, the owner's alone, writable, with
//! room, and without leftovers. And the clock.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remora_client::is_event_name;

use super::{Diagnosis, DoctorContext, quote_path};
use crate::clock;
use crate::commands::show::lines::{format_count, format_size};

/// Room that must be left: more than the largest event.
const MIN_FREE_BYTES: usize = 20 * 1024 * 1024;
/// Files whose modes are checked in each folder.
const MAX_CHECKED_FILES: usize = 2000;
/// A file that was being written this long ago will not be finished.
const MAX_PARTIAL_AGE: Duration = Duration::from_hours(1);
/// 2026-01-01; no clock that is right shows an earlier day.
const EARLIEST_PLAUSIBLE_MS: i64 = 1_767_225_600_000;

pub(super) fn check_data_dir(patient: &DoctorContext) -> Vec<Diagnosis> {
    let mut checks = vec![check_clock(patient)];
    let home = patient.paths.home();
    match fs::metadata(home) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let agent = remora_agents::known_names().join("|");
            checks.push(Diagnosis::warn(
                "data directory",
                format!("{}: not there yet", home.display()),
                format!("`remora install {agent}`"),
            ));
        }
        Err(e) => checks.push(Diagnosis::fail(
            "data directory",
            format!("{}: {e}", home.display()),
            format!("`ls -ld {}` shows whose it is", quote_path(home)),
        )),
        Ok(meta) if !meta.is_dir() => checks.push(Diagnosis::fail(
            "data directory",
            format!("{}: is a file", home.display()),
            format!("move it away: `mv {0} {0}.old`", quote_path(home)),
        )),
        Ok(_) if let Some(fault) = patient.paths.find_fault() => checks.push(Diagnosis::fail(
            "data directory",
            format!("{fault}; nothing is captured until then"),
            format!("`ls -la {}` shows what is there", quote_path(home)),
        )),
        Ok(_) => {
            checks.push(Diagnosis::ok("data directory", home.display().to_string()));
            checks.push(check_modes(patient));
            checks.push(check_spool(patient));
            checks.push(check_leftovers(patient));
        }
    }
    checks
}

fn check_clock(patient: &DoctorContext) -> Diagnosis {
    if patient.now < EARLIEST_PLAUSIBLE_MS {
        return Diagnosis::fail(
            "clock",
            "the system's clock is years behind; items will be out of order",
            "`timedatectl set-ntp true`",
        );
    }
    Diagnosis::ok("clock", "plausible")
}

#[cfg(unix)]
fn open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::symlink_metadata(path)
        .is_ok_and(|meta| !meta.is_symlink() && meta.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn open_to_others(_: &Path) -> bool {
    false
}

/// What holds memory, or will: files of running processes and the settings
/// say nothing to others.
fn check_modes(patient: &DoctorContext) -> Diagnosis {
    let paths = &patient.paths;
    let home = paths.home();
    let fix = format!("`chmod -R go= {}`", quote_path(home));
    if open_to_others(home) {
        let message = "others can look into the data directory";
        return Diagnosis::fail("modes", message, fix);
    }
    let folders = [
        paths.spool_dir(),
        paths.dead_letter_dir(),
        paths.archive_dir(),
        paths.log_dir(),
    ];
    let mut found: Vec<PathBuf> = vec![paths.database_file()];
    for folder in folders {
        let entries = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .take(MAX_CHECKED_FILES);
        found.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        found.push(folder);
    }
    found.retain(|path| open_to_others(path));
    match found.first() {
        None => Diagnosis::ok("modes", "only you can read it"),
        Some(first) => Diagnosis::warn(
            "modes",
            format!(
                "{}: open to others ({} in all)",
                first.display(),
                format_count(found.len() as u64, "file", "files")
            ),
            fix,
        ),
    }
}

/// Writes as a hook would, with room for a large event.
fn check_spool(patient: &DoctorContext) -> Diagnosis {
    let folder = patient.paths.spool_dir();
    let shown = folder.display();
    match fs::metadata(&folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Diagnosis::ok("spool", "not there yet; the first event makes it");
        }
        Ok(meta) if !meta.is_dir() => {
            return Diagnosis::fail(
                "spool",
                format!("{shown}: is a file"),
                format!("`rm {}`", quote_path(&folder)),
            );
        }
        _ => {}
    }
    // Half-written files are left alone by the worker, so this one is too.
    let tried = tempfile::Builder::new()
        .prefix("doctor-")
        .suffix(".tmp")
        .tempfile_in(&folder)
        .and_then(|mut file| {
            let part = vec![1; 1024 * 1024];
            (0..MIN_FREE_BYTES / part.len()).try_for_each(|_| file.write_all(&part))
        });
    match tried {
        Ok(()) => Diagnosis::ok("spool", "writable, with room"),
        Err(e)
            if matches!(
                e.kind(),
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
            ) =>
        {
            Diagnosis::fail(
                "spool",
                format!(
                    "{shown}: less than {} are left on the disk",
                    format_size(MIN_FREE_BYTES as u64)
                ),
                "make room; `remora prune --dry-run` shows what Remora could give back",
            )
        }
        Err(e) => Diagnosis::fail(
            "spool",
            format!("{shown}: cannot be written: {e}"),
            format!(
                "`chmod u+rwx {0}`, or `chown` it to you",
                quote_path(&folder)
            ),
        ),
    }
}

/// What lies in the spool and is no event: halves that killed hooks left, and
/// what is not ours, which no process of ours touches.
fn check_leftovers(patient: &DoctorContext) -> Diagnosis {
    let now = clock::now();
    let folder = patient.paths.spool_dir();
    let (mut partial, mut strangers) = (0, 0);
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let (name, meta) = (entry.file_name(), fs::symlink_metadata(entry.path()));
        let is_file = meta.as_ref().is_ok_and(fs::Metadata::is_file);
        let whole = Path::new(&name).with_extension("json");
        if !is_file || !is_event_name(whole.as_os_str()) {
            strangers += 1;
        } else if Path::new(&name).extension().is_some_and(|e| e == "tmp") {
            let changed = meta.and_then(|meta| meta.modified());
            let old = |at| {
                now.duration_since(at)
                    .is_ok_and(|age| age > MAX_PARTIAL_AGE)
            };
            partial += u64::from(changed.is_ok_and(old));
        }
    }
    if partial > 0 {
        let files = format_count(partial, "half-written event", "half-written events");
        return Diagnosis::warn(
            "leftovers",
            format!("{files} in the spool: hooks were killed while they wrote"),
            "`remora worker start` clears them away",
        );
    }
    if strangers > 0 {
        let things = format_count(strangers, "thing", "things");
        return Diagnosis::warn(
            "leftovers",
            format!("{things} in the spool that Remora did not put there; it leaves them alone"),
            format!("`ls -la {}` shows them", quote_path(&folder)),
        );
    }
    Diagnosis::ok("leftovers", "none")
}
