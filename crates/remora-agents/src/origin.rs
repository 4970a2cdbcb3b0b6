//! Where a payload came from, found without decoding it.

use serde_json::{Map, Value};

/// The session and the folder of a payload, as far as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventOrigin<'a> {
    /// The session, if the client sent such a text.
    pub session: Option<&'a str>,
    /// The working directory; empty if the client named none.
    pub cwd: &'a str,
}

/// Reads where a payload came from, of any agent. What cannot be decoded, such as
/// a dead letter, must be found all the same when its session is to be forgotten.
pub fn read_origin(fields: &Map<String, Value>) -> EventOrigin<'_> {
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    EventOrigin {
        session: text("session_id"),
        cwd: text("cwd").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_event_has_an_origin_too() {
        let fields = json!({"session_id": "s", "cwd": "/p", "hook_event_name": 7});
        let origin = EventOrigin {
            session: Some("s"),
            cwd: "/p",
        };
        assert_eq!(read_origin(fields.as_object().unwrap()), origin);
        let fields = json!({"session_id": 1, "cwd": null});
        let origin = EventOrigin {
            session: None,
            cwd: "",
        };
        assert_eq!(read_origin(fields.as_object().unwrap()), origin);
    }
}
