//! Link definitions (`[name]: target "title"`). They leave no text behind,
//! and their names decide later which brackets are links.

use super::chars::{ends_line, is_space, trim_start};
use super::line::{count_marks, count_spaces};

/// A definition at the start of a text.
pub(super) struct LinkDefinition {
    pub len: usize,
    pub name: String,
}

/// White space of any kind and length counts as one blank in a name.
pub(super) fn fold_name(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let mut gap = false;
    for c in name.chars() {
        if !is_space(c) {
            folded.push(c);
        } else if !gap {
            folded.push(' ');
        }
        gap = is_space(c);
    }
    folded.to_lowercase()
}

/// The length of a name at the start of `text` that is followed by a closing
/// bracket.
pub(super) fn name_len(text: &str) -> Option<usize> {
    if trim_start(text).starts_with(']') {
        return None;
    }
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ']' => return (at > 0).then_some(at),
            '[' => return None,
            '\\' => {
                chars.next().filter(|(_, c)| !ends_line(*c))?;
            }
            _ => {}
        }
    }
    None
}

/// The definition that `text` starts with.
pub(super) fn parse_definition(text: &str) -> Option<LinkDefinition> {
    let indent = count_spaces(text);
    if indent > 3 || !text[indent..].starts_with('[') {
        return None;
    }
    let open = indent + 1;
    let name = open + name_len(&text[open..])?;
    if !text[name..].starts_with("]:") {
        return None;
    }
    let mut at = name + 2;
    at += count_spaces(&text[at..]);
    if text[at..].starts_with('\n') {
        at += 1;
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
    }
    // The lexer's expression backtracks: with a title, else without it, for each end that
    // the target may have.
    let len = find_target_ends(text, at).find_map(|target| {
        find_title_ends(text, target)
            .into_iter()
            .chain([target])
            .find_map(|end| line_end(text, end))
    })?;
    let name = fold_name(&text[open..name]);
    Some(LinkDefinition { len, name })
}

/// Where the target that starts at `at` may end.
fn find_target_ends(text: &str, at: usize) -> impl Iterator<Item = usize> {
    let rest = &text[at..];
    let bracket = rest.starts_with('<');
    let stop = if bracket {
        rest.find(ends_line)
    } else {
        rest.find(is_space)
    };
    let rest = &rest[..stop.unwrap_or(rest.len())];
    let plain = (!bracket && !rest.is_empty()).then_some(at + rest.len());
    let quoted = rest.match_indices('>').map(move |(end, _)| at + end + 1);
    let quoted = bracket.then_some(quoted).into_iter().flatten();
    plain.into_iter().chain(quoted)
}

/// Where a title behind a target may end, best choice first.
fn find_title_ends(text: &str, target: usize) -> Vec<usize> {
    let mut at = target + count_spaces(&text[target..]);
    if text[at..].starts_with('\n') {
        at += 1;
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
    }
    let rest = &text[at..];
    let end = match rest.bytes().next() {
        _ if at == target => None,
        Some(b'"') => return find_quoted_ends(text, at, '"'),
        Some(b'\'') => rest[1..]
            .find('\'')
            .filter(|end| !rest[1..=*end].contains("\n\n")),
        Some(b'(') => rest[1..]
            .find(['(', ')'])
            .filter(|end| rest[1 + end..].starts_with(')')),
        _ => None,
    };
    end.map(|end| at + end + 2).into_iter().collect()
}

/// The ends of a quoted title: the first bare mark, then, from the last one
/// back, each mark behind a backslash.
pub(super) fn find_quoted_ends(text: &str, open: usize, mark: char) -> Vec<usize> {
    let mut ends = Vec::new();
    let inner = &text[open + 1..];
    for (at, _) in inner.match_indices(mark) {
        ends.push(open + at + 2);
        if !inner[..at].ends_with('\\') {
            break;
        }
    }
    ends.reverse();
    ends
}

fn line_end(text: &str, at: usize) -> Option<usize> {
    let at = at + count_spaces(&text[at..]);
    let lines = count_marks(&text[at..], b'\n');
    (lines > 0 || at == text.len()).then_some(at + lines)
}
