//! The text of an `apply_patch` call: which files it adds, updates, deletes and
//! moves. One pass over the lines.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: PATH          then lines that begin with `+`
//! *** Delete File: PATH
//! *** Update File: PATH       then perhaps `*** Move to: PATH`, then pieces:
//! @@ [a line from above]          lines that begin with ` `, `-` or `+`,
//! *** End of File             and this where the file ends
//! *** End Patch
//! ```

use remora_core::tool_call::{FileChange, FileEdit, Hunk};

/// Files of one patch that are read. A patch that a model writes by hand
/// has a few; more would make an item each.
const MAX_PATCH_FILES: usize = 200;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
/// What begins every line that is no line of a file.
const DIRECTIVE: &str = "***";
const CONTEXT: &str = "@@";

/// The files that a patch changes, in its order, with paths as it spells them.
/// `None` for what is no whole patch: half of it would report a change that was
/// never made.
pub(super) fn parse_patch(text: &str) -> Option<Vec<FileEdit>> {
    let mut lines = text.trim().lines().peekable();
    if lines.next()?.trim() != BEGIN {
        return None;
    }
    let mut edits = Vec::new();
    loop {
        let line = lines.next()?.trim();
        let edit = if line == END {
            // Anything behind the end means that this was not it.
            return lines.next().is_none().then_some(edits);
        } else if let Some(path) = read_path(line, ADD) {
            read_added(path, &mut lines)
        } else if let Some(path) = read_path(line, DELETE) {
            FileEdit::new(path, FileChange::Deleted)
        } else if let Some(path) = read_path(line, UPDATE) {
            read_updated(path, &mut lines)?
        } else {
            return None;
        };
        if edits.len() < MAX_PATCH_FILES {
            edits.push(edit);
        }
    }
}

/// Every path that a text with a patch in it names, be the patch whole or not,
/// alone or within a command. A line that only looks like it names a file counts
/// too: a user who excludes files must not miss one.
pub(super) fn list_patch_paths(text: &str) -> Vec<&str> {
    let named = |line| {
        let line = str::trim(line);
        [ADD, DELETE, UPDATE, MOVE]
            .iter()
            .find_map(|directive| read_path(line, directive))
    };
    text.lines().filter_map(named).collect()
}

fn read_path<'a>(line: &'a str, directive: &str) -> Option<&'a str> {
    let path = line.strip_prefix(directive)?.trim();
    (!path.is_empty()).then_some(path)
}

type Lines<'a> = std::iter::Peekable<std::str::Lines<'a>>;

fn read_added(path: &str, lines: &mut Lines<'_>) -> FileEdit {
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| line.starts_with('+')) {
        text.push_str(&line[1..]);
        text.push('\n');
    }
    let mut edit = FileEdit::new(path, FileChange::Created);
    edit.new = Some(text);
    edit.is_whole_file = true;
    edit
}

fn read_updated(path: &str, lines: &mut Lines<'_>) -> Option<FileEdit> {
    let is_move = |line: &&str| line.trim().starts_with(MOVE);
    let mut edit = match lines.next_if(is_move) {
        Some(line) => {
            let from = path.to_owned();
            FileEdit::new(read_path(line.trim(), MOVE)?, FileChange::Moved { from })
        }
        None => FileEdit::new(path, FileChange::Updated),
    };
    let mut hunk = Hunk::default();
    // Lines of a file begin with a sign, so none is mistaken for a directive.
    while let Some(line) =
        lines.next_if(|line| !line.starts_with(DIRECTIVE) || line.trim_end() == END_OF_FILE)
    {
        if line.trim_end() == END_OF_FILE {
            edit.hunks.push(std::mem::take(&mut hunk));
            continue;
        }
        if let Some(above) = line.strip_prefix(CONTEXT) {
            // Several in a row narrow the same piece down.
            if changes_lines(&hunk) {
                edit.hunks.push(std::mem::take(&mut hunk));
            }
            // The line from above names what the piece lies in, as the
            // first unchanged line of a piece would.
            if let Some(above) = find_scope_line(above) {
                push_line(&mut hunk, format!(" {above}"));
            }
            continue;
        }
        // An unchanged blank line whose blank was cut off.
        let line = if line.is_empty() { " " } else { line };
        if !line.starts_with([' ', '-', '+']) {
            return None;
        }
        push_line(&mut hunk, line.to_owned());
    }
    edit.hunks.push(hunk);
    edit.hunks.retain(changes_lines);
    Some(edit)
}

fn changes_lines(hunk: &Hunk) -> bool {
    hunk.lines.iter().any(|line| !line.starts_with(' '))
}

/// The text behind `@@`, unless it counts lines as other patches do.
fn find_scope_line(above: &str) -> Option<&str> {
    let above = above.strip_prefix(' ').unwrap_or(above).trim_end();
    let counts_lines = above
        .strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!above.is_empty() && !counts_lines).then_some(above)
}

fn push_line(hunk: &mut Hunk, line: String) {
    hunk.old_lines += usize::from(!line.starts_with('+'));
    hunk.new_lines += usize::from(!line.starts_with('-'));
    hunk.lines.push(line);
}

#[cfg(test)]
mod tests;
