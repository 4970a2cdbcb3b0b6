//! Values as YAML that every reader takes the same way: plain words stay
//! plain, everything that could be misread is quoted.

use std::fmt::Write as _;

use crate::frontmatter::Value;

/// Plain words that some reader takes for something else.
const WORDS: &[&str] = &[
    "true", "false", "yes", "no", "on", "off", "null", "nil", "none", "nan", "inf", "y", "n",
];

/// Ends a head wherever it stands, also inside quotes.
const FENCE: &str = "---";

/// One key and its value, on one line.
pub(super) fn line(out: &mut String, indent: &str, key: &str, value: &Value) {
    out.push_str(indent);
    text(out, key);
    out.push_str(": ");
    flow(out, value);
    out.push('\n');
}

fn flow(out: &mut String, value: &Value) {
    match value {
        Value::Text(words) => text(out, words),
        Value::Null => out.push_str("null"),
        Value::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                inner(out, item);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                quoted(out, key);
                out.push_str(": ");
                inner(out, item);
            }
            out.push('}');
        }
    }
}

/// Inside brackets more characters mean something.
fn inner(out: &mut String, value: &Value) {
    match value {
        Value::Text(words) => quoted(out, words),
        other => flow(out, other),
    }
}

fn text(out: &mut String, words: &str) {
    if is_plain(words) || is_moment(words) {
        out.push_str(words);
    } else {
        quoted(out, words);
    }
}

fn is_plain(words: &str) -> bool {
    let first = words.chars().next();
    first.is_some_and(char::is_alphabetic)
        && !words.ends_with(char::is_whitespace)
        && !WORDS.contains(&words.to_lowercase().as_str())
        && !words.contains(FENCE)
        && !words.contains(|c: char| matches!(c, ':' | '#') || must_escape(c))
}

/// `2026-11-15` or `2026-11-15T08:30:00Z`: the client leaves them bare, too.
fn is_moment(words: &str) -> bool {
    let bytes = words.as_bytes();
    let shape = |at: usize, byte: u8| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        0..10 => byte.is_ascii_digit(),
        _ => byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'Z' | b'+' | b'-'),
    };
    bytes.len() >= 16
        && bytes.len() <= 40
        && bytes.ends_with(b"Z")
        && bytes.iter().enumerate().all(|(at, byte)| shape(at, *byte))
}

fn must_escape(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}'
        )
        || matches!(u32::from(letter), 0xfffe | 0xffff)
}

fn quoted(out: &mut String, words: &str) {
    out.push('"');
    let mut hyphens = 0;
    for letter in words.chars() {
        hyphens = if letter == '-' { hyphens + 1 } else { 0 };
        match letter {
            '-' if hyphens == FENCE.len() => {
                hyphens = 0;
                out.push_str("\\x2D");
            }
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter if must_escape(letter) => {
                // Writing into a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}
