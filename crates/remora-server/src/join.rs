//! Two keys of one project become one. A key is the remote, else the folder, so
//! a remote that comes or changes makes a new one: items, sessions and files of
//! the old key go to the new one, and a note lets a rebuild do the same.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use remora_client::DataPaths;
use remora_core::ids::ProjectKey;
use remora_core::record::{FileRecord, Item, Kind, Override, Project, Session};
use remora_memory::store::{Batch, Filter, ItemRef, ItemWrite, PageRequest, SortOrder, Store};
use serde::{Deserialize, Serialize};

use crate::forget::write_whole;
use crate::{ServerError, io_error_at};

/// Items of one transaction.
const MAX_BATCH_ITEMS: usize = 512;

/// What was joined, or would be.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct JoinStats {
    /// Items.
    pub rows: u64,
    /// Sessions.
    pub sessions: u64,
}

/// A line of the file of joins.
#[derive(Debug, Serialize, Deserialize)]
struct JoinRecord {
    from: ProjectKey,
    to: ProjectKey,
    /// In milliseconds since 1970; an event that came later means what it says.
    at: i64,
}

/// Projects that this checkout was known as before, if anything is remembered
/// of them.
pub fn list_earlier_projects(
    store: &dyn Store,
    project: &Project,
) -> Result<Vec<Project>, ServerError> {
    let mut found = Vec::new();
    // Items of saved memories come back by themselves, under either key.
    let kinds = Kind::ALL.iter().copied();
    let kinds: Vec<Kind> = kinds.filter(|kind| *kind != Kind::Memory).collect();
    for other in store.list_projects()? {
        let same = other.root == project.root || other.key == project.root;
        if same && other.key != project.key && !project.root.is_empty() {
            let filter = Filter {
                kinds: kinds.clone(),
                ..filter_for_project(&other.key)
            };
            if !store
                .list_items(&filter, PageRequest::newest(1))?
                .is_empty()
            {
                found.push(other);
            }
        }
    }
    Ok(found)
}

/// Whether `old` is the very folder of a checkout, before it had the key that it
/// has now: then it is the same project, and the user need not be asked.
/// The folder of another checkout never is, whatever its record says of roots.
pub fn is_own_folder(old: &Project, project: &Project, main: &str) -> bool {
    old.key == main || old.key == project.root
}

/// What [`join_projects`] would do.
pub fn preview_join(store: &dyn Store, from: &str) -> Result<JoinStats, ServerError> {
    let page = PageRequest::newest(usize::MAX);
    Ok(JoinStats {
        rows: store.list_items(&filter_for_project(from), page)?.len() as u64,
        sessions: store
            .list_sessions(&filter_for_project(from), usize::MAX)?
            .len() as u64,
    })
}

/// Puts everything of one key under another. Killed at any time it can be done
/// again. The caller holds the worker's lock.
pub fn join_projects(
    store: &dyn Store,
    paths: &DataPaths,
    from: &str,
    to: &Project,
    now: i64,
) -> Result<JoinStats, ServerError> {
    let file = paths.joins_file();
    let note = JoinRecord {
        from: from.into(),
        to: to.key.clone(),
        at: now,
    };
    append_record(&file, &note).map_err(io_error_at(&file))?;
    let mut joined = JoinStats::default();
    let moved = collect_overrides(store, from, to)?;
    let has_moved = !moved.is_empty();
    store.apply(&Batch {
        projects: vec![to.clone()],
        sessions: collect_sessions(store, from, to, &mut joined)?,
        files: collect_files(store, from, to)?,
        overrides: moved,
        ..Batch::default()
    })?;
    if has_moved {
        crate::overrides::save_overrides(paths, store)?;
    }
    loop {
        let page = PageRequest {
            order: SortOrder::Oldest,
            beyond: None,
            limit: MAX_BATCH_ITEMS,
        };
        let items = store.list_items(&filter_for_project(from), page)?;
        if items.is_empty() {
            return Ok(joined);
        }
        let mut batch = Batch::default();
        let mut gone = Vec::new();
        for item in items {
            if should_keep_item(store, &item, to)? {
                joined.rows += 1;
                batch.items.push(ItemWrite::Keep(Item {
                    project: to.key.clone(),
                    ..item
                }));
            } else {
                gone.push(ItemRef::Id(item.id));
            }
        }
        let numbers = store.apply(&batch)?;
        for (write, number) in batch.items.iter().zip(numbers) {
            // What was rejected under the other key has landed on its tombstone.
            if let ItemWrite::Keep(item) = write
                && item.id != number
            {
                gone.push(ItemRef::Id(item.id));
            }
        }
        store.remove(&gone)?;
    }
}

/// What users said of items goes where the items go.
fn collect_overrides(
    store: &dyn Store,
    from: &str,
    to: &Project,
) -> Result<Vec<Override>, ServerError> {
    let moved = store.list_overrides(Some(from))?.into_iter();
    let under = |known: Override| Override {
        project: to.key.clone(),
        ..known
    };
    Ok(moved.map(under).collect())
}

/// Items of saved memories follow their files. Of two items with one key the
/// one that was met last stays.
fn should_keep_item(store: &dyn Store, item: &Item, to: &Project) -> Result<bool, ServerError> {
    let Some(key) = &item.key else {
        return Ok(true);
    };
    if item.kind == Kind::Memory && crate::saved::is_address(key) {
        return Ok(false);
    }
    let there = store.find_by_key(&to.key, item.kind, key)?;
    Ok(there.is_none_or(|there| there.last_time < item.last_time))
}

fn collect_sessions(
    store: &dyn Store,
    from: &str,
    to: &Project,
    joined: &mut JoinStats,
) -> Result<Vec<Session>, ServerError> {
    let mut sessions = store.list_sessions(&filter_for_project(from), usize::MAX)?;
    for session in &mut sessions {
        to.key.clone_into(&mut session.project);
    }
    joined.sessions = sessions.len() as u64;
    Ok(sessions)
}

/// What is known of a file under the new key is newer.
fn collect_files(
    store: &dyn Store,
    from: &str,
    to: &Project,
) -> Result<Vec<FileRecord>, ServerError> {
    let known = store.list_files(&to.key, None)?;
    let known: HashSet<(&str, &str)> = known.iter().map(file_key).collect();
    let mut files = store.list_files(from, None)?;
    files.retain(|file| !known.contains(&file_key(file)));
    for file in &mut files {
        to.key.clone_into(&mut file.project);
    }
    Ok(files)
}

fn file_key(file: &FileRecord) -> (&str, &str) {
    (&file.folder, &file.name)
}

fn filter_for_project(project: &str) -> Filter {
    Filter {
        project: Some(project.into()),
        ..Filter::default()
    }
}

fn append_record(file: &Path, note: &JoinRecord) -> io::Result<()> {
    let mut line = serde_json::to_vec(note)?;
    line.push(b'\n');
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(file)?;
    file.write_all(&line)?;
    file.sync_all()
}

/// Takes out the notes that speak of these keys alone; one that sends items to
/// another key is what that one's rebuild goes by.
pub(crate) fn drop_notes(paths: &DataPaths, keys: &[ProjectKey]) -> Result<(), ServerError> {
    let file = paths.joins_file();
    let text = match fs::read_to_string(&file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(io_error_at(&file))?,
    };
    let stays = |line: &&str| {
        let note: Option<JoinRecord> = serde_json::from_str(line).ok();
        note.is_none_or(|note| !(keys.contains(&note.from) && keys.contains(&note.to)))
    };
    let left: String = text
        .lines()
        .filter(stays)
        .map(|line| line.to_owned() + "\n")
        .collect();
    if left == text {
        return Ok(());
    }
    write_whole(&file, left.as_bytes()).map_err(io_error_at(&file))
}

/// The joins of a data directory, for events that were captured before them.
#[derive(Debug, Default)]
pub(crate) struct ProjectJoins(Vec<JoinRecord>);

impl ProjectJoins {
    pub(crate) fn load_joins(paths: &DataPaths) -> Result<Self, ServerError> {
        let file = paths.joins_file();
        let text = match fs::read_to_string(&file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            other => other.map_err(io_error_at(&file))?,
        };
        // A line that was cut short was never acted on.
        let notes = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ok(Self(notes.collect()))
    }

    /// Keys whose items have gone to this one.
    pub(crate) fn leading_to(&self, key: &str) -> Vec<ProjectKey> {
        let mut keys = vec![ProjectKey::from(key)];
        for note in self.0.iter().rev() {
            if keys.contains(&note.to) && !keys.contains(&note.from) {
                keys.push(note.from.clone());
            }
        }
        keys.remove(0);
        keys
    }

    /// Sets the project of an event to the key that its items have now.
    pub(crate) fn apply_to_project(&self, project: &mut Project, time: i64) {
        for note in &self.0 {
            if note.from == project.key && time <= note.at {
                project.key.clone_from(&note.to);
                let name = note.to.rsplit('/').next();
                name.unwrap_or_default().clone_into(&mut project.name);
            }
        }
    }
}
