//! Freshness: whether an item still holds, judged by comparing the file it is
//! about with the fingerprint that was taken last. Statements, summaries and
//! fixes do not depend on a file. The reason in a commit outlives its lines, but
//! not its revert.

use std::collections::HashMap;

use remora_core::record::{Item, Kind};

use super::reader::RecallReader;
use super::{FileStatus, RecallContext, other_branch};
use crate::commit::reverted_by;

/// Files that one recall compares at most: each is a read of the disk while an
/// agent waits.
const MAX_COMPARED_FILES: usize = 8;
/// A file written up to this long after an item was written by the same tool call:
/// the event is timed by the hook, the file by the file system.
const CLOCK_SLACK_MS: i64 = 2_000;

/// Whether an item still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Its file is unchanged, or it depends on none.
    Holds,
    /// Its file was not compared.
    Unchecked,
    /// The file has changed, at this time in milliseconds since 1970.
    Changed(i64),
    /// The file is gone, or the commit was reverted.
    Gone,
}

/// Compares files, each once and only so many.
pub(super) struct FreshnessChecker<'a> {
    store: &'a RecallReader<'a>,
    scene: &'a RecallContext<'a>,
    known: HashMap<String, FileLookup>,
    left: usize,
}

#[derive(Debug, Clone, Copy)]
enum FileLookup {
    /// Unchanged since this time.
    Since(i64),
    Changed(i64),
    Gone,
    Unknown,
}

impl<'a> FreshnessChecker<'a> {
    pub(super) fn new(store: &'a RecallReader<'a>, scene: &'a RecallContext<'a>) -> Self {
        Self {
            store,
            scene,
            known: HashMap::new(),
            left: MAX_COMPARED_FILES,
        }
    }

    /// Whether this item still holds.
    pub(super) fn check_item(&mut self, item: &Item) -> Freshness {
        if reverted_by(item).is_some() {
            return Freshness::Gone;
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
            return Freshness::Holds;
        };
        match self.check_file(path) {
            FileLookup::Unknown => Freshness::Unchecked,
            // A file that is missing here may well exist on the item's branch.
            FileLookup::Gone if other_branch(item, self.scene).is_some() => Freshness::Unchecked,
            FileLookup::Gone => Freshness::Gone,
            FileLookup::Changed(when) => Freshness::Changed(when),
            // The fingerprint matches, but was taken after the item: something else has
            // changed the file in between.
            FileLookup::Since(when) if when > item.time.max(item.last_time) + CLOCK_SLACK_MS => {
                Freshness::Changed(when)
            }
            FileLookup::Since(_) => Freshness::Holds,
        }
    }

    fn check_file(&mut self, path: &str) -> FileLookup {
        if let Some(found) = self.known.get(path) {
            return *found;
        }
        let inside = !path.starts_with(['/', '~']) && !path.starts_with("..");
        if self.left == 0 || !inside || self.scene.disk.is_late() {
            return FileLookup::Unknown;
        }
        self.left -= 1;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        // A store of an older schema has no fingerprints, which is no reason to fail.
        let record = self.store.find_file(self.scene.project, folder, name);
        let anchor = record.ok().flatten().and_then(|file| file.anchor);
        let found = match anchor {
            Some(anchor) => match self.scene.disk.file_status(path, &anchor) {
                FileStatus::Same => FileLookup::Since(anchor.since),
                FileStatus::Changed(when) => FileLookup::Changed(when),
                FileStatus::Gone => FileLookup::Gone,
            },
            None if self.scene.disk.exists(path) => FileLookup::Unknown,
            None => FileLookup::Gone,
        };
        self.known.insert(path.to_owned(), found);
        found
    }
}
