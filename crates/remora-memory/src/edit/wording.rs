//! Names, paths and lists as titles and facts show them.

use super::TITLE_CAP;
use super::cut::{clip, one_line};
use super::dependency::Dependency;
use super::detail;
use super::story::Stated;
use super::tokens;
use crate::symbols::{Language, Symbol, SymbolKind};

/// Paths longer than this lose their head.
const PATH_CAP: usize = 56;

/// A path short enough for a title.
pub(crate) fn short_path(path: &str) -> String {
    let path = one_line(path, 400);
    if path.chars().count() <= PATH_CAP {
        return if path.is_empty() {
            "a file".to_owned()
        } else {
            path
        };
    }
    let mut tail = String::new();
    for part in path.rsplit('/') {
        if !tail.is_empty() && tail.chars().count() + part.chars().count() + 5 > PATH_CAP {
            break;
        }
        tail = if tail.is_empty() {
            part.to_owned()
        } else {
            format!("{part}/{tail}")
        };
    }
    clip(&format!(".../{tail}"), PATH_CAP + 4)
}

/// Cuts a title, and closes the code that the cut left open.
pub(crate) fn fit(title: &str) -> String {
    let cut = one_line(title, TITLE_CAP);
    if cut.matches('`').count().is_multiple_of(2) {
        return cut;
    }
    let open = one_line(title, TITLE_CAP - 1);
    if open.matches('`').count().is_multiple_of(2) {
        open
    } else {
        format!("{open}`")
    }
}

pub(super) fn version(text: &str) -> String {
    if text.is_empty() {
        "any".to_owned()
    } else {
        one_line(text, 30)
    }
}

pub(super) fn describe(dependency: &Dependency) -> String {
    if let Some(note) = &dependency.note {
        return format!("dependency {}: {note}", dependency.name);
    }
    match (&dependency.before, &dependency.after) {
        (Some(old), Some(new)) => format!(
            "dependency {}: {} -> {}",
            dependency.name,
            version(old),
            version(new)
        ),
        (None, Some(new)) => format!("added dependency {} {}", dependency.name, version(new)),
        (old, _) => format!(
            "removed dependency {} {}",
            dependency.name,
            version(old.as_deref().unwrap_or(""))
        ),
    }
}

/// A symbol's name as a title shows it.
pub(super) fn named(symbol: &Symbol) -> String {
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
pub(super) fn names(mut list: Vec<String>) -> String {
    list.dedup();
    match list.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
    }
}

/// What came or went, as a title lists it: the outermost only.
pub(super) fn list(language: Language, stated: &[Stated<'_>]) -> String {
    let inside = |s: &Stated<'_>| {
        language != Language::Markdown
            && stated
                .iter()
                .any(|o| language.is_inside(&s.symbol.name, &o.symbol.name))
    };
    let outermost: Vec<&Stated<'_>> = stated.iter().filter(|s| !inside(s)).collect();
    let kind = outermost.first().map(|s| s.symbol.kind);
    let same = outermost.iter().all(|s| Some(s.symbol.kind) == kind);
    let names = names(outermost.iter().map(|s| named(&s.symbol)).collect());
    match (kind, outermost.as_slice()) {
        (Some(SymbolKind::Impl), [one]) => {
            format!("`{}`", detail::code(one.text.trim_end_matches('}'), 60))
        }
        (Some(SymbolKind::Test), [_, _, ..]) if same => {
            format!("{} tests ({names})", outermost.len())
        }
        (Some(kind @ (SymbolKind::Section | SymbolKind::Module)), [_, _, ..]) if same => {
            format!("{}s {names}", kind.word())
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
        ) => format!("{} {names}", kind.word()),
        _ => names,
    }
}

/// What differs between two versions of a declaration.
pub(super) fn signature_change(old: &str, new: &str) -> String {
    let arrow = |l: &str| l.find("->").or_else(|| l.rfind("):"));
    if let Some(swap) = tokens::swap(old, new) {
        let after = detail::code(swap.after.trim_matches([',', ' ']), 50);
        let before = detail::code(swap.before.trim_matches([',', ' ']), 50);
        if swap.before.is_empty() {
            return format!("added `{after}`");
        }
        if swap.after.is_empty() {
            return format!("dropped `{before}`");
        }
        if let (tokens::Sort::Number | tokens::Sort::Text, Some(label)) = (swap.sort, swap.label) {
            return format!("{label} {before} -> {after}");
        }
        let returns = arrow(new).is_some_and(|at| new.rfind(swap.after).is_some_and(|s| s > at));
        let lead = if returns { "returns " } else { "" };
        return format!("{lead}`{before}` -> `{after}`");
    }
    format!("now `{}`", detail::code(new, 60))
}
