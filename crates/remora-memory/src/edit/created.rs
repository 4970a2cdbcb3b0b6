//! A new file, described by what is in it.

use super::cut::one_line;
use super::title::is_test_path;
use super::wording::{fit_title, format_symbol, join_names, short_path};
use super::{EditKind, MAX_FACTS};
use crate::symbols::{FilePurpose, Language, Symbol, SymbolKind, list_symbols};

pub(super) struct CreatedFile {
    pub(super) title: String,
    pub(super) kind: EditKind,
    pub(super) facts: Vec<String>,
    pub(super) symbols: Vec<String>,
}

pub(super) fn read_created_file(path: &str, text: &str) -> CreatedFile {
    let language = Language::from_path(path);
    let nature = language.file_purpose();
    let all = list_symbols(path, text);
    let tests = all.iter().filter(|s| s.kind == SymbolKind::Test).count();
    let top: Vec<&Symbol> = all.iter().filter(|s| is_top(language, s)).collect();
    let others = top.iter().filter(|s| s.kind != SymbolKind::Test).count();
    // A source file with its unit tests below is still described by its code.
    let testing = tests > 0 && (is_test_path(path) || others == 0);
    let shown = short_path(path);
    let title = if text.trim().is_empty() {
        format!("Created {shown}, empty")
    } else if testing {
        format!("Created {shown} with {}", format_count(tests, "test"))
    } else if nature == FilePurpose::Prose && !top.is_empty() {
        format!("Created {shown}: {}", format_symbol(top[0]))
    } else if top.is_empty() {
        format!("Created {shown}: {}", first_line(language, text))
    } else {
        let mut weighty: Vec<&&Symbol> =
            top.iter().filter(|s| s.kind != SymbolKind::Test).collect();
        // Stable: constants go last, everything else keeps the order of the
        // file.
        weighty.sort_by_key(|s| s.kind == SymbolKind::Constant && nature == FilePurpose::Code);
        let mut list: Vec<String> = weighty.iter().map(|s| format_symbol(s)).collect();
        list.dedup();
        let tail = if tests > 0 {
            format!(", {}", format_count(tests, "test"))
        } else {
            String::new()
        };
        format!("Created {shown} with {}{tail}", join_names(list))
    };
    let kind = if testing || is_test_path(path) {
        EditKind::Test
    } else {
        match nature {
            FilePurpose::Prose => EditKind::Docs,
            FilePurpose::Data => EditKind::Config,
            _ if matches!(language, Language::Docker | Language::Make) => EditKind::Config,
            FilePurpose::Unknown => EditKind::Change,
            FilePurpose::Code => EditKind::Feature,
        }
    };
    let mut facts = vec![format!(
        "{} in a new file",
        format_count(text.lines().count(), "line")
    )];
    if let Some(about) = find_description(language, text) {
        facts.push(format!("about: {about}"));
    }
    for symbol in &all {
        let line = one_line(
            &format!("{} {}", symbol.kind.as_str(), format_symbol(symbol)),
            160,
        );
        if facts.len() < MAX_FACTS
            && (nature != FilePurpose::Data || is_top(language, symbol))
            && !facts.contains(&line)
        {
            facts.push(line);
        }
    }
    let mut symbols: Vec<String> = Vec::new();
    for symbol in &all {
        let name = one_line(&symbol.name, 120);
        if symbols.len() < 24 && !symbols.contains(&name) {
            symbols.push(name);
        }
    }
    CreatedFile {
        title: fit_title(&title),
        kind,
        facts,
        symbols,
    }
}

fn format_count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Whether a symbol is at the top level, not inside another.
fn is_top(language: Language, symbol: &Symbol) -> bool {
    match language {
        Language::Markdown | Language::Html => true,
        Language::Css => symbol.kind == SymbolKind::Selector,
        Language::Go => !matches!(symbol.kind, SymbolKind::Impl),
        // Its tests are counted; the module's name says nothing about the file.
        Language::Rust if symbol.kind == SymbolKind::Module && symbol.name == "tests" => false,
        _ => !symbol.name.contains(language.member_joiner()) && symbol.kind != SymbolKind::Impl,
    }
}

fn first_line(language: Language, text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|l| !l.is_empty() && !l.starts_with("#!") && !language.is_comment(l))
        .or_else(|| text.lines().map(str::trim).find(|l| !l.is_empty()));
    one_line(line.unwrap_or(""), 60)
}

/// What the file says of itself at its top.
fn find_description(language: Language, text: &str) -> Option<String> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("#!") && !l.starts_with("<?php"));
    let first = lines.next()?;
    let quotes = first
        .strip_prefix("\"\"\"")
        .or_else(|| first.strip_prefix("'''"));
    let bare = match quotes {
        Some("") => lines.next()?,
        Some(rest) => rest.trim_end_matches(['"', '\'']),
        None if language == Language::Markdown || !language.is_comment(first) => return None,
        None => {
            let bare = first.trim_start_matches(['/', '*', '#', '!', ';', '-', '<', ' ']);
            if bare.is_empty() {
                lines.next()?.trim_start_matches(['/', '*', '#', ' '])
            } else {
                bare
            }
        }
    };
    // The end of a block comment on the same line.
    let bare = bare.trim_end_matches(['*', '/', '-', '>', ' ']);
    (bare.len() > 3).then(|| one_line(bare, 140))
}
