//! One line of a transcript, as far as it matters. Fields of another shape than
//! expected are taken for absent: a newer client must not make a line unreadable.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) subtype: Text<'a>,
    #[serde(borrow)]
    pub(super) uuid: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    #[serde(borrow)]
    pub(super) git_branch: Text<'a>,
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    /// The type of the subagent that speaks.
    #[serde(borrow)]
    pub(super) attribution_agent: Text<'a>,
    #[serde(borrow)]
    pub(super) prompt_id: Text<'a>,
    #[serde(borrow)]
    pub(super) prompt_source: Text<'a>,
    /// Why a call was not made; no hook is told of such a call.
    #[serde(borrow)]
    pub(super) tool_denial_kind: Text<'a>,
    /// What kept the model from answering.
    #[serde(borrow)]
    pub(super) error: Text<'a>,
    pub(super) is_sidechain: Flag,
    pub(super) is_meta: Flag,
    pub(super) is_compact_summary: Flag,
    pub(super) is_visible_in_transcript_only: Flag,
    pub(super) is_api_error_message: Flag,
    #[serde(borrow)]
    pub(super) message: Object<Message<'a>>,
    #[serde(borrow)]
    pub(super) attachment: Object<Attachment<'a>>,
    #[serde(borrow)]
    pub(super) compact_metadata: Object<Compaction<'a>>,
    pub(super) tool_use_result: Option<Value>,
}

/// What was said.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) stop_reason: Text<'a>,
    pub(super) content: Content,
}

/// What the client put beside a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) prompt: Text<'a>,
    #[serde(borrow)]
    pub(super) command_mode: Text<'a>,
}

/// How a compaction came about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Compaction<'a> {
    #[serde(borrow)]
    pub(super) trigger: Text<'a>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: Owned,
    pub(super) text: Owned,
    pub(super) id: Owned,
    pub(super) name: Owned,
    pub(super) input: Option<Value>,
    pub(super) tool_use_id: Owned,
    pub(super) content: Option<Value>,
    pub(super) is_error: Flag,
}

/// What a message holds.
#[derive(Debug, Default)]
pub(super) enum Content {
    #[default]
    Nothing,
    Text(String),
    Blocks(Vec<Block>),
}

/// A text; empty when the field is absent or something else.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    /// What it says, if it says something.
    pub(super) fn some(&self) -> Option<&str> {
        Some(&*self.0).filter(|text| !text.is_empty())
    }
}

/// The same, not borrowed.
#[derive(Debug, Default)]
pub(super) struct Owned(pub(super) String);

/// Whether a field says `true`.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Flag(pub(super) bool);

/// An object; as if empty when the field is absent or something else.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

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

struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    others!();
    others!(bool);
    others!(seq);
    others!(map);
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Texts)
    }
}

impl<'de> Deserialize<'de> for Owned {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(Text::deserialize(from)?.0.into_owned()))
    }
}

struct Flags;

impl<'de> Visitor<'de> for Flags {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, is: bool) -> Result<Self::Value, E> {
        Ok(Flag(is))
    }

    others!();
    others!(str);
    others!(seq);
    others!(map);
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Flags)
    }
}

struct Contents;

impl<'de> Visitor<'de> for Contents {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Object(block)) = seq.next_element::<Object<Block>>()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    others!();
    others!(bool);
    others!(map);
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Contents)
    }
}

struct Objects<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Objects<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Object)
    }

    others!();
    others!(bool);
    others!(str);
    others!(seq);
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Objects(std::marker::PhantomData))
    }
}
