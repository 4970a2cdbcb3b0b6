//! Turns one file of a tool call into an [`EditInput`].

use remora_core::tool_call::{FileChange, FileEdit, Hunk, Replacement};

use super::{
    EditInput, EditKind, EditReading, FileOrigin, MAX_FACTS, fit_title, patch, short_path,
};

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
        // The client's own patch is better than ours: it has line numbers of
        // the whole file.
        [] => build_edit_hunks(&edit.replacements, original),
        _ => Vec::new(),
    };
    let hunks = if pieces.is_empty() {
        &edit.hunks
    } else {
        &pieces
    };
    let path = strip_root(&edit.path, root);
    let reading = super::read_edit(&EditInput {
        path,
        original,
        hunks,
        old: edit.old.as_deref(),
        new: edit.new.as_deref(),
        origin: match edit.change {
            FileChange::Created => FileOrigin::Created,
            _ => FileOrigin::Updated,
        },
    });
    let says_how = !hunks.is_empty() || edit.old.is_some() || edit.new.is_some();
    match &edit.change {
        FileChange::Created | FileChange::Updated => reading,
        FileChange::Deleted => describe_deletion(reading, path, says_how),
        FileChange::Moved { from } => {
            describe_move(reading, strip_root(from, root), path, says_how)
        }
    }
}

/// A file that is gone, with what stood in it if that is known.
fn describe_deletion(mut reading: EditReading, path: &str, says_how: bool) -> EditReading {
    reading.title = fit_title(&format!("Deleted {}", short_path(path)));
    if !says_how {
        reading.facts.clear();
    }
    // Read as an edit, the removed lines would count as something that was
    // added or fixed.
    if matches!(reading.kind, EditKind::Feature | EditKind::Bugfix) {
        reading.kind = EditKind::Change;
    }
    reading
}

/// A file under another name; what changed in it on the way is a fact.
fn describe_move(mut reading: EditReading, from: &str, path: &str, says_how: bool) -> EditReading {
    let title = format!("Moved {} to {}", short_path(from), short_path(path));
    let changed = std::mem::replace(&mut reading.title, fit_title(&title));
    if says_how {
        reading.facts.insert(0, changed);
        reading.facts.truncate(MAX_FACTS);
    } else {
        reading.facts.clear();
        reading.kind = EditKind::Refactor;
    }
    reading
}

/// The patch of several replacements, each found in the text before.
fn build_edit_hunks(edits: &[Replacement], original: Option<&str>) -> Vec<Hunk> {
    let edits = edits.iter();
    edits
        .flat_map(|each| patch::diff_replacement(original, &each.old, &each.new))
        .collect()
}
