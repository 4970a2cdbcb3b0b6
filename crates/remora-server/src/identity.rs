//! Which memory a checkout uses: the key that its remote names, once its root
//! holds that key, else a memory of its own. A database from before roots were
//! listed says which root a key was last seen with; that one holds it.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Instant;

use remora_client::{
    DataPaths, ProjectLocation, ProjectRoots, RootClaim, locate_project, main_root,
};
use remora_memory::store::{Store, StoreError};
use remora_store::Access;

/// Where `cwd` belongs, for what only reads: a free key stays free.
pub fn look_up_project(
    paths: &DataPaths,
    cwd: &Path,
    session_root: Option<&Path>,
) -> ProjectLocation {
    let location = locate_project(paths, cwd, session_root);
    match known_holder(paths, &location, Access::Read) {
        RootOwner::Nothing | RootOwner::Itself => location,
        RootOwner::Other(holder) => location.kept_apart(vec![holder]),
        RootOwner::Unreadable => location.kept_apart(Vec::new()),
    }
}

/// The same for what writes memory: a key that is free is held from now on, by
/// the root that it was last seen with, else by this one.
pub fn claim_project(
    paths: &DataPaths,
    location: ProjectLocation,
    until: Instant,
) -> ProjectLocation {
    let holder = match known_holder(paths, &location, Access::ReadUntil(until)) {
        RootOwner::Nothing if location.claim != RootClaim::Free => return location,
        RootOwner::Nothing | RootOwner::Itself => location.main.clone(),
        RootOwner::Other(holder) => holder,
        RootOwner::Unreadable => return location.kept_apart(Vec::new()),
    };
    let roots = ProjectRoots::for_data_dir(paths);
    let key = &location.project.key;
    // A list that cannot be written is no reason to lose an event; the next one
    // tries again.
    let holders = match roots.claim(key, &holder) {
        Ok(true) | Err(_) => vec![holder],
        Ok(false) => roots.find_roots(key).ok().flatten().unwrap_or_default(),
    };
    if holders.contains(&location.main) {
        return ProjectLocation {
            claim: RootClaim::Accepted,
            ..location
        };
    }
    location.kept_apart(holders)
}

/// What the database knows of the root of a free key.
enum RootOwner {
    /// The key has an owner, or never had one.
    Nothing,
    Itself,
    Other(String),
    Unreadable,
}

fn known_holder(paths: &DataPaths, location: &ProjectLocation, access: Access) -> RootOwner {
    if location.claim != RootClaim::Free {
        return RootOwner::Nothing;
    }
    match last_root(paths, &location.project.key, access) {
        Ok(None) => RootOwner::Nothing,
        Ok(Some(root)) => match main_root(Path::new(&root)) {
            main if main == location.main => RootOwner::Itself,
            main => RootOwner::Other(main),
        },
        Err(_) => RootOwner::Unreadable,
    }
}

fn last_root(paths: &DataPaths, key: &str, access: Access) -> Result<Option<String>, StoreError> {
    let database = paths.database_file();
    if !database.exists() {
        // What was remembered before comes back from the archive, with its roots.
        let gone = crate::is_gone(paths);
        return if gone {
            Err(StoreError::Empty)
        } else {
            Ok(None)
        };
    }
    let store = match crate::open_database(&database, access) {
        // The worker is just making it.
        Err(StoreError::Empty) => return Ok(None),
        other => other?,
    };
    let found = store.list_projects()?.into_iter().find(|p| p.key == key);
    let root = found.map(|project| project.root);
    Ok(root.filter(|root| Path::new(root).is_absolute()))
}
