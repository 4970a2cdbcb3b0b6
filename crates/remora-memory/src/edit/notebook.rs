//! Cells of a notebook: replaced, inserted, deleted.

use serde_json::Value;

use super::{
    EditInput, EditKind, EditReading, FileOrigin, fit_title, one_line, short_path, strip_root,
    truncate_chars,
};
use crate::symbols::list_symbols;

pub(super) fn read_notebook_edit(
    input: &Value,
    response: Option<&Value>,
    root: &str,
) -> EditReading {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let answer = |key: &str| response.and_then(|r| r.get(key)).and_then(Value::as_str);
    let path = text("notebook_path")
        .or_else(|| answer("notebook_path"))
        .unwrap_or("");
    let path = short_path(strip_root(path, root));
    let source = text("new_source")
        .or_else(|| answer("new_source"))
        .unwrap_or("");
    let cell = text("cell_id")
        .or_else(|| answer("cell_id"))
        .map(|c| one_line(c, 20));
    let prose = text("cell_type").or_else(|| answer("cell_type")) == Some("markdown");
    let language = answer("language").unwrap_or("python");
    let ending = match language {
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
    let head = match text("edit_mode").unwrap_or("replace") {
        "insert" if place.is_empty() => format!("Inserted a {sort} cell in {path}"),
        "insert" => format!("Inserted a {sort} cell after{place} in {path}"),
        "delete" => format!("Deleted cell{place} of {path}"),
        _ => format!("Rewrote {sort} cell{place} of {path}"),
    };
    let about = list_symbols(ending, source)
        .first()
        .map(|s| format!("`{}`", one_line(&s.name, 40)));
    let about = about.or_else(|| {
        let line = source.lines().map(str::trim).find(|l| !l.is_empty())?;
        Some(one_line(line, 50))
    });
    reading.title = fit_title(&about.map_or_else(|| head.clone(), |a| format!("{head}: {a}")));
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
