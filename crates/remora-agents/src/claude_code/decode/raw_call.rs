//! The JSON of one call, and how texts and numbers are read from it.

use remora_core::Event;
use serde_json::Value;

use super::text::text_of;

/// One call of a tool, as the client reports it.
pub(super) struct RawCall<'a> {
    /// Empty if the client named none.
    pub(super) tool: &'a str,
    /// Null if there is none.
    pub(super) input: &'a Value,
    pub(super) response: Option<&'a Value>,
    /// A call has failed if there is an error and it is a text.
    pub(super) error: Option<&'a str>,
}

impl<'a> RawCall<'a> {
    pub(super) fn from_event(event: &'a Event) -> Self {
        Self {
            tool: event.str_field("tool_name").unwrap_or_default(),
            input: event.fields.get("tool_input").unwrap_or(&Value::Null),
            response: event.fields.get("tool_response"),
            error: event.str_field("error"),
        }
    }

    /// A text of the input, which may be empty.
    pub(super) fn any_input_text(&self, key: &str) -> Option<&'a str> {
        self.input.get(key)?.as_str()
    }

    /// A text of the input that says something.
    pub(super) fn input_text(&self, key: &str) -> Option<&'a str> {
        self.any_input_text(key).filter(|text| !text.is_empty())
    }

    /// The same, for keeping.
    pub(super) fn owned_input(&self, key: &str) -> Option<String> {
        self.input_text(key).map(str::to_owned)
    }

    /// A value of the answer.
    pub(super) fn answer_value(&self, key: &str) -> Option<&'a Value> {
        self.response?.get(key).filter(|value| !value.is_null())
    }

    /// A text of the answer, which may be empty.
    pub(super) fn any_answer_text(&self, key: &str) -> Option<&'a str> {
        self.response?.get(key)?.as_str()
    }

    /// A text of the answer that says something.
    pub(super) fn answer_text(&self, key: &str) -> Option<&'a str> {
        self.any_answer_text(key).filter(|text| !text.is_empty())
    }

    /// The same, for keeping.
    pub(super) fn owned_answer(&self, key: &str) -> Option<String> {
        self.answer_text(key).map(str::to_owned)
    }

    /// A number of the answer.
    pub(super) fn answer_number(&self, key: &str) -> Option<u64> {
        self.answer_value(key)?.as_u64()
    }

    /// A number of the answer that counts something.
    pub(super) fn answer_count(&self, key: &str) -> Option<usize> {
        usize::try_from(self.answer_number(key)?).ok()
    }

    /// All text of the answer.
    pub(super) fn result_text(&self) -> String {
        self.response.map(text_of).unwrap_or_default()
    }
}
