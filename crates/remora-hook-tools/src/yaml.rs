//! YAML read into JSON values, strictly: no anchors, no tags, text as keys.
//! Depth and size are limited, so no file costs more than its length.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// How deep lists and mappings may be nested.
const MAX_DEPTH: usize = 64;
/// How many values one document may hold.
const MAX_VALUES: usize = 200_000;

enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// Reads one document; the error names the line.
pub(crate) fn parse_yaml(text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut whole = None;
    for (count, event) in Parser::new_from_str(text).enumerate() {
        let (event, span) =
            event.map_err(|error| format!("line {}: {}", error.marker().line(), error.info()))?;
        let refused = |what: &str| Err(format!("line {}: {what}", span.start.line()));
        if count > MAX_VALUES || open.len() > MAX_DEPTH {
            return refused("too many values or too deeply nested");
        }
        let value = match event {
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Map(entries, _)) => Value::Object(entries),
                None => continue,
            },
            Event::Scalar(text, style, ..) => read_scalar(&text, style),
            Event::Alias(_) => return refused("anchors are not followed; write the value again"),
            Event::DocumentStart(_) if whole.is_some() => {
                return refused("a second document begins");
            }
            _ => continue,
        };
        match open.last_mut() {
            None => whole = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(entries, key)) => match (key.take(), value) {
                (Some(key), _) if entries.contains_key(&key) => {
                    return refused(&format!("`{key}` is written twice"));
                }
                (Some(key), value) => {
                    entries.insert(key, value);
                }
                (None, Value::String(text)) => *key = Some(text),
                (None, Value::Number(number)) => *key = Some(number.to_string()),
                (None, _) => return refused("a key must be a text"),
            },
        }
    }
    Ok(whole.unwrap_or(Value::Null))
}

/// The core schema of YAML 1.2: only a plain scalar can be more than text.
fn read_scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => read_number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

fn read_number(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_those_of_json() {
        let text = "a: [1, 2.5, -3, true, ~, 'true', no]\nb:\n  - c: |\n      x\n      y\n  - {d: 'e'}\n1: f\n";
        assert_eq!(
            parse_yaml(text).unwrap(),
            json!({"a": [1, 2.5, -3, true, null, "true", "no"], "b": [{"c": "x\ny\n"}, {"d": "e"}], "1": "f"})
        );
    }

    #[test]
    fn what_is_refused_names_its_line() {
        for (text, problem) in [
            ("a: 1\na: 2\n", "line 2: `a` is written twice"),
            (
                "a: &x 1\nb: *x\n",
                "line 2: anchors are not followed; write the value again",
            ),
            ("a: 1\n---\nb: 2\n", "line 2: a second document begins"),
            ("[a]: 1\n", "line 1: a key must be a text"),
        ] {
            assert_eq!(parse_yaml(text).unwrap_err(), problem, "{text}");
        }
        assert!(parse_yaml("a: [1").unwrap_err().starts_with("line "));
        assert!(parse_yaml(&"[".repeat(100)).is_err());
    }
}
