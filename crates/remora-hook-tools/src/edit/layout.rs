//! Values put into a text and taken out of it, in the text's own style: its
//! indent, its line ends, on one line or on several.

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::document::{Document, KeyPath};

/// Used where the text shows none.
const DEFAULT_INDENT: &str = "  ";

/// A text and how it is written.
pub(super) struct TextLayout<'a> {
    /// The whole text, with its byte-order mark.
    text: &'a str,
    /// How many bytes the document leaves out at the beginning.
    offset: usize,
    document: &'a Document,
    indent: String,
    newline: &'static str,
}

impl<'a> TextLayout<'a> {
    pub(super) fn new(text: &'a str, document: &'a Document) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indent = text.lines().find_map(|line| {
            let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
            (blanks > 0 && blanks < line.len()).then(|| line[..blanks].to_owned())
        });
        Self {
            text,
            offset: text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len(),
            document,
            indent: indent.unwrap_or_else(|| DEFAULT_INDENT.to_owned()),
            newline,
        }
    }

    /// The text with a member at the end of an object.
    pub(super) fn insert_member(&self, path: &KeyPath, key: &str, value: &Value) -> String {
        self.insert(path, Some(key), value)
    }

    /// The text with an element at the end of a list.
    pub(super) fn insert_element(&self, path: &KeyPath, value: &Value) -> String {
        self.insert(path, None, value)
    }

    fn insert(&self, path: &KeyPath, key: Option<&str>, value: &Value) -> String {
        let Some(span) = self.document.span(path) else {
            return self.text.to_owned();
        };
        let (start, end) = (span.start + self.offset, span.end + self.offset);
        let last = span.children.last().map(|child| child.end + self.offset);
        let first = span.children.first().map(|child| child.start + self.offset);
        let several_lines = match first {
            Some(first) => self.text[start..first].contains('\n'),
            // An empty one is opened up, unless all around it is on one line.
            None => self.text.trim().contains('\n') || path.steps().is_empty(),
        };
        if several_lines {
            let outer = self.indent_at(start);
            let inner = format!("{outer}{}", self.indent);
            let inner = first.map_or(inner, |first| self.indent_at(first));
            let written = self.write_value(key, value, &inner);
            let newline = self.newline;
            if let Some(last) = last {
                self.put(last, last, &format!(",{newline}{inner}{written}"))
            } else {
                let opened = format!("{newline}{inner}{written}{newline}{outer}");
                self.put(start + 1, end - 1, &opened)
            }
        } else {
            let written = write_on_one_line(key, value);
            match last {
                Some(last) => self.put(last, last, &format!(", {written}")),
                None => self.put(start + 1, end - 1, &written),
            }
        }
    }

    /// The text with another value in the place of one.
    pub(super) fn replace(&self, path: &KeyPath, value: &Value) -> String {
        let Some(span) = self.document.span(path) else {
            return self.text.to_owned();
        };
        let (start, end) = (span.start + self.offset, span.end + self.offset);
        let written = if self.text[start..end].contains('\n') {
            self.write_value(None, value, &self.indent_at(start))
        } else {
            write_on_one_line(None, value)
        };
        self.put(start, end, &written)
    }

    /// The text without a member or an element, and without its comma.
    pub(super) fn remove(&self, path: &KeyPath) -> String {
        let Some((parent, at)) = self.document.span_in_parent(path) else {
            return self.text.to_owned();
        };
        let children = &parent.children;
        let (from, to) = match at {
            _ if children.len() == 1 => (parent.start + 1, parent.end - 1),
            0 => (children[0].start, children[1].start),
            _ => (children[at - 1].end, children[at].end),
        };
        self.put(from + self.offset, to + self.offset, "")
    }

    /// The text with other bytes between two places.
    fn put(&self, from: usize, to: usize, with: &str) -> String {
        format!("{}{with}{}", &self.text[..from], &self.text[to..])
    }

    /// The blanks that the line of a byte begins with.
    fn indent_at(&self, byte: usize) -> String {
        let line = self.text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[line..];
        let rest = rest.strip_prefix('\u{feff}').unwrap_or(rest);
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        rest[..blanks].to_owned()
    }

    fn write_value(&self, key: Option<&str>, value: &Value, indent: &str) -> String {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.indent.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
        // A value in memory can always be written.
        let _ = value.serialize(&mut serializer);
        let written = String::from_utf8_lossy(&bytes);
        let written = written.replace('\n', &format!("{}{indent}", self.newline));
        match key {
            Some(key) => format!("{}: {written}", Value::from(key)),
            None => written,
        }
    }
}

/// With blanks behind colons and commas, as people write it.
fn write_on_one_line(key: Option<&str>, value: &Value) -> String {
    let written = match value {
        Value::Object(map) => {
            let members: Vec<String> = map
                .iter()
                .map(|(key, value)| write_on_one_line(Some(key), value))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(list) => {
            let elements: Vec<String> = list
                .iter()
                .map(|value| write_on_one_line(None, value))
                .collect();
            format!("[{}]", elements.join(", "))
        }
        other => other.to_string(),
    };
    match key {
        Some(key) => format!("{}: {written}", Value::from(key)),
        None => written,
    }
}
