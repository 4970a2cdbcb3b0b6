//! Text as one line, and the columns it takes: responses hold titles and requests
//! that are cut the same for every face.

use std::borrow::Cow;

use remora_core::text::is_invisible;
use unicode_width::UnicodeWidthChar;

/// One line of a text: white space and whatever a terminal would obey become
/// single blanks; what is invisible goes.
pub fn flatten_text(text: &str) -> String {
    let text = strip_ansi(text);
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        if c.is_whitespace() || c.is_control() {
            gap = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// Without colours and the like: `ESC [`, parameters and a letter.
fn strip_ansi(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1b}[") {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let letter = after.trim_start_matches(|c: char| (' '..='?').contains(&c));
        rest = letter.strip_prefix(|_| true).unwrap_or_default();
    }
    out.push_str(rest);
    out.into()
}

/// How many columns a terminal gives a character.
pub fn char_width(c: char) -> usize {
    // Control characters have no width of their own; wherever one is printed it
    // stands for something that takes a column.
    c.width().unwrap_or(1)
}

/// How many columns a text takes.
pub fn text_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// The text, cut with `…` if it takes more columns than there are.
pub fn truncate_columns(text: &str, room: usize) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += char_width(c);
        if used > room {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_take_no_column_and_pictures_take_two() {
        for (text, columns) in [
            ("plain", 5),
            ("日本", 4),
            ("✅ done", 7),
            // Vowel signs that stand beside their letter take a column.
            ("हिन्दी", 5),
            ("e\u{301}\u{feff}", 1),
            ("\u{1}", 1),
        ] {
            assert_eq!(text_width(text), columns, "{text:?}");
        }
        assert_eq!(truncate_columns("✅✅✅", 5), "✅✅…");
    }
}
