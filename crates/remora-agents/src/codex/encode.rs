//! What is printed for Codex: one JSON object on one line, or nothing.
//!
//! The client drops an answer as a whole, and says so to the user, if it holds
//! one field too many for its event. So every event has the fields it takes
//! here, and nothing is printed where there is nothing to say.

use remora_core::EventName;
use serde::Serialize;

use super::hook::list_answers;
use crate::spec::{HookResponse, ResponsePart};

/// The most text injected at once. Of more than 10,000 bytes the client cuts the
/// middle out.
const MAX_CONTEXT_BYTES: usize = 9_900;

/// The last line of a text that was longer than [`MAX_CONTEXT_BYTES`].
const TRUNCATION_LINE: &str = "[cut: Remora gives at most 9,900 bytes at a time]";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<EventAnswer<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventAnswer<'a> {
    hook_event_name: &'a str,
    additional_context: String,
}

/// Writes what the client reads from our stdout.
pub(super) fn encode_response(event: EventName, response: &HookResponse) -> String {
    let parts = list_answers(event);
    let part = |part, text: &Option<String>| {
        let text = text.as_deref().filter(|text| !text.trim().is_empty());
        text.filter(|_| parts.contains(&part)).map(limit_text)
    };
    let reason = part(ResponsePart::Block, &response.block);
    let context = part(ResponsePart::Context, &response.context);
    let answer = Answer {
        decision: reason.is_some().then_some("block"),
        reason,
        system_message: part(ResponsePart::Message, &response.message),
        hook_specific_output: context.map(|context| EventAnswer {
            hook_event_name: event.as_str(),
            additional_context: context,
        }),
    };
    let is_empty = answer.reason.is_none()
        && answer.system_message.is_none()
        && answer.hook_specific_output.is_none();
    if is_empty {
        return String::new();
    }
    serde_json::to_string(&answer).unwrap_or_default()
}

/// The text, cut at the end of a line if it is too long.
fn limit_text(text: &str) -> String {
    if text.len() <= MAX_CONTEXT_BYTES {
        return text.to_owned();
    }
    let room = MAX_CONTEXT_BYTES - TRUNCATION_LINE.len() - 1;
    let head = &text[..text.floor_char_boundary(room)];
    // A line that alone fills the answer is cut within: better than no text.
    let head = match head.rfind('\n') {
        Some(at) if !head[..at].trim().is_empty() => &head[..at],
        _ => head,
    };
    format!("{}\n{TRUNCATION_LINE}", head.trim_end_matches(['\r', '\n']))
}

#[cfg(test)]
mod tests;
