//! Details as JSON: read from the text without a tree in between, written as they
//! were read.

use std::fmt;
use std::ops::Range;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

use super::{Field, FieldValue, ItemDetail};

/// JSON for each entry of a list, and for each field of a long detail, as a summary
/// has it: what is read then seldom has to grow.
const BYTES_PER_ENTRY: usize = 48;
const BYTES_PER_FIELD: usize = 192;
/// Fields of a short one.
const MIN_FIELDS: usize = 4;

impl ItemDetail {
    /// Reads a detail from its JSON; `None` if that is no JSON.
    pub fn from_json(text: &str) -> Option<Self> {
        let mut detail = Self {
            // No text is longer than it is in JSON.
            texts: String::with_capacity(text.len()),
            entries: Vec::with_capacity(text.len() / BYTES_PER_ENTRY),
            fields: Vec::with_capacity(text.len() / BYTES_PER_FIELD + MIN_FIELDS),
            unstructured: None,
        };
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = reader.deserialize_map(FieldsVisitor(&mut detail));
        match read.and_then(|()| reader.end()) {
            Ok(()) => Some(detail),
            // Something else than an object, or no JSON at all.
            Err(_) => serde_json::from_str::<Value>(text).ok().map(Self::from),
        }
    }
}

/// As JSON.
impl fmt::Display for ItemDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl Serialize for ItemDetail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(value) = &self.unstructured {
            return value.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for Field { name, value } in &self.fields {
            let value = FieldRef {
                detail: self,
                value,
            };
            map.serialize_entry(&self.texts[name.clone()], &value)?;
        }
        map.end()
    }
}

/// The value of a field, with the texts that it refers to.
struct FieldRef<'a> {
    detail: &'a ItemDetail,
    value: &'a FieldValue,
}

impl Serialize for FieldRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = |place: &Range<usize>| &self.detail.texts[place.clone()];
        match self.value {
            FieldValue::Text(place) => serializer.serialize_str(text(place)),
            FieldValue::List(range) => {
                serializer.collect_seq(self.detail.entries[range.clone()].iter().map(text))
            }
            FieldValue::Number(number) => number.serialize(serializer),
            FieldValue::Flag(flag) => serializer.serialize_bool(*flag),
            FieldValue::Null => serializer.serialize_unit(),
            FieldValue::Other(value) => value.serialize(serializer),
        }
    }
}

/// Items that come as JSON are imported or shown by a command, which may take a
/// tree's time; hooks read columns, by [`ItemDetail::from_json`].
impl<'de> Deserialize<'de> for ItemDetail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

/// Reads an object into the fields of a detail.
struct FieldsVisitor<'a>(&'a mut ItemDetail);

impl<'de> Visitor<'de> for FieldsVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of a detail")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let detail = self.0;
        while let Some(name) = map.next_key_seed(NameSeed(detail))? {
            let value = map.next_value_seed(ValueSeed(detail))?;
            // Of a field that is there twice the last one counts.
            match detail.position(&detail.texts[name.clone()]) {
                Some(at) => detail.fields[at].value = value,
                None => detail.fields.push(Field { name, value }),
            }
        }
        Ok(())
    }
}

/// Reads the name of a field.
struct NameSeed<'a>(&'a mut ItemDetail);

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = Range<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = Range<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.push_text(name))
    }
}

/// Reads the value of a field, or an entry of a list.
struct ValueSeed<'a>(&'a mut ItemDetail);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = FieldValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FieldValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = FieldValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<FieldValue, E> {
        Ok(FieldValue::Text(self.0.push_text(text)))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<FieldValue, E> {
        Ok(FieldValue::Flag(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<FieldValue, E> {
        Ok(FieldValue::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<FieldValue, E> {
        Ok(FieldValue::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<FieldValue, E> {
        Ok(Number::from_f64(number).map_or(FieldValue::Null, FieldValue::Number))
    }

    fn visit_unit<E: Error>(self) -> Result<FieldValue, E> {
        Ok(FieldValue::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<FieldValue, A::Error> {
        let detail = self.0;
        let start = detail.entries.len();
        let mut end = start;
        while let Some(entry) = seq.next_element_seed(ValueSeed(detail))? {
            if let FieldValue::Text(place) = entry {
                detail.entries.push(place);
                end += 1;
                continue;
            }
            let mut list: Vec<Value> = detail.entries[start..end]
                .iter()
                .map(|place| detail.texts[place.clone()].into())
                .collect();
            list.push(detail.unpack_value(&entry));
            // A list in the list has put its entries behind.
            detail.entries.truncate(start);
            while let Some(entry) = seq.next_element()? {
                list.push(entry);
            }
            return Ok(FieldValue::Other(Box::new(list.into())));
        }
        Ok(FieldValue::List(start..end))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FieldValue, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(FieldValue::Other(Box::new(value)))
    }
}
