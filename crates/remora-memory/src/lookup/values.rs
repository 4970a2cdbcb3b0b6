//! Texts, paths, counts and compact forms of what a call says.

use remora_core::tool_call::{ToolCall, ToolUse};
use serde_json::Value;

use crate::edit::{one_line, strip_root, truncate_chars};

/// A path, relative to the project where it lies in it.
pub(super) fn relative_path(path: &str, root: &str) -> String {
    if path.trim_end_matches('/') == root.trim_end_matches('/') {
        return ".".to_owned();
    }
    one_line(strip_root(path, root), 300)
}

/// A text without blank lines, control characters and terminal escapes, each
/// line and the whole cut.
pub(super) fn compact_text(text: &str, cap: usize) -> String {
    let mut kept = String::new();
    let mut count = 0;
    for line in text.lines() {
        let blank = line.len() - line.trim_start().len();
        let line = one_line(line, 240);
        if line.is_empty() {
            continue;
        }
        // Indentation carries the meaning of code and lists; deep nesting would
        // take the room of the text.
        let indent = blank.min(12);
        kept.extend(std::iter::repeat_n(' ', indent));
        kept.push_str(&line);
        kept.push('\n');
        count += line.chars().count() + indent + 1;
        if count > cap {
            break;
        }
    }
    truncate_chars(kept.trim_end(), cap)
}

/// The arguments of a call on one line: `text=hi limit=5`.
pub(super) fn format_arguments(input: &Value, cap: usize) -> String {
    let Some(map) = input.as_object() else {
        return match input {
            Value::Null => String::new(),
            other => one_line(&format_value(other), cap),
        };
    };
    let parts: Vec<String> = map
        .iter()
        .filter(|(_, v)| !v.is_null())
        .take(12)
        .map(|(key, v)| format!("{key}={}", one_line(&format_value(v), 60)))
        .collect();
    one_line(&parts.join(" "), cap)
}

fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => format!("[{} items]", list.len()),
        Value::Object(map) => format!("{{{} keys}}", map.len()),
        other => other.to_string(),
    }
}

/// A tool's name as users read it: `lab fail` for the tool `fail` of the MCP
/// server `lab`.
pub(super) fn display_name(tool: &ToolUse) -> String {
    match &tool.call {
        ToolCall::Mcp { server, tool, .. } if !server.is_empty() => {
            one_line(&format!("{server} {tool}"), 60)
        }
        _ if tool.name.trim().is_empty() => "a tool".to_owned(),
        _ => one_line(&tool.name, 60),
    }
}

/// The first sentence of an error, as the end of a sentence of ours.
pub(super) fn format_reason(error: &str, root: &str) -> String {
    let bare = error.strip_prefix("Error: ").unwrap_or(error).trim();
    let line = bare
        .lines()
        .find(|l| !l.trim().is_empty())
        .unwrap_or("no reason given");
    let line = match root.trim_end_matches('/') {
        "" => line.to_owned(),
        root => line.replace(&format!("{root}/"), ""),
    };
    let sentence = find_first_sentence(&line).trim_end_matches('.');
    let mut chars = sentence.chars();
    // `File does not exist` reads on in lower case, `ENOENT` does not.
    match (chars.next(), chars.next()) {
        (Some(a), Some(b)) if a.is_uppercase() && b.is_lowercase() => one_line(
            &format!("{}{}", a.to_lowercase(), &sentence[a.len_utf8()..]),
            120,
        ),
        _ => one_line(sentence, 120),
    }
}

/// The first sentence of a text.
pub(super) fn find_first_sentence(text: &str) -> &str {
    let text = text.trim();
    let line = text
        .lines()
        .map(str::trim)
        .find(|l| !l.is_empty())
        .unwrap_or("");
    let line = line.trim_start_matches(['#', '*', '-', '>', ' ']);
    let end = line
        .char_indices()
        .zip(line.chars().skip(1))
        .find(|((at, c), next)| match c {
            '。' | '！' | '？' => true,
            // A stop this early is an abbreviation or a number, not the end of
            // a sentence.
            '.' | '!' | '?' => *at > 12 && next.is_whitespace(),
            _ => false,
        })
        .map_or(line.len(), |((at, c), _)| at + c.len_utf8());
    &line[..end]
}

/// A number and what it counts.
pub(super) fn format_count(count: usize, what: &str) -> String {
    let ending = match (count, what.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{count} {what}{ending}")
}
