//! Names, paths and lists as titles and facts show them.

use super::MAX_TITLE_CHARS;
use super::cut::{one_line, truncate_chars};
use super::dependency::Dependency;
use super::detail;
use super::story::ChangedDeclaration;
use super::tokens;
use crate::symbols::{Language, Symbol, SymbolKind};

/// Paths longer than this lose their head.
const MAX_PATH_CHARS: usize = 56;

/// A path short enough for a title.
pub(crate) fn short_path(path: &str) -> String {
    let path = one_line(path, 400);
    if path.chars().count() <= MAX_PATH_CHARS {
        return if path.is_empty() {
            "a file".to_owned()
        } else {
            path
        };
    }
    let mut tail = String::new();
    // The end of a path tells files apart; its beginning is the same for most
    // of a project.
    for part in path.rsplit('/') {
        if !tail.is_empty() && tail.chars().count() + part.chars().count() + 5 > MAX_PATH_CHARS {
            break;
        }
        tail = if tail.is_empty() {
            part.to_owned()
        } else {
            format!("{part}/{tail}")
        };
    }
    truncate_chars(&format!(".../{tail}"), MAX_PATH_CHARS + 4)
}

/// Cuts a title, and closes the code that the cut left open.
pub(crate) fn fit_title(title: &str) -> String {
    let cut = one_line(title, MAX_TITLE_CHARS);
    if cut.matches('`').count().is_multiple_of(2) {
        return cut;
    }
    // One character less makes room for the backtick that closes the code.
    let open = one_line(title, MAX_TITLE_CHARS - 1);
    if open.matches('`').count().is_multiple_of(2) {
        open
    } else {
        format!("{open}`")
    }
}

pub(super) fn format_version(text: &str) -> String {
    if text.is_empty() {
        "any".to_owned()
    } else {
        one_line(text, 30)
    }
}

pub(super) fn describe_dependency(dependency: &Dependency) -> String {
    if let Some(note) = &dependency.note {
        return format!("dependency {}: {note}", dependency.name);
    }
    match (&dependency.before, &dependency.after) {
        (Some(old), Some(new)) => format!(
            "dependency {}: {} -> {}",
            dependency.name,
            format_version(old),
            format_version(new)
        ),
        (None, Some(new)) => format!(
            "added dependency {} {}",
            dependency.name,
            format_version(new)
        ),
        (old, _) => format!(
            "removed dependency {} {}",
            dependency.name,
            format_version(old.as_deref().unwrap_or(""))
        ),
    }
}

/// A symbol's name as a title shows it.
pub(super) fn format_symbol(symbol: &Symbol) -> String {
    let name = one_line(&symbol.name.replace('`', "'"), 60);
    if symbol.kind == SymbolKind::Section
        && !symbol.name.contains('.')
        && symbol
            .name
            .contains(|c: char| c.is_whitespace() || c.is_uppercase())
    {
        return format!("\"{name}\"");
    }
    format!("`{name}`")
}

/// Two names and how many more.
pub(super) fn join_names(mut list: Vec<String>) -> String {
    list.dedup();
    match list.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
    }
}

/// What came or went, as a title lists it: the outermost only.
pub(super) fn format_declarations(language: Language, stated: &[ChangedDeclaration<'_>]) -> String {
    let inside = |s: &ChangedDeclaration<'_>| {
        language != Language::Markdown
            && stated
                .iter()
                .any(|o| language.is_inside(&s.symbol.name, &o.symbol.name))
    };
    let outermost: Vec<&ChangedDeclaration<'_>> = stated.iter().filter(|s| !inside(s)).collect();
    let kind = outermost.first().map(|s| s.symbol.kind);
    let same = outermost.iter().all(|s| Some(s.symbol.kind) == kind);
    let names = join_names(outermost.iter().map(|s| format_symbol(&s.symbol)).collect());
    match (kind, outermost.as_slice()) {
        (Some(SymbolKind::Impl), [one]) => {
            format!(
                "`{}`",
                detail::format_code(one.text.trim_end_matches('}'), 60)
            )
        }
        (Some(SymbolKind::Test), [_, _, ..]) if same => {
            format!("{} tests ({names})", outermost.len())
        }
        (Some(kind @ (SymbolKind::Section | SymbolKind::Module)), [_, _, ..]) if same => {
            format!("{}s {names}", kind.as_str())
        }
        (
            Some(
                kind @ (SymbolKind::Test
                | SymbolKind::Section
                | SymbolKind::Table
                | SymbolKind::View
                | SymbolKind::Index
                | SymbolKind::Trigger
                | SymbolKind::Column
                | SymbolKind::Target
                | SymbolKind::Module
                | SymbolKind::Stage),
            ),
            [_],
        ) => format!("{} {names}", kind.as_str()),
        _ => names,
    }
}

/// What differs between two versions of a declaration.
pub(super) fn signature_change(old: &str, new: &str) -> String {
    let arrow = |l: &str| l.find("->").or_else(|| l.rfind("):"));
    if let Some(swap) = tokens::find_swap(old, new) {
        let after = detail::format_code(swap.after.trim_matches([',', ' ']), 50);
        let before = detail::format_code(swap.before.trim_matches([',', ' ']), 50);
        if swap.before.is_empty() {
            return format!("added `{after}`");
        }
        if swap.after.is_empty() {
            return format!("dropped `{before}`");
        }
        if let (tokens::TokenKind::Number | tokens::TokenKind::Text, Some(label)) =
            (swap.sort, swap.label)
        {
            return format!("{label} {before} -> {after}");
        }
        let returns = arrow(new).is_some_and(|at| new.rfind(swap.after).is_some_and(|s| s > at));
        let lead = if returns { "returns " } else { "" };
        return format!("{lead}`{before}` -> `{after}`");
    }
    format!("now `{}`", detail::format_code(new, 60))
}
