//! The detail of an item: its structured part, as typed fields.
//!
//! A detail is read from stored JSON thousands of times for every time that one is
//! made, and hooks wait for it. So it is packed: all texts lie one behind the other,
//! and fields say where theirs are. Fields stay in the order they were written in,
//! and what this version does not know is kept, so that a detail is written back as
//! it was read.

mod fields;
mod json;

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Number, Value};

pub use fields::{DetailFlag, DetailList, DetailNumber, DetailText};

/// The structured part of an item. Which fields it has depends on the item's kind;
/// any may be missing, and one that holds something else than it should is read as
/// missing.
#[derive(Clone, Default)]
pub struct ItemDetail {
    /// Names and texts of all fields, one behind the other.
    texts: String,
    /// The entries of all lists, as places in `texts`.
    entries: Vec<Range<usize>>,
    fields: Vec<Field>,
    /// A detail that is no JSON object: nothing can be read from it, and it is kept.
    unstructured: Option<Box<Value>>,
}

#[derive(Debug, Clone)]
struct Field {
    /// A place in the texts.
    name: Range<usize>,
    value: FieldValue,
}

#[derive(Debug, Clone)]
enum FieldValue {
    /// A place in the texts.
    Text(Range<usize>),
    /// A range of the entries.
    List(Range<usize>),
    Number(Number),
    Flag(bool),
    Null,
    /// A list with entries that are no texts, or an object.
    Other(Box<Value>),
}

impl ItemDetail {
    /// A detail without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// A field that holds one text.
    pub fn read_text(&self, field: DetailText) -> Option<&str> {
        match self.find(field.name())? {
            FieldValue::Text(place) => Some(&self.texts[place.clone()]),
            _ => None,
        }
    }

    /// The entries of a field that holds a list of texts.
    pub fn list_entries(&self, field: DetailList) -> impl DoubleEndedIterator<Item = &str> {
        let (packed, mixed) = match self.find(field.name()) {
            Some(FieldValue::List(range)) => (&self.entries[range.clone()], None),
            Some(FieldValue::Other(value)) => (&[][..], value.as_array()),
            _ => (&[][..], None),
        };
        let packed = packed.iter().map(|place| &self.texts[place.clone()]);
        packed.chain(mixed.into_iter().flatten().filter_map(Value::as_str))
    }

    /// A field that counts or measures.
    pub fn read_count(&self, field: DetailNumber) -> Option<u64> {
        self.number(field)?.as_u64()
    }

    /// A field that may be negative.
    pub fn read_signed(&self, field: DetailNumber) -> Option<i64> {
        self.number(field)?.as_i64()
    }

    /// A field that is true or false.
    pub fn read_flag(&self, field: DetailFlag) -> Option<bool> {
        match self.find(field.name())? {
            FieldValue::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The options that a summary's message left to choose from: label and text.
    pub fn list_offered(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = match self.find(fields::OFFERED) {
            Some(FieldValue::Other(value)) => value.as_array(),
            _ => None,
        };
        pairs
            .into_iter()
            .flatten()
            .filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?)))
    }

    /// With this text; `None` is written as null.
    #[must_use]
    pub fn with_text(mut self, field: DetailText, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.set_text(field, text),
            None => self.set(field.name(), FieldValue::Null),
        }
        self
    }

    /// With this list.
    #[must_use]
    pub fn with_list<S: AsRef<str>>(
        mut self,
        field: DetailList,
        entries: impl IntoIterator<Item = S>,
    ) -> Self {
        self.set_list(field, entries);
        self
    }

    /// With this list as another detail has it; one that it does not have is written
    /// as null.
    #[must_use]
    pub fn with_list_of(mut self, field: DetailList, other: Option<&Self>) -> Self {
        let value = other.and_then(|other| Some(other.unpack_value(other.find(field.name())?)));
        let value = self.pack_value(value.unwrap_or_default());
        self.set(field.name(), value);
        self
    }

    /// With this number.
    #[must_use]
    pub fn with_number(mut self, field: DetailNumber, number: impl Into<Number>) -> Self {
        self.set_number(field, number);
        self
    }

    /// With this flag.
    #[must_use]
    pub fn with_flag(mut self, field: DetailFlag, flag: bool) -> Self {
        self.set_flag(field, flag);
        self
    }

    /// Sets a text, in its place if the field is there.
    pub fn set_text(&mut self, field: DetailText, text: &str) {
        let place = self.push_text(text);
        self.set(field.name(), FieldValue::Text(place));
    }

    /// Sets a list, in its place if the field is there.
    pub fn set_list<S: AsRef<str>>(
        &mut self,
        field: DetailList,
        entries: impl IntoIterator<Item = S>,
    ) {
        let start = self.entries.len();
        for entry in entries {
            let place = self.push_text(entry.as_ref());
            self.entries.push(place);
        }
        let range = start..self.entries.len();
        self.set(field.name(), FieldValue::List(range));
    }

    /// Sets a number, in its place if the field is there.
    pub fn set_number(&mut self, field: DetailNumber, number: impl Into<Number>) {
        self.set(field.name(), FieldValue::Number(number.into()));
    }

    /// Sets a flag, in its place if the field is there.
    pub fn set_flag(&mut self, field: DetailFlag, flag: bool) {
        self.set(field.name(), FieldValue::Flag(flag));
    }

    /// Sets the options that a message left to choose from: label and text.
    pub fn set_offered<'a>(&mut self, offered: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let pair = |(label, text): (&str, &str)| Value::from(vec![label, text]);
        let pairs: Value = offered.into_iter().map(pair).collect();
        let value = self.pack_value(pairs);
        self.set(fields::OFFERED, value);
    }

    /// Removes a list.
    pub fn remove_list(&mut self, field: DetailList) {
        self.remove(field.name());
    }

    /// Removes a text.
    pub fn remove_text(&mut self, field: DetailText) {
        self.remove(field.name());
    }

    /// Keeps the entries of a list that this says yes to; whether any went.
    pub fn retain_entries(
        &mut self,
        field: DetailList,
        mut keep: impl FnMut(&str) -> bool,
    ) -> bool {
        let Some(at) = self.position(field.name()) else {
            return false;
        };
        let (before, after, value) = match &self.fields[at].value {
            FieldValue::List(range) => {
                let start = self.entries.len();
                for entry in range.clone() {
                    let place = self.entries[entry].clone();
                    if keep(&self.texts[place.clone()]) {
                        self.entries.push(place);
                    }
                }
                let kept = start..self.entries.len();
                (range.len(), kept.len(), FieldValue::List(kept))
            }
            FieldValue::Other(value) => {
                let Value::Array(mut list) = value.as_ref().clone() else {
                    return false;
                };
                let before = list.len();
                list.retain(|entry| entry.as_str().is_none_or(&mut keep));
                (before, list.len(), self.pack_value(list.into()))
            }
            _ => return false,
        };
        self.fields[at].value = value;
        after < before
    }

    /// All of it as JSON, for what treats every field alike, known or not.
    pub fn to_value(&self) -> Value {
        if let Some(value) = &self.unstructured {
            return value.as_ref().clone();
        }
        let fields = self.fields.iter().map(|field| {
            let name = self.texts[field.name.clone()].to_owned();
            (name, self.unpack_value(&field.value))
        });
        Value::Object(fields.collect::<Map<_, _>>())
    }

    fn number(&self, field: DetailNumber) -> Option<&Number> {
        match self.find(field.name())? {
            FieldValue::Number(number) => Some(number),
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Option<&FieldValue> {
        self.position(name).map(|at| &self.fields[at].value)
    }

    fn position(&self, name: &str) -> Option<usize> {
        // Lengths first: they tell most names apart, and cost no look at the text.
        let is_it = |field: &Field| {
            field.name.len() == name.len() && self.texts[field.name.clone()] == *name
        };
        self.fields.iter().position(is_it)
    }

    fn set(&mut self, name: &str, value: FieldValue) {
        if self.unstructured.is_some() {
            return;
        }
        if let Some(at) = self.position(name) {
            self.fields[at].value = value;
        } else {
            let name = self.push_text(name);
            self.fields.push(Field { name, value });
        }
    }

    fn remove(&mut self, name: &str) {
        if let Some(at) = self.position(name) {
            // The last field takes its place: details that were edited are stored in
            // this order.
            self.fields.swap_remove(at);
        }
    }

    fn push_text(&mut self, text: &str) -> Range<usize> {
        let start = self.texts.len();
        self.texts.push_str(text);
        start..self.texts.len()
    }

    fn pack_value(&mut self, value: Value) -> FieldValue {
        match value {
            Value::Null => FieldValue::Null,
            Value::Bool(flag) => FieldValue::Flag(flag),
            Value::Number(number) => FieldValue::Number(number),
            Value::String(text) => FieldValue::Text(self.push_text(&text)),
            Value::Array(list) if list.iter().all(Value::is_string) => {
                let start = self.entries.len();
                for entry in list.iter().filter_map(Value::as_str) {
                    let place = self.push_text(entry);
                    self.entries.push(place);
                }
                FieldValue::List(start..self.entries.len())
            }
            other => FieldValue::Other(Box::new(other)),
        }
    }

    fn unpack_value(&self, value: &FieldValue) -> Value {
        match value {
            FieldValue::Text(place) => self.texts[place.clone()].into(),
            FieldValue::List(range) => {
                let places = self.entries[range.clone()].iter();
                places.map(|place| &self.texts[place.clone()]).collect()
            }
            FieldValue::Number(number) => Value::Number(number.clone()),
            FieldValue::Flag(flag) => Value::Bool(*flag),
            FieldValue::Null => Value::Null,
            FieldValue::Other(value) => value.as_ref().clone(),
        }
    }
}

impl From<Value> for ItemDetail {
    fn from(value: Value) -> Self {
        let mut detail = Self::new();
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let name = detail.push_text(&name);
                    let value = detail.pack_value(value);
                    detail.fields.push(Field { name, value });
                }
            }
            other => detail.unstructured = Some(Box::new(other)),
        }
        detail
    }
}

/// The order of fields says nothing, as in any JSON object.
impl PartialEq for ItemDetail {
    fn eq(&self, other: &Self) -> bool {
        self.unstructured == other.unstructured
            && self.fields.len() == other.fields.len()
            && self.fields.iter().all(|field| {
                let there = other.find(&self.texts[field.name.clone()]);
                there.is_some_and(|there| {
                    self.unpack_value(&field.value) == other.unpack_value(there)
                })
            })
    }
}

impl Eq for ItemDetail {}

impl fmt::Debug for ItemDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemDetail({self})")
    }
}

#[cfg(test)]
mod tests;
