//! Saved memories for the worker, who keeps an index of them: where the files
//! of a project lie, what they say and what of it is in doubt. The files are the
//! only truth; nothing here writes them.

mod row;
mod stamp;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use remora_client::{Paths, wake};
use remora_instructions::Kind;
use remora_instructions::memories::check::{self, Files, Git};
use remora_instructions::memories::{Author, Folder, Memory, Scope, Uri};
use remora_protocol::record::Project;
use remora_server::is_gone;
use remora_server::saved::{SavedList, SavedMemories, follow, hint};
use remora_store::Access;

use super::policy;
use crate::args::Directory;
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::memory::{Accepted, cache, cache_file, keep, scene};
use crate::environment::Environment;
use row::Context;
pub(in crate::commands) use row::ended_on;
use stamp::Stamp;

/// Memories of one scope.
const MEMORIES: usize = 500;
/// What instruction files name is looked up again after this, also if none of
/// those that are known has changed.
const FRESH: Duration = Duration::from_mins(1);
/// A larger tree is not read in the background.
const LARGEST_TREE: usize = 50_000;

/// The files of saved memories.
#[derive(Debug)]
pub(crate) struct SavedFiles {
    paths: Paths,
    environment: Environment,
    places: Mutex<HashMap<PathBuf, Place>>,
}

/// Where the memories of a project lie, and which of them it names.
#[derive(Debug, Clone)]
struct Place {
    /// The checkout.
    root: PathBuf,
    folders: [Folder; 2],
    /// Instruction files.
    layers: Vec<PathBuf>,
    named: HashSet<Uri>,
    looked: Instant,
}

impl SavedFiles {
    pub(crate) fn new(data: &Data) -> Self {
        Self {
            paths: data.paths.clone(),
            environment: data.environment.clone(),
            places: Mutex::default(),
        }
    }

    fn everywhere(&self) -> Folder {
        Folder::new(Scope::User, self.paths.home().join("memory"))
    }

    /// The place of a project, looked up again if it is older than this.
    fn place(&self, project: &Project, most: Duration) -> Option<Place> {
        let cwd = PathBuf::from(&project.root);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(&cwd).filter(|p| p.looked.elapsed() < most) {
            return Some(place.clone());
        }
        let instructions = scene(Directory::at(Some(cwd.clone())), None)
            .load(&self.environment)
            .ok()?;
        let layers = instructions.start().iter();
        let layers = layers.filter(|file| !matches!(file.kind, Kind::AutoMem | Kind::TeamMem));
        let root = instructions.checkout().to_path_buf();
        let place = Place {
            folders: [
                Folder::new(Scope::Project, instructions.memory_folder()),
                Folder::team(&root),
            ],
            root,
            layers: layers.clone().map(|file| file.path.clone()).collect(),
            named: layers.flat_map(|file| Uri::all_in(&file.content)).collect(),
            looked: Instant::now(),
        };
        places.insert(cwd, place.clone());
        Some(place)
    }

    /// The memories that bear on a project: its own, its team's, and those of
    /// the person that its instructions name.
    fn memories(&self, place: &Place, list: &mut SavedList) -> Vec<Memory> {
        let mut memories = Vec::new();
        for folder in &place.folders {
            memories.extend(read(folder, list));
        }
        let own = |uri: &&Uri| uri.scope == Scope::User;
        for uri in place.named.iter().filter(own) {
            // One that is named and not there is for `lint` to tell; a core one is
            // given in every project anyway.
            let memory = self.everywhere().get(uri.name.as_str()).ok();
            memories.extend(memory.filter(|memory| !memory.is_core()));
        }
        memories
    }
}

impl SavedMemories for SavedFiles {
    fn stamp(&self, project: Option<&Project>) -> u64 {
        let mut stamp = Stamp::default();
        let Some(project) = project else {
            stamp.folder(self.everywhere().dir());
            return stamp.finish();
        };
        if let Some(place) = self.place(project, FRESH) {
            for folder in &place.folders {
                stamp.folder(folder.dir());
            }
            for uri in &place.named {
                stamp.word(&uri.to_string());
            }
            if place.named.iter().any(|uri| uri.scope == Scope::User) {
                stamp.folder(self.everywhere().dir());
            }
            for layer in &place.layers {
                stamp.file(layer);
            }
            stamp.file(&cache_file(&self.paths, &place.root));
            stamp.file(&Accepted::file(&self.paths));
        }
        stamp.finish()
    }

    fn read(&self, project: Option<&Project>) -> Option<SavedList> {
        let mut list = SavedList::default();
        let Some(project) = project else {
            for memory in read(&self.everywhere(), &mut list) {
                let context = Context {
                    accepted: memory.author == Author::User,
                    ..Context::default()
                };
                list.memories.push(row::of(&memory, context));
            }
            return Some(list);
        };
        let place = self.place(project, Duration::ZERO)?;
        let cached = cache(&self.paths, &place.root);
        let accepted = Accepted::load(&self.paths);
        for memory in self.memories(&place, &mut list) {
            let findings = match memory.uri.scope {
                Scope::User => Vec::new(),
                Scope::Project | Scope::Team => cached.last(&memory.body).unwrap_or_default(),
            };
            let context = Context {
                root: Some(&place.root),
                accepted: accepted.holds(&place.root, &memory),
                named: place.named.contains(&memory.uri),
                findings: &findings,
            };
            list.memories.push(row::of(&memory, context));
        }
        Some(list)
    }

    fn check(&self, project: &Project) {
        let Some(place) = self.place(project, FRESH) else {
            return;
        };
        // Outside a repository the tree may be a whole home.
        if !place.root.join(".git").exists() {
            return;
        }
        let mut list = SavedList::default();
        let folders = place.folders.iter();
        let memories: Vec<Memory> = folders.flat_map(|f| read(f, &mut list)).collect();
        let bodies: Vec<&str> = memories.iter().map(|m| m.body.as_str()).collect();
        if bodies.iter().all(|body| check::claims(body).is_empty()) {
            return;
        }
        let mut apart: Vec<PathBuf> = place.folders.iter().map(|f| f.dir().into()).collect();
        apart.push(self.everywhere().dir().into());
        let files = Files::list(&place.root, &apart);
        if files.len() > LARGEST_TREE {
            return;
        }
        let mut cached = cache(&self.paths, &place.root);
        let _ = check::check_all(
            &files,
            &bodies,
            &Git::default(),
            &mut cached,
            &mut |_, _| {},
        );
        keep(&self.paths, &place.root, &cached);
    }
}

/// The memories of a folder; what cannot be read is told.
fn read(folder: &Folder, list: &mut SavedList) -> Vec<Memory> {
    match folder.first(MEMORIES) {
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

/// Memories of the project at `cwd` were written: their rows follow. A worker
/// that runs is told, and not waited for.
pub(crate) fn tell(data: &Data, cwd: &Path) {
    let project = data.locate(cwd).project;
    // The files are written; an index that is late is no reason to fail.
    if index(data, &project).is_some() {
        return;
    }
    let _ = hint(&data.paths, &project);
    let _ = std::env::current_exe().and_then(|program| {
        wake(
            &data.paths,
            &program,
            env!("CARGO_PKG_VERSION"),
            clock::now(),
        )
    });
}

/// Brings the rows in step here, if no worker runs: one that is started now would
/// be too late for a session that begins next.
fn index(data: &Data, project: &Project) -> Option<()> {
    if is_gone(&data.paths) {
        return None;
    }
    let _held = Exclusive::if_free(&data.paths)?;
    let store = remora_store::open(&data.paths.database(), Access::Write).ok()?;
    follow(
        &store,
        &SavedFiles::new(data),
        policy(data).redaction,
        project,
    )
    .ok()
}
