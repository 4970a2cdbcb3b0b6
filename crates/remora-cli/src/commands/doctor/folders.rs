//! The data directory: that it is there, the owner's alone, writable, with
//! room, and without leftovers. And the clock.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remora_client::is_event_name;

use super::{Check, Patient, quoted};
use crate::clock;
use crate::commands::show::lines::{count, size};

/// Room that must be left: more than the largest event.
const ROOM: usize = 20 * 1024 * 1024;
/// Files whose modes are looked at in each folder.
const FILES: usize = 2000;
/// A file that was being written this long ago will not be finished.
const STALE: Duration = Duration::from_hours(1);
/// 2026-01-01; no clock that is right shows an earlier day.
const EARLIEST: i64 = 1_767_225_600_000;

pub(super) fn check(patient: &Patient) -> Vec<Check> {
    let mut checks = vec![time(patient)];
    let home = patient.paths.home();
    match fs::metadata(home) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let agent = remora_agents::known_names().join("|");
            checks.push(Check::warn(
                "data directory",
                format!("{}: not there yet", home.display()),
                format!("`remora install {agent}`"),
            ));
        }
        Err(e) => checks.push(Check::fail(
            "data directory",
            format!("{}: {e}", home.display()),
            format!("`ls -ld {}` shows whose it is", quoted(home)),
        )),
        Ok(meta) if !meta.is_dir() => checks.push(Check::fail(
            "data directory",
            format!("{}: is a file", home.display()),
            format!("move it away: `mv {0} {0}.old`", quoted(home)),
        )),
        Ok(_) if let Some(fault) = patient.paths.find_fault() => checks.push(Check::fail(
            "data directory",
            format!("{fault}; nothing is captured until then"),
            format!("`ls -la {}` shows what is there", quoted(home)),
        )),
        Ok(_) => {
            checks.push(Check::ok("data directory", home.display().to_string()));
            checks.push(modes(patient));
            checks.push(spool(patient));
            checks.push(leftovers(patient));
        }
    }
    checks
}

fn time(patient: &Patient) -> Check {
    if patient.now < EARLIEST {
        return Check::fail(
            "clock",
            "the system's clock is years behind; rows will be out of order",
            "`timedatectl set-ntp true`",
        );
    }
    Check::ok("clock", "plausible")
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
fn modes(patient: &Patient) -> Check {
    let paths = &patient.paths;
    let home = paths.home();
    let fix = format!("`chmod -R go= {}`", quoted(home));
    if open_to_others(home) {
        let message = "others can look into the data directory";
        return Check::fail("modes", message, fix);
    }
    let folders = [paths.spool(), paths.dead(), paths.archive(), paths.logs()];
    let mut found: Vec<PathBuf> = vec![paths.database()];
    for folder in folders {
        let entries = fs::read_dir(&folder).into_iter().flatten().take(FILES);
        found.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        found.push(folder);
    }
    found.retain(|path| open_to_others(path));
    match found.first() {
        None => Check::ok("modes", "only you can read it"),
        Some(first) => Check::warn(
            "modes",
            format!(
                "{}: open to others ({} in all)",
                first.display(),
                count(found.len() as u64, "file", "files")
            ),
            fix,
        ),
    }
}

/// Writes as a hook would, with room for a large event.
fn spool(patient: &Patient) -> Check {
    let folder = patient.paths.spool();
    let shown = folder.display();
    match fs::metadata(&folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Check::ok("spool", "not there yet; the first event makes it");
        }
        Ok(meta) if !meta.is_dir() => {
            return Check::fail(
                "spool",
                format!("{shown}: is a file"),
                format!("`rm {}`", quoted(&folder)),
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
            (0..ROOM / part.len()).try_for_each(|_| file.write_all(&part))
        });
    match tried {
        Ok(()) => Check::ok("spool", "writable, with room"),
        Err(e)
            if matches!(
                e.kind(),
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
            ) =>
        {
            Check::fail(
                "spool",
                format!(
                    "{shown}: less than {} are left on the disk",
                    size(ROOM as u64)
                ),
                "make room; `remora prune --dry-run` shows what Remora could give back",
            )
        }
        Err(e) => Check::fail(
            "spool",
            format!("{shown}: cannot be written: {e}"),
            format!("`chmod u+rwx {0}`, or `chown` it to you", quoted(&folder)),
        ),
    }
}

/// What lies in the spool and is no event: halves that killed hooks left, and
/// what is not ours, which no process of ours touches.
fn leftovers(patient: &Patient) -> Check {
    let now = clock::now();
    let folder = patient.paths.spool();
    let (mut partial, mut strangers) = (0, 0);
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let (name, meta) = (entry.file_name(), fs::symlink_metadata(entry.path()));
        let is_file = meta.as_ref().is_ok_and(fs::Metadata::is_file);
        let whole = Path::new(&name).with_extension("json");
        if !is_file || !is_event_name(whole.as_os_str()) {
            strangers += 1;
        } else if Path::new(&name).extension().is_some_and(|e| e == "tmp") {
            let changed = meta.and_then(|meta| meta.modified());
            let old = |at| now.duration_since(at).is_ok_and(|age| age > STALE);
            partial += u64::from(changed.is_ok_and(old));
        }
    }
    if partial > 0 {
        let files = count(partial, "half-written event", "half-written events");
        return Check::warn(
            "leftovers",
            format!("{files} in the spool: hooks were killed while they wrote"),
            "`remora worker start` clears them away",
        );
    }
    if strangers > 0 {
        let things = count(strangers, "thing", "things");
        return Check::warn(
            "leftovers",
            format!("{things} in the spool that Remora did not put there; it leaves them alone"),
            format!("`ls -la {}` shows them", quoted(&folder)),
        );
    }
    Check::ok("leftovers", "none")
}
