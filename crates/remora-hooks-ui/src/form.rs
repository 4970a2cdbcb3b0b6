//! The form on which a handler is written or changed. Fields that are left as
//! they are leave their keys as they are, whatever is in them.

use std::path::PathBuf;

use remora_core::{EventName, HandlerKinds};
use remora_hook_tools::edit::WrittenHandler;
use remora_hooks::LayerSource;
use remora_hooks::inspect::{MatcherReading, WrittenMatcher};
use serde_json::{Map, Value, json};

use crate::edit::{HookChange, HookEdit};
use crate::field::TextField;
use crate::key::Key;
use crate::sample::step_event;

/// Kinds of handlers, by the word in `type`.
const KINDS: [(&str, HandlerKinds); 5] = [
    ("command", HandlerKinds::COMMAND),
    ("http", HandlerKinds::HTTP),
    ("prompt", HandlerKinds::PROMPT),
    ("agent", HandlerKinds::AGENT),
    ("mcp_tool", HandlerKinds::MCP_TOOL),
];

/// Keys that belong to some kinds and not to others.
const KEYS_OF_KINDS: &[&str] = &[
    "command",
    "args",
    "shell",
    "async",
    "asyncRewake",
    "rewakeMessage",
    "rewakeSummary",
    "url",
    "headers",
    "allowedEnvVars",
    "server",
    "tool",
    "input",
    "prompt",
    "model",
    "continueOnBlock",
];

/// One line of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormLine {
    Event,
    File,
    Kind,
    Text(TextKey),
    Background,
}

/// A line that users type in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKey {
    Matcher,
    Command,
    Args,
    Url,
    Prompt,
    Model,
    Server,
    Tool,
    Condition,
    Timeout,
    Status,
}

/// How a text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextValue {
    Text,
    Number,
    List,
}

/// Every typed line with its label, its key in the entry, and how it is read.
const TEXT_ROWS: [(TextKey, &str, &str, TextValue); 11] = [
    (TextKey::Matcher, "Matcher", "matcher", TextValue::Text),
    (TextKey::Command, "Command", "command", TextValue::Text),
    (TextKey::Args, "Arguments", "args", TextValue::List),
    (TextKey::Url, "URL", "url", TextValue::Text),
    (TextKey::Prompt, "Prompt", "prompt", TextValue::Text),
    (TextKey::Model, "Model", "model", TextValue::Text),
    (TextKey::Server, "Server", "server", TextValue::Text),
    (TextKey::Tool, "Tool", "tool", TextValue::Text),
    (TextKey::Condition, "If", "if", TextValue::Text),
    (TextKey::Timeout, "Timeout", "timeout", TextValue::Number),
    (TextKey::Status, "Message", "statusMessage", TextValue::Text),
];

/// A handler that is being written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookForm {
    /// The handler that is changed; `None` makes a new one.
    pub(crate) original: Option<(PathBuf, WrittenHandler)>,
    pub(crate) event: EventName,
    /// An event's name that is not in the table: it is kept.
    pub(crate) unknown_event: Option<String>,
    files: Vec<(LayerSource, PathBuf)>,
    file: usize,
    kind: usize,
    texts: [TextField; TEXT_ROWS.len()],
    /// How the texts looked in the beginning.
    initial: [String; TEXT_ROWS.len()],
    background: bool,
    /// Which of its lines keys act on.
    pub(crate) line: usize,
}

impl HookForm {
    /// An empty form.
    pub(crate) fn add(
        event: EventName,
        files: Vec<(LayerSource, PathBuf)>,
        preferred: Option<LayerSource>,
    ) -> Self {
        let wanted = preferred.unwrap_or(LayerSource::Project);
        let file = files.iter().rposition(|(source, _)| *source == wanted);
        Self {
            original: None,
            event,
            unknown_event: None,
            file: file.unwrap_or(0),
            files,
            kind: 0,
            texts: Default::default(),
            initial: Default::default(),
            background: false,
            line: 0,
        }
    }

    /// The form with a handler in it.
    pub(crate) fn change(file: PathBuf, source: LayerSource, handler: WrittenHandler) -> Self {
        let entry = &handler.entry;
        let name = &handler.place.event;
        let event = EventName::parse(name);
        let initial = TEXT_ROWS.map(|(key, _, name, _)| {
            let value = match key {
                TextKey::Matcher => return handler.matcher.clone().unwrap_or_default(),
                _ => entry.get(name),
            };
            match value {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            }
        });
        let kind = entry.get("type").and_then(Value::as_str);
        Self {
            event: event.unwrap_or(EventName::PreToolUse),
            unknown_event: event.is_none().then(|| name.clone()),
            files: vec![(source, file.clone())],
            file: 0,
            kind: KINDS
                .iter()
                .position(|(k, _)| Some(*k) == kind)
                .unwrap_or(0),
            texts: initial.each_ref().map(|text| TextField::new(text)),
            initial,
            background: entry.get("async").and_then(Value::as_bool) == Some(true),
            // Event and file stay, so the first line that can be changed.
            line: 2,
            original: Some((file, handler)),
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        KINDS[self.kind].0
    }

    /// The file that is written, with its layer.
    pub(crate) fn target(&self) -> Option<&(LayerSource, PathBuf)> {
        self.files.get(self.file)
    }

    pub(crate) fn is_background(&self) -> bool {
        self.background
    }

    pub(crate) fn event_text(&self) -> &str {
        self.unknown_event.as_deref().unwrap_or(self.event.as_str())
    }

    /// The lines of the kind and the event.
    pub(crate) fn lines(&self) -> Vec<FormLine> {
        let of_kind: &[TextKey] = match self.kind() {
            "http" => &[TextKey::Url],
            "prompt" | "agent" => &[TextKey::Prompt, TextKey::Model],
            "mcp_tool" => &[TextKey::Server, TextKey::Tool],
            _ => &[TextKey::Command, TextKey::Args],
        };
        let mut lines = vec![FormLine::Event, FormLine::File, FormLine::Kind];
        lines.push(FormLine::Text(TextKey::Matcher));
        lines.extend(of_kind.iter().copied().map(FormLine::Text));
        // Of an event without a tool call only what is there already, so that it can go.
        if self.event.def().has_tool || !self.text(TextKey::Condition).is_empty() {
            lines.push(FormLine::Text(TextKey::Condition));
        }
        lines.push(FormLine::Text(TextKey::Timeout));
        lines.push(FormLine::Text(TextKey::Status));
        if self.kind() == "command" {
            lines.push(FormLine::Background);
        }
        lines
    }

    /// The line that keys act on.
    pub(crate) fn current(&self) -> FormLine {
        let lines = self.lines();
        lines[self.line.min(lines.len() - 1)]
    }

    pub(crate) fn label(line: FormLine) -> &'static str {
        match line {
            FormLine::Event => "Event",
            FormLine::File => "File",
            FormLine::Kind => "Kind",
            FormLine::Background => "In background",
            FormLine::Text(key) => TEXT_ROWS[key as usize].1,
        }
    }

    pub(crate) fn text(&self, key: TextKey) -> &TextField {
        &self.texts[key as usize]
    }

    /// Whether keys change the line at all.
    pub(crate) fn is_fixed(&self, line: FormLine) -> bool {
        self.original.is_some() && matches!(line, FormLine::Event | FormLine::File)
    }

    /// What helps with the line: what it means, or how it is read.
    pub(crate) fn hint(&self) -> String {
        let line = self.current();
        if self.is_fixed(line) {
            return "stays; to move a hook, remove it and add it again".to_owned();
        }
        let has_tool = self.event.def().has_tool;
        match line {
            FormLine::Event => {
                let doc = self.event.def().doc.trim();
                format!("{doc} ←→ or a letter chooses")
            }
            FormLine::File => match self.target().map(|(source, _)| source) {
                Some(LayerSource::User) => "for all your projects; ←→ chooses".to_owned(),
                Some(LayerSource::Local) => {
                    "for you in this project, not shared; ←→ chooses".to_owned()
                }
                _ => "shared with everyone who works on the project; ←→ chooses".to_owned(),
            },
            FormLine::Kind if !self.event.def().handlers.contains(KINDS[self.kind].1) => {
                format!("{} does not run {} handlers", self.event, self.kind())
            }
            FormLine::Kind => "command, http, prompt, agent or mcp_tool; ←→ chooses".to_owned(),
            FormLine::Background => "yes: the event does not wait for it; ←→ chooses".to_owned(),
            FormLine::Text(TextKey::Matcher) => self.describe_matcher(),
            FormLine::Text(TextKey::Command) => {
                "shell text; the event is on its stdin, exit code 2 blocks".to_owned()
            }
            FormLine::Text(TextKey::Args) => {
                "a JSON list such as [\"--fix\"]: then Command is run without a shell".to_owned()
            }
            FormLine::Text(TextKey::Url) => "the event is posted there".to_owned(),
            FormLine::Text(TextKey::Prompt) => {
                "the question to a model; $ARGUMENTS is the event".to_owned()
            }
            FormLine::Text(TextKey::Model) => "empty: the default model".to_owned(),
            FormLine::Text(TextKey::Server) => "the name of a connected MCP server".to_owned(),
            FormLine::Text(TextKey::Tool) => "the name of the server's tool".to_owned(),
            FormLine::Text(TextKey::Condition) if has_tool => {
                "only for calls that this rule covers: a tool and, in brackets, a pattern"
                    .to_owned()
            }
            FormLine::Text(TextKey::Condition) => {
                format!(
                    "{} has no tool call: with an `if` it never runs",
                    self.event
                )
            }
            FormLine::Text(TextKey::Timeout) => format!(
                "in seconds; empty: the default, {} s for this event",
                self.event.def().timeout.as_secs_f64()
            ),
            FormLine::Text(TextKey::Status) => "what the user sees while it runs".to_owned(),
        }
    }

    fn describe_matcher(&self) -> String {
        let text = self.text(TextKey::Matcher).text();
        let matcher = WrittenMatcher::new((!text.is_empty()).then_some(&text), self.event);
        match matcher.reading() {
            MatcherReading::All => "empty: everything".to_owned(),
            MatcherReading::Ignored => format!("{} has nothing to match", self.event),
            MatcherReading::Names(names) if names.is_empty() => "never matches".to_owned(),
            MatcherReading::Names(names) => format!("exactly {}", names.join(" or ")),
            MatcherReading::Regex => "a JavaScript expression, anywhere in the name".to_owned(),
            MatcherReading::Invalid(reason) => format!("never matches: {reason}"),
        }
    }

    /// Whether the key was one of the form's.
    pub(crate) fn press(&mut self, key: &Key) {
        let count = self.lines().len();
        let line = self.current();
        match key {
            Key::Tab | Key::Down => self.line = (self.line.min(count - 1) + 1) % count,
            Key::BackTab | Key::Up => {
                self.line = (self.line.min(count - 1) + count - 1) % count;
            }
            _ if self.is_fixed(line) => {}
            Key::Left | Key::Right | Key::Char(_) if line == FormLine::Event => {
                self.event = step_event(self.event, key);
            }
            Key::Left | Key::Right | Key::Char(' ') => match line {
                FormLine::File => self.file = step(self.file, self.files.len(), key),
                FormLine::Kind => self.kind = step(self.kind, KINDS.len(), key),
                FormLine::Background => self.background = !self.background,
                _ => self.type_text(line, key),
            },
            _ => self.type_text(line, key),
        }
    }

    fn type_text(&mut self, line: FormLine, key: &Key) {
        if let FormLine::Text(text) = line {
            self.texts[text as usize].press(key);
        }
    }

    /// The edit that the form describes, or which field is wrong and why.
    pub(crate) fn to_edit(&self) -> Result<HookEdit, String> {
        let (_, file) = self
            .target()
            .ok_or("there is no settings file to write to")?;
        let entry = Value::Object(self.to_entry()?);
        let matcher = self.changed(TextKey::Matcher);
        let change = match &self.original {
            None => HookChange::Add {
                event: self.event,
                matcher: matcher.filter(|text| !text.is_empty()),
                entry,
            },
            Some((_, handler)) => HookChange::Replace {
                matcher: match matcher {
                    None => handler.matcher.clone(),
                    Some(text) => (!text.is_empty()).then_some(text),
                },
                handler: handler.clone(),
                entry,
            },
        };
        Ok(HookEdit {
            file: file.clone(),
            change,
        })
    }

    /// The text of a field, if it is another one than in the beginning.
    fn changed(&self, key: TextKey) -> Option<String> {
        let text = self.text(key).text();
        (text != self.initial[key as usize]).then_some(text)
    }

    fn to_entry(&self) -> Result<Map<String, Value>, String> {
        let written = self.original.as_ref().map(|(_, handler)| &handler.entry);
        let mut entry = written
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let same_kind = entry.get("type").and_then(Value::as_str) == Some(self.kind());
        if !same_kind {
            entry.retain(|key, _| !KEYS_OF_KINDS.contains(&key.as_str()));
            entry.insert("type".to_owned(), json!(self.kind()));
        }
        for line in self.lines() {
            let FormLine::Text(key) = line else { continue };
            let (_, label, name, how) = TEXT_ROWS[key as usize];
            if key == TextKey::Matcher || (same_kind && self.changed(key).is_none()) {
                continue;
            }
            let text = self.text(key).text();
            if text.is_empty() {
                entry.shift_remove(name);
                continue;
            }
            let value = read_text(&text, how).map_err(|problem| format!("{label}: {problem}"))?;
            entry.insert(name.to_owned(), value);
        }
        if self.kind() == "command" {
            let before = entry.get("async").and_then(Value::as_bool) == Some(true);
            if self.background != before {
                if self.background {
                    entry.insert("async".to_owned(), json!(true));
                } else {
                    entry.shift_remove("async");
                }
            }
        }
        Ok(entry)
    }
}

fn step(at: usize, count: usize, key: &Key) -> usize {
    let by = if *key == Key::Left {
        count.saturating_sub(1)
    } else {
        1
    };
    (at + by) % count.max(1)
}

fn read_text(text: &str, how: TextValue) -> Result<Value, String> {
    match how {
        TextValue::Text => Ok(json!(text)),
        TextValue::Number => match serde_json::from_str(text.trim()) {
            Ok(number @ Value::Number(_)) => Ok(number),
            _ => Err(format!("`{text}` is not a number of seconds")),
        },
        TextValue::List => match serde_json::from_str(text) {
            Ok(list @ Value::Array(_)) => Ok(list),
            _ => Err("write a JSON list of texts, such as [\"--fix\"]".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use remora_hook_tools::edit::{HandlerPlace, HandlerState};

    use super::*;

    fn written(entry: Value) -> WrittenHandler {
        WrittenHandler {
            place: HandlerPlace {
                state: HandlerState::Enabled,
                event: "PreToolUse".to_owned(),
                group: 0,
                index: 0,
            },
            matcher: Some("Bash".to_owned()),
            entry,
        }
    }

    fn change(entry: Value) -> HookForm {
        HookForm::change("/s.json".into(), LayerSource::User, written(entry))
    }

    #[test]
    fn what_is_left_alone_stays_whatever_it_is() {
        let entry =
            json!({"timeout": 2.5, "x": [1], "command": "a\nb", "type": "command", "args": null});
        let edit = change(entry.clone()).to_edit().unwrap();
        assert_eq!(
            edit.change,
            HookChange::Replace {
                handler: written(entry.clone()),
                matcher: Some("Bash".to_owned()),
                entry,
            }
        );
    }

    #[test]
    fn a_field_changes_its_key_alone() {
        let mut form = change(json!({"type": "command", "x": 1, "command": "a", "timeout": 5}));
        while form.current() != FormLine::Text(TextKey::Timeout) {
            form.press(&Key::Down);
        }
        form.press(&Key::Char('0'));
        assert_eq!(
            form.to_entry().unwrap(),
            *json!({"type": "command", "x": 1, "command": "a", "timeout": 50})
                .as_object()
                .unwrap()
        );
        form.press(&Key::Char('s'));
        assert_eq!(
            form.to_entry().unwrap_err(),
            "Timeout: `50s` is not a number of seconds"
        );
        form.press(&Key::Ctrl('u'));
        assert!(!form.to_entry().unwrap().contains_key("timeout"));
    }

    #[test]
    fn another_kind_leaves_the_keys_of_the_old_one() {
        let mut form = change(
            json!({"type": "command", "command": "a", "async": true, "if": "Bash", "once": true}),
        );
        form.press(&Key::Right);
        assert_eq!(form.kind(), "http");
        form.press(&Key::Down);
        form.press(&Key::Down);
        form.press(&Key::Paste("http://localhost/".to_owned()));
        assert_eq!(
            Value::Object(form.to_entry().unwrap()),
            json!({"type": "http", "if": "Bash", "once": true, "url": "http://localhost/"})
        );
    }
}
