//! Cells of a notebook: replaced, inserted, deleted.

use remora_core::tool_call::{CellChange, NotebookEdit};

use super::{
    EditInput, EditKind, EditReading, FileOrigin, fit_title, one_line, short_path, strip_root,
    truncate_chars,
};
use crate::symbols::list_symbols;

/// Reads what a call did to a cell.
pub fn read_notebook_edit(edit: &NotebookEdit, root: &str) -> EditReading {
    let path = short_path(strip_root(&edit.path, root));
    let source = edit.source.as_str();
    let cell = edit.cell.as_deref().map(|c| one_line(c, 20));
    let prose = edit.is_prose;
    let ending = match edit.language.as_deref().unwrap_or("python") {
        _ if prose => "cell.md",
        "javascript" | "typescript" => "cell.ts",
        "rust" => "cell.rs",
        _ => "cell.py",
    };
    // The cell as a file of its own: what it defines is what was done.
    let mut reading = super::read_edit(&EditInput {
        path: ending,
        new: Some(source),
        origin: FileOrigin::Created,
        ..EditInput::default()
    });
    let sort = if prose { "text" } else { "code" };
    let place = cell.map(|c| format!(" {c}")).unwrap_or_default();
    let head = match edit.change {
        CellChange::Inserted if place.is_empty() => format!("Inserted a {sort} cell in {path}"),
        CellChange::Inserted => format!("Inserted a {sort} cell after{place} in {path}"),
        CellChange::Deleted => format!("Deleted cell{place} of {path}"),
        CellChange::Replaced => format!("Rewrote {sort} cell{place} of {path}"),
    };
    let about = list_symbols(ending, source)
        .first()
        .map(|s| format!("`{}`", one_line(&s.name, 40)));
    let about = about.or_else(|| {
        let line = source.lines().map(str::trim).find(|l| !l.is_empty())?;
        Some(one_line(line, 50))
    });
    reading.title = fit_title(&about.map_or_else(|| head.clone(), |a| format!("{head}: {a}")));
    // The cell was read as a new file, which it is not.
    reading.facts.retain(|f| !f.ends_with("in a new file"));
    reading.diff = truncate_chars(&reading.diff, super::MAX_DIFF_CHARS);
    reading.kind = if prose {
        EditKind::Docs
    } else {
        EditKind::Change
    };
    reading.concepts.retain(|c| c != "docs" || prose);
    reading
}
