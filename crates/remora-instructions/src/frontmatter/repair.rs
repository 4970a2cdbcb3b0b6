//! Makes YAML of what users write as YAML: glob characters without quotes,
//! a colon in a description, tabs for indent. Follows the client, which only
//! repairs `key: value` lines at the left edge; list items stay as they are.

use super::{FrontmatterValue, is_blank, yaml};

/// The characters that make the client quote a value.
const QUOTED_CHARACTERS: &[char] = &[
    '{', '}', '[', ']', '*', '&', '#', '!', '|', '>', '%', '@', '`',
];

/// The text with its values quoted where they need it.
pub(super) fn repair_frontmatter(front: &str) -> String {
    let lines: Vec<String> = front.split('\n').map(repair_line).collect();
    lines.join("\n")
}

fn repair_line(text: &str) -> String {
    match split_key_value(text) {
        Some((key, value)) if needs_quotes(value) => {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{key}: \"{escaped}\"")
        }
        // Any white space may follow the colon, not only a space.
        Some((key, value)) => format!("{key}: {value}"),
        None => {
            let rest = text.trim_start_matches([' ', '\t']);
            let indent = &text[..text.len() - rest.len()];
            indent.replace('\t', "  ") + rest
        }
    }
}

/// Key and value of a line at the left edge. A line that ends in a carriage
/// return is none: the client does not repair those either.
fn split_key_value(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let named = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-'));
    let value = rest.trim_start_matches(is_blank);
    let one_line = !value.contains(['\r', '\u{2028}', '\u{2029}']);
    (named && value.len() < rest.len() && !value.is_empty() && one_line).then_some((key, value))
}

fn needs_quotes(value: &str) -> bool {
    let between = |open: char, close: char| {
        value.len() > 1 && value.starts_with(open) && value.ends_with(close)
    };
    if between('"', '"') || between('\'', '\'') {
        return false;
    }
    // A flow list that YAML can read must stay a list.
    if between('[', ']') && matches!(yaml::parse_document(value), Ok(FrontmatterValue::List(_))) {
        return false;
    }
    // A comma in front is no fault to the client, but it is one in YAML.
    value.contains(QUOTED_CHARACTERS) || value.contains(": ") || value.starts_with(',')
}
