//! One handler put into a settings text, taken out, switched off and on again.
//! Bytes outside the entry stay as they are. Pure; the file itself is
//! `settings_file.rs`.
//!
//! A handler that is switched off moves to a key that the client ignores, in the
//! same file and in the same shape, so that nobody else has to know of it.

mod diff;
mod layout;

use std::fmt;

use remora_core::{EventName, json_type_name};
use remora_hooks::inspect;
use serde_json::{Map, Value, json};

use crate::document::{Document, DocumentError, KeyPath};
use crate::names::DISABLED_HOOKS_KEY;
pub use diff::{LineChange, diff_lines};
use layout::TextLayout;

/// Where hooks that run are.
const HOOKS_KEY: &str = "hooks";
/// What the handlers of a group share.
const MATCHER_KEY: &str = "matcher";

/// Whether a handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HandlerState {
    /// It is among the hooks.
    Enabled,
    /// It is kept aside.
    Disabled,
}

impl HandlerState {
    fn key(self) -> &'static str {
        match self {
            Self::Enabled => HOOKS_KEY,
            Self::Disabled => DISABLED_HOOKS_KEY,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Enabled => Self::Disabled,
            Self::Disabled => Self::Enabled,
        }
    }
}

/// Where a handler stands in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerPlace {
    /// Among which hooks.
    pub state: HandlerState,
    /// The event's name as it is written.
    pub event: String,
    /// The group's position.
    pub group: usize,
    /// The handler's position in it.
    pub index: usize,
}

impl HandlerPlace {
    /// Its way in the document.
    pub fn path(&self) -> KeyPath {
        self.group_path().key(HOOKS_KEY).index(self.index)
    }

    /// The way to its group.
    pub fn group_path(&self) -> KeyPath {
        let groups = KeyPath::default().key(self.state.key()).key(&self.event);
        groups.index(self.group)
    }
}

/// A handler as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenHandler {
    /// Where.
    pub place: HandlerPlace,
    /// The matcher of its group, if that is a text.
    pub matcher: Option<String>,
    /// The handler itself, well-formed or not.
    pub entry: Value,
}

/// A text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedSettings {
    /// All of it.
    pub text: String,
    /// Where the handler is now; `None` if it was removed.
    pub place: Option<HandlerPlace>,
}

/// Why a text was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The client reads none of it.
    #[error("{0}; the client ignores the whole file, so it is not edited")]
    NotJson(#[from] DocumentError),
    /// It is not clear which of two values counts.
    #[error("`{0}` is written twice; keep one of the two first")]
    RepeatedKey(KeyPath),
    /// A value of another type stands in the way.
    #[error("`{key}` must be {wanted}, found {found}")]
    WrongType {
        /// The way to the value.
        key: String,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// The client would drop the entry.
    #[error("the handler is malformed: {0}")]
    Malformed(String),
    /// There is no such handler.
    #[error("`{0}` is not there")]
    NotThere(KeyPath),
}

/// Every handler of a text, those that are kept aside included.
pub fn list_handlers(text: &str) -> Result<Vec<WrittenHandler>, EditError> {
    let document = Document::parse(text)?;
    let mut all = Vec::new();
    for state in [HandlerState::Enabled, HandlerState::Disabled] {
        let events = document.value().get(state.key()).and_then(Value::as_object);
        for (event, groups) in events.into_iter().flatten() {
            for (group, written) in groups.as_array().into_iter().flatten().enumerate() {
                let matcher = written.get(MATCHER_KEY).and_then(Value::as_str);
                let handlers = written.get(HOOKS_KEY).and_then(Value::as_array);
                for (index, entry) in handlers.into_iter().flatten().enumerate() {
                    all.push(WrittenHandler {
                        place: HandlerPlace {
                            state,
                            event: event.clone(),
                            group,
                            index,
                        },
                        matcher: matcher.map(str::to_owned),
                        entry: entry.clone(),
                    });
                }
            }
        }
    }
    Ok(all)
}

/// Puts a handler in: at the end of a group with the same matcher, else in a
/// group of its own. `None` is a file that is not there.
pub fn add_handler(
    text: Option<&str>,
    event: EventName,
    matcher: Option<&str>,
    entry: &Value,
) -> Result<EditedSettings, EditError> {
    refuse_malformed(entry)?;
    let mut head = Map::new();
    set_matcher(&mut head, matcher);
    insert(
        text.unwrap_or("{}\n"),
        HandlerState::Enabled,
        event.as_str(),
        &head,
        entry,
    )
}

/// Puts another entry in the place of a handler. With another matcher it moves to
/// a group of that matcher, unless it is alone in its own: the handlers beside it
/// keep theirs.
pub fn replace_handler(
    text: &str,
    place: &HandlerPlace,
    matcher: Option<&str>,
    entry: &Value,
) -> Result<EditedSettings, EditError> {
    refuse_malformed(entry)?;
    let (without, mut head, old) = take_out(text, place)?;
    let same_matcher = head.get(MATCHER_KEY).and_then(Value::as_str) == matcher;
    let document = open(text)?;
    let handlers = document.span(&place.group_path().key(HOOKS_KEY));
    let is_alone = handlers.is_some_and(|handlers| handlers.children.len() == 1);
    if !same_matcher && !is_alone {
        set_matcher(&mut head, matcher);
        return insert(&without, place.state, &place.event, &head, entry);
    }
    let mut text = text.to_owned();
    if old != *entry {
        text = TextLayout::new(&text, &document).replace(&place.path(), entry);
    }
    if !same_matcher {
        text = replace_matcher(&text, &place.group_path(), matcher)?;
    }
    Ok(EditedSettings {
        text,
        place: Some(place.clone()),
    })
}

fn replace_matcher(
    text: &str,
    group: &KeyPath,
    matcher: Option<&str>,
) -> Result<String, EditError> {
    let document = open(text)?;
    let layout = TextLayout::new(text, &document);
    let path = group.key(MATCHER_KEY);
    let is_there = document.span(&path).is_some();
    Ok(match matcher {
        Some(matcher) if is_there => layout.replace(&path, &json!(matcher)),
        Some(matcher) => layout.insert_member(group, MATCHER_KEY, &json!(matcher)),
        None => layout.remove(&path),
    })
}

fn refuse_malformed(entry: &Value) -> Result<(), EditError> {
    let read = inspect::read_handler(entry);
    read.map(|_| ()).map_err(|problem| {
        EditError::Malformed(match problem.field {
            Some(field) => format!("`{field}` {}", problem.problem),
            None => problem.problem,
        })
    })
}

fn set_matcher(head: &mut Map<String, Value>, matcher: Option<&str>) {
    match matcher {
        Some(matcher) => head.insert(MATCHER_KEY.to_owned(), json!(matcher)),
        None => head.shift_remove(MATCHER_KEY),
    };
}

/// Takes a handler out, and what is empty without it.
pub fn remove_handler(text: &str, place: &HandlerPlace) -> Result<EditedSettings, EditError> {
    let (text, ..) = take_out(text, place)?;
    Ok(EditedSettings { text, place: None })
}

/// Switches a handler off, or on if it is off.
pub fn toggle_handler(text: &str, place: &HandlerPlace) -> Result<EditedSettings, EditError> {
    let (without, head, entry) = take_out(text, place)?;
    insert(&without, place.state.other(), &place.event, &head, &entry)
}

/// A text that can be edited, and what it says.
fn open(text: &str) -> Result<Document, EditError> {
    let document = Document::parse(text)?;
    let repeated = document.repeated_keys().into_iter().find(|path| {
        let first = path.steps().first();
        let ours = [HandlerState::Enabled, HandlerState::Disabled];
        ours.iter()
            .any(|state| first == Some(&crate::document::PathStep::Key(state.key().to_owned())))
    });
    if let Some(path) = repeated {
        return Err(EditError::RepeatedKey(path));
    }
    if !document.value().is_object() {
        return Err(wrong_type("the file", "an object", document.value()));
    }
    Ok(document)
}

fn wrong_type(key: impl fmt::Display, wanted: &'static str, found: &Value) -> EditError {
    EditError::WrongType {
        key: key.to_string(),
        wanted,
        found: json_type_name(found),
    }
}

fn insert(
    text: &str,
    state: HandlerState,
    event: &str,
    head: &Map<String, Value>,
    entry: &Value,
) -> Result<EditedSettings, EditError> {
    let document = open(text)?;
    let layout = TextLayout::new(text, &document);
    let mut place = HandlerPlace {
        state,
        event: event.to_owned(),
        group: 0,
        index: 0,
    };
    let group = || {
        let mut group = head.clone();
        group.insert(HOOKS_KEY.to_owned(), json!([entry]));
        Value::Object(group)
    };
    let root = KeyPath::default();
    let hooks_path = root.key(state.key());
    let Some(hooks) = document.value().get(state.key()) else {
        let value = json!({ event: [group()] });
        let text = layout.insert_member(&root, state.key(), &value);
        return Ok(EditedSettings {
            text,
            place: Some(place),
        });
    };
    let hooks = hooks
        .as_object()
        .ok_or_else(|| wrong_type(&hooks_path, "an object", hooks))?;
    let event_path = hooks_path.key(event);
    let Some(groups) = hooks.get(event) else {
        let text = layout.insert_member(&hooks_path, event, &json!([group()]));
        return Ok(EditedSettings {
            text,
            place: Some(place),
        });
    };
    let groups = groups
        .as_array()
        .ok_or_else(|| wrong_type(&event_path, "a list of groups", groups))?;
    let same_head = |group: &Value| {
        let Value::Object(group) = group else {
            return false;
        };
        let others = group.iter().filter(|(key, _)| *key != HOOKS_KEY);
        others.count() == head.len()
            && head
                .iter()
                .all(|(key, value)| group.get(key) == Some(value))
    };
    let found = groups.iter().enumerate().find_map(|(at, group)| {
        let handlers = group.get(HOOKS_KEY)?.as_array()?;
        same_head(group).then_some((at, handlers.len()))
    });
    let text = if let Some((at, length)) = found {
        place.group = at;
        place.index = length;
        layout.insert_element(&event_path.index(at).key(HOOKS_KEY), entry)
    } else {
        place.group = groups.len();
        layout.insert_element(&event_path, &group())
    };
    Ok(EditedSettings {
        text,
        place: Some(place),
    })
}

/// The text without a handler, the other keys of its group, and the handler.
fn take_out(
    text: &str,
    place: &HandlerPlace,
) -> Result<(String, Map<String, Value>, Value), EditError> {
    let document = open(text)?;
    let absent = || EditError::NotThere(place.path());
    let hooks = document
        .value()
        .get(place.state.key())
        .and_then(Value::as_object);
    let hooks = hooks.ok_or_else(absent)?;
    let groups = hooks.get(&place.event).and_then(Value::as_array);
    let groups = groups.ok_or_else(absent)?;
    let group = groups.get(place.group).and_then(Value::as_object);
    let group = group.ok_or_else(absent)?;
    let handlers = group.get(HOOKS_KEY).and_then(Value::as_array);
    let handlers = handlers.ok_or_else(absent)?;
    let entry = handlers.get(place.index).ok_or_else(absent)?.clone();
    let mut head = group.clone();
    head.shift_remove(HOOKS_KEY);
    // What holds nothing else goes with it.
    let hooks_path = KeyPath::default().key(place.state.key());
    let event_path = hooks_path.key(&place.event);
    let gone = if handlers.len() > 1 {
        place.path()
    } else if groups.len() > 1 {
        event_path.index(place.group)
    } else if hooks.len() > 1 {
        event_path
    } else {
        hooks_path
    };
    let text = TextLayout::new(text, &document).remove(&gone);
    Ok((text, head, entry))
}

#[cfg(test)]
mod tests;
