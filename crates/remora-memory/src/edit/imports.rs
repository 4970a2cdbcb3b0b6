//! Lines that bring other code in, and what they bring.

use super::cut::one_line;
use crate::symbols::Language;
use crate::symbols::lexing::{parse_quoted, strip_keyword};

/// Whether the trimmed line is an import.
pub(super) fn is_import(language: Language, trimmed: &str) -> bool {
    parse_import(language, trimmed).is_some()
}

/// What an import brings, as the line says it.
pub(super) fn parse_import(language: Language, trimmed: &str) -> Option<&str> {
    let bare = trimmed.trim_end_matches([';', ',']);
    match language {
        Language::Rust => {
            let text = strip_keyword(bare, "pub").unwrap_or(bare);
            let text = if text.starts_with('(') {
                text.split_once(") ").map_or(text, |(_, t)| t)
            } else {
                text
            };
            strip_keyword(text, "use").or_else(|| strip_keyword(text, "extern crate"))
        }
        Language::Python => {
            if let Some(rest) = strip_keyword(bare, "from") {
                return rest.contains(" import").then_some(rest);
            }
            strip_keyword(bare, "import")
        }
        Language::Script => {
            if bare.contains("require(") && strip_keyword(bare, "const").is_some() {
                return bare
                    .split_once("require(")
                    .and_then(|(_, r)| parse_quoted(r));
            }
            let rest = strip_keyword(bare, "import").filter(|r| !r.starts_with(['(', '.']))?;
            // `import './x.css'` has nothing but the module.
            Some(parse_quoted(rest).unwrap_or(rest))
        }
        Language::Go => {
            let text = strip_keyword(bare, "import").unwrap_or(bare);
            let named = text.rsplit_once(' ').map_or(text, |(_, t)| t);
            let whole = named.starts_with('"') && named.ends_with('"') && named.len() > 2;
            (whole && (text.len() < bare.len() || !bare.contains(['(', '=', ':'])))
                .then(|| named.trim_matches('"'))
        }
        Language::Java | Language::Kotlin | Language::Swift => strip_keyword(bare, "import"),
        Language::C => strip_keyword(bare.strip_prefix('#')?.trim_start(), "include")
            .map(|r| r.trim_matches(['<', '>', '"'])),
        Language::CSharp => {
            let rest = strip_keyword(bare, "using")?;
            (trimmed.ends_with(';') && !rest.contains(['(', '=']) && !rest.starts_with("var "))
                .then_some(rest)
        }
        Language::Php => strip_keyword(bare, "use"),
        Language::Ruby => strip_keyword(bare, "require_relative")
            .or_else(|| strip_keyword(bare, "require"))
            .and_then(parse_quoted),
        Language::Css => bare
            .strip_prefix("@import ")
            .or_else(|| bare.strip_prefix("@use ")),
        _ => None,
    }
}

/// What an import brings, for a title: Python names it after where it is from.
pub(super) fn format_import(what: &str, most: usize) -> String {
    let cut = |name| one_line(name, most);
    match what.split_once(" import ") {
        Some((module, "(")) => format!("`{}`", cut(module)),
        Some((module, names)) => format!("`{}` from `{}`", cut(names), cut(module)),
        None => format!("`{}`", cut(what)),
    }
}
