//! Deleting what is remembered, for good: a plan that names everything by id is
//! written down, then carried out file by file. Killed at any time, the next
//! worker or command carries the same plan out again; every step can be repeated.

mod copies;
mod plan;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use remora_client::{DataPaths, Pause, ProjectRoots, injection_log_file};
use remora_core::ids::{ProjectKey, SessionId};
use remora_files::{DraftName, Durability, ReplaceOptions, replace_file};
use remora_memory::store::{ErasePlan, Store, StoreError};
use remora_store::Access;
use serde::{Deserialize, Serialize};

use crate::archive::rewrite::{self, RewriteAction};
use crate::archive::{Archive, ArchivedEvent};
use crate::forgotten::{DeletionLog, DeletionReceipt};
use crate::{ServerError, io_error_at, join, overrides};
pub use plan::{Selection, plan_deletion};

/// What is to be deleted, by name; no content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionPlan {
    /// What stays on record.
    pub receipt: DeletionReceipt,
    /// What goes from the database.
    pub erase: ErasePlan,
    /// Numbers of the items, for files that know them by these.
    pub numbers: Vec<i64>,
    /// Files of the data directory that go, as seen from it: dead letters and
    /// events that wait.
    pub files: Vec<String>,
}

impl DeletionPlan {
    /// Whether there is nothing to delete.
    pub fn is_empty(&self) -> bool {
        self.erase == ErasePlan::default() && self.files.is_empty()
    }
}

/// Carries a plan out. The caller holds the worker's lock.
pub fn carry_out(paths: &DataPaths, plan: &DeletionPlan) -> Result<(), ServerError> {
    let file = paths.deletion_plan_file();
    let bytes = serde_json::to_vec(plan)
        .map_err(io::Error::from)
        .map_err(io_error_at(&file))?;
    write_whole(&file, &bytes).map_err(io_error_at(&file))?;
    finish_deletion(paths, plan)
}

/// Carries out what an earlier process began; whether that is done. With a
/// damaged database it waits for a rebuild, which brings back nothing that is to
/// go and then comes here again. The caller holds the worker's lock.
pub fn resume_deletion(paths: &DataPaths) -> Result<bool, ServerError> {
    let file = paths.deletion_plan_file();
    let bytes = match fs::read(&file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(io_error_at(&file))?,
    };
    let plan: DeletionPlan = serde_json::from_slice(&bytes)
        .map_err(io::Error::from)
        .map_err(io_error_at(&file))?;
    match finish_deletion(paths, &plan) {
        Err(ServerError::Store(StoreError::Damaged(_))) => Ok(false),
        other => other.map(|()| true),
    }
}

fn finish_deletion(paths: &DataPaths, plan: &DeletionPlan) -> Result<(), ServerError> {
    // First, so that nothing that is deleted below can come back meanwhile.
    DeletionLog::append(paths, &plan.receipt)?;
    let events: HashSet<&str> = plan.erase.events.iter().map(String::as_str).collect();
    // Before the database, or a rebuild in between would bring the events back.
    clean_archive(paths, &events)?;
    remove_files(paths, plan)?;
    remove_copies(paths)?;
    let database = paths.database_file();
    if database.exists() {
        let store = crate::open_database(&database, Access::Write)?;
        store.erase(&plan.erase)?;
        overrides::save_overrides(paths, &store)?;
    }
    clean_injections(paths, plan)?;
    clean_logs(paths, plan)?;
    remove_names(paths, &plan.erase.projects)?;
    let file = paths.deletion_plan_file();
    // Last: as long as the plan is there, the next process carries all of it out again.
    fs::remove_file(&file).map_err(io_error_at(&file))
}

/// Writes archive files again without these events.
fn clean_archive(paths: &DataPaths, events: &HashSet<&str>) -> Result<(), ServerError> {
    let folder = paths.archive_dir();
    rewrite::clear_leftovers(&folder)?;
    let goes = |event: &ArchivedEvent| events.contains(event.envelope.id.as_str());
    for file in Archive::new(&folder)
        .list_files()
        .map_err(io_error_at(&folder))?
    {
        let mut found = false;
        let read = crate::archive::read_events(&file, |event| found |= goes(&event));
        read.map_err(io_error_at(&file))?;
        if found {
            rewrite::rewrite_file(&file, &mut |event| {
                if goes(&event) {
                    RewriteAction::Drop
                } else {
                    RewriteAction::Keep(Box::new(event))
                }
            })?;
        }
    }
    Ok(())
}

fn remove_files(paths: &DataPaths, plan: &DeletionPlan) -> Result<(), ServerError> {
    for name in &plan.files {
        delete_file(&paths.home().join(name))?;
    }
    for session in &plan.erase.sessions {
        delete_file(&injection_log_file(paths, session))?;
    }
    Ok(())
}

/// Copies of the database that migrations and repairs put aside hold what was
/// deleted; the archive has everything else that is in them.
fn remove_copies(paths: &DataPaths) -> Result<(), ServerError> {
    let home = paths.home();
    for entry in fs::read_dir(home).map_err(io_error_at(home))? {
        let path = entry.map_err(io_error_at(home))?.path();
        if is_copy(&path) {
            delete_file(&path)?;
        }
    }
    Ok(())
}

/// Whether a file of the data directory is an old copy of the database.
pub fn is_copy(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = [
        "remora.db.damaged-",
        "remora.db.backup-v",
        "remora.db.rebuild",
    ];
    aside.iter().any(|start| name.starts_with(start))
}

/// Injection logs lose their lines of these items. A line
/// stays where it was, empty: its place is its name in the store.
fn clean_injections(paths: &DataPaths, plan: &DeletionPlan) -> Result<(), ServerError> {
    let names: HashSet<String> = plan.numbers.iter().map(|id| format!("#{id}")).collect();
    let keep = |line: &str| !names.contains(line.split('\t').next().unwrap_or_default());
    for file in files_in(&paths.injection_log_dir())? {
        blank_lines(&file, &keep)?;
    }
    Ok(())
}

/// Projects that went are named nowhere else: not among joined keys, not among
/// the roots that hold one, not by a pause, which holds on without the name.
fn remove_names(paths: &DataPaths, keys: &[ProjectKey]) -> Result<(), ServerError> {
    if keys.is_empty() {
        return Ok(());
    }
    join::drop_notes(paths, keys)?;
    for key in keys {
        ProjectRoots::for_data_dir(paths)
            .remove_key(key)
            .map_err(io_error_at(&paths.roots_dir()))?;
        let pauses = Pause::for_data_dir(paths);
        pauses
            .forget_name(key)
            .map_err(io_error_at(&paths.run_dir()))?;
    }
    Ok(())
}

/// Logs name events by their ids and projects by their keys, and failures may
/// quote more.
fn clean_logs(paths: &DataPaths, plan: &DeletionPlan) -> Result<(), ServerError> {
    let ErasePlan {
        events,
        sessions,
        projects,
        ..
    } = &plan.erase;
    if events.len() + sessions.len() + projects.len() == 0 {
        return Ok(());
    }
    let known: HashSet<&str> = events
        .iter()
        .map(String::as_str)
        .chain(sessions.iter().map(SessionId::as_str))
        .collect();
    let word = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
    let keep = |line: &str| {
        let names = || projects.iter().any(|key| line.contains(key.as_str()));
        !line.split(word).any(|part| known.contains(part)) && !names()
    };
    for file in files_in(&paths.log_dir())? {
        blank_lines(&file, &keep)?;
    }
    Ok(())
}

fn files_in(folder: &Path) -> Result<Vec<std::path::PathBuf>, ServerError> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(io_error_at(folder))?,
    };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let plain =
        |path: &std::path::PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    Ok(files.filter(plain).collect())
}

fn blank_lines(file: &Path, keep: &dyn Fn(&str) -> bool) -> Result<(), ServerError> {
    let bytes = match fs::read(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(io_error_at(file))?,
    };
    let text = String::from_utf8_lossy(&bytes);
    if text.lines().all(keep) {
        return Ok(());
    }
    let mut left = String::with_capacity(text.len());
    for line in text.lines() {
        if keep(line) {
            left.push_str(line);
        }
        left.push('\n');
    }
    write_whole(file, left.as_bytes()).map_err(io_error_at(file))
}

/// Replaces a file so that it is the old one or the new one, also after a power
/// cut.
pub(crate) fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".part");
    let options = ReplaceOptions {
        draft: DraftName::Overwrite(Path::new(&partial)),
        ..ReplaceOptions::private(Durability::FileAndName)
    };
    replace_file(file, bytes, &options)
}

fn delete_file(file: &Path) -> Result<(), ServerError> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io_error_at(file)(e)),
        _ => Ok(()),
    }
}
