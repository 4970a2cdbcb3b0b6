//! The name that was probably meant: how far two spellings are apart, and
//! which file of one folder comes close.

use std::fs;
use std::path::{Path, PathBuf};

/// Entries that are looked at: a hint is not worth a scan of a huge folder.
const MAX_SCANNED_ENTRIES: usize = 5_000;

/// An existing path whose spelling is close to one that does not exist.
pub(crate) fn find_nearest_path(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let wanted = path.file_name()?.to_string_lossy().to_lowercase();
    if !folder.is_dir() {
        // The mistake is further up: correct that part and try again.
        let mended = find_nearest_path(folder)?.join(path.file_name()?);
        return mended.exists().then_some(mended);
    }
    // One mistake in four letters: in short names everything is close to everything.
    let allowed = wanted.chars().count() / 4;
    let mut best: Option<(usize, PathBuf)> = None;
    for entry in fs::read_dir(folder)
        .ok()?
        .flatten()
        .take(MAX_SCANNED_ENTRIES)
    {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let distance = edit_distance(&wanted, &name);
        let found = (distance, entry.path());
        if distance <= allowed.min(3) && best.as_ref().is_none_or(|best| found < *best) {
            best = Some(found);
        }
    }
    best.map(|(_, path)| path)
}

/// How many letters differ; a number above any limit when lengths differ much.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let change = row[j] + usize::from(x != y);
            let mut best = change.min(row[j + 1] + 1).min(next[j] + 1);
            // Two swapped letters are one mistake.
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
