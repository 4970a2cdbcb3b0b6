//! The words in an answer, whatever its form.

use serde_json::Value;

/// How deep the text of an answer may be nested.
const MAX_DEPTH: usize = 6;
/// Bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 200_000;
/// Where an object says what it has to say, the first that is there.
const TEXT_KEYS: &[&str] = &[
    "text", "content", "result", "output", "stdout", "message", "results",
];
/// Blocks of an answer that are no text; their kind represents them.
const BLOCKS_WITHOUT_TEXT: &[&str] = &["image", "audio", "resource", "document"];

/// The text in an answer: a string, a list of content blocks, or an object
/// with one of the usual keys.
pub(super) fn text_of(value: &Value) -> String {
    let mut text = String::new();
    collect_text(value, MAX_DEPTH, &mut text);
    text
}

fn collect_text(value: &Value, depth: usize, text: &mut String) {
    // An answer is written by a tool: neither its depth nor its length is ours
    // to trust.
    if depth == 0 || text.len() > MAX_ANSWER_BYTES {
        return;
    }
    match value {
        Value::String(said) => {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(said);
        }
        Value::Array(list) => list.iter().for_each(|v| collect_text(v, depth - 1, text)),
        Value::Object(map) => {
            if let Some(kind) = map.get("type").and_then(Value::as_str)
                && BLOCKS_WITHOUT_TEXT.contains(&kind)
            {
                text.push('[');
                text.push_str(kind);
                text.push(']');
                return;
            }
            let inner = TEXT_KEYS
                .iter()
                .find_map(|key| map.get(*key).filter(|v| !v.is_null()));
            if let Some(inner) = inner {
                collect_text(inner, depth - 1, text);
            }
        }
        _ => {}
    }
}

/// What a shell's call printed.
pub(super) fn printed_output(response: &Value) -> String {
    let part = |name: &str| response.get(name).and_then(Value::as_str).unwrap_or("");
    match (response, part("stdout"), part("stderr")) {
        (Value::String(text), ..) => text.clone(),
        (_, out, "") => out.to_owned(),
        (_, "", err) => err.to_owned(),
        (_, out, err) => format!("{out}\n{err}"),
    }
}

/// An error without the marks that the client puts around it.
pub(super) fn strip_error_tags(error: &str) -> &str {
    let bare = error.trim();
    let bare = bare.strip_prefix("<tool_use_error>").unwrap_or(bare);
    bare.strip_suffix("</tool_use_error>")
        .unwrap_or(bare)
        .trim()
}
