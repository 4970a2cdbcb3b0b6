//! Cuts texts to a length in characters, never inside one.

/// At most so many characters; a cut text ends in three dots.
pub(crate) fn truncate_chars(text: &str, cap: usize) -> String {
    // Bytes are never fewer than characters, so most texts pass without being
    // counted.
    if text.len() <= cap {
        return text.to_owned();
    }
    let Some((end, _)) = text.char_indices().nth(cap) else {
        return text.to_owned();
    };
    let keep = cap.saturating_sub(3);
    let at = text[..end]
        .char_indices()
        .nth(keep)
        .map_or(end, |(at, _)| at);
    format!("{}...", text[..at].trim_end())
}

/// The text on one line: blanks of any kind become one, control characters and
/// terminal escapes go.
pub(crate) fn one_line(text: &str, cap: usize) -> String {
    let mut line = String::new();
    let mut gap = false;
    let mut count = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            skip_escape(&mut chars);
            continue;
        }
        if c.is_whitespace() {
            gap = !line.is_empty();
            continue;
        }
        if c.is_control() || c == '\u{feff}' {
            continue;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
            count += 1;
        }
        line.push(c);
        count += 1;
        // One more than fits tells that the text must be cut.
        if count > cap + 1 {
            break;
        }
    }
    truncate_chars(&line, cap)
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if chars.next_if_eq(&'[').is_none() {
        return;
    }
    while let Some(c) = chars.next_if(|c| c.is_ascii() && !c.is_ascii_control()) {
        if ('@'..='~').contains(&c) {
            return;
        }
    }
}
