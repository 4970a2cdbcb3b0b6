//! Links and images: how far they reach and what their label is. Where they
//! lead to is of no interest here.

use std::collections::HashSet;

use super::chars::{ends_line, is_space, trim, trim_end, trim_start};
use super::definition::{find_quoted_ends, fold_name, name_len};

/// A link or an image at the start of a text.
pub(super) struct Link<'a> {
    pub len: usize,
    pub label: &'a str,
}

/// Bytes of the opening bracket, with the mark of an image.
fn opening_len(text: &str) -> Option<usize> {
    let open = usize::from(text.starts_with('!'));
    text[open..].starts_with('[').then_some(open + 1)
}

/// The length of a label: brackets nested once, escapes and code inside it do
/// not end it.
fn label_len(text: &str) -> Option<usize> {
    let mut inside = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ']' if !inside => return Some(at),
            ']' => inside = false,
            '[' if inside => return None,
            '[' => inside = true,
            '\\' => {
                chars.next().filter(|(_, c)| !ends_line(*c))?;
            }
            '`' if !inside => {
                chars.by_ref().find(|(_, c)| *c == '`')?;
            }
            _ => {}
        }
    }
    None
}

/// A link with its target behind the label.
pub(super) fn parse_inline_link<'a>(
    text: &'a str,
    pay: &mut impl FnMut(usize) -> bool,
) -> Option<Link<'a>> {
    let open = opening_len(text)?;
    let close = open + label_len(&text[open..])?;
    let label = &text[open..close];
    let inner = text[close..].strip_prefix("](")?;
    let from = text.len() - trim_start(inner).len();
    if !pay(from) {
        return None;
    }
    // A link may have a title and no target.
    let bare = |end| (from, end);
    let found =
        find_target_end(text, from, pay).or_else(|| find_link_end(text, close + 2, pay).map(bare));
    let (target, end) = found?;
    let href = trim(&text[from..target]);
    if let Some(rest) = href.strip_prefix('<') {
        let bare = rest.strip_suffix('>')?;
        let slashes = bare.len() - bare.trim_end_matches('\\').len();
        // An escaped `>` does not close the target.
        return slashes
            .is_multiple_of(2)
            .then_some(Link { len: end, label });
    }
    let Some(at) = find_surplus_parenthesis(&text[from..target]) else {
        return Some(Link { len: end, label });
    };
    // The lexer forgets the blanks before the target here, and so
    // ends the link that many characters too early.
    let mut len = from + at + 1;
    for _ in inner[..inner.len() - trim_start(inner).len()].chars() {
        len -= text[..len].chars().next_back().map_or(0, char::len_utf8);
    }
    let len = trim_end(&text[..len]).len();
    Some(Link { len, label })
}

/// Where the target that starts at `from` ends, and where the link ends.
fn find_target_end(
    text: &str,
    from: usize,
    pay: &mut impl FnMut(usize) -> bool,
) -> Option<(usize, usize)> {
    let rest = &text[from..];
    if let Some(len) = bracketed_len(rest)
        && let Some(end) = find_link_end(text, from + len, pay)
    {
        return Some((from + len, end));
    }
    let stop = rest.find(|c: char| c < ' ' || is_space(c));
    let stop = from + stop.unwrap_or(rest.len());
    if !pay(stop - from) {
        return None;
    }
    if let Some(end) = find_link_end(text, stop, pay) {
        return Some((stop, end));
    }
    // The lexer's expression is greedy: it takes the last parenthesis that lets the whole
    // link match. Surplus ones are given back by the caller.
    let close = from + text[from..stop].rfind(')')?;
    Some((close, close + 1))
}

/// The length of a target in angle brackets.
fn bracketed_len(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '>' => return (at > 0).then_some(at + 2),
            '\n' | '<' => return None,
            '\\' => {
                chars.next().filter(|(_, c)| !ends_line(*c))?;
            }
            _ => {}
        }
    }
    None
}

/// The end of the link behind a target: an optional title, set off by white
/// space, and the closing parenthesis.
fn find_link_end(text: &str, at: usize, pay: &mut impl FnMut(usize) -> bool) -> Option<usize> {
    let skip = |at: usize| text.len() - trim_start(&text[at..]).len();
    let close = |at: usize| {
        let at = skip(at);
        text[at..].starts_with(')').then_some(at + 1)
    };
    let title = skip(at);
    let mark = text[title..].chars().next().filter(|_| title > at);
    let ends = match mark {
        Some(mark @ ('"' | '\'')) => find_quoted_ends(text, title, mark),
        Some('(') => find_quoted_ends(text, title, ')'),
        _ => Vec::new(),
    };
    let cost = ends.first().map_or(0, |end| end - title) + ends.len();
    if !pay(cost + (title - at)) {
        return None;
    }
    ends.into_iter().find_map(close).or_else(|| close(at))
}

/// The first parenthesis that closes more than was opened.
fn find_surplus_parenthesis(target: &str) -> Option<usize> {
    let mut level = 0_usize;
    let mut chars = target.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '(' => level += 1,
            ')' if level == 0 => return Some(at),
            ')' => level -= 1,
            _ => {}
        }
    }
    None
}

/// A link by name, known or not.
struct NamedLink<'a> {
    len: usize,
    label: &'a str,
    name: &'a str,
    form: ReferenceForm,
}

enum ReferenceForm {
    /// `[label][name]`
    Full,
    /// `[name][]`
    Empty,
    /// `[name]`
    Short,
}

fn parse_named_link(text: &str) -> Option<NamedLink<'_>> {
    let open = opening_len(text)?;
    let full = || {
        let close = open + label_len(&text[open..])?;
        let inner = text[close..].strip_prefix("][")?;
        let name = &inner[..name_len(inner)?];
        Some(NamedLink {
            len: close + 2 + name.len() + 1,
            label: &text[open..close],
            name,
            form: ReferenceForm::Full,
        })
    };
    full().or_else(|| {
        let name = &text[open..open + name_len(&text[open..])?];
        let close = open + name.len() + 1;
        let (form, empty) = if text[close..].starts_with("[]") {
            (ReferenceForm::Empty, 2)
        } else {
            (ReferenceForm::Short, 0)
        };
        Some(NamedLink {
            len: close + empty,
            label: name,
            name,
            form,
        })
    })
}

/// Whether the text starts like a link by name, known or not.
pub(super) fn is_reference(text: &str) -> bool {
    parse_named_link(text).is_some()
}

/// A link by a name that is defined.
pub(super) fn resolve_reference<'a>(text: &'a str, links: &HashSet<String>) -> Option<Link<'a>> {
    let found = parse_named_link(text)?;
    links.contains(&fold_name(found.name)).then_some(Link {
        len: found.len,
        label: found.label,
    })
}

/// A link by name for masking: its length, and what follows its last opening
/// bracket. Without a second name no target may follow.
pub(super) fn reference_span(text: &str) -> Option<(usize, &str)> {
    let found = parse_named_link(text)?;
    let target = text[found.len..].starts_with('(');
    let len = match found.form {
        ReferenceForm::Empty if target => found.len - 2,
        ReferenceForm::Short if target => return None,
        _ => found.len,
    };
    let name = text[..len - 1].rsplit('[').next()?;
    Some((len, name))
}
