//! Values as YAML that every parser reads the same way: plain words stay plain,
//! everything that could be misread is quoted.

use std::fmt::Write as _;

use remora_instructions::frontmatter::FrontmatterValue;

/// Plain words that some parser reads as something else.
const AMBIGUOUS_WORDS: &[&str] = &[
    "true", "false", "yes", "no", "on", "off", "null", "nil", "none", "nan", "inf", "y", "n",
];

/// Ends a head wherever it occurs, also inside quotes: the client searches for the
/// text.
const FENCE: &str = "---";

/// One key and its value, on one line.
pub(super) fn emit_entry(out: &mut String, indent: &str, key: &str, value: &FrontmatterValue) {
    out.push_str(indent);
    emit_text(out, key);
    out.push_str(": ");
    emit_value(out, value);
    out.push('\n');
}

fn emit_value(out: &mut String, value: &FrontmatterValue) {
    match value {
        FrontmatterValue::Text(words) => emit_text(out, words),
        FrontmatterValue::Null => out.push_str("null"),
        FrontmatterValue::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        FrontmatterValue::Number(number) => out.push_str(number),
        FrontmatterValue::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                emit_nested_value(out, item);
            }
            out.push(']');
        }
        FrontmatterValue::Map(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                emit_quoted(out, key);
                out.push_str(": ");
                emit_nested_value(out, item);
            }
            out.push('}');
        }
    }
}

/// Inside brackets more characters mean something.
fn emit_nested_value(out: &mut String, value: &FrontmatterValue) {
    match value {
        FrontmatterValue::Text(words) => emit_quoted(out, words),
        other => emit_value(out, other),
    }
}

fn emit_text(out: &mut String, words: &str) {
    if is_plain(words) || is_timestamp(words) {
        out.push_str(words);
    } else {
        emit_quoted(out, words);
    }
}

fn is_plain(words: &str) -> bool {
    let first = words.chars().next();
    first.is_some_and(char::is_alphabetic)
        && !words.ends_with(char::is_whitespace)
        && !AMBIGUOUS_WORDS.contains(&words.to_lowercase().as_str())
        && !words.contains(FENCE)
        // Only some positions of these are special; quoting all of them is simpler and safe.
        && !words.contains(|c: char| matches!(c, ':' | '#') || must_escape(c))
}

/// `2026-11-15` or `2026-11-15T08:30:00Z`: the client leaves them bare, too.
fn is_timestamp(words: &str) -> bool {
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

fn emit_quoted(out: &mut String, words: &str) {
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
