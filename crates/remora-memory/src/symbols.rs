//! Finds functions, types, keys and sections of a text by line rules.
//!
//! Containers are recognised by indentation, so a truncated or broken text still
//! yields something. It must not parse: what an edit shows is seldom a whole file.

mod classes;
mod data;
mod language;
pub(crate) mod lexing;
mod rules;
mod scope;
#[cfg(test)]
mod tests;

pub(crate) use self::language::{FilePurpose, Language};
pub(crate) use self::scope::{SymbolScope, start_of};

/// More symbols than this say nothing about a file.
const MAX_SYMBOLS: usize = 2_000;

/// The kind of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant is the word for itself")]
pub enum SymbolKind {
    Function,
    Test,
    Struct,
    Class,
    Enum,
    Trait,
    Interface,
    Type,
    Module,
    Impl,
    Constant,
    Field,
    Macro,
    Group,
    Key,
    Section,
    Selector,
    Element,
    Table,
    View,
    Index,
    Trigger,
    Column,
    Target,
    Stage,
}

impl SymbolKind {
    /// The word for it in a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Test => "test",
            Self::Struct => "struct",
            Self::Class => "class",
            Self::Enum => "enum",
            Self::Trait => "trait",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Module => "module",
            Self::Impl => "impl",
            Self::Constant => "constant",
            Self::Field => "field",
            Self::Macro => "macro",
            Self::Group => "group",
            Self::Key => "key",
            Self::Section => "section",
            Self::Selector => "rule",
            Self::Element => "element",
            Self::Table => "table",
            Self::View => "view",
            Self::Index => "index",
            Self::Trigger => "trigger",
            Self::Column => "column",
            Self::Target => "target",
            Self::Stage => "stage",
        }
    }

    /// Whether declarations inside are local: constants of a function are plain
    /// code.
    pub(crate) fn is_body(self) -> bool {
        matches!(self, Self::Function | Self::Test)
    }
}

/// A named part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// With its containers: `Store::open`, `jobs.build.steps`.
    pub name: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// The line of its declaration, counted from one.
    pub line: usize,
}

/// All symbols of a text, in order.
pub fn list_symbols(path: &str, text: &str) -> Vec<Symbol> {
    let language = Language::from_path(path);
    let mut scope = SymbolScope::new(language);
    let mut found = Vec::new();
    if language == Language::Plain {
        return found;
    }
    for line in text.lines() {
        if !scope.feed_line(line) {
            continue;
        }
        if let Some(symbol) = scope.innermost_symbol() {
            found.push(symbol);
            if found.len() == MAX_SYMBOLS {
                break;
            }
        }
    }
    found
}

/// The innermost symbol that contains a line (counted from one); a declaration
/// contains itself.
pub fn find_enclosing_symbol(path: &str, text: &str, line: usize) -> Option<Symbol> {
    // Walks upwards from the line instead of listing all symbols of the file.
    let language = Language::from_path(path);
    let (start, end) = scope::find_line_range(text, line)?;
    let mut scope = SymbolScope::above_line(language, text, start, line);
    scope.feed_line(&text[start..end]);
    scope.enclosing_symbol()
}
