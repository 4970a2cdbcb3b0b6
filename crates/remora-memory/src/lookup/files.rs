//! Files that were read and folders that were listed.

use remora_core::tool_call::{FileForm, FileRead, OutputDetail, ShownFile, ToolOutput};

use super::LookupReading;
use super::values::{format_count, relative_path};
use crate::edit::short_path;
use crate::folder;
use crate::symbols::{Language, Symbol, SymbolKind, list_symbols};

pub(super) fn describe_read(read: &FileRead, output: &ToolOutput, root: &str) -> LookupReading {
    let nothing = ShownFile::default();
    let file = match &output.detail {
        OutputDetail::File(file) => file,
        _ => &nothing,
    };
    let path = read.path.as_deref().or(file.path.as_deref());
    let path = path.map(|p| relative_path(p, root)).unwrap_or_default();
    let shown = short_path(&path);
    let mut reading = match file.form {
        FileForm::Image => {
            LookupReading::new(&format!("Looked at image {shown}")).with_concept("image")
        }
        FileForm::Notebook { cells } => LookupReading::new(&format!(
            "Read notebook {shown} ({})",
            format_count(cells, "cell")
        )),
        FileForm::Document => {
            let pages = read.pages.as_ref().map(|p| format!(", pages {p}"));
            let pages = pages.unwrap_or_default();
            LookupReading::new(&format!("Read PDF {shown}{pages}")).with_concept("document")
        }
        FileForm::Unchanged => LookupReading::new(&format!("Read {shown} again, unchanged")),
        FileForm::Text | FileForm::Other => describe_text_read(read, file, output, &path),
    };
    if let Some(size) = file.size_bytes.filter(|_| file.form != FileForm::Text) {
        reading.add_fact(&format!("{size} bytes"));
    }
    if !path.is_empty() {
        reading.files_read.push(path);
    }
    reading
}

fn describe_text_read(
    read: &FileRead,
    file: &ShownFile,
    output: &ToolOutput,
    path: &str,
) -> LookupReading {
    let shown = short_path(path);
    let content = match &output.detail {
        OutputDetail::File(file) => file.content.as_deref().unwrap_or(""),
        _ => &output.text,
    };
    let lines = content.lines().count() as u64;
    let total = file.total_lines.unwrap_or(lines);
    let first = file.first_line.or(read.first_line).unwrap_or(1).max(1);
    let held = file.line_count.unwrap_or(lines);
    // The client counts the end of the last line as one more.
    let whole = first <= 1 && held >= total;
    let size = if whole {
        format_count(usize::try_from(lines).unwrap_or(usize::MAX), "line")
    } else {
        let last = first.saturating_add(held.saturating_sub(1)).max(first);
        format!("lines {first}-{last} of {total}")
    };
    let symbols = list_symbols(path, content);
    // For the folder's record, which would have to look through the text again.
    let holds = match &output.detail {
        OutputDetail::File(file) if file.content.is_some() => {
            folder::join_main_symbols(content, &symbols)
        }
        _ => None,
    };
    let symbols = select_leading_symbols(symbols);
    let language = Language::from_path(path);
    let top = symbols.iter().filter(|s| rank_symbol(s) == 0).count();
    let shown_symbols = if top > 0 {
        &symbols[..top]
    } else {
        &symbols[..]
    };
    let mut names: Vec<&str> = Vec::new();
    for name in shown_symbols
        .iter()
        .map(|s| language.strip_qualifier(&s.name))
    {
        if !names.contains(&name) && names.len() < 4 {
            names.push(name);
        }
    }
    let title = match names.as_slice() {
        _ if !output.has_answer => format!("Read {shown}"),
        _ if content.trim().is_empty() && whole => format!("Read {shown}: empty"),
        [] => format!("Read {shown} ({size})"),
        _ => format_title(&shown, &names, &size),
    };
    let mut reading = LookupReading::new(&title);
    for symbol in symbols.iter().take(10) {
        // Symbols are counted within what was shown, which may begin further
        // down.
        let line = first.saturating_add(symbol.line as u64).saturating_sub(1);
        reading.add_fact(&format!(
            "{} `{}` (line {line})",
            symbol.kind.as_str(),
            symbol.name
        ));
    }
    reading.holds = holds;
    reading.with_text(content)
}

/// As many names as fit.
fn format_title(shown: &str, names: &[&str], size: &str) -> String {
    let mut best = format!("Read {shown} ({size})");
    for count in 1..=names.len().min(4) {
        let title = format!("Read {shown}: {} ({size})", names[..count].join(", "));
        if title.chars().count() > crate::edit::MAX_TITLE_CHARS {
            break;
        }
        best = title;
    }
    best
}

/// What says most about a file has the lowest rank.
fn rank_symbol(symbol: &Symbol) -> u8 {
    match symbol.kind {
        SymbolKind::Impl => 3,
        SymbolKind::Module if symbol.name == "tests" => 3,
        SymbolKind::Test => 2,
        SymbolKind::Constant | SymbolKind::Field | SymbolKind::Column => 1,
        SymbolKind::Key if symbol.name.contains('.') => 1,
        _ => 0,
    }
}

fn select_leading_symbols(mut all: Vec<Symbol>) -> Vec<Symbol> {
    all.retain(|s| rank_symbol(s) < 3);
    all.sort_by_key(rank_symbol);
    all.dedup_by(|a, b| a.name == b.name);
    all
}

pub(super) fn describe_listing(
    path: Option<&str>,
    output: &ToolOutput,
    root: &str,
) -> LookupReading {
    let path = path.map_or_else(|| ".".to_owned(), |path| relative_path(path, root));
    let entries: Vec<String> = output
        .text
        .lines()
        .map(|l| l.trim().trim_start_matches("- "))
        // The client adds a remark of its own to the entries.
        .filter(|l| !l.is_empty() && !l.starts_with("NOTE"))
        .map(|l| relative_path(l, root))
        // The client names the folder itself on the first line.
        .filter(|l| l.trim_end_matches('/') != path)
        .collect();
    let mut reading = LookupReading::new(&format!(
        "Listed {}: {}",
        short_path(&path),
        if entries.len() == 1 {
            "1 entry".to_owned()
        } else {
            format!("{} entries", entries.len())
        }
    ));
    for entry in entries.iter().take(10) {
        reading.add_fact(entry);
    }
    reading.with_text(&output.text)
}
