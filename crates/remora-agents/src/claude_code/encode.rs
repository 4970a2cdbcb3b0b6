//! What is printed for Claude Code: one JSON object on one line, or nothing
//! where the client reads stdout as something else.

use remora_core::{EventName, PlainText};
use serde_json::{Map, Value, json};

use super::hook::list_answers;
use crate::spec::{HookResponse, MAX_CONTEXT_UTF16_UNITS, ResponsePart};

/// The last line of a text that was longer than [`MAX_CONTEXT_UTF16_UNITS`].
const TRUNCATION_LINE: &str = "[cut: Remora gives at most 10,000 characters at a time]";

/// What is printed when there is nothing to say.
const EMPTY_RESPONSE: &str = "{}";

pub(super) fn encode_response(event: EventName, answer: &HookResponse) -> String {
    let parts = list_answers(event);
    let part = |part, text: &Option<String>| {
        let text = non_blank(text.as_deref()).filter(|_| parts.contains(&part));
        text.map(limit_context)
    };
    // There the client reads stdout as text, even if it is JSON.
    if is_plain(event) {
        let text = part(ResponsePart::Instructions, &answer.instructions);
        return text.unwrap_or_default();
    }
    let mut object = Map::new();
    if let Some(reason) = part(ResponsePart::Block, &answer.block) {
        // Only `Stop` gets here: it sends the agent back to work.
        object.insert("decision".to_owned(), json!("block"));
        object.insert("reason".to_owned(), Value::String(reason));
    }
    if let Some(message) = part(ResponsePart::Message, &answer.message) {
        object.insert("systemMessage".to_owned(), Value::String(message));
    }
    if let Some(context) = part(ResponsePart::Context, &answer.context) {
        object.insert(
            "hookSpecificOutput".to_owned(),
            // The client rejects the whole object if the name is missing or
            // another event's.
            json!({ "hookEventName": event.as_str(), "additionalContext": context }),
        );
    }
    if object.is_empty() {
        return EMPTY_RESPONSE.to_owned();
    }
    Value::Object(object).to_string()
}

/// Whether stdout is text there, which the model, the user or git would read.
fn is_plain(event: EventName) -> bool {
    let plain = event.def().plain;
    matches!(
        plain,
        PlainText::CompactInstructions | PlainText::WorktreePath
    ) || event == EventName::PostCompact
}

fn non_blank(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

/// The text, cut at the end of a line if it is too long.
fn limit_context(text: &str) -> String {
    // No text has more UTF-16 units than bytes.
    if text.len() <= MAX_CONTEXT_UTF16_UNITS
        || text
            .encode_utf16()
            .take(MAX_CONTEXT_UTF16_UNITS + 1)
            .count()
            <= MAX_CONTEXT_UTF16_UNITS
    {
        return text.to_owned();
    }
    // Cut here, because the client would put a longer text into a file and show
    // the model only its path.
    let room = MAX_CONTEXT_UTF16_UNITS - TRUNCATION_LINE.len() - 1;
    let mut units = 0;
    let end = text
        .char_indices()
        .find(|(_, c)| {
            units += c.len_utf16();
            units > room
        })
        .map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    // A line that alone fills the answer is cut within: better than no text.
    let head = match head.rfind('\n') {
        Some(at) if !head[..at].trim().is_empty() => &head[..at],
        _ => head,
    };
    format!("{}\n{TRUNCATION_LINE}", head.trim_end_matches(['\r', '\n']))
}
