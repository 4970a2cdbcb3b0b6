//! Small parsers over one line: words, keywords, brackets. Independent of any
//! language.

/// Whether a character can be part of a name.
pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The name at the start of a text, and what follows it. Empty if the text starts
/// with a digit or with no name at all.
pub(crate) fn split_first_word(text: &str) -> (&str, &str) {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return ("", text);
    }
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// The name at the end of a text.
pub(crate) fn last_word(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .find(|(_, c)| !is_name(*c))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let name = &text[start..];
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        ""
    } else {
        name
    }
}

/// What follows a keyword, without leading spaces; `None` if the text begins with
/// another word.
pub(crate) fn strip_keyword<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(keyword)?;
    if rest.starts_with(is_name) {
        return None;
    }
    Some(rest.trim_start())
}

/// Skips any of the keywords, as many as follow each other.
pub(crate) fn skip_keywords<'a>(mut text: &'a str, keywords: &[&str]) -> &'a str {
    loop {
        let (first, rest) = split_first_word(text);
        // A keyword that ends the text, or is called or assigned, is a name.
        if first.is_empty()
            || !keywords.contains(&first)
            || !rest.starts_with(|c: char| c.is_whitespace())
        {
            return text;
        }
        text = rest.trim_start();
    }
}

/// What follows the bracket pair at the start of the text; nested pairs are skipped.
pub(crate) fn skip_brackets(text: &str, open: char, close: char) -> Option<&str> {
    if !text.starts_with(open) {
        return None;
    }
    let mut depth = 0usize;
    // The `>` of `->` and `=>` closes no bracket.
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !(close == '>' && matches!(before, '-' | '=')) {
            depth -= 1;
            if depth == 0 {
                return Some(text[at + c.len_utf8()..].trim_start());
            }
        }
        before = c;
    }
    None
}

/// The quoted string at the start of the text.
pub(crate) fn parse_quoted(text: &str) -> Option<&str> {
    let quote = text
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = &text[1..];
    let end = inner.find(quote)?;
    Some(&inner[..end])
}

/// Columns of indentation; a tab counts as four.
pub(crate) fn count_indent(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4,
            _ => break,
        }
    }
    columns
}
