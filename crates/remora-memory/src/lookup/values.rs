//! Readers over the JSON of a call: texts, paths, counts, compact forms.

use serde_json::Value;

use crate::edit::{one_line, strip_root, truncate_chars};

/// One call of a tool.
pub(super) struct LookupCall<'a> {
    pub(super) tool: &'a str,
    pub(super) input: &'a Value,
    pub(super) response: Option<&'a Value>,
    pub(super) root: &'a str,
}

impl<'a> LookupCall<'a> {
    /// A text of the input.
    pub(super) fn input_text(&self, key: &str) -> Option<&'a str> {
        self.input
            .get(key)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    }

    /// A number of the input.
    pub(super) fn input_number(&self, key: &str) -> Option<u64> {
        self.input.get(key).and_then(Value::as_u64)
    }

    /// A value of the answer.
    pub(super) fn answer_value(&self, key: &str) -> Option<&'a Value> {
        self.response
            .and_then(|r| r.get(key))
            .filter(|v| !v.is_null())
    }

    /// A text of the answer.
    pub(super) fn answer_text(&self, key: &str) -> Option<&'a str> {
        self.answer_value(key)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    }

    /// A path of the input, relative to the project where it lies in it.
    pub(super) fn path(&self, key: &str) -> Option<String> {
        self.input_text(key).map(|p| self.relative_path(p))
    }

    /// A path, relative to the project where it lies in it.
    pub(super) fn relative_path(&self, path: &str) -> String {
        if path.trim_end_matches('/') == self.root.trim_end_matches('/') {
            return ".".to_owned();
        }
        one_line(strip_root(path, self.root), 300)
    }

    /// All text of the answer.
    pub(super) fn result_text(&self) -> String {
        self.response.map(text_of).unwrap_or_default()
    }
}

/// How deep the text of an answer may be nested.
const MAX_DEPTH: usize = 6;
/// Bytes of an answer that are looked at.
const MAX_ANSWER_BYTES: usize = 200_000;

/// The text in an answer: a string, a list of content blocks, or an object
/// with one of the usual keys.
pub(super) fn text_of(value: &Value) -> String {
    let mut text = String::new();
    collect_text(value, MAX_DEPTH, &mut text);
    text
}

fn collect_text(value: &Value, depth: usize, text: &mut String) {
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
                && matches!(kind, "image" | "audio" | "resource" | "document")
            {
                text.push('[');
                text.push_str(kind);
                text.push(']');
                return;
            }
            let known = [
                "text", "content", "result", "output", "stdout", "message", "results",
            ];
            for key in known {
                if let Some(inner) = map.get(key).filter(|v| !v.is_null()) {
                    collect_text(inner, depth - 1, text);
                    return;
                }
            }
        }
        _ => {}
    }
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

/// What a failed call was about.
pub(super) enum CallTarget {
    File(String),
    /// What was looked for.
    Pattern(String),
    /// What was to be done, or where.
    Matter(String),
    /// Nothing but the arguments tells.
    Arguments(String),
}

pub(super) fn find_target(call: &LookupCall<'_>) -> CallTarget {
    for key in ["file_path", "notebook_path"] {
        if let Some(path) = call.path(key) {
            return CallTarget::File(path);
        }
    }
    let bare = !call.tool.starts_with("mcp__");
    if bare
        && let Some(pattern) = call
            .input_text("pattern")
            .or_else(|| call.input_text("query"))
    {
        return CallTarget::Pattern(format!("`{}`", one_line(&pattern.replace('`', "'"), 50)));
    }
    if let Some(url) = call.input_text("url") {
        return CallTarget::Matter(super::remote::format_address(url));
    }
    let keys = ["description", "path", "skill", "subject", "taskId", "name"];
    match keys
        .iter()
        .find_map(|key| call.input_text(key))
        .filter(|_| bare)
    {
        Some(told) => CallTarget::Matter(one_line(&call.relative_path(told), 60)),
        None => CallTarget::Arguments(format_arguments(call.input, 50)),
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

/// A tool's name as a person reads it: `lab fail` for `mcp__lab__fail`.
pub(super) fn tool_name(tool: &str) -> String {
    match tool.strip_prefix("mcp__").and_then(|t| t.split_once("__")) {
        Some((server, name)) => {
            let server = server.strip_prefix("plugin_").unwrap_or(server);
            one_line(&format!("{server} {name}"), 60)
        }
        None if tool.trim().is_empty() => "a tool".to_owned(),
        None => one_line(tool, 60),
    }
}

/// The first sentence of an error, as the end of a sentence of ours.
pub(super) fn format_reason(error: &str, root: &str) -> String {
    let bare = strip_error_tags(error);
    let bare = bare.strip_prefix("Error: ").unwrap_or(bare).trim();
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
