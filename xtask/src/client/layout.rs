//! JSON for people: what fits in a line stays in a line.

use serde_json::Value;

const MAX_LINE_CHARS: usize = 100;

/// The value as text, at this depth of indentation, `used` columns of the line already taken.
pub(super) fn format_json(value: &Value, depth: usize, used: usize) -> String {
    let line = one_line(value);
    if used + line.chars().count() <= MAX_LINE_CHARS || !(value.is_object() || value.is_array()) {
        return line;
    }
    let inner = "  ".repeat(depth + 1);
    let item = |start: String, value: &Value| {
        let used = inner.len() + start.chars().count() + 1;
        format!("{inner}{start}{}", format_json(value, depth + 1, used))
    };
    let (open, items, close) = match value {
        Value::Object(map) => {
            let items = map
                .iter()
                .map(|(key, value)| item(format!("{}: ", quote_json(key)), value));
            ('{', items.collect::<Vec<_>>(), '}')
        }
        Value::Array(list) => (
            '[',
            list.iter()
                .map(|value| item(String::new(), value))
                .collect(),
            ']',
        ),
        _ => return line,
    };
    format!(
        "{open}\n{}\n{}{close}",
        items.join(",\n"),
        "  ".repeat(depth)
    )
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let items = map
                .iter()
                .map(|(key, value)| format!("{}: {}", quote_json(key), one_line(value)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => {
            format!(
                "[{}]",
                list.iter().map(one_line).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

fn quote_json(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_values_break_and_read_back() -> serde_json::Result<()> {
        let value = json!({"short": [1, 2], "long": {"a": "x".repeat(60), "b": "y".repeat(60)}});
        let text = format_json(&value, 0, 0);
        assert!(text.contains("  \"short\": [1, 2],\n"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text)?, value);
        Ok(())
    }
}
