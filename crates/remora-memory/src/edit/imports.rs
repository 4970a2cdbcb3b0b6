//! Lines that bring other code in, and what they bring.

use super::cut::one_line;
use crate::symbols::Language;
use crate::symbols::lexing::{after, quoted};

/// Whether the trimmed line is an import.
pub(super) fn is_import(language: Language, trimmed: &str) -> bool {
    brought(language, trimmed).is_some()
}

/// What an import brings, as the line says it.
pub(super) fn brought(language: Language, trimmed: &str) -> Option<&str> {
    let bare = trimmed.trim_end_matches([';', ',']);
    match language {
        Language::Rust => {
            let text = after(bare, "pub").unwrap_or(bare);
            let text = if text.starts_with('(') {
                text.split_once(") ").map_or(text, |(_, t)| t)
            } else {
                text
            };
            after(text, "use").or_else(|| after(text, "extern crate"))
        }
        Language::Python => {
            if let Some(rest) = after(bare, "from") {
                return rest.contains(" import").then_some(rest);
            }
            after(bare, "import")
        }
        Language::Script => {
            if bare.contains("require(") && after(bare, "const").is_some() {
                return bare.split_once("require(").and_then(|(_, r)| quoted(r));
            }
            let rest = after(bare, "import").filter(|r| !r.starts_with(['(', '.']))?;
            // `import './x.css'` has nothing but the module.
            Some(quoted(rest).unwrap_or(rest))
        }
        Language::Go => {
            let text = after(bare, "import").unwrap_or(bare);
            let named = text.rsplit_once(' ').map_or(text, |(_, t)| t);
            let whole = named.starts_with('"') && named.ends_with('"') && named.len() > 2;
            (whole && (text.len() < bare.len() || !bare.contains(['(', '=', ':'])))
                .then(|| named.trim_matches('"'))
        }
        Language::Java | Language::Kotlin | Language::Swift => after(bare, "import"),
        Language::C => after(bare.strip_prefix('#')?.trim_start(), "include")
            .map(|r| r.trim_matches(['<', '>', '"'])),
        Language::CSharp => {
            let rest = after(bare, "using")?;
            (trimmed.ends_with(';') && !rest.contains(['(', '=']) && !rest.starts_with("var "))
                .then_some(rest)
        }
        Language::Php => after(bare, "use"),
        Language::Ruby => after(bare, "require_relative")
            .or_else(|| after(bare, "require"))
            .and_then(quoted),
        Language::Css => bare
            .strip_prefix("@import ")
            .or_else(|| bare.strip_prefix("@use ")),
        _ => None,
    }
}

/// How what an import brings is told: Python names it behind where it is from.
pub(super) fn told(what: &str, most: usize) -> String {
    let cut = |name| one_line(name, most);
    match what.split_once(" import ") {
        Some((module, "(")) => format!("`{}`", cut(module)),
        Some((module, names)) => format!("`{}` from `{}`", cut(names), cut(module)),
        None => format!("`{}`", cut(what)),
    }
}
