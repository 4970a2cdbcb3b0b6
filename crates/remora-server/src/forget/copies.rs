//! Whether another text repeats what is deleted: the same call captured again,
//! a summary or a title that quotes it.

use remora_core::ids::{ProjectKey, SessionId};
use remora_core::record::{Item, Kind};
use remora_core::text::collapse_whitespace;
use serde_json::Value;

/// Shorter lines say too little to know a copy by.
const MIN_LINE_CHARS: usize = 12;
/// So much of an item must be found for another to count as its copy.
const MIN_PATTERN_CHARS: usize = 24;
/// The longest lines represent the item.
const MAX_LINES: usize = 3;

/// What an item is known by when it is quoted.
#[derive(Debug)]
pub(super) struct ErasePatterns {
    session: SessionId,
    project: ProjectKey,
    /// Its longest lines; empty when they say too little.
    lines: Vec<String>,
    /// All of its words, for what quotes only a part.
    all: String,
}

impl ErasePatterns {
    pub(super) fn from_item(item: &Item) -> Self {
        let own = if item.text.trim().is_empty() || is_claim(item.kind) {
            &item.title
        } else {
            &item.text
        };
        let mut lines: Vec<String> = own.lines().map(collapse_whitespace).collect();
        lines.retain(|line| line.chars().count() >= MIN_LINE_CHARS);
        lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
        lines.dedup();
        lines.truncate(MAX_LINES);
        if lines.iter().map(|line| line.chars().count()).sum::<usize>() < MIN_PATTERN_CHARS {
            lines.clear();
        }
        let all = [&item.title, &item.text].into_iter().chain(&item.facts);
        let all: Vec<String> = all.map(|text| collapse_whitespace(text)).collect();
        Self {
            session: item.session.clone(),
            project: item.project.clone(),
            lines,
            all: all.join("\n"),
        }
    }

    /// Whether a text of this project says all that the item says.
    pub(super) fn are_in(&self, project: &str, text: &str) -> bool {
        self.project == project
            && !self.lines.is_empty()
            && self.lines.iter().all(|line| text.contains(line.as_str()))
    }

    /// Whether a text that was made from this session quotes the item.
    pub(super) fn are_quoted(&self, session: &str, text: &str) -> bool {
        self.session == session && {
            let mut lines = text
                .lines()
                .map(|line| line.trim_end_matches(['…', '.']).trim());
            lines.any(|line| line.chars().count() >= MIN_LINE_CHARS && self.all.contains(line))
                || self.lines.iter().any(|line| text.contains(line.as_str()))
        }
    }
}

fn is_claim(kind: Kind) -> bool {
    remora_memory::overrides::CLAIM_KINDS.contains(&kind)
}

/// Kinds that are made from other items rather than from an event alone.
pub(super) fn is_derived(kind: Kind) -> bool {
    matches!(kind, Kind::Summary | Kind::Fix)
}

/// All texts of a value, a line each.
pub(super) fn collect_texts(value: &Value) -> String {
    let mut found = String::new();
    append_texts(value, &mut found);
    found
}

fn append_texts(value: &Value, found: &mut String) {
    match value {
        Value::String(text) => {
            found.push_str(&collapse_whitespace(text));
            found.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|value| append_texts(value, found)),
        Value::Object(map) => map.values().for_each(|value| append_texts(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// All texts of an item, a line each.
pub(super) fn item_texts(item: &Item) -> String {
    let mut found: String = [&item.title, &item.text]
        .into_iter()
        .flat_map(|text| text.lines())
        .chain(item.facts.iter().map(String::as_str))
        .map(|line| collapse_whitespace(line) + "\n")
        .collect();
    if let Some(detail) = &item.detail {
        append_texts(&detail.to_value(), &mut found);
    }
    found
}
