//! Texts on one line and cut to a length. How a cut is marked, and whether it
//! falls between words, is the caller's; where it may fall is known here.

/// Words with one blank between them: runs of white space become one, those at
/// the ends go.
pub fn collapse_whitespace(text: &str) -> String {
    join_words(text.split_whitespace())
}

/// The same, and control characters count as white space: nothing that a
/// terminal would obey stays.
pub fn collapse_controls(text: &str) -> String {
    let gap = |c: char| c.is_whitespace() || c.is_control();
    join_words(text.split(gap).filter(|word| !word.is_empty()))
}

fn join_words<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The first `max` characters of a text that has more; `None` if all of it fits.
pub fn cut_chars(text: &str, max: usize) -> Option<&str> {
    // A text has at most as many characters as bytes.
    if text.len() <= max {
        return None;
    }
    text.char_indices().nth(max).map(|(end, _)| &text[..end])
}

/// The first `max` bytes of a text, less what would cut a character in two.
pub fn truncate_bytes(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_becomes_one_blank() {
        assert_eq!(collapse_whitespace(" a\t b\n\u{a0}c \n"), "a b c");
        assert_eq!(collapse_whitespace(" \n"), "");
        assert_eq!(collapse_whitespace("a\u{1b}b"), "a\u{1b}b");
        assert_eq!(collapse_controls("\u{7}a\u{1b}b \u{0} c\r\n"), "a b c");
    }

    #[test]
    fn a_text_is_cut_after_so_many_characters_and_only_if_it_has_more() {
        assert_eq!(cut_chars("äöü", 2), Some("äö"));
        assert_eq!(cut_chars("äöü", 0), Some(""));
        for max in [3, 4, 9] {
            assert_eq!(cut_chars("äöü", max), None, "{max}");
        }
        assert_eq!(cut_chars("", 0), None);
    }

    #[test]
    fn bytes_are_cut_between_characters() {
        assert_eq!(truncate_bytes("äöü", 3), "ä");
        assert_eq!(truncate_bytes("äöü", 4), "äö");
        assert_eq!(truncate_bytes("äöü", 99), "äöü");
    }
}
