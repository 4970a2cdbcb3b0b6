//! Turns the client's tool calls (`Edit`, `Write`, `MultiEdit`,
//! `NotebookEdit`) into an [`EditInput`]. Takes any JSON without complaint.

use serde_json::Value;

use super::{EditInput, EditReading, FileOrigin, Hunk, notebook, patch};

impl Hunk {
    /// The hunks of a `structuredPatch`; what is no hunk is left out.
    pub fn parse_patch(patch: &Value) -> Vec<Self> {
        let Some(items) = patch.as_array() else {
            return Vec::new();
        };
        items.iter().filter_map(Self::from_value).collect()
    }

    fn from_value(item: &Value) -> Option<Self> {
        let number = |key: &str| {
            let number = item.get(key).and_then(Value::as_u64).unwrap_or(0);
            usize::try_from(number).unwrap_or(0)
        };
        let lines = item.get("lines")?.as_array()?;
        Some(Self {
            old_start: number("oldStart"),
            old_lines: number("oldLines"),
            new_start: number("newStart"),
            new_lines: number("newLines"),
            lines: lines
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        })
    }
}

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

/// Reads a tool call that edits; `None` for any other tool.
pub fn read_call(
    tool: &str,
    input: &Value,
    response: Option<&Value>,
    root: &str,
) -> Option<EditReading> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let answer = |key: &str| response.and_then(|r| r.get(key)).and_then(Value::as_str);
    let hunks = response
        .and_then(|r| r.get("structuredPatch"))
        .map(Hunk::parse_patch)
        .unwrap_or_default();
    let path = text("file_path")
        .or_else(|| answer("filePath"))
        .unwrap_or("");
    let mut edit = EditInput {
        path: strip_root(path, root),
        original: answer("originalFile"),
        hunks: &hunks,
        ..EditInput::default()
    };
    match tool {
        "Edit" => {
            edit.old = text("old_string").or_else(|| answer("oldString"));
            edit.new = text("new_string").or_else(|| answer("newString"));
            // An empty text to replace is how the client makes a file.
            let made = edit.old == Some("") && edit.original.is_none_or(str::is_empty);
            if made && hunks.is_empty() {
                edit.origin = FileOrigin::Created;
            }
        }
        "Write" => {
            edit.old = edit.original;
            edit.new = text("content").or_else(|| answer("content"));
            if answer("type") == Some("create") {
                edit.origin = FileOrigin::Created;
            }
        }
        "MultiEdit" => {
            let list = input.get("edits").and_then(Value::as_array);
            let pieces = build_edit_hunks(list.map_or(&[], Vec::as_slice), edit.original);
            if edit.hunks.is_empty() {
                edit.hunks = &pieces;
                return Some(super::read_edit(&edit));
            }
        }
        "NotebookEdit" => return Some(notebook::read_notebook_edit(input, response, root)),
        _ => return None,
    }
    Some(super::read_edit(&edit))
}

/// The patch of several replacements, each found in the text before.
fn build_edit_hunks(edits: &[Value], original: Option<&str>) -> Vec<Hunk> {
    let mut found = Vec::new();
    for each in edits.iter().take(200) {
        let text = |key: &str| each.get(key).and_then(Value::as_str).unwrap_or("");
        found.extend(patch::diff_replacement(
            original,
            text("old_string"),
            text("new_string"),
        ));
    }
    found
}
