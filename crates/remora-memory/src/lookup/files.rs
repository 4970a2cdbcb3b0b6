//! Files that were read and folders that were listed.

use serde_json::Value;

use super::LookupReading;
use super::values::{LookupCall, format_count};
use crate::edit::short_path;
use crate::symbols::{Language, Symbol, SymbolKind, list_symbols};

pub(super) fn parse_read_call(call: &LookupCall<'_>) -> LookupReading {
    let file = call.answer_value("file");
    let field = |key: &str| file.and_then(|f| f.get(key));
    let path = call
        .path("file_path")
        .or_else(|| call.path("notebook_path"))
        .or_else(|| {
            field("filePath")
                .and_then(Value::as_str)
                .map(|p| call.relative_path(p))
        })
        .unwrap_or_default();
    let shown = short_path(&path);
    let kind = call.answer_text("type").unwrap_or("text");
    let number = |key: &str| field(key).and_then(Value::as_u64);
    let mut reading = match kind {
        "image" => LookupReading::new(&format!("Looked at image {shown}")).with_concept("image"),
        "notebook" => {
            let cells = field("cells").and_then(Value::as_array).map_or(0, Vec::len);
            LookupReading::new(&format!(
                "Read notebook {shown} ({})",
                format_count(cells, "cell")
            ))
        }
        "pdf" | "parts" => {
            let pages = call
                .input_text("pages")
                .map(|p| format!(", pages {p}"))
                .unwrap_or_default();
            LookupReading::new(&format!("Read PDF {shown}{pages}")).with_concept("document")
        }
        "file_unchanged" => LookupReading::new(&format!("Read {shown} again, unchanged")),
        _ => parse_text_read(call, &path, &shown, &number),
    };
    if let Some(size) = number("originalSize").filter(|_| kind != "text") {
        reading.add_fact(&format!("{size} bytes"));
    }
    if !path.is_empty() {
        reading.files_read.push(path);
    }
    reading
}

fn parse_text_read(
    call: &LookupCall<'_>,
    path: &str,
    shown: &str,
    number: &dyn Fn(&str) -> Option<u64>,
) -> LookupReading {
    let content = call
        .answer_value("file")
        .and_then(|f| f.get("content"))
        .and_then(Value::as_str)
        .or_else(|| call.response.and_then(Value::as_str))
        .unwrap_or("");
    let lines = content.lines().count() as u64;
    let total = number("totalLines").unwrap_or(lines);
    let first = number("startLine")
        .or_else(|| call.input_number("offset"))
        .unwrap_or(1)
        .max(1);
    let held = number("numLines").unwrap_or(lines);
    // The client counts the end of the last line as one more.
    let whole = first <= 1 && held >= total;
    let size = if whole {
        format_count(usize::try_from(lines).unwrap_or(usize::MAX), "line")
    } else {
        let last = first.saturating_add(held.saturating_sub(1)).max(first);
        format!("lines {first}-{last} of {total}")
    };
    let symbols = select_leading_symbols(list_symbols(path, content));
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
        _ if call.response.is_none() => format!("Read {shown}"),
        _ if content.trim().is_empty() && whole => format!("Read {shown}: empty"),
        [] => format!("Read {shown} ({size})"),
        _ => format_title(shown, &names, &size),
    };
    let mut reading = LookupReading::new(&title);
    for symbol in symbols.iter().take(10) {
        let line = first.saturating_add(symbol.line as u64).saturating_sub(1);
        reading.add_fact(&format!(
            "{} `{}` (line {line})",
            symbol.kind.as_str(),
            symbol.name
        ));
    }
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

pub(super) fn parse_list_call(call: &LookupCall<'_>) -> LookupReading {
    let path = call.path("path").unwrap_or_else(|| ".".to_owned());
    let result = call.result_text();
    let entries: Vec<String> = result
        .lines()
        .map(|l| l.trim().trim_start_matches("- "))
        .filter(|l| !l.is_empty() && !l.starts_with("NOTE"))
        .map(|l| call.relative_path(l))
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
    reading.with_text(&result)
}
