//! The few fields a hook must know of its event, without reading the rest: the
//! scan stops as soon as all are found, and clients send them first.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

/// What a first look at an event shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EventHeader {
    /// The event's name.
    pub event: Option<String>,
    /// The directory.
    pub cwd: Option<String>,
    /// The session.
    pub session: Option<String>,
}

/// Looks at an event; `None` when it does not begin as a JSON object. A fault
/// further on is found by the worker.
pub fn peek_header(bytes: &[u8]) -> Option<EventHeader> {
    let begins = bytes.iter().find(|b| !b.is_ascii_whitespace());
    if begins != Some(&b'{') {
        return None;
    }
    let mut found = EventHeader::default();
    // The end of the scan is an error to the parser, which wants to see the
    // whole; what was found until then is what counts.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(HeaderVisitor(&mut found));
    Some(found)
}

struct HeaderVisitor<'a>(&'a mut EventHeader);

impl<'de> Visitor<'de> for HeaderVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let EventHeader {
            event,
            cwd,
            session,
        } = self.0;
        while event.is_none() || cwd.is_none() || session.is_none() {
            let Some(key) = map.next_key::<Cow<'de, str>>()? else {
                break;
            };
            match key.as_ref() {
                "hook_event_name" => *event = Some(map.next_value()?),
                "cwd" => *cwd = Some(map.next_value()?),
                "session_id" => *session = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(event: &str, cwd: &str, session: &str) -> EventHeader {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        EventHeader {
            event: some(event),
            cwd: some(cwd),
            session: some(session),
        }
    }

    #[test]
    fn finds_the_fields_wherever_they_stand() {
        let text = br#"{"x":{"cwd":"no"},"session_id":"s","cwd":"/a\n","hook_event_name":"Stop","rest":1}"#;
        assert_eq!(peek_header(text), Some(seen("Stop", "/a\n", "s")));
    }

    #[test]
    fn what_comes_after_a_fault_is_unknown() {
        let text = br#"{"session_id":"s","cwd":7,"hook_event_name":"Stop"}"#;
        assert_eq!(peek_header(text), Some(seen("", "", "s")));
        assert_eq!(
            peek_header(br#"{"session_id":"s""#),
            Some(seen("", "", "s"))
        );
    }

    #[test]
    fn only_an_object_is_an_event() {
        for text in ["", "  ", "[]", "null", "\"x\"", "hello"] {
            assert_eq!(peek_header(text.as_bytes()), None, "{text}");
        }
        assert_eq!(peek_header(b" \n{}"), Some(EventHeader::default()));
    }
}
