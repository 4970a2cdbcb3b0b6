//! Saved memories for the worker, which keeps an index of them: where the files
//! of a project are, what they say and what of it is in doubt. The files are
//! the only source; nothing here writes them.

mod row;
mod stamp;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use remora_client::{DataPaths, notify_worker};
use remora_core::record::Project;
use remora_instructions::InstructionKind;
use remora_notes::check::{self, Git, TreeListing};
use remora_notes::{Memory, MemoryAuthor, MemoryFolder, MemoryScope, MemoryUri};
use remora_server::is_gone;
use remora_server::saved::{SavedMemories, SavedMemoryList, sync_saved_memories, write_hint};
use remora_store::Access;

use crate::args::DirectoryArgs;
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::memory::{
    AcceptedMemories, cache_file, default_session_args, load_check_cache, save_check_cache,
};
use crate::environment::Environment;
use row::MemoryContext;
pub(in crate::commands) use row::ended_on;
use stamp::ChangeStamp;

/// Memories of one scope.
const MAX_MEMORIES_PER_SCOPE: usize = 500;
/// What instruction files name is read again after this, also if none of
/// those that are known has changed.
const MAX_SOURCES_AGE: Duration = Duration::from_mins(1);
/// A larger tree is not read in the background.
const MAX_TREE_FILES: usize = 50_000;

/// The files of saved memories.
#[derive(Debug)]
pub(crate) struct SavedFiles {
    paths: DataPaths,
    environment: Environment,
    places: Mutex<HashMap<PathBuf, MemorySources>>,
}

/// Where the memories of a project lie, and which of them it names.
#[derive(Debug, Clone)]
struct MemorySources {
    /// The checkout.
    root: PathBuf,
    folders: [MemoryFolder; 2],
    /// Instruction files.
    layers: Vec<PathBuf>,
    named: HashSet<MemoryUri>,
    looked: Instant,
}

impl SavedFiles {
    pub(crate) fn new(data: &DataDir) -> Self {
        Self {
            paths: data.app.paths.clone(),
            environment: data.environment.clone(),
            places: Mutex::default(),
        }
    }

    fn user_folder(&self) -> MemoryFolder {
        MemoryFolder::new(MemoryScope::User, self.paths.home().join("memory"))
    }

    /// The place of a project, looked up again if it is older than this.
    fn find_sources(&self, project: &Project, most: Duration) -> Option<MemorySources> {
        let cwd = PathBuf::from(&project.root);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(&cwd).filter(|p| p.looked.elapsed() < most) {
            return Some(place.clone());
        }
        let instructions = default_session_args(DirectoryArgs::from_cwd(Some(cwd.clone())), None)
            .load_instructions(&self.environment)
            .ok()?;
        let layers = instructions.start().iter();
        let layers = layers.filter(|file| {
            !matches!(
                file.kind,
                InstructionKind::AutoMem | InstructionKind::TeamMem
            )
        });
        let root = instructions.checkout_root().to_path_buf();
        let place = MemorySources {
            folders: [
                MemoryFolder::new(MemoryScope::Project, instructions.memory_folder()),
                MemoryFolder::for_team(&root),
            ],
            root,
            layers: layers.clone().map(|file| file.path.clone()).collect(),
            named: layers
                .flat_map(|file| MemoryUri::all_in(&file.content))
                .collect(),
            looked: Instant::now(),
        };
        places.insert(cwd, place.clone());
        Some(place)
    }

    /// The memories that bear on a project: its own, its team's, and those of
    /// the user that its instructions name.
    fn list_memories(&self, place: &MemorySources, list: &mut SavedMemoryList) -> Vec<Memory> {
        let mut memories = Vec::new();
        for folder in &place.folders {
            memories.extend(read_memories(folder, list));
        }
        let own = |uri: &&MemoryUri| uri.scope == MemoryScope::User;
        for uri in place.named.iter().filter(own) {
            // `lint` reports one that is named and missing; a core one is
            // injected in every project anyway.
            let memory = self.user_folder().get(uri.name.as_str()).ok();
            memories.extend(memory.filter(|memory| !memory.is_core()));
        }
        memories
    }
}

impl SavedMemories for SavedFiles {
    fn change_stamp(&self, project: Option<&Project>) -> u64 {
        let mut stamp = ChangeStamp::default();
        let Some(project) = project else {
            stamp.add_folder(self.user_folder().dir());
            return stamp.finish();
        };
        if let Some(place) = self.find_sources(project, MAX_SOURCES_AGE) {
            for folder in &place.folders {
                stamp.add_folder(folder.dir());
            }
            for uri in &place.named {
                stamp.add_word(&uri.to_string());
            }
            if place.named.iter().any(|uri| uri.scope == MemoryScope::User) {
                stamp.add_folder(self.user_folder().dir());
            }
            for layer in &place.layers {
                stamp.add_file(layer);
            }
            stamp.add_file(&cache_file(&self.paths, &place.root));
            stamp.add_file(&AcceptedMemories::accepted_path(&self.paths));
        }
        stamp.finish()
    }

    fn read_memories(&self, project: Option<&Project>) -> Option<SavedMemoryList> {
        let mut list = SavedMemoryList::default();
        let Some(project) = project else {
            for memory in read_memories(&self.user_folder(), &mut list) {
                let context = MemoryContext {
                    accepted: memory.author == MemoryAuthor::User,
                    ..MemoryContext::default()
                };
                list.memories
                    .push(row::build_saved_memory(&memory, context));
            }
            return Some(list);
        };
        // Read again: the stamp has just said that something changed.
        let place = self.find_sources(project, Duration::ZERO)?;
        let cached = load_check_cache(&self.paths, &place.root);
        let accepted = AcceptedMemories::load(&self.paths);
        for memory in self.list_memories(&place, &mut list) {
            let findings = match memory.uri.scope {
                // A user's memory is about no single tree that it could be
                // checked against.
                MemoryScope::User => Vec::new(),
                MemoryScope::Project | MemoryScope::Team => {
                    cached.last_findings(&memory.body).unwrap_or_default()
                }
            };
            let context = MemoryContext {
                root: Some(&place.root),
                accepted: accepted.is_accepted(&place.root, &memory),
                named: place.named.contains(&memory.uri),
                findings: &findings,
            };
            list.memories
                .push(row::build_saved_memory(&memory, context));
        }
        Some(list)
    }

    fn check_memories(&self, project: &Project) {
        let Some(place) = self.find_sources(project, MAX_SOURCES_AGE) else {
            return;
        };
        // Outside a repository the tree may be a whole home.
        if !place.root.join(".git").exists() {
            return;
        }
        let mut list = SavedMemoryList::default();
        let folders = place.folders.iter();
        let memories: Vec<Memory> = folders.flat_map(|f| read_memories(f, &mut list)).collect();
        let bodies: Vec<&str> = memories.iter().map(|m| m.body.as_str()).collect();
        if bodies
            .iter()
            .all(|body| check::list_claims(body).is_empty())
        {
            return;
        }
        let mut apart: Vec<PathBuf> = place.folders.iter().map(|f| f.dir().into()).collect();
        apart.push(self.user_folder().dir().into());
        let files = TreeListing::list_files(&place.root, &apart);
        if files.len() > MAX_TREE_FILES {
            return;
        }
        let mut cached = load_check_cache(&self.paths, &place.root);
        let _ = check::check_all(
            &files,
            &bodies,
            &Git::default(),
            &mut cached,
            &mut |_, _| {},
        );
        save_check_cache(&self.paths, &place.root, &cached);
    }
}

/// The memories of a folder; what cannot be read becomes a warning.
fn read_memories(folder: &MemoryFolder, list: &mut SavedMemoryList) -> Vec<Memory> {
    match folder.list_first_memories(MAX_MEMORIES_PER_SCOPE) {
        Ok(listing) => {
            list.warnings.extend(listing.warnings);
            listing.memories
        }
        Err(error) => {
            list.warnings.push(error.to_string());
            Vec::new()
        }
    }
}

/// Memories of the project at `cwd` were written: their items follow. A running
/// worker is notified, not waited for.
pub(crate) fn update_memory_index(data: &DataDir, cwd: &Path) {
    let project = data.app.locate_folder(cwd).project;
    // The files are written; an index that is late is no reason to fail.
    if index_without_worker(data, &project).is_some() {
        return;
    }
    let _ = write_hint(&data.app.paths, &project);
    let _ = std::env::current_exe().and_then(|program| {
        notify_worker(
            &data.app.paths,
            &program,
            env!("CARGO_PKG_VERSION"),
            clock::now(),
        )
    });
}

/// Brings the items in step here, if no worker runs: one that is started now would
/// be too late for a session that begins next.
fn index_without_worker(data: &DataDir, project: &Project) -> Option<()> {
    if is_gone(&data.app.paths) {
        return None;
    }
    let _held = data.app.lock_if_free()?;
    let store =
        remora_server::open_database(&data.app.paths.database_file(), Access::Write).ok()?;
    sync_saved_memories(
        &store,
        &SavedFiles::new(data),
        data.app.config.capture_policy().redaction,
        project,
    )
    .ok()
}
