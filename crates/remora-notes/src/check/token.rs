//! What one word of a memory names: a path, a symbol, a flag, or nothing that
//! the working tree could answer for. Pure; looks at the word alone.

use super::known;
use super::{ClaimKind, Confidence};

/// Longer words are text, not names.
const MAX_TOKEN_BYTES: usize = 200;

/// A name found in a text, before its place and sense are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameToken {
    pub(super) kind: ClaimKind,
    pub(super) text: String,
    pub(super) weight: Confidence,
    /// The command that a flag belongs to.
    pub(super) of: Option<String>,
}

impl NameToken {
    pub(super) fn new(kind: ClaimKind, text: impl Into<String>, weight: Confidence) -> Self {
        Self {
            kind,
            text: text.into(),
            weight,
            of: None,
        }
    }
}

/// Whether the author marked the word as code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenMarkup {
    Code,
    Prose,
}

/// The names in one word without blanks.
pub(super) fn list_word_names(word: &str, marked: TokenMarkup) -> Vec<NameToken> {
    let word = word.trim_end_matches([',', ';', ':', '.', '!', '?']);
    if word.is_empty() || word.len() > MAX_TOKEN_BYTES || is_elsewhere(word) {
        return Vec::new();
    }
    if word.starts_with('-') {
        return parse_flag(word).into_iter().collect();
    }
    // Before a plain path: `a.py::test_b` would otherwise lose its second half.
    if let Some(named) = inside_file(word, marked) {
        return named;
    }
    if let Some(path) = parse_path(word, marked) {
        return vec![path];
    }
    // With a slash it is a path or nothing; division and dates are no symbols.
    if word.contains(['/', '\\']) {
        return Vec::new();
    }
    parse_symbol(word, marked).into_iter().collect()
}

/// URLs, mail addresses, and placeholders.
fn is_elsewhere(word: &str) -> bool {
    word.contains("://")
        || word.contains("...")
        || word.contains('…')
        || word.contains("path/to")
        || word.contains("YYYY")
        || word.starts_with("www.")
        || word.starts_with("mailto:")
        || word.chars().any(char::is_control)
        || word.find('@').is_some_and(|at| at > 0)
}

/// A long flag, without its value.
pub(super) fn parse_flag(word: &str) -> Option<NameToken> {
    let name = word.strip_prefix("--")?;
    let end = name
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(name.len());
    let rest = &name[end..];
    let name = name[..end].trim_end_matches(['-', '.']);
    let whole = rest.is_empty() || rest.starts_with(['=', '[', ',', ')', '/', '|', ':']);
    let long = name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let text = format!("--{name}");
    (whole && long && !known::is_common_flag(&text))
        .then(|| NameToken::new(ClaimKind::Flag, text, Confidence::Firm))
}

/// `tests/test_a.py::test_b`, `src/a.rs:name`: a file and what is in it.
fn inside_file(word: &str, marked: TokenMarkup) -> Option<Vec<NameToken>> {
    let (file, inner) = word.split_once(':')?;
    let inner = inner.trim_start_matches(':');
    let last = inner.rsplit("::").next()?;
    if !inner.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let file = parse_path(file, marked)?;
    let mut both = vec![file];
    both.extend(parse_symbol(last, TokenMarkup::Code));
    Some(both)
}

/// The word as a path of the project, without line numbers and anchors.
pub(super) fn parse_path(word: &str, marked: TokenMarkup) -> Option<NameToken> {
    let named = |text: &str, weight| Some(NameToken::new(ClaimKind::Path, text, weight));
    let mut text = without_place(word);
    if text.contains([
        '\\', '<', '>', '"', '\'', '`', '|', '=', '$', '%', ':', '#', ' ',
    ]) || text.starts_with(['~', '-'])
        || text.starts_with("//")
    {
        return None;
    }
    let mut dotted = false;
    while let Some(rest) = text.strip_prefix("./") {
        (text, dotted) = (rest, true);
    }
    // Users point agents to files with an `@`; a package name has no file extension.
    let at = text.strip_prefix('@');
    if let Some(rest) = at {
        if !known::is_file_name(rest) || rest.starts_with('/') {
            return None;
        }
        text = rest;
    }
    if text.is_empty() || text.split('/').any(|part| part == "..") {
        return None;
    }
    let braces = text.contains(['{', '}']);
    if braces && !(text.contains('{') && text.contains(',') && text.contains('}')) {
        return None;
    }
    let glob = braces || text.contains(['*', '?']);
    let last = text.trim_end_matches('/').rsplit('/').next()?;
    let file = known::is_file_name(last);
    if let Some(rest) = text.strip_prefix('/') {
        // Only the reader of the tree knows whether this is below its root.
        let deep = rest.contains('/') && file && !glob;
        return if deep {
            named(text, Confidence::Loose)
        } else {
            None
        };
    }
    if !text.contains('/') {
        let hidden = text.starts_with('.') && !known::is_ending(text) && text.len() > 3;
        // A name without a folder may be anywhere, or a member of a value such as `a.map`.
        let lone = known::is_lone_file_name(text) || (dotted && file);
        let usual = marked == TokenMarkup::Code && !text.contains(['(', ')', ',', '!']);
        if usual && (lone || hidden) && is_plain_path(text) {
            return named(text, Confidence::Loose);
        }
        return None;
    }
    let mut parts = text.split('/');
    let first = parts.next()?;
    let inner_gap = text.trim_end_matches('/').contains("//");
    if known::is_host(first)
        || inner_gap
        || !is_plain_path(text)
        || !text.contains(char::is_alphabetic)
    {
        return None;
    }
    if known::is_media(first) && text.matches('/').count() == 1 && !file {
        return None;
    }
    // In prose "and/or" and "client/server" are no paths; only a file name convinces.
    if marked == TokenMarkup::Prose && (!file || glob) {
        return None;
    }
    let several = text.trim_end_matches('/').contains('/');
    let own = file || glob || dotted || known::is_folder(first) || (text.ends_with('/') && several);
    let firm = own && at.is_none() && !text.split('/').any(known::is_stand_in);
    named(
        text,
        if firm {
            Confidence::Firm
        } else {
            Confidence::Loose
        },
    )
}

fn is_plain_path(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || "_-./@+~,*?[](){}!".contains(c))
}

/// Cuts `:12`, `:12-20`, `:12:5`, `#L12`, `#anchor`.
fn without_place(word: &str) -> &str {
    let mut text = word.split('#').next().unwrap_or(word);
    while let Some((head, tail)) = text.rsplit_once(':') {
        let place = tail
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '-' | '–' | 'L' | '+' | ','));
        if !place {
            break;
        }
        text = head;
    }
    text
}

/// The word as a name in code.
pub(super) fn parse_symbol(word: &str, marked: TokenMarkup) -> Option<NameToken> {
    if marked == TokenMarkup::Prose {
        return prose_symbol(word);
    }
    let mut loose = word.starts_with(['@', '#', '.']);
    let mut text = word.trim_start_matches(['&', '*', '@', '#', '.', '!', '$']);
    if let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
        if !word.starts_with("${") {
            return None;
        }
        text = inner;
    }
    if let Some((head, _)) = text.split_once('=') {
        loose |= !is_variable(head);
        text = head;
    }
    text = text.trim_end_matches(['!', '?', ';', ',', ':', '&', '*']);
    let mut call = "";
    if let Some(open) = text.find('(') {
        if !text.ends_with(')') {
            return None;
        }
        text = text[..open].trim_end_matches('!');
        call = "()";
    }
    if let Some(open) = text.find('<') {
        text = parse_generic(text, open)?;
    }
    let text = text.trim_start_matches("::");
    let parts = split_qualified_name(text);
    let (first, last) = (*parts.first()?, *parts.last()?);
    // A commit id is no name.
    if text.len() < 2 || is_hash(text) {
        return None;
    }
    if parts.len() == 1 {
        if is_kebab(text) && call.is_empty() {
            let outside = known::is_name(text) || known::is_program(text);
            return (!outside).then(|| NameToken::new(ClaimKind::Symbol, text, Confidence::Loose));
        }
        if !is_identifier(text) || known::is_name(text) || known::is_program(text) {
            return None;
        }
    } else if !parts.iter().all(|p| is_identifier(p) || is_kebab(p)) || known::is_root(first) {
        return None;
    }
    // `AWS_REGION` belongs to another program, wherever it is written.
    loose |= is_variable(text) && known::is_foreign_variable(text);
    let specific = text.len() >= 4 && (is_specific(text) || !call.is_empty() || parts.len() > 1);
    // A word that merely has a dot in it may be anything: a host, a version.
    let member = parts.len() == 1
        || text.contains("::")
        || !call.is_empty()
        || parts.iter().any(|p| is_specific(p))
        || (first.starts_with(char::is_uppercase) && last.len() >= 4);
    let weight = match specific && member && !loose {
        true if parts.len() == 1 && !call.is_empty() && is_specific(text) => Confidence::Sure,
        true => Confidence::Firm,
        false => Confidence::Loose,
    };
    Some(NameToken::new(
        ClaimKind::Symbol,
        format!("{text}{call}"),
        weight,
    ))
}

/// Without marks only what cannot be an ordinary word.
fn prose_symbol(word: &str) -> Option<NameToken> {
    let head = word.strip_suffix("()");
    let text = head.unwrap_or(word);
    let names = split_qualified_name(text);
    let shaped = match names.len() {
        0 => false,
        1 => head.is_some() && is_specific(text),
        2 => head.is_some() || text.contains("::"),
        _ => {
            text.contains("::")
                || head.is_some()
                || (names.iter().any(|p| p.starts_with(char::is_uppercase))
                    && names.iter().any(|p| is_specific(p)))
        }
    };
    let clean = names.iter().all(|p| is_identifier(p));
    (shaped && clean)
        .then(|| parse_symbol(word, TokenMarkup::Code))
        .flatten()
}

/// `Option<Name>` is about `Name`; `Name<T>` about itself.
fn parse_generic(text: &str, open: usize) -> Option<&str> {
    let outer = &text[..open];
    let inner = text[open + 1..].strip_suffix('>')?;
    if !is_identifier(split_qualified_name(outer).last()?) {
        return None;
    }
    let named = inner
        .split(['<', '>', ',', ' ', '&'])
        .find(|p| is_identifier(p) && is_specific(p) && !known::is_name(p));
    if known::is_name(outer) {
        return named;
    }
    Some(outer)
}

/// The parts of a qualified name.
pub(super) fn split_qualified_name(text: &str) -> Vec<&str> {
    let text = text.strip_suffix("()").unwrap_or(text);
    text.split("::")
        .flat_map(|p| p.split("->"))
        .flat_map(|p| p.split(['.', '#']))
        .collect()
}

pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

pub(super) fn is_kebab(text: &str) -> bool {
    text.contains('-')
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.ends_with('-')
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// `SHOP_HOME`: a variable of the environment, or a constant.
pub(super) fn is_variable(text: &str) -> bool {
    text.contains('_')
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether no one writes such a word by chance: it has an inner underscore or
/// hump.
pub(super) fn is_specific(text: &str) -> bool {
    let inner = text.trim_matches('_');
    let mut before = ' ';
    let mut hump = false;
    for c in inner.chars() {
        hump |= c.is_uppercase() && before.is_lowercase();
        before = c;
    }
    text.len() >= 4 && (hump || inner.contains('_'))
}

fn is_hash(text: &str) -> bool {
    text.len() >= 7
        && text.bytes().all(|b| b.is_ascii_hexdigit())
        && text.bytes().any(|b| b.is_ascii_digit())
}
