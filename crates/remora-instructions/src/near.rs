//! The name that was probably meant: which file of one folder comes close.

use std::fs;
use std::path::{Path, PathBuf};

use remora_core::text::{SwapCost, edit_distance};

/// Entries that are read: a hint is not worth a scan of a huge folder.
const MAX_SCANNED_ENTRIES: usize = 5_000;
/// How many letters a name may be off, however long it is.
const MAX_DISTANCE: usize = 3;

/// An existing path whose spelling is close to one that does not exist.
pub(crate) fn find_nearest_path(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let wanted = path.file_name()?.to_string_lossy().to_lowercase();
    if !folder.is_dir() {
        // The mistake is further up: correct that part and try again.
        let corrected = find_nearest_path(folder)?.join(path.file_name()?);
        return corrected.exists().then_some(corrected);
    }
    // One mistake in four letters: in short names everything is close to everything.
    let allowed = (wanted.chars().count() / 4).min(MAX_DISTANCE);
    let mut best: Option<(usize, PathBuf)> = None;
    for entry in fs::read_dir(folder)
        .ok()?
        .flatten()
        .take(MAX_SCANNED_ENTRIES)
    {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let Some(distance) = edit_distance(&wanted, &name, SwapCost::One, allowed) else {
            continue;
        };
        let found = (distance, entry.path());
        if best.as_ref().is_none_or(|best| found < *best) {
            best = Some(found);
        }
    }
    best.map(|(_, path)| path)
}

#[cfg(test)]
mod tests;
