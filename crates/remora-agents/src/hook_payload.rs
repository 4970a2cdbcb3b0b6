//! A first look at a payload in the form that Claude Code introduced and other
//! agents took over, for the hook: the few fields that it must know before it
//! knows anything else. The rest is not read.

mod failure;

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, Deserializer, Error as DeserializeError, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

pub(crate) use failure::{may_report_failure, may_show_file};

/// What a first look at a payload shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PeekedHeader<'a> {
    /// The event's name on the wire.
    pub event: Option<Cow<'a, str>>,
    /// The working directory of the session.
    pub cwd: Option<Cow<'a, str>>,
    /// The id of the session.
    pub session: Option<Cow<'a, str>>,
    /// The session's transcript, if it was named before the others were found.
    pub transcript: Option<Cow<'a, str>>,
}

/// Looks at a payload; `None` when it does not begin as a JSON object. A fault
/// further on is found by the worker. The scan stops as soon as event, directory
/// and session are found, and clients send them first.
pub(crate) fn peek_header(bytes: &[u8]) -> Option<PeekedHeader<'_>> {
    // A cheap check first: anything else is spooled as it is, and the worker
    // says what is wrong.
    let begins = bytes.iter().find(|b| !b.is_ascii_whitespace());
    if begins != Some(&b'{') {
        return None;
    }
    let mut found = PeekedHeader::default();
    // The end of the scan is an error to the parser, which wants to see the
    // whole; what was found until then is what counts.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(HeaderVisitor(&mut found));
    Some(found)
}

struct HeaderVisitor<'a, 'de>(&'a mut PeekedHeader<'de>);

impl<'de> Visitor<'de> for HeaderVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let PeekedHeader {
            event,
            cwd,
            session,
            transcript,
        } = self.0;
        // Stops at the third: a payload may be megabytes, and the rest is the
        // worker's to parse.
        while event.is_none() || cwd.is_none() || session.is_none() {
            let Some(Text(key)) = map.next_key()? else {
                break;
            };
            match key.as_ref() {
                "hook_event_name" => *event = Some(map.next_value::<Text<'de>>()?.0),
                "cwd" => *cwd = Some(map.next_value::<Text<'de>>()?.0),
                "session_id" => *session = Some(map.next_value::<Text<'de>>()?.0),
                // Some clients send none; that says nothing of the others.
                "transcript_path" => *transcript = map.next_value::<MaybeText<'de>>()?.0,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// A string, borrowed from the payload unless it holds escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: DeserializeError>(
                self,
                text: &'de str,
            ) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: DeserializeError>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// A string, or anything else, which is nothing.
struct MaybeText<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for MaybeText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MaybeVisitor;

        impl<'de> Visitor<'de> for MaybeVisitor {
            type Value = MaybeText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_borrowed_str<E: DeserializeError>(
                self,
                text: &'de str,
            ) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E: DeserializeError>(self, text: &str) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_unit<E: DeserializeError>(self) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(None))
            }

            fn visit_bool<E: DeserializeError>(self, _: bool) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(None))
            }

            fn visit_i64<E: DeserializeError>(self, _: i64) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(None))
            }

            fn visit_u64<E: DeserializeError>(self, _: u64) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(None))
            }

            fn visit_f64<E: DeserializeError>(self, _: f64) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<MaybeText<'de>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MaybeText<'de>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }
        }

        deserializer.deserialize_any(MaybeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(event: &str, cwd: &str, session: &str) -> PeekedHeader<'static> {
        let some = |text: &str| (!text.is_empty()).then(|| Cow::Owned(text.to_owned()));
        PeekedHeader {
            event: some(event),
            cwd: some(cwd),
            session: some(session),
            transcript: None,
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
    fn a_transcript_is_seen_on_the_way_and_never_in_the_way() {
        let named = |value: &str| {
            let text = format!(
                r#"{{"session_id":"s","transcript_path":{value},"cwd":"/a","hook_event_name":"Stop"}}"#
            );
            let seen = peek_header(text.as_bytes()).unwrap_or_default();
            assert_eq!(seen.event.as_deref(), Some("Stop"), "{value}");
            seen.transcript.map(Cow::into_owned)
        };
        assert_eq!(named(r#""/t.jsonl""#).as_deref(), Some("/t.jsonl"));
        assert_eq!(named(r#""/\u00e9""#).as_deref(), Some("/é"));
        for odd in [
            "null",
            "true",
            "-1",
            "7",
            "1.5",
            "[1,[2]]",
            r#"{"a":{"b":1}}"#,
        ] {
            assert_eq!(named(odd), None, "{odd}");
        }
        let late =
            br#"{"session_id":"s","cwd":"/a","hook_event_name":"Stop","transcript_path":"/t"}"#;
        assert_eq!(peek_header(late), Some(seen("Stop", "/a", "s")));
    }

    #[test]
    fn only_an_object_is_an_event() {
        for text in ["", "  ", "[]", "null", "\"x\"", "hello"] {
            assert_eq!(peek_header(text.as_bytes()), None, "{text}");
        }
        assert_eq!(peek_header(b" \n{}"), Some(PeekedHeader::default()));
    }
}
