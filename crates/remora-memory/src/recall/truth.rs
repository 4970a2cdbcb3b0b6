//! Whether what a row tells still holds: the file it speaks of is compared with
//! what it was when it was last heard of. Decisions, words, summaries and fixes
//! do not hang on a file. A commit's reason outlives its lines, but not its
//! revert.

use std::collections::HashMap;

use remora_protocol::record::{Item, Kind};

use super::reader::Reader;
use super::{Likeness, Scene, other_branch};
use crate::commit::reverted_by;

/// Files that are compared for one answer, at most.
const FILES: usize = 8;
/// A file that was written this long after a row was made by the same call.
const SLACK: i64 = 2_000;

/// Whether a row still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Its file is as it was, or it hangs on none.
    Holds,
    /// Nobody has looked.
    Unchecked,
    /// The file has changed, at this moment in milliseconds since 1970.
    Changed(i64),
    /// The file is gone, or the commit was reverted.
    Gone,
}

/// Looks at files, each once and only so many.
pub(super) struct Checker<'a> {
    store: &'a Reader<'a>,
    scene: &'a Scene<'a>,
    known: HashMap<String, Found>,
    left: usize,
}

#[derive(Debug, Clone, Copy)]
enum Found {
    /// As it has been since this moment.
    Since(i64),
    Changed(i64),
    Gone,
    Unknown,
}

impl<'a> Checker<'a> {
    pub(super) fn new(store: &'a Reader<'a>, scene: &'a Scene<'a>) -> Self {
        Self {
            store,
            scene,
            known: HashMap::new(),
            left: FILES,
        }
    }

    /// Whether this row still holds.
    pub(super) fn of(&mut self, item: &Item) -> Truth {
        if reverted_by(item).is_some() {
            return Truth::Gone;
        }
        let hangs = matches!(
            item.kind,
            Kind::Bugfix
                | Kind::Feature
                | Kind::Refactor
                | Kind::Change
                | Kind::Discovery
                | Kind::Failure
        );
        let path = item.files_modified.first().or(item.files_read.first());
        let (true, Some(path)) = (hangs, path) else {
            return Truth::Holds;
        };
        match self.file(path) {
            Found::Unknown => Truth::Unchecked,
            // A file of another branch need not be here to be there.
            Found::Gone if other_branch(item, self.scene).is_some() => Truth::Unchecked,
            Found::Gone => Truth::Gone,
            Found::Changed(when) => Truth::Changed(when),
            Found::Since(when) if when > item.time.max(item.last_time) + SLACK => {
                Truth::Changed(when)
            }
            Found::Since(_) => Truth::Holds,
        }
    }

    fn file(&mut self, path: &str) -> Found {
        if let Some(found) = self.known.get(path) {
            return *found;
        }
        let inside = !path.starts_with(['/', '~']) && !path.starts_with("..");
        if self.left == 0 || !inside || self.scene.disk.is_late() {
            return Found::Unknown;
        }
        self.left -= 1;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        // A store of an older schema cannot say; that is no reason to be silent.
        let record = self.store.file(self.scene.project, folder, name);
        let anchor = record.ok().flatten().and_then(|file| file.anchor);
        let found = match anchor {
            Some(anchor) => match self.scene.disk.likeness(path, &anchor) {
                Likeness::Same => Found::Since(anchor.since),
                Likeness::Changed(when) => Found::Changed(when),
                Likeness::Gone => Found::Gone,
            },
            None if self.scene.disk.exists(path) => Found::Unknown,
            None => Found::Gone,
        };
        self.known.insert(path.to_owned(), found);
        found
    }
}
