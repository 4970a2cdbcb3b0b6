//! Text as a terminal would have shown it, and the small pieces of parsing
//! that several tools share. Knows nothing of any tool.

use std::borrow::Cow;

pub(super) use remora_core::text::collapse_whitespace;
use remora_core::text::cut_chars;

/// Bytes of an output that are looked at; from a longer one the beginning and
/// the end, since tools report what they did last.
const MAX_SCANNED_BYTES: usize = 256 * 1024;

/// Without escape sequences and control characters; of a line that was
/// overwritten by carriage returns only what stayed on the screen.
pub(crate) fn strip_control_codes(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|b| b < 0x20 && b != b'\n' && b != b'\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut line_start = 0;
    let mut returned = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => {
                out.push('\n');
                line_start = out.len();
                returned = false;
            }
            '\r' => returned = true,
            '\u{1b}' => skip_escape(&mut rest),
            '\u{8}' => {
                if out.len() > line_start {
                    out.pop();
                }
            }
            c if c.is_control() && c != '\t' => {}
            c => {
                // Erased only when something follows: a line that ends with
                // a carriage return is still on the screen.
                if returned {
                    out.truncate(line_start);
                    returned = false;
                }
                out.push(c);
            }
        }
    }
    Cow::Owned(out)
}

fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        Some('[') => {
            while let Some(c) = rest.peek() {
                let last = ('@'..='~').contains(c);
                if *c == '\n' {
                    return;
                }
                rest.next();
                if last {
                    return;
                }
            }
        }
        Some(']') => {
            while let Some(c) = rest.peek() {
                if *c == '\n' {
                    return;
                }
                let c = rest.next();
                if c == Some('\u{7}') {
                    return;
                }
                if c == Some('\u{1b}') {
                    rest.next();
                    return;
                }
            }
        }
        Some('(' | ')' | '#') => {
            rest.next();
        }
        _ => {}
    }
}

/// The whole text, or its beginning and end at line breaks.
pub(super) fn bound_text(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_SCANNED_BYTES {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(MAX_SCANNED_BYTES / 2);
    let tail = text.floor_char_boundary(text.len() - MAX_SCANNED_BYTES / 2);
    // At line breaks, so that no half line is taken for a line of the tool.
    let head = text[..head].rfind('\n').unwrap_or(head);
    let tail = text[tail..].find('\n').map_or(tail, |at| tail + at);
    Cow::Owned(format!("{}\n{}", &text[..head], &text[tail..]))
}

/// At most `most` characters, the last of them an ellipsis when cut.
pub(super) fn truncate_chars(text: &str, most: usize) -> String {
    let text = text.trim();
    match cut_chars(text, most) {
        None => text.to_owned(),
        Some(_) if most == 0 => String::new(),
        Some(_) => {
            let start = cut_chars(text, most - 1).unwrap_or_default();
            format!("{}…", start.trim_end())
        }
    }
}

/// The number a text begins with, and what follows it.
pub(super) fn parse_number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .bytes()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The number before a word: 3 in "1 failed, 3 passed" for "passed".
pub(super) fn count_of(text: &str, word: &str) -> Option<u32> {
    text.match_indices(word).find_map(|(at, _)| {
        let before = text[..at].strip_suffix(' ')?;
        let from = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
        before[from..].parse().ok()
    })
}

/// The number behind a label: 2 in "Failures: 2, Errors: 0" for "Failures:".
pub(super) fn find_labelled_number(text: &str, label: &str) -> Option<u32> {
    let at = text.find(label)? + label.len();
    parse_number(text[at..].trim_start_matches([' ', '='])).map(|(n, _)| n)
}

/// A place in a source file at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceLocation<'a> {
    pub(super) file: &'a str,
    pub(super) line: u32,
    /// What follows line and column, without the colon.
    pub(super) rest: &'a str,
}

/// `src/store.rs:88:9: text`, with or without the column.
pub(super) fn parse_location(text: &str) -> Option<SourceLocation<'_>> {
    let bytes = text.as_bytes();
    let drive = bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/');
    // The colon of `C:\` is not the one before the line number.
    let from = if drive { 2 } else { 0 };
    let colon = from + text[from..].find(':')?;
    let file = &text[..colon];
    if !is_path(file) {
        return None;
    }
    let (line, rest) = parse_number(&text[colon + 1..])?;
    let rest = match rest.strip_prefix(':').map(|r| (r, parse_number(r))) {
        Some((_, Some((_, after)))) => after,
        Some((after, None)) => {
            return Some(SourceLocation {
                file,
                line,
                rest: after,
            });
        }
        None => rest,
    };
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    Some(SourceLocation { file, line, rest })
}

/// Could be the name of a source file: short, one word, with a dot or a
/// slash, or such as `Makefile`.
pub(super) fn is_path(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 300
        && !text.contains([' ', '\t', '"', '`', '\'', '<', '>', '|', '*'])
        && (text.contains(['.', '/', '\\']) || text.ends_with("file"))
        // An address has dots and slashes, too.
        && !text.contains("://")
}

/// The file's name ends with one of these, as compilers insist on them.
pub(super) fn is_kind(file: &str, extensions: &[&str]) -> bool {
    file.rsplit_once('.')
        .is_some_and(|(_, end)| extensions.contains(&end))
}

/// The first name that a message puts in backticks or quotes.
pub(super) fn find_quoted(text: &str) -> Option<&str> {
    for (open, close) in [('`', '`'), ('\'', '\''), ('"', '"'), ('‘', '’')] {
        if let Some(at) = text.find(open) {
            let inner = &text[at + open.len_utf8()..];
            if let Some(end) = inner.find(close) {
                let name = inner[..end].trim();
                if !name.is_empty() && name.len() <= 80 {
                    return Some(name);
                }
            }
        }
    }
    None
}

/// "1 file", "3 files".
pub(super) fn format_count(n: usize, one: &str) -> String {
    match (n, one) {
        (1, _) => format!("1 {one}"),
        (_, "vulnerability") => format!("{n} vulnerabilities"),
        _ => format!("{n} {one}s"),
    }
}

/// `u32` counts come from texts, lengths from lists.
pub(super) fn format_count_u32(n: u32, one: &str) -> String {
    format_count(usize::try_from(n).unwrap_or(usize::MAX), one)
}

/// A length as a count; more than fits is as good as infinite.
pub(super) fn to_count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Letters and digits of a commit name.
pub(super) fn is_hash(text: &str) -> bool {
    (7..=40).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
}
