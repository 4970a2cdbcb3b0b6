//! What files were like when they were heard of: the worker looks at them on
//! the disk before a batch is stored. Only what the event can have meant is
//! taken: a file that was written after it is reported by a later one.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use remora_client::anchor_of;
use remora_core::record::{FileRecord, FileState};
use remora_memory::CapturedEvent;

/// A file system's clock, and the client between the writing and the telling,
/// may differ by this much, in milliseconds.
const CLOCK_SLACK_MS: i64 = 2_000;

/// Fills in the anchors of the files of a batch. What cannot be read has none.
pub(crate) fn fill_fingerprints(files: &mut [FileRecord], events: &[&CapturedEvent]) {
    if files.is_empty() {
        return;
    }
    // Two checkouts of a project may work at the same time.
    let roots: HashMap<_, &str> = events
        .iter()
        .map(|event| {
            let key = (event.project(), event.session(), event.envelope.at);
            (key, event.root())
        })
        .collect();
    let mut seen = HashSet::new();
    // The last report of a file is what stays.
    for file in files.iter_mut().rev() {
        let name = (file.project.clone(), file.folder.clone(), file.name.clone());
        if !seen.insert(name) || file.state == FileState::Removed {
            continue;
        }
        let key = (file.project.as_str(), &file.session, file.time);
        let Some(root) = roots.get(&key).filter(|root| root.starts_with('/')) else {
            continue;
        };
        let path = Path::new(root).join(&file.folder).join(&file.name);
        let latest = file.time.saturating_add(CLOCK_SLACK_MS);
        // Asked before as well: what was written since need not be read.
        if read_modified_ms(&path).is_some_and(|at| at <= latest) {
            let anchor = anchor_of(&path).ok().flatten();
            file.anchor = anchor.filter(|anchor| anchor.since <= latest);
        }
    }
}

/// In milliseconds since 1970; before that is as good as then.
fn read_modified_ms(path: &Path) -> Option<i64> {
    let time = fs::metadata(path).ok()?.modified().ok()?;
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests;
