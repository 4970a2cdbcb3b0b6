//! What is printed for Claude Code: one JSON object on one line, or nothing
//! where whatever is printed would be taken for something else.

use remora_core::{Answers, EventName, PlainText};
use serde_json::{Map, Value, json};

use crate::spec::{HookResponse, MAX_CONTEXT_UTF16_UNITS};

/// The last line of a text that was longer than [`MAX_CONTEXT_UTF16_UNITS`].
const TRUNCATION_LINE: &str = "[cut: Remora gives at most 10,000 characters at a time]";

/// What is printed when there is nothing to say.
const EMPTY_RESPONSE: &str = "{}";

pub(super) fn encode_response(event: EventName, answer: &HookResponse) -> String {
    let def = event.def();
    // Text on stdout is added to the summary's instructions or taken as a path,
    // JSON or not; after a compaction it is shown to the person as it is.
    match def.plain {
        PlainText::CompactInstructions => {
            let text = non_blank(answer.instructions.as_deref());
            return text.map(limit_context).unwrap_or_default();
        }
        PlainText::WorktreePath => return String::new(),
        _ if event == EventName::PostCompact => return String::new(),
        _ => {}
    }
    let mut object = Map::new();
    if let Some(reason) = non_blank(answer.block.as_deref())
        && event == EventName::Stop
    {
        object.insert("decision".to_owned(), json!("block"));
        object.insert("reason".to_owned(), Value::String(limit_context(reason)));
    }
    if let Some(message) = non_blank(answer.message.as_deref())
        && def.answers.contains(Answers::MESSAGE)
    {
        object.insert(
            "systemMessage".to_owned(),
            Value::String(limit_context(message)),
        );
    }
    if let Some(context) = non_blank(answer.context.as_deref())
        && takes_context(event)
    {
        object.insert(
            "hookSpecificOutput".to_owned(),
            json!({ "hookEventName": event.as_str(), "additionalContext": limit_context(context) }),
        );
    }
    if object.is_empty() {
        return EMPTY_RESPONSE.to_owned();
    }
    Value::Object(object).to_string()
}

fn takes_context(event: EventName) -> bool {
    // At the end of a turn, context would make the model run once more.
    !matches!(event, EventName::Stop | EventName::SubagentStop)
        && event.def().answers.contains(Answers::CONTEXT)
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
