//! One JSON document with the place of every value in it: what a finding says
//! as line and column.
//!
//! `serde_json` decides what the document says, as in the engine; the tree of
//! places is read beside it and decides nothing.

use std::fmt;

use jsonc_parser::ast::{ObjectPropName, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

/// A place in a text, from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column in it.
    pub column: usize,
}

/// One step down into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// A key of an object.
    Key(String),
    /// An element of a list.
    Index(usize),
}

/// The way to a value, written `hooks.Stop[0].hooks[1]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPath(Vec<PathStep>);

impl KeyPath {
    /// The path with one key more.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.push(PathStep::Key(key.to_owned()))
    }

    /// The path with one index more.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.push(PathStep::Index(index))
    }

    /// The path with steps written as in `timeout` or `args[2]`.
    #[must_use]
    pub fn field(&self, field: Option<&str>) -> Self {
        field.map_or_else(|| self.clone(), |field| self.key(field))
    }

    /// Its steps.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    fn push(&self, step: PathStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if at == 0 => f.write_str(key)?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Why a text is not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: {problem}", position.line, position.column)]
pub struct DocumentError {
    /// Where reading ended.
    pub position: Position,
    /// What is wrong there.
    pub problem: String,
}

/// A parsed text that knows where its values are.
#[derive(Debug)]
pub struct Document {
    text: String,
    /// Where each line begins.
    line_starts: Vec<usize>,
    value: Value,
    tree: Option<PlacedValue>,
}

#[derive(Debug)]
struct PlacedValue {
    start: usize,
    end: usize,
    children: Vec<PlacedChild>,
}

#[derive(Debug)]
struct PlacedChild {
    /// Where the member begins: at its key, if it has one.
    start: usize,
    /// The key, of objects.
    key: Option<String>,
    value: PlacedValue,
}

/// The bytes of an object or a list, brackets included, and of what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Members with their keys, or elements.
    pub(crate) children: Vec<ChildSpan>,
}

/// The bytes of one member or element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChildSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl PlacedValue {
    /// Of equal keys the last counts.
    fn find_child(&self, step: &PathStep) -> Option<usize> {
        match step {
            PathStep::Key(key) => self
                .children
                .iter()
                .rposition(|child| child.key.as_ref() == Some(key)),
            PathStep::Index(index) => (*index < self.children.len()).then_some(*index),
        }
    }

    fn span(&self) -> ValueSpan {
        let children = self.children.iter().map(|child| ChildSpan {
            start: child.start,
            end: child.value.end,
        });
        ValueSpan {
            start: self.start,
            end: self.end,
            children: children.collect(),
        }
    }
}

impl Document {
    /// Parses a text, as strictly as the client; a byte-order mark is accepted.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value = serde_json::from_str(text).map_err(|error| {
            let line = error.line().max(1);
            DocumentError {
                position: Position {
                    line,
                    column: column_of_byte(text, line, error.column()),
                },
                problem: describe_json_error(text, &error),
            }
        })?;
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        let tree = parsed.ok().and_then(|parsed| parsed.value);
        Ok(Self {
            tree: tree.as_ref().map(place_value),
            line_starts: find_line_starts(text),
            text: text.to_owned(),
            value,
        })
    }

    /// What it says.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Where a value is; of a value that is not there, where its nearest
    /// neighbour above is.
    pub fn position(&self, path: &KeyPath) -> Position {
        let mut at = self.tree.as_ref();
        let mut start = at.map_or(0, |tree| tree.start);
        for step in path.steps() {
            let child = at.and_then(|tree| Some(&tree.children[tree.find_child(step)?]));
            let Some(child) = child else { break };
            start = child.value.start;
            at = Some(&child.value);
        }
        let line = self.line_starts.partition_point(|at| *at <= start);
        let line_start = self.line_starts[line.saturating_sub(1)];
        let before = self.text.get(line_start..start).unwrap_or_default();
        Position {
            line,
            column: before.chars().count() + 1,
        }
    }

    /// The bytes of a value, counted behind a byte-order mark.
    pub(crate) fn span(&self, path: &KeyPath) -> Option<ValueSpan> {
        Some(self.find_value(path.steps())?.span())
    }

    /// The bytes of what holds a value, and which of its children the value is.
    pub(crate) fn span_in_parent(&self, path: &KeyPath) -> Option<(ValueSpan, usize)> {
        let (last, above) = path.steps().split_last()?;
        let parent = self.find_value(above)?;
        Some((parent.span(), parent.find_child(last)?))
    }

    fn find_value(&self, steps: &[PathStep]) -> Option<&PlacedValue> {
        steps.iter().try_fold(self.tree.as_ref()?, |tree, step| {
            Some(&tree.children[tree.find_child(step)?].value)
        })
    }

    /// Keys that an object of the document holds twice, with their paths.
    pub fn repeated_keys(&self) -> Vec<KeyPath> {
        let mut found = Vec::new();
        if let Some(tree) = &self.tree {
            collect_repeated_keys(tree, &KeyPath::default(), &mut found);
        }
        found
    }
}

fn place_value(value: &Ast<'_>) -> PlacedValue {
    let children = match value {
        Ast::Object(object) => object
            .properties
            .iter()
            .map(|property| PlacedChild {
                start: property.start(),
                key: Some(match &property.name {
                    ObjectPropName::String(text) => text.value.to_string(),
                    ObjectPropName::Word(word) => word.value.to_owned(),
                }),
                value: place_value(&property.value),
            })
            .collect(),
        Ast::Array(list) => list
            .elements
            .iter()
            .map(|element| PlacedChild {
                start: element.start(),
                key: None,
                value: place_value(element),
            })
            .collect(),
        _ => Vec::new(),
    };
    PlacedValue {
        start: value.start(),
        end: value.end(),
        children,
    }
}

fn collect_repeated_keys(tree: &PlacedValue, path: &KeyPath, found: &mut Vec<KeyPath>) {
    for (at, child) in tree.children.iter().enumerate() {
        let path = match &child.key {
            Some(key) => path.key(key),
            None => path.index(at),
        };
        if child.key.is_some() && tree.children[..at].iter().any(|c| c.key == child.key) {
            found.push(path.clone());
        }
        collect_repeated_keys(&child.value, &path, found);
    }
}

/// The commonest mistakes by their names: what the reader says of them does not
/// name them.
fn describe_json_error(text: &str, error: &serde_json::Error) -> String {
    let line = text.lines().nth(error.line().saturating_sub(1));
    let rest = line.unwrap_or_default();
    let at = rest.get(error.column().saturating_sub(1)..).unwrap_or("");
    if at.starts_with("//") || at.starts_with("/*") || at.starts_with('#') {
        return "not valid JSON: a comment".to_owned();
    }
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    if said == "trailing comma" {
        return "not valid JSON: a comma before the closing bracket".to_owned();
    }
    if text.trim().is_empty() {
        return "not valid JSON: the file is empty".to_owned();
    }
    format!("not valid JSON: {said}")
}

/// The first line begins at 0, so there is always one.
fn find_line_starts(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

fn column_of_byte(text: &str, line: usize, column: usize) -> usize {
    let line = text.lines().nth(line - 1).unwrap_or_default();
    let before = line.get(..column.saturating_sub(1)).unwrap_or(line);
    before.chars().count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"é\": 1, \"hooks\": {\n    \"Stop\": [ {\"a\": 2} ]\n  }\n}\n";

    #[test]
    fn values_have_places_in_characters() {
        let document = Document::parse(TEXT).unwrap();
        let hooks = KeyPath::default().key("hooks");
        assert_eq!(
            document.position(&hooks),
            Position {
                line: 2,
                column: 20
            }
        );
        let entry = hooks.key("Stop").index(0).key("a");
        assert_eq!(entry.to_string(), "hooks.Stop[0].a");
        assert_eq!(
            document.position(&entry),
            Position {
                line: 3,
                column: 21
            }
        );
        let missing = hooks.key("Stop").index(0).key("none").key("deeper");
        assert_eq!(
            document.position(&missing),
            Position {
                line: 3,
                column: 15
            }
        );
    }

    #[test]
    fn what_is_not_json_is_named() {
        let problem = |text: &str| Document::parse(text).unwrap_err().to_string();
        assert_eq!(problem("{\n  // no\n}"), "2:3: not valid JSON: a comment");
        assert_eq!(
            problem("{\"a\": [1,]}"),
            "1:10: not valid JSON: a comma before the closing bracket"
        );
        assert_eq!(problem(""), "1:1: not valid JSON: the file is empty");
        assert!(Document::parse("\u{feff}{}").is_ok());
    }

    #[test]
    fn repeated_keys_are_found_at_any_depth() {
        let document = Document::parse(r#"{"a": [{"b": 1, "b": 2}], "a": 3}"#).unwrap();
        let found: Vec<String> = document
            .repeated_keys()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, ["a[0].b", "a"]);
    }
}
