//! Character classes of JavaScript's regular expressions, which the
//! lexer uses. They differ a little from Rust's own (a byte order mark
//! is white space, U+0085 is not), and the difference decides what is a mark.

use std::sync::LazyLock;

use regex::Regex;

/// White space to JavaScript.
pub fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

/// Ends a line for the rules that say "any character but a line end".
pub(super) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

// The standard library has no general categories; `regex` brings its own tables.
static PUNCTUATION_PATTERN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\p{P}\p{S}]").ok());
static WORD_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}\p{N}]").ok());

fn in_class(class: Option<&Regex>, c: char) -> bool {
    let mut buffer = [0; 4];
    class.is_some_and(|class| class.is_match(c.encode_utf8(&mut buffer)))
}

/// Punctuation or a symbol, of any script.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        in_class(PUNCTUATION_PATTERN.as_ref(), c)
    }
}

/// A letter or a number, of any script.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        in_class(WORD_PATTERN.as_ref(), c)
    }
}

/// The text without white space around it.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The text without white space before it.
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

pub(super) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// How many bytes of `text` hold its first `units` UTF-16 units. A character
/// that straddles the border is left out.
pub(super) fn units_to_bytes(text: &str, units: usize) -> usize {
    let mut left = units;
    for (at, c) in text.char_indices() {
        if left < c.len_utf16() {
            return at;
        }
        left -= c.len_utf16();
    }
    text.len()
}

pub(super) fn count_utf16_units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}
