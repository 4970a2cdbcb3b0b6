//! What one load may cost, whatever a repository holds: imports that are
//! followed, bytes that are read, entries of folders of rules. Far above what
//! users write; what is left out because of it is reported.

use std::collections::BTreeSet;
use std::path::Path;

/// Imports of one file that are followed.
pub(crate) const MAX_FILE_IMPORTS: usize = 5_000;
/// Imports that are followed in one load.
const MAX_LOAD_IMPORTS: usize = 50_000;
/// What is read in one load.
const MAX_LOAD_BYTES: u64 = 32 * 1024 * 1024;
/// Entries of rule folders that are read in one load.
const MAX_RULE_ENTRIES: usize = 20_000;
/// Files that are listed as left out.
pub(crate) const MAX_SKIPPED_FILES: usize = 10_000;

/// What is left for the load that runs.
#[derive(Debug)]
pub(crate) struct LoadBudget {
    imports: usize,
    bytes: u64,
    entries: usize,
    /// What was spent in all loads so far, for tests.
    pub(crate) spent: LoadStats,
    /// What was left out, once each.
    reached: BTreeSet<String>,
}

/// What loads have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LoadStats {
    pub(crate) imports: usize,
    pub(crate) files: usize,
    pub(crate) entries: usize,
}

impl Default for LoadBudget {
    fn default() -> Self {
        Self {
            imports: MAX_LOAD_IMPORTS,
            bytes: MAX_LOAD_BYTES,
            entries: MAX_RULE_ENTRIES,
            spent: LoadStats::default(),
            reached: BTreeSet::new(),
        }
    }
}

impl LoadBudget {
    /// Another load begins, with its limits unspent.
    pub(crate) fn renew_limits(&mut self) {
        *self = Self {
            spent: self.spent,
            // Warnings survive: a limit that the start reached is still true at the next read.
            reached: std::mem::take(&mut self.reached),
            ..Self::default()
        };
    }

    /// Whether an import of this file may be followed; `number` is its place
    /// in the file, from 0.
    pub(crate) fn take_import(&mut self, file: &Path, number: usize) -> bool {
        if number >= MAX_FILE_IMPORTS {
            let limit = format!("imports beyond the first {MAX_FILE_IMPORTS} are not followed");
            self.record_limit(file, &limit);
            return false;
        }
        if self.imports == 0 {
            let limit = format!("{MAX_LOAD_IMPORTS} imports were followed, the rest is not");
            self.record_limit(file, &limit);
            return false;
        }
        self.imports -= 1;
        self.spent.imports += 1;
        true
    }

    /// Whether another file may be read.
    pub(crate) fn may_read(&mut self, file: &Path) -> bool {
        if self.bytes == 0 {
            let limit = format!("{MAX_LOAD_BYTES} bytes were read, so this file is not");
            self.record_limit(file, &limit);
        }
        self.bytes > 0
    }

    /// A file was read.
    pub(crate) fn take_bytes(&mut self, bytes: u64) {
        self.spent.files += 1;
        // The file that crosses the limit is read whole; each has a limit of its own.
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// How many more entries of rule folders may be read.
    pub(crate) fn remaining_entries(&self) -> usize {
        self.entries
    }

    /// So many were; there may have been more.
    pub(crate) fn take_entries(&mut self, folder: &Path, count: usize, is_cut: bool) {
        self.entries = self.entries.saturating_sub(count);
        self.spent.entries += count;
        if is_cut {
            let limit =
                format!("{MAX_RULE_ENTRIES} entries of rule folders were read, the rest is not");
            self.record_limit(folder, &limit);
        }
    }

    fn record_limit(&mut self, path: &Path, limit: &str) {
        // One line per limit and file, and not too many: a hostile tree must not fill the report.
        if self.reached.len() < 100 {
            self.reached.insert(format!("{}: {limit}", path.display()));
        }
    }

    /// What was left out, as warnings.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &str> {
        self.reached.iter().map(String::as_str)
    }
}
