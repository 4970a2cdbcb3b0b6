//! How a settings file is laid out, and text for new values in the same layout.

use std::fmt::Write as _;

use serde_json::Value;

use super::span::Node;

/// The layout of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    newline: &'static str,
    /// One level of indentation.
    unit: String,
    /// Between `:` or `,` and what follows on the same line.
    gap: &'static str,
}

/// How a value is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape<'a> {
    /// On one line.
    Inline,
    /// One member a line; further lines start with this.
    Lines(&'a str),
}

impl Layout {
    /// The layout of a file that does not exist yet.
    pub(super) fn of_a_new_file() -> Self {
        Self {
            newline: "\n",
            unit: "  ".to_owned(),
            gap: " ",
        }
    }

    pub(super) fn from_text(text: &str, root: &Node) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let first = root.members().first();
        let unit = first
            .and_then(|member| own_line(text, member.span.start))
            .filter(|unit| !unit.is_empty())
            .unwrap_or("  ");
        // The first member decides for the file; mixed styles have no right
        // answer.
        let tight = first.is_some_and(|member| {
            let between = &text[member.span.start..member.value.span.start];
            between.ends_with(':')
        });
        Self {
            newline,
            unit: unit.to_owned(),
            gap: if tight { "" } else { " " },
        }
    }

    /// A member with its key.
    pub(super) fn format_member(&self, key: &str, value: &Value, shape: Shape<'_>) -> String {
        let mut out = format!("{}:{}", Value::from(key), self.gap);
        self.write_value(&mut out, value, shape);
        out
    }

    /// A value without a key.
    pub(super) fn format_value(&self, value: &Value, shape: Shape<'_>) -> String {
        let mut out = String::new();
        self.write_value(&mut out, value, shape);
        out
    }

    fn write_value(&self, out: &mut String, value: &Value, shape: Shape<'_>) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let members = members.iter().map(|(key, value)| (Some(key), value));
                self.write_all(out, ['{', '}'], members, shape);
            }
            Value::Array(items) if !items.is_empty() => {
                let items = items.iter().map(|value| (None, value));
                self.write_all(out, ['[', ']'], items, shape);
            }
            other => {
                let _ = write!(out, "{other}");
            }
        }
    }

    fn write_all<'v>(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        members: impl Iterator<Item = (Option<&'v String>, &'v Value)>,
        shape: Shape<'_>,
    ) {
        let inner = match shape {
            Shape::Inline => String::new(),
            Shape::Lines(prefix) => format!("{prefix}{}", self.unit),
        };
        out.push(open);
        for (at, (key, value)) in members.enumerate() {
            if at > 0 {
                out.push(',');
            }
            let below = match shape {
                Shape::Inline => {
                    out.push_str(if at > 0 { self.gap } else { "" });
                    Shape::Inline
                }
                Shape::Lines(_) => {
                    out.push_str(self.newline);
                    out.push_str(&inner);
                    Shape::Lines(&inner)
                }
            };
            if let Some(key) = key {
                let _ = write!(out, "{}:{}", Value::from(key.as_str()), self.gap);
            }
            self.write_value(out, value, below);
        }
        if let Shape::Lines(prefix) = shape {
            out.push_str(self.newline);
            out.push_str(prefix);
        }
        out.push(close);
    }

    /// Where and what to insert so that the container at `node` gains members
    /// at its end. `render` writes one of them in the shape it gets.
    pub(super) fn append(
        &self,
        text: &str,
        node: &Node,
        count: usize,
        render: impl Fn(usize, Shape<'_>) -> String,
    ) -> (usize, String) {
        let last = node
            .members()
            .last()
            .map(|member| member.span.clone())
            .or_else(|| node.as_list()?.last().map(|item| item.span.clone()));
        let mut out = String::new();
        if let Some(last) = last {
            let prefix = own_line(text, last.start);
            for at in 0..count {
                out.push(',');
                if let Some(prefix) = prefix {
                    out.push_str(self.newline);
                    out.push_str(prefix);
                    out.push_str(&render(at, Shape::Lines(prefix)));
                } else {
                    out.push_str(self.gap);
                    out.push_str(&render(at, Shape::Inline));
                }
            }
            return (last.end, out);
        }
        let start = node.span.start + 1;
        let inside = &text[start..node.span.end - 1];
        // An empty container in a file of several lines is opened up; so is one
        // that is the whole file.
        let outer = line_indentation(text, node.span.start);
        let one_line = !text.trim().contains('\n') && text.trim().len() > node.span.len();
        if one_line {
            let all: Vec<String> = (0..count).map(|at| render(at, Shape::Inline)).collect();
            return (start, all.join(&format!(",{}", self.gap)));
        }
        let prefix = format!("{outer}{}", self.unit);
        for at in 0..count {
            out.push_str(if at > 0 { "," } else { "" });
            out.push_str(self.newline);
            out.push_str(&prefix);
            out.push_str(&render(at, Shape::Lines(&prefix)));
        }
        if !inside.contains('\n') {
            out.push_str(self.newline);
            out.push_str(outer);
        }
        (start, out)
    }
}

/// The blanks before `at`, if nothing else precedes it on its line and it is
/// not the first line.
pub(super) fn own_line(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n')? + 1;
    let before = &text[start..at];
    before
        .bytes()
        .all(|b| matches!(b, b' ' | b'\t'))
        .then_some(before)
}

/// The blanks at the start of the line in which `at` lies.
pub(super) fn line_indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
