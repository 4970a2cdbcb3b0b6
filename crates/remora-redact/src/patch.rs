//! A patch inside a command that changes several files: each part is redacted
//! as the file it changes.

use std::borrow::Cow;

use super::RedactionCounts;
use super::files::{self, ValueExtent};
use super::paths::{DenyPaths, PathSensitivity};

/// How such a patch begins.
const PATCH_START: &str = "*** Begin Patch";
/// What precedes the name of a file.
const FILE_HEADERS: &[&str] = &[
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// Whether a command holds a patch of several files.
pub(super) fn is_patch(command: &str) -> bool {
    command.contains(PATCH_START)
}

/// The patch with the parts of sensitive files redacted; `None` if it has none.
/// Headers stay, so that it can still be read which files changed.
pub(super) fn redact_patch(
    patch: &str,
    paths: &DenyPaths,
    marks: &mut RedactionCounts,
) -> Option<String> {
    let mut out = String::with_capacity(patch.len());
    let mut changed = false;
    let mut body = String::new();
    let mut nature = PathSensitivity::Plain;
    let mut flush = |body: &mut String, nature: PathSensitivity, out: &mut String| {
        let treated = files::redact_file_text(body, nature, ValueExtent::File, marks);
        if let Cow::Owned(new) = treated {
            changed = true;
            out.push_str(&new);
            // A mark in place of the whole text must not swallow the next header.
            if body.ends_with('\n') && !out.ends_with('\n') {
                out.push('\n');
            }
        } else {
            out.push_str(body);
        }
        body.clear();
    };
    for line in patch.split_inclusive('\n') {
        if !line.starts_with("*** ") {
            body.push_str(line);
            continue;
        }
        flush(&mut body, nature, &mut out);
        out.push_str(line);
        let header = FILE_HEADERS
            .iter()
            .find(|header| line.starts_with(**header));
        if let Some(header) = header {
            let own = paths.classify_path(line[header.len()..].trim());
            // A file that is moved is as sensitive as either of its names.
            nature = match *header {
                "*** Move to: " => nature.max(own),
                _ => own,
            };
        }
    }
    flush(&mut body, nature, &mut out);
    changed.then_some(out)
}
