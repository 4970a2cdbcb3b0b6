//! Events in the client's own form, made from what other programs kept of them.

use remora_core::{Event, EventName};
use serde_json::{Map, Value};

use super::wire::field;

/// A finished call, as another program kept it. Empty texts are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The session.
    pub session: String,
    /// The directory.
    pub cwd: String,
    /// The tool, in the client's words.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Its answer.
    pub response: Value,
    /// The call's id.
    pub call: String,
    /// The subagent that made it.
    pub subagent: String,
}

impl RecordedCall {
    /// The event that a hook would have received.
    pub fn into_event(self) -> Event {
        let name = EventName::PostToolUse;
        let mut fields = Map::new();
        let mut insert = |field: &str, value: Value| fields.insert(field.to_owned(), value);
        insert(field::SESSION_ID, self.session.into());
        insert(field::CWD, self.cwd.into());
        insert(field::EVENT_NAME, name.as_str().into());
        insert(field::TOOL_NAME, self.tool.into());
        insert(field::TOOL_INPUT, self.input);
        insert(field::TOOL_RESPONSE, self.response);
        for (field, id) in [
            (field::TOOL_USE_ID, self.call),
            (field::AGENT_ID, self.subagent),
        ] {
            if !id.is_empty() {
                insert(field, id.into());
            }
        }
        Event { name, fields }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recorded_call_is_an_event_in_the_order_of_the_client() {
        let mut call = RecordedCall {
            session: "s".into(),
            cwd: "/w".into(),
            tool: "Bash".into(),
            input: json!({"command": "make"}),
            response: json!("ok"),
            call: "t".into(),
            subagent: "a".into(),
        };
        let text = |call: RecordedCall| Value::Object(call.into_event().fields).to_string();
        assert_eq!(
            text(call.clone()),
            r#"{"session_id":"s","cwd":"/w","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":"ok","tool_use_id":"t","agent_id":"a"}"#
        );
        call.call.clear();
        call.subagent.clear();
        assert!(text(call).ends_with(r#""tool_response":"ok"}"#));
    }
}
