//! What is printed for Claude Code: one JSON object on one line, or nothing
//! where whatever is printed would be taken for something else.

use remora_protocol::{Answers, EventName, PlainText};
use serde_json::{Map, Value, json};

use crate::spec::{Answer, CONTEXT_LIMIT};

/// The last line of a text that was longer than [`CONTEXT_LIMIT`].
const CUT_LINE: &str = "[cut: Remora gives at most 10,000 characters at a time]";

/// What is printed when there is nothing to say.
const NOTHING: &str = "{}";

pub(super) fn encode(event: EventName, answer: &Answer) -> String {
    let def = event.def();
    // Text on stdout is added to the summary's instructions or taken as a path,
    // JSON or not; after a compaction it is shown to the person as it is.
    match def.plain {
        PlainText::CompactInstructions => {
            let text = filled(answer.instructions.as_deref());
            return text.map(limited).unwrap_or_default();
        }
        PlainText::WorktreePath => return String::new(),
        _ if event == EventName::PostCompact => return String::new(),
        _ => {}
    }
    let mut object = Map::new();
    if let Some(reason) = filled(answer.block.as_deref())
        && event == EventName::Stop
    {
        object.insert("decision".to_owned(), json!("block"));
        object.insert("reason".to_owned(), Value::String(limited(reason)));
    }
    if let Some(message) = filled(answer.message.as_deref())
        && def.answers.contains(Answers::MESSAGE)
    {
        object.insert("systemMessage".to_owned(), Value::String(limited(message)));
    }
    if let Some(context) = filled(answer.context.as_deref())
        && takes_context(event)
    {
        object.insert(
            "hookSpecificOutput".to_owned(),
            json!({ "hookEventName": event.as_str(), "additionalContext": limited(context) }),
        );
    }
    if object.is_empty() {
        return NOTHING.to_owned();
    }
    Value::Object(object).to_string()
}

fn takes_context(event: EventName) -> bool {
    // At the end of a turn, context would make the model run once more.
    !matches!(event, EventName::Stop | EventName::SubagentStop)
        && event.def().answers.contains(Answers::CONTEXT)
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

/// The text, cut at the end of a line if it is too long.
fn limited(text: &str) -> String {
    // No text has more UTF-16 units than bytes.
    if text.len() <= CONTEXT_LIMIT
        || text.encode_utf16().take(CONTEXT_LIMIT + 1).count() <= CONTEXT_LIMIT
    {
        return text.to_owned();
    }
    let room = CONTEXT_LIMIT - CUT_LINE.len() - 1;
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
    format!("{}\n{CUT_LINE}", head.trim_end_matches(['\r', '\n']))
}
