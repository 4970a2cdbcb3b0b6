//! A made-up event that users try hooks on: what it says is typed into fields,
//! which the event table names.

use remora_core::{EVENTS, EventName, Subject};
use remora_hooks::Explanation;
use serde_json::Value;

use crate::field::TextField;
use crate::key::Key;
use crate::update::Effect;

/// What users say of the event; empty texts are left to the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleRequest {
    /// Which event.
    pub event: EventName,
    /// The tool that is called.
    pub tool: String,
    /// The command of a shell call.
    pub command: String,
    /// The file of a file tool.
    pub path: String,
    /// The address that is fetched.
    pub url: String,
    /// The field that matchers are tested against, of events without a tool.
    pub subject: Option<(&'static str, String)>,
}

/// The fields of a tool call.
const CALL_LABELS: [&str; 4] = ["Tool", "Command", "File", "URL"];

/// The screen on which events are tried.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SampleForm {
    pub(crate) event: EventName,
    call: [TextField; CALL_LABELS.len()],
    subject: TextField,
    /// Which line keys act on; the first is the event.
    pub(crate) line: usize,
    pub(crate) result: Option<Result<Explanation, String>>,
    pub(crate) scroll: usize,
}

impl SampleForm {
    pub(crate) fn new(event: EventName) -> Self {
        let mut form = Self {
            event,
            call: Default::default(),
            subject: TextField::default(),
            line: 0,
            result: None,
            scroll: 0,
        };
        form.choose(event);
        form
    }

    fn choose(&mut self, event: EventName) {
        self.event = event;
        let sample: Value = serde_json::from_str(event.def().sample).unwrap_or_default();
        let subject = self
            .subject_name()
            .and_then(|name| sample.get(name)?.as_str());
        self.subject = TextField::new(subject.unwrap_or_default());
    }

    fn subject_name(&self) -> Option<&'static str> {
        match self.event.def().subject {
            Subject::Field(name) | Subject::FileName(name) => Some(name),
            Subject::None => None,
        }
    }

    /// The fields of the event, with their labels.
    pub(crate) fn fields(&self) -> Vec<(&'static str, &TextField)> {
        if self.event.def().has_tool {
            CALL_LABELS.into_iter().zip(&self.call).collect()
        } else {
            self.subject_name()
                .map(|name| (name, &self.subject))
                .into_iter()
                .collect()
        }
    }

    pub(crate) fn request(&self) -> SampleRequest {
        let [tool, command, path, url] = self.call.each_ref().map(TextField::text);
        let has_tool = self.event.def().has_tool;
        SampleRequest {
            event: self.event,
            tool,
            command,
            path,
            url,
            subject: self
                .subject_name()
                .filter(|_| !has_tool)
                .map(|name| (name, self.subject.text())),
        }
    }

    pub(crate) fn press(&mut self, key: &Key) -> Effect {
        let lines = self.fields().len() + 1;
        match key {
            Key::Down | Key::Tab | Key::Enter => self.line = (self.line + 1) % lines,
            Key::Up | Key::BackTab => self.line = (self.line + lines - 1) % lines,
            Key::PageDown => self.scroll = self.scroll.saturating_add(4),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(4),
            Key::Left | Key::Right | Key::Char(_) if self.line == 0 => {
                let event = step_event(self.event, key);
                self.choose(event);
                self.scroll = 0;
                return Effect::Explain(self.request());
            }
            _ if self.line > 0 => {
                let at = self.line - 1;
                let field = if self.event.def().has_tool {
                    self.call.get_mut(at)
                } else {
                    Some(&mut self.subject)
                };
                if field.is_some_and(|field| field.press(key)) {
                    self.scroll = 0;
                    return Effect::Explain(self.request());
                }
            }
            _ => {}
        }
        Effect::Nothing
    }
}

/// The event that a key chooses: the next, the one before, or the next that
/// begins with a letter.
pub(crate) fn step_event(event: EventName, key: &Key) -> EventName {
    let at = EVENTS.iter().position(|def| def.name == event).unwrap_or(0);
    let count = EVENTS.len();
    match key {
        Key::Left => EVENTS[(at + count - 1) % count].name,
        Key::Char(letter) if *letter != ' ' => {
            let begins = |offset: &usize| {
                let name = EVENTS[(at + offset) % count].text;
                name.chars()
                    .next()
                    .is_some_and(|c| c.eq_ignore_ascii_case(letter))
            };
            let offset = (1..=count).find(begins).unwrap_or(0);
            EVENTS[(at + offset) % count].name
        }
        _ => EVENTS[(at + 1) % count].name,
    }
}
