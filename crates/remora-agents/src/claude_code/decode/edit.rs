//! Files and notebooks that a call changed. Texts of an edit may be empty.

use remora_core::tool_call::{CellChange, FileChange, FileEdit, Hunk, NotebookEdit, Replacement};
use serde_json::Value;

use super::raw_call::RawCall;

/// Replacements of one call that are read.
const MAX_REPLACEMENTS: usize = 200;

pub(super) fn decode_file_edit(raw: &RawCall<'_>) -> FileEdit {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let (path, is_named) = find_path(raw, "file_path", "filePath");
    let mut edit = FileEdit::new(path, FileChange::Updated);
    edit.is_named = is_named;
    edit.original = owned(raw.any_answer_text("originalFile"));
    edit.hunks = decode_hunks(raw);
    match raw.tool {
        "Write" => {
            // A whole file replaces a whole file; without the original the diff
            // is against nothing.
            edit.old.clone_from(&edit.original);
            edit.new = owned(find_text(raw, "content", "content"));
            edit.is_whole_file = true;
            if raw.any_answer_text("type") == Some("create") {
                edit.change = FileChange::Created;
            }
        }
        "MultiEdit" => edit.replacements = decode_replacements(raw),
        _ => {
            edit.old = owned(find_text(raw, "old_string", "oldString"));
            edit.new = owned(find_text(raw, "new_string", "newString"));
            // An empty text to replace is how the client makes a file.
            let was_empty = edit.original.as_deref().is_none_or(str::is_empty);
            if edit.old.as_deref() == Some("") && was_empty && edit.hunks.is_empty() {
                edit.change = FileChange::Created;
            }
        }
    }
    edit
}

pub(super) fn decode_notebook_edit(raw: &RawCall<'_>) -> NotebookEdit {
    let (path, is_named) = find_path(raw, "notebook_path", "notebook_path");
    NotebookEdit {
        path: path.to_owned(),
        is_named,
        source: find_text(raw, "new_source", "new_source")
            .unwrap_or("")
            .to_owned(),
        cell: find_text(raw, "cell_id", "cell_id").map(str::to_owned),
        is_prose: find_text(raw, "cell_type", "cell_type") == Some("markdown"),
        language: raw.any_answer_text("language").map(str::to_owned),
        change: match raw.any_input_text("edit_mode") {
            Some("insert") => CellChange::Inserted,
            Some("delete") => CellChange::Deleted,
            _ => CellChange::Replaced,
        },
    }
}

/// The file, and whether the input named it.
fn find_path<'a>(raw: &RawCall<'a>, in_input: &str, in_answer: &str) -> (&'a str, bool) {
    let path = find_text(raw, in_input, in_answer).unwrap_or("");
    (path, raw.input_text(in_input).is_some())
}

/// A text of the input, else of the answer. One that is there but empty is one.
fn find_text<'a>(raw: &RawCall<'a>, in_input: &str, in_answer: &str) -> Option<&'a str> {
    raw.any_input_text(in_input)
        .or_else(|| raw.any_answer_text(in_answer))
}

/// What is no hunk is left out.
fn decode_hunks(raw: &RawCall<'_>) -> Vec<Hunk> {
    let patch = raw.answer_value("structuredPatch");
    let items = patch.and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(decode_hunk)
        .collect()
}

fn decode_hunk(item: &Value) -> Option<Hunk> {
    let number = |key: &str| {
        let number = item.get(key).and_then(Value::as_u64).unwrap_or(0);
        usize::try_from(number).unwrap_or(0)
    };
    let lines = item.get("lines")?.as_array()?;
    Some(Hunk {
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

fn decode_replacements(raw: &RawCall<'_>) -> Vec<Replacement> {
    let edits = raw.input.get("edits").and_then(Value::as_array);
    let replacement = |edit: &Value| {
        let text = |key: &str| {
            edit.get(key)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        Replacement {
            old: text("old_string"),
            new: text("new_string"),
        }
    };
    // Each one is searched for in the original text.
    let edits = edits.into_iter().flatten().take(MAX_REPLACEMENTS);
    edits.map(replacement).collect()
}
