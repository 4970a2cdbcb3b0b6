//! Checks on the raw text, before any parsing: spellings that different shells
//! read differently, so the client does not try to understand them, wherever
//! they occur (also in quotes, comments and here-documents).

use super::words::RefusalReason;

/// Longer commands are not read (counted in UTF-16 units).
const MAX_COMMAND_UTF16_UNITS: usize = 10_000;

/// Blanks that the eye takes for a space and the shell for a letter.
fn is_foreign_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200b}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

/// Control characters; the client refuses such a command earlier still.
fn is_control(c: char) -> bool {
    (c.is_control() && c != '\t' && c != '\n') || c == '\u{7f}'
}

/// Why this text is not worth parsing, if so.
pub(super) fn find_objection(text: &str) -> Option<RefusalReason> {
    // UTF-16 as the client counts; there are never more units than bytes, so
    // most texts are not counted.
    if text.len() > MAX_COMMAND_UTF16_UNITS && text.encode_utf16().count() > MAX_COMMAND_UTF16_UNITS
    {
        return Some("more than 10,000 characters");
    }
    if text.chars().any(is_control) {
        return Some("a control character");
    }
    if text.chars().any(is_foreign_blank) {
        return Some("an unusual blank character");
    }
    // Observed: the client gives up on `a\ b` anywhere in the text.
    if text.contains("\\ ") || text.contains("\\\t") {
        return Some("a backslash in front of a blank");
    }
    if text.contains("~[") {
        return Some("~[");
    }
    let chars: Vec<char> = text.chars().collect();
    if has_broken_line(&chars) {
        return Some("a backslash at a line's end without a blank in front");
    }
    if has_equals_word(&chars) {
        return Some("a word that begins with an equals sign");
    }
    if has_quote_in_braces(&chars) {
        return Some("a quote behind an open brace");
    }
    None
}

/// A continued line is only fine behind a blank; an escaped backslash at a
/// line's end is no continuation.
fn has_broken_line(chars: &[char]) -> bool {
    let mut run = 0_usize;
    for (at, &c) in chars.iter().enumerate() {
        if c == '\\' {
            run += 1;
            continue;
        }
        if c == '\n' && run % 2 == 1 {
            let before = at.checked_sub(run + 1).and_then(|i| chars.get(i));
            if run > 1 || !matches!(before, Some(' ' | '\t')) {
                return true;
            }
        }
        run = 0;
    }
    false
}

/// `=name` at a word's start, also quoted behind the `=`, is a path lookup in
/// another shell.
fn has_equals_word(chars: &[char]) -> bool {
    chars.iter().enumerate().any(|(at, &c)| {
        c == '='
            && chars[at + 1..]
                .iter()
                .find(|n| !matches!(n, '"' | '\''))
                .is_some_and(|n| n.is_ascii_alphabetic() || *n == '_')
            && at
                .checked_sub(1)
                .and_then(|i| chars.get(i))
                .is_none_or(|p| p.is_whitespace() || matches!(p, ';' | '&' | '|'))
    })
}

/// `{` outside of quotes, then a quote before the next `}`: brace expansion
/// could hide behind it, even over several words.
fn has_quote_in_braces(chars: &[char]) -> bool {
    let mut open = false;
    let mut quote = None;
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match (quote, c) {
            (Some(q), _) if c == q => quote = None,
            (Some('"'), '\\') => at += 1,
            (None, '\\') if matches!(chars.get(at), Some('\'' | '"')) && !open => at += 1,
            (None, '\'' | '"') if open => return true,
            (None, '\'' | '"') => quote = Some(c),
            (None, '{') => open = true,
            (None, '}') => open = false,
            _ => {}
        }
    }
    false
}
