//! Which memory a checkout uses: the key that its remote names, once its root
//! holds that key, else a memory of its own. A database from before roots were
//! listed says which root a key was last seen with; that one holds it.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Instant;

use remora_client::{Claim, Paths, ProjectLocation, Roots, locate_project, main_root};
use remora_memory::store::{Store, StoreError};
use remora_store::Access;

/// Where `cwd` belongs, for what only reads: a free key stays free.
pub fn look_up_project(paths: &Paths, cwd: &Path, session_root: Option<&Path>) -> ProjectLocation {
    let location = locate_project(paths, cwd, session_root);
    match known_holder(paths, &location, Access::Read) {
        Known::Nothing | Known::Itself => location,
        Known::Other(holder) => location.kept_apart(vec![holder]),
        Known::Unreadable => location.kept_apart(Vec::new()),
    }
}

/// The same for what writes memory: a key that is free is held from now on, by
/// the root that it was last seen with, else by this one.
pub fn claim_project(paths: &Paths, location: ProjectLocation, until: Instant) -> ProjectLocation {
    let holder = match known_holder(paths, &location, Access::ReadUntil(until)) {
        Known::Nothing if location.claim != Claim::Free => return location,
        Known::Nothing | Known::Itself => location.main.clone(),
        Known::Other(holder) => holder,
        Known::Unreadable => return location.kept_apart(Vec::new()),
    };
    let roots = Roots::of(paths);
    let key = &location.project.key;
    // A list that cannot be written is no reason to lose an event; the next one
    // tries again.
    let holders = match roots.claim(key, &holder) {
        Ok(true) | Err(_) => vec![holder],
        Ok(false) => roots.holders(key).ok().flatten().unwrap_or_default(),
    };
    if holders.contains(&location.main) {
        return ProjectLocation {
            claim: Claim::Accepted,
            ..location
        };
    }
    location.kept_apart(holders)
}

/// What the database knows of the root of a free key.
enum Known {
    /// The key is not free, or nobody had it.
    Nothing,
    Itself,
    Other(String),
    Unreadable,
}

fn known_holder(paths: &Paths, location: &ProjectLocation, access: Access) -> Known {
    if location.claim != Claim::Free {
        return Known::Nothing;
    }
    match last_root(paths, &location.project.key, access) {
        Ok(None) => Known::Nothing,
        Ok(Some(root)) => match main_root(Path::new(&root)) {
            main if main == location.main => Known::Itself,
            main => Known::Other(main),
        },
        Err(_) => Known::Unreadable,
    }
}

fn last_root(paths: &Paths, key: &str, access: Access) -> Result<Option<String>, StoreError> {
    let database = paths.database();
    if !database.exists() {
        // What was remembered before comes back from the archive, with its roots.
        let gone = crate::is_gone(paths);
        return if gone {
            Err(StoreError::Empty)
        } else {
            Ok(None)
        };
    }
    let store = match remora_store::open(&database, access) {
        // The worker is just making it.
        Err(StoreError::Empty) => return Ok(None),
        other => other?,
    };
    let found = store.projects()?.into_iter().find(|p| p.key == key);
    let root = found.map(|project| project.root);
    Ok(root.filter(|root| Path::new(root).is_absolute()))
}
