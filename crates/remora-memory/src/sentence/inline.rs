//! Removes inline Markdown marks and keeps the words: emphasis, code spans,
//! links and images as their text, stray HTML tags.

use remora_core::text::truncate_bytes;

/// The words of a line of Markdown.
pub(crate) fn strip_markup(text: &str) -> String {
    let text = super::without_emphasis(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut code = false;
    // After the last link no bracket is looked ahead from: text full of `[` would
    // take quadratic time.
    let last_link = text.rfind("](");
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let mut next = after;
        match c {
            '`' => {
                next = after.trim_start_matches('`');
                code = !code && next.contains('`');
            }
            _ if code => out.push(c),
            '\\' if after.starts_with(['*', '_', '`', '[', ']', '#', '<', '>', '|']) => {
                let escaped = &after[..1];
                out.push_str(escaped);
                next = &after[1..];
            }
            '!' if after.starts_with('[') => {}
            '[' => {
                let at = text.len() - rest.len();
                let found = last_link
                    .filter(|last| at < *last)
                    .and_then(|_| parse_link(after));
                if let Some((label, tail)) = found {
                    out.push_str(&label.replace('`', ""));
                    next = tail;
                } else {
                    out.push('[');
                }
            }
            '<' => match skip_tag(after) {
                Some(tail) => next = tail,
                None => out.push('<'),
            },
            _ => out.push(c),
        }
        rest = next;
    }
    out.trim().to_owned()
}

/// Splits `label](target) tail` after the opening bracket, within a bounded distance.
fn parse_link(after: &str) -> Option<(&str, &str)> {
    let end = truncate_bytes(after, 300).find("](")?;
    let label = &after[..end];
    if label.contains('[') {
        return None;
    }
    let target = &after[end + 2..];
    let close = truncate_bytes(target, 2000).find(')')?;
    Some((label, &target[close + 1..]))
}

/// What follows an HTML tag, if `<` opens a known one; `Vec<String>` stays.
fn skip_tag(after: &str) -> Option<&str> {
    const KNOWN_TAGS: &[&str] = &[
        "b", "i", "em", "strong", "br", "kbd", "sub", "sup", "p", "u", "details", "summary", "div",
        "span",
    ];
    let body = after.strip_prefix('/').unwrap_or(after);
    let name: usize = body.bytes().take_while(u8::is_ascii_lowercase).count();
    if !KNOWN_TAGS.contains(&&body[..name]) {
        return None;
    }
    let close = truncate_bytes(body, 200).find('>')?;
    Some(&body[close + 1..])
}
