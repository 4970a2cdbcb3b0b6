//! Strict YAML events folded into values. An alias may only refer to a scalar, so
//! no head can grow exponentially; depth, count and bytes are limited.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::FrontmatterValue;

/// How deep lists and mappings may be nested.
const MAX_DEPTH: usize = 64;
/// How many values one head may hold.
const MAX_VALUES: usize = 20_000;
/// How many bytes the aliases of one head may repeat.
const MAX_ALIAS_BYTES: usize = 64 * 1024;

/// Why a head could not be read.
#[derive(Debug)]
pub(super) enum YamlError {
    /// It is not YAML.
    Broken(String),
    /// It is YAML, but exceeds a limit. Repairing it would not help.
    Refused(String),
}

/// A list or mapping that is still open.
enum OpenCollection {
    List(Vec<FrontmatterValue>),
    Map(Vec<(String, FrontmatterValue)>, Option<String>),
}

/// Reads one document.
pub(super) fn parse_document(text: &str) -> Result<FrontmatterValue, YamlError> {
    let mut open: Vec<OpenCollection> = Vec::new();
    let mut whole: Option<FrontmatterValue> = None;
    let mut anchors: HashMap<usize, FrontmatterValue> = HashMap::new();
    let mut repeated = 0usize;
    for (count, event) in Parser::new_from_str(text).enumerate() {
        let (event, span) = event.map_err(|e| {
            let line = file_line(e.marker().line());
            YamlError::Broken(format!("frontmatter, line {line}: {}", e.info()))
        })?;
        let refused = |what: &str| {
            let line = file_line(span.start.line());
            YamlError::Refused(format!("frontmatter, line {line}: {what}"))
        };
        if count > MAX_VALUES || open.len() > MAX_DEPTH {
            return Err(refused("too many values or too deeply nested"));
        }
        let value = match event {
            Event::SequenceStart(..) => {
                open.push(OpenCollection::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(OpenCollection::Map(Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(OpenCollection::List(items)) => FrontmatterValue::List(items),
                Some(OpenCollection::Map(entries, _)) => {
                    FrontmatterValue::Map(last_of_each(entries))
                }
                None => continue,
            },
            Event::Scalar(text, style, anchor, tag) => {
                let value = parse_scalar(&text, style, tag.as_ref());
                // Scalars only, so that aliases cannot nest.
                if anchor > 0 {
                    anchors.insert(anchor, value.clone());
                }
                value
            }
            Event::Alias(anchor) => {
                let value = anchors
                    .get(&anchor)
                    .ok_or_else(|| refused("an alias for a list or mapping is not followed"))?;
                repeated += count_bytes(value);
                if repeated > MAX_ALIAS_BYTES {
                    return Err(refused("the aliases repeat too much text"));
                }
                value.clone()
            }
            Event::DocumentStart(_) if whole.is_some() => {
                return Err(refused("a second document begins"));
            }
            _ => continue,
        };
        match open.last_mut() {
            None => whole = Some(value),
            Some(OpenCollection::List(items)) => items.push(value),
            Some(OpenCollection::Map(entries, key)) => match key.take() {
                Some(key) => entries.push((key, value)),
                None => {
                    *key =
                        Some(into_key_text(value).ok_or_else(|| refused("a key is not a text"))?);
                }
            },
        }
    }
    Ok(whole.unwrap_or(FrontmatterValue::Null))
}

/// The fence is the first line of the file; the parser counts from one
/// behind it.
fn file_line(line: usize) -> usize {
    line + 1
}

/// The last value of a key counts, at the position of its first occurrence, as in
/// a JavaScript object.
fn last_of_each(entries: Vec<(String, FrontmatterValue)>) -> Vec<(String, FrontmatterValue)> {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    let mut kept: Vec<(String, FrontmatterValue)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if let Some(&at) = places.get(&key) {
            kept[at].1 = value;
        } else {
            places.insert(key.clone(), kept.len());
            kept.push((key, value));
        }
    }
    kept
}

fn count_bytes(value: &FrontmatterValue) -> usize {
    match value {
        FrontmatterValue::Text(text) | FrontmatterValue::Number(text) => text.len() + 1,
        _ => 1,
    }
}

/// A key as text; a list or mapping cannot be one.
fn into_key_text(value: FrontmatterValue) -> Option<String> {
    match value {
        FrontmatterValue::Text(text) | FrontmatterValue::Number(text) => Some(text),
        FrontmatterValue::Bool(yes) => Some(yes.to_string()),
        FrontmatterValue::Null => Some("null".to_owned()),
        FrontmatterValue::List(_) | FrontmatterValue::Map(_) => None,
    }
}

/// The core schema of YAML 1.2: only a plain scalar can be more than text.
fn parse_scalar(text: &str, style: ScalarStyle, tag: Option<&Cow<'_, Tag>>) -> FrontmatterValue {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return FrontmatterValue::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => FrontmatterValue::Null,
        "true" | "True" | "TRUE" => FrontmatterValue::Bool(true),
        "false" | "False" | "FALSE" => FrontmatterValue::Bool(false),
        _ if is_number(text) => FrontmatterValue::Number(text.to_owned()),
        _ => FrontmatterValue::Text(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = |text: &str, base: u32| !text.is_empty() && text.chars().all(|c| c.is_digit(base));
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(hex) = text.strip_prefix("0x") {
        digits(hex, 16)
    } else if let Some(octal) = text.strip_prefix("0o") {
        digits(octal, 8)
    } else if matches!(unsigned, ".inf" | ".Inf" | ".INF") || text.eq_ignore_ascii_case(".nan") {
        true
    } else {
        // Rust would also read "inf" and "nan", which YAML spells with a dot.
        unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && unsigned.parse::<f64>().is_ok()
    }
}
