//! Finds `@path` in plain text and says what the client would look up.

use remora_marked_lexer::{is_space, trim};

/// An import mark in a text, at its `@`.
pub(super) struct ImportMark<'a> {
    pub at: usize,
    /// Everything the client takes for the path, as written.
    pub token: &'a str,
}

/// All import marks of a text: at its start or behind white space.
pub(super) fn find_import_marks(text: &str) -> impl Iterator<Item = ImportMark<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text[from..].find('@')?;
            from = at + 1;
            // Behind a letter it is an address, behind a parenthesis nothing: the client
            // wants white space.
            let free = text[..at].chars().next_back().is_none_or(is_space);
            let token = if free { first_token(&text[from..]) } else { "" };
            if !token.is_empty() {
                from += token.len();
                return Some(ImportMark { at, token });
            }
        }
    })
}

/// The token at the start: up to white space, or to a backslash that does not
/// escape a blank.
fn first_token(text: &str) -> &str {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let escaped = c == '\\' && chars.next_if(|(_, next)| *next == ' ').is_some();
        if !escaped && (c == '\\' || is_space(c)) {
            return &text[..at];
        }
    }
    text
}

/// The path that the client looks up for a token, if it takes it for one.
pub(super) fn parse_import_path(token: &str) -> Option<String> {
    // A fragment is never part of the path, so a name with `#` cannot be imported.
    let token = token.split('#').next().unwrap_or_default();
    let path = token.replace("\\ ", " ");
    let first = path.chars().next()?;
    // The client tests the first character only, and only against ASCII: `@ü.md` fails,
    // `@a-ü.md` works.
    let good = first.is_ascii_alphanumeric() || matches!(first, '.' | '_' | '-');
    let rooted = path.starts_with("~/") || (path.starts_with('/') && path != "/");
    (good || rooted).then(|| trim(&path).to_owned())
}
