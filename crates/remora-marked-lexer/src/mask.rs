//! Hides the marks that cannot be emphasis (in links, code, HTML and behind a
//! backslash) before emphasis is looked for. The masked text has the same
//! length, byte by byte.

use std::collections::HashSet;

use super::chars::{ends_line, is_punctuation};
use super::link;

/// The text with everything hidden that emphasis must not see.
pub(super) fn mask_text(src: &str, links: &HashSet<String>) -> String {
    let mut text = src.to_owned();
    if !links.is_empty() && text.contains('[') {
        text = mask_references(&text, links);
    }
    if text.contains(['[', '`', '<']) {
        text = mask_spans(&text);
    }
    if text.contains('\\') {
        text = mask_escapes(&text);
    }
    text
}

fn push_hidden(masked: &mut String, len: usize) {
    // The lexer's own filler. Brackets count as punctuation when it decides what a run
    // next to them may do, so any other filler would change the result.
    masked.push('[');
    masked.extend(std::iter::repeat_n('a', len.saturating_sub(2)));
    masked.push(']');
}

/// Copies `text`, hiding each span that `find` measures at a place that
/// starts with one of `starts`.
fn mask_matches(text: &str, starts: &[char], mut find: impl FnMut(&str) -> MaskSpan) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(starts) {
        masked.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = match find(rest) {
            MaskSpan::Hidden(len) => {
                push_hidden(&mut masked, len);
                len
            }
            MaskSpan::Kept(len) => {
                masked.push_str(&rest[..len]);
                len
            }
        };
        rest = &rest[len..];
    }
    masked.push_str(rest);
    masked
}

enum MaskSpan {
    Hidden(usize),
    Kept(usize),
}

fn mask_references(text: &str, links: &HashSet<String>) -> String {
    mask_matches(text, &['[', '!'], |rest| match link::reference_span(rest) {
        Some((len, name)) if links.contains(name) => MaskSpan::Hidden(len),
        Some((len, _)) => MaskSpan::Kept(len),
        None => MaskSpan::Kept(1),
    })
}

fn mask_escapes(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek().filter(|_| c == '\\') {
            Some(next) if is_punctuation(*next) => {
                masked.extend(std::iter::repeat_n('+', 1 + next.len_utf8()));
                chars.next();
            }
            _ => masked.push(c),
        }
    }
    masked
}

fn mask_spans(text: &str) -> String {
    // Once a search for a closing tick has failed, all later ones would, too.
    let mut ticks = true;
    mask_matches(text, &['[', '`', '<'], |rest| {
        let len = match rest.as_bytes()[0] {
            b'[' => bracket_link_len(rest),
            b'`' if ticks => {
                let end = rest[1..].find('`');
                ticks = end.is_some();
                end.map(|at| at + 2)
            }
            b'<' => rest[1..]
                .find(['<', '>'])
                .filter(|at| rest[1 + at..].starts_with('>'))
                .map(|at| at + 2),
            _ => None,
        };
        len.map_or(MaskSpan::Kept(1), MaskSpan::Hidden)
    })
}

/// A link with a plain label: brackets, then parentheses, nested once at most.
fn bracket_link_len(text: &str) -> Option<usize> {
    let label = 1 + text[1..].find(['[', ']'])?;
    let rest = text[label..].strip_prefix("](")?;
    let mut inside = false;
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next().filter(|(_, c)| !ends_line(*c))?;
            }
            '(' if inside => return None,
            '(' => inside = true,
            ')' if inside => inside = false,
            ')' => return Some(label + 2 + at + 1),
            _ => {}
        }
    }
    None
}
