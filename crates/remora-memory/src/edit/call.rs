//! Turns one file of a tool call into an [`EditInput`].

use remora_core::tool_call::{FileChange, FileEdit, Hunk, Replacement};

use super::{EditInput, EditReading, FileOrigin, patch};

/// A path as shown: relative to the root where it lies under it.
pub(crate) fn strip_root<'a>(path: &'a str, root: &str) -> &'a str {
    let root = root.trim_end_matches(['/', '\\']);
    if root.is_empty() {
        return path;
    }
    path.strip_prefix(root)
        .and_then(|rest| rest.strip_prefix(['/', '\\']))
        .map(|rest| rest.trim_start_matches(['/', '\\']))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(path)
}

/// Reads what a call did to one file.
pub fn read_edit_call(edit: &FileEdit, root: &str) -> EditReading {
    let original = edit.original.as_deref();
    let pieces = match edit.hunks.as_slice() {
        [] => build_edit_hunks(&edit.replacements, original),
        _ => Vec::new(),
    };
    let hunks = if pieces.is_empty() {
        &edit.hunks
    } else {
        &pieces
    };
    super::read_edit(&EditInput {
        path: strip_root(&edit.path, root),
        original,
        hunks,
        old: edit.old.as_deref(),
        new: edit.new.as_deref(),
        origin: match edit.change {
            FileChange::Created => FileOrigin::Created,
            _ => FileOrigin::Updated,
        },
    })
}

/// The patch of several replacements, each found in the text before.
fn build_edit_hunks(edits: &[Replacement], original: Option<&str>) -> Vec<Hunk> {
    let edits = edits.iter();
    edits
        .flat_map(|each| patch::diff_replacement(original, &each.old, &each.new))
        .collect()
}
