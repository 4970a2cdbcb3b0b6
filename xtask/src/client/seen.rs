//! What the model and the user were shown, read from the client's requests and its stream.
//!
//! It knows the labels under which this client version passes a hook's text on; nothing here
//! knows of the engine.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::case::EventCheck;
use super::session::ClientRun;

/// The marked texts (`MK-` and what follows of letters, digits and dashes) in some texts, and
/// the client's fixed words for a missing one.
pub(super) fn collect_marks<T: AsRef<str>>(texts: &[T]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in texts.iter().map(AsRef::as_ref) {
        for (at, _) in text.match_indices("MK-") {
            let rest = &text[at..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            found.insert(rest[..end.unwrap_or(rest.len())].to_owned());
        }
        let fixed = FIXED_TEXTS.iter().filter(|fixed| text.contains(**fixed));
        found.extend(fixed.map(|fixed| (*fixed).to_owned()));
    }
    found
}

const FIXED_TEXTS: &[&str] = &[
    "Blocked by hook",
    "No stderr output",
    "Permission denied by hook",
];

/// What the model and the user were shown in the end.
pub(super) struct ShownTexts {
    /// Texts that are neither the assistant's nor a tool's.
    texts: Vec<String>,
    /// Call id -> (is an error, text).
    pub(super) results: BTreeMap<String, (bool, String)>,
    /// Call id -> why it was not executed, in the client's words.
    unexecuted: BTreeMap<String, String>,
    /// `Stop hook feedback` messages, in order.
    pub(super) feedback: Vec<String>,
}

impl ShownTexts {
    pub(super) fn new(client: &ClientRun) -> Self {
        let mut seen = Self {
            texts: Vec::new(),
            results: BTreeMap::new(),
            unexecuted: BTreeMap::new(),
            feedback: Vec::new(),
        };
        // After the last request, only the stream holds results; requests are nearer to the model.
        let streamed = client.stream.iter().filter(|line| line["type"] == "user");
        for line in streamed {
            seen.add_results(&line["message"]["content"]);
            for meta in line["tool_result_meta"].as_array().into_iter().flatten() {
                if let (Some(id), Some(kind)) =
                    (meta["id"].as_str(), meta["non_execution_kind"].as_str())
                {
                    seen.unexecuted.insert(id.to_owned(), kind.to_owned());
                }
            }
        }
        let last = client.requests.last().map(|request| &request["messages"]);
        for message in last.and_then(Value::as_array).into_iter().flatten() {
            if message["role"] == "assistant" {
                continue;
            }
            seen.add_results(&message["content"]);
            for text in collect_texts(&message["content"]) {
                if text.contains("Stop hook feedback:") {
                    seen.feedback.push(text.clone());
                }
                seen.texts.push(text);
            }
        }
        seen
    }

    fn add_results(&mut self, content: &Value) {
        for block in content.as_array().into_iter().flatten() {
            if let Some(id) = block["tool_use_id"].as_str() {
                let text = collect_texts(&block["content"]).join("\n");
                self.results
                    .insert(id.to_owned(), (block["is_error"] == json!(true), text));
            }
        }
    }

    /// What became of the call, and the text of its result. `asked`: somebody would have been.
    pub(super) fn find_tool_result(
        &self,
        check: &EventCheck,
        ended: &str,
    ) -> (&'static str, String) {
        let id = check.tool.as_deref().unwrap_or_default();
        let Some((error, text)) = self.results.get(id) else {
            let deferred = ended == "tool_deferred";
            return (if deferred { "deferred" } else { "unknown" }, String::new());
        };
        let word = match self.unexecuted.get(id).map(String::as_str) {
            Some("permission-rule") => "denied",
            Some("user-rejected") => "asked",
            Some(_) => "unknown",
            None if *error => "failed",
            None => "ran",
        };
        (word, text.clone())
    }

    /// Texts under `LABEL hook additional context` or `success`, and under `blocking error`.
    pub(super) fn labelled_texts(&self, label: &str) -> (Vec<String>, Vec<String>) {
        let (mut context, mut blocks) = (Vec::new(), Vec::new());
        for text in &self.texts {
            let mut starts: Vec<usize> = text.match_indices(" hook ").map(|(at, _)| at).collect();
            starts.retain(|at| {
                LABEL_KINDS
                    .iter()
                    .any(|kind| text[at + 6..].starts_with(kind))
            });
            for (index, at) in starts.iter().enumerate() {
                let end = starts.get(index + 1).copied().unwrap_or(text.len());
                let name = text[..*at]
                    .rsplit([' ', '\n', '>'])
                    .next()
                    .unwrap_or_default();
                if name != label && !name.starts_with(&format!("{label}:")) {
                    continue;
                }
                let segment = text[*at..end].to_owned();
                let block = segment.starts_with(" hook blocking");
                if block { &mut blocks } else { &mut context }.push(segment);
            }
        }
        (context, blocks)
    }
}

const LABEL_KINDS: &[&str] = &["additional context", "success", "blocking error", "stopped"];

fn collect_texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// Messages for the user.
pub(super) fn list_informational(client: &ClientRun) -> BTreeSet<String> {
    let lines = client
        .stream
        .iter()
        .filter(|line| line["subtype"] == "informational");
    collect_marks(&lines.map(Value::to_string).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_texts_are_found_once_and_whole() {
        let found = collect_marks(&["x MK-ONE, \"MK-TWO\\n\" MK-ONE", "[No stderr output]"]);
        assert_eq!(
            json!(found),
            json!(["MK-ONE", "MK-TWO", "No stderr output"])
        );
    }

    #[test]
    fn labelled_texts_end_at_the_next_label() {
        let text = "SessionStart:startup hook success: MK-S\n\nPreToolUse:Write hook additional \
                    context: MK-C\n\nPreToolUse:Write hook blocking error from command: MK-B";
        let client = ClientRun {
            requests: vec![json!({"messages": [{"role": "system", "content": text}]})],
            stream: Vec::new(),
            runs: Vec::new(),
        };
        let (context, blocks) = ShownTexts::new(&client).labelled_texts("PreToolUse:Write");
        assert_eq!(json!(collect_marks(&context)), json!(["MK-C"]));
        assert_eq!(json!(collect_marks(&blocks)), json!(["MK-B"]));
    }
}
