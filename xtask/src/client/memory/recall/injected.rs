//! Our texts in the requests of the client: where they are, and which items they cite.
//!
//! Only what the client puts into the conversation itself counts: a tool may print
//! whatever it likes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::client::memory::talk::TalkResult;

const CONTEXT_OPEN: &str = "<remora-context>";
const CONTEXT_CLOSE: &str = "</remora-context>";

/// One text of ours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InjectedText {
    /// The client's label: the event, and the tool if there is one.
    pub(super) label: String,
    /// The text between the tags.
    pub(super) text: String,
    /// Whether it is closed, and opened only once.
    pub(super) whole: bool,
}

impl InjectedText {
    pub(super) fn event_name(&self) -> &str {
        self.label.split(':').next().unwrap_or_default()
    }

    /// The names of the items that have a line of their own.
    pub(super) fn listed_items(&self) -> Vec<String> {
        self.text.lines().filter_map(parse_item_name).collect()
    }

    /// All items that it names, wherever they are.
    pub(super) fn cited_items(&self) -> BTreeSet<String> {
        let words = self.text.split([' ', '\n', '(', ',', ')']);
        words.filter_map(parse_item_name).collect()
    }

    /// Those of them that say more than their line.
    pub(super) fn full_items(&self) -> Vec<String> {
        let next = self.text.lines().skip(1).chain([""]);
        let lines = self.text.lines().zip(next);
        lines
            .filter(|(_, next)| next.starts_with("  "))
            .filter_map(|(line, _)| parse_item_name(line))
            .collect()
    }
}

/// `#12` or `memory://…` at the beginning of a line.
fn parse_item_name(line: &str) -> Option<String> {
    let word = line.split_whitespace().next()?;
    let word = word.trim_end_matches(['~', ':']);
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let named = word.strip_prefix('#').is_some_and(number) || word.starts_with("memory://");
    (named && line.starts_with(word)).then(|| word.to_owned())
}

/// Our texts in one request, in order.
pub(super) fn collect_injected(request: &Value) -> Vec<InjectedText> {
    let messages = request["messages"].as_array();
    messages
        .into_iter()
        .flatten()
        .flat_map(in_message)
        .collect()
}

/// Everything injected into the main conversation, each text once: the last request holds what came before
/// it, unless the client has dropped it.
pub(super) fn list_injected(talk: &TalkResult) -> Vec<InjectedText> {
    talk.requests
        .last()
        .map(collect_injected)
        .unwrap_or_default()
}

/// What was injected after a call, up to the model's next words.
pub(super) fn after_call(request: &Value, id: &str) -> Vec<InjectedText> {
    let is_result = |message: &Value| {
        let blocks = message["content"].as_array();
        let mut blocks = blocks.into_iter().flatten();
        blocks.any(|block| block["tool_use_id"] == id)
    };
    collect_after(request, is_result)
}

/// What was injected with a prompt, up to the model's next words.
pub(super) fn after_prompt(request: &Value, prompt: &str) -> Vec<InjectedText> {
    let is_prompt = |message: &Value| {
        message["role"] == "user" && list_texts(message).iter().any(|text| text.contains(prompt))
    };
    collect_after(request, is_prompt)
}

/// From the last message of this kind to the next one of the model.
fn collect_after(request: &Value, begins: impl Fn(&Value) -> bool) -> Vec<InjectedText> {
    let messages = request["messages"].as_array();
    let messages = messages.map(Vec::as_slice).unwrap_or_default();
    let Some(from) = messages.iter().rposition(begins) else {
        return Vec::new();
    };
    let until_answer = messages[from..]
        .iter()
        .take_while(|message| message["role"] != "assistant");
    until_answer.flat_map(in_message).collect()
}

fn in_message(message: &Value) -> Vec<InjectedText> {
    list_texts(message)
        .iter()
        .flat_map(|text| in_text(text))
        .collect()
}

fn in_text(text: &str) -> Vec<InjectedText> {
    let mut found = Vec::new();
    let mut before = "";
    for (at, part) in text.split(CONTEXT_OPEN).enumerate() {
        if at > 0 {
            let inside = part.split_once(CONTEXT_CLOSE);
            let line = before.lines().next_back().unwrap_or_default();
            found.push(InjectedText {
                label: line
                    .split(" hook ")
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
                text: inside.map_or(part, |(inside, _)| inside).to_owned(),
                whole: inside.is_some_and(|(_, rest)| !rest.contains(CONTEXT_CLOSE)),
            });
        }
        before = part;
    }
    found
}

/// What a message says, without what tools printed.
fn list_texts(message: &Value) -> Vec<String> {
    match &message["content"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_found_where_they_stand() {
        let ours = |label: &str, text: &str| {
            format!("{label} hook additional context: {CONTEXT_OPEN}{text}{CONTEXT_CLOSE}")
        };
        let start = ours(
            "SessionStart",
            "\n#1 a\n#2~ b\n  #3 c (#5~ d):\nmemory://project/d: e\n#x\n",
        );
        let late = ours("PreToolUse:Read", "\n#4 f\n");
        let request = json!({"messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "system", "content": format!("{start}\n\nother")},
            {"role": "assistant", "content": "calling"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": CONTEXT_OPEN}]},
            {"role": "system", "content": late},
            {"role": "assistant", "content": "done"},
            {"role": "user", "content": "bye"},
        ]});
        let all = collect_injected(&request);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].listed_items(), ["#1", "#2", "memory://project/d"]);
        assert_eq!(all[0].full_items(), ["#2"]);
        let cited: Vec<String> = all[0].cited_items().into_iter().collect();
        assert_eq!(cited, ["#1", "#2", "#3", "#5", "memory://project/d"]);
        assert_eq!((all[0].event_name(), all[0].whole), ("SessionStart", true));
        let beside = after_call(&request, "t");
        assert_eq!(beside, [all[1].clone()]);
        assert_eq!(beside[0].event_name(), "PreToolUse");
        assert_eq!(after_prompt(&request, "hi"), [all[0].clone()]);
        assert_eq!(after_prompt(&request, "bye"), []);
        assert_eq!(after_call(&request, "other"), []);
    }

    #[test]
    fn a_text_that_is_closed_twice_is_not_whole() {
        let text = format!("A hook success: {CONTEXT_OPEN}a{CONTEXT_CLOSE}b{CONTEXT_CLOSE}");
        let request = json!({"messages": [{"role": "system", "content": text}]});
        assert!(!collect_injected(&request)[0].whole);
    }
}
