//! One line of a transcript, as far as it matters. Fields of another shape than
//! expected count as absent: a newer client must not make a line unreadable.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The fields of a line that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TranscriptLine<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: LenientText<'a>,
    #[serde(borrow)]
    pub(super) subtype: LenientText<'a>,
    #[serde(borrow)]
    pub(super) uuid: LenientText<'a>,
    #[serde(borrow)]
    pub(super) timestamp: LenientText<'a>,
    #[serde(borrow)]
    pub(super) session_id: LenientText<'a>,
    #[serde(borrow)]
    pub(super) cwd: LenientText<'a>,
    #[serde(borrow)]
    pub(super) git_branch: LenientText<'a>,
    #[serde(borrow)]
    pub(super) agent_id: LenientText<'a>,
    /// The type of the subagent that speaks.
    #[serde(borrow)]
    pub(super) attribution_agent: LenientText<'a>,
    #[serde(borrow)]
    pub(super) prompt_id: LenientText<'a>,
    #[serde(borrow)]
    pub(super) prompt_source: LenientText<'a>,
    /// Why a call was not made; no hook reports such a call.
    #[serde(borrow)]
    pub(super) tool_denial_kind: LenientText<'a>,
    /// What kept the model from answering.
    #[serde(borrow)]
    pub(super) error: LenientText<'a>,
    pub(super) is_sidechain: LenientFlag,
    pub(super) is_meta: LenientFlag,
    pub(super) is_compact_summary: LenientFlag,
    pub(super) is_visible_in_transcript_only: LenientFlag,
    pub(super) is_api_error_message: LenientFlag,
    #[serde(borrow)]
    pub(super) message: LenientObject<Message<'a>>,
    #[serde(borrow)]
    pub(super) attachment: LenientObject<Attachment<'a>>,
    #[serde(borrow)]
    pub(super) compact_metadata: LenientObject<Compaction<'a>>,
    pub(super) tool_use_result: Option<Value>,
}

/// What the user, the model or a tool said.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: LenientText<'a>,
    #[serde(borrow)]
    pub(super) stop_reason: LenientText<'a>,
    pub(super) content: MessageContent,
}

/// What the client attached to a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: LenientText<'a>,
    #[serde(borrow)]
    pub(super) prompt: LenientText<'a>,
    #[serde(borrow)]
    pub(super) command_mode: LenientText<'a>,
}

/// How a compaction came about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Compaction<'a> {
    #[serde(borrow)]
    pub(super) trigger: LenientText<'a>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageBlock {
    #[serde(rename = "type")]
    pub(super) kind: LenientString,
    pub(super) text: LenientString,
    pub(super) id: LenientString,
    pub(super) name: LenientString,
    pub(super) input: Option<Value>,
    pub(super) tool_use_id: LenientString,
    pub(super) content: Option<Value>,
    pub(super) is_error: LenientFlag,
}

/// What a message holds.
#[derive(Debug, Default)]
pub(super) enum MessageContent {
    #[default]
    Nothing,
    Text(String),
    Blocks(Vec<MessageBlock>),
}

/// A text; empty when the field is absent or something else.
#[derive(Debug, Default)]
pub(super) struct LenientText<'a>(pub(super) Cow<'a, str>);

impl LenientText<'_> {
    /// What it says, if it says something.
    pub(super) fn non_empty(&self) -> Option<&str> {
        Some(&*self.0).filter(|text| !text.is_empty())
    }
}

/// The same, not borrowed.
#[derive(Debug, Default)]
pub(super) struct LenientString(pub(super) String);

/// Whether a field says `true`.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct LenientFlag(pub(super) bool);

/// An object; as if empty when the field is absent or something else.
#[derive(Debug, Default)]
pub(super) struct LenientObject<T>(pub(super) T);

// A visitor fails on every type that it does not accept; these accept the other
// types and ignore them.
macro_rules! others {
    () => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (bool) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (str) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (seq) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = LenientText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(LenientText(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(LenientText(Cow::Owned(text.to_owned())))
    }

    others!();
    others!(bool);
    others!(seq);
    others!(map);
}

impl<'de: 'a, 'a> Deserialize<'de> for LenientText<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for LenientString {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(LenientText::deserialize(from)?.0.into_owned()))
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = LenientFlag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, is: bool) -> Result<Self::Value, E> {
        Ok(LenientFlag(is))
    }

    others!();
    others!(str);
    others!(seq);
    others!(map);
}

impl<'de> Deserialize<'de> for LenientFlag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(FlagVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = MessageContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(MessageContent::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(LenientObject(block)) = seq.next_element::<LenientObject<MessageBlock>>()? {
            blocks.push(block);
        }
        Ok(MessageContent::Blocks(blocks))
    }

    others!();
    others!(bool);
    others!(map);
}

impl<'de> Deserialize<'de> for MessageContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ContentVisitor)
    }
}

struct ObjectVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ObjectVisitor<T> {
    type Value = LenientObject<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(LenientObject)
    }

    others!();
    others!(bool);
    others!(str);
    others!(seq);
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for LenientObject<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ObjectVisitor(std::marker::PhantomData))
    }
}
