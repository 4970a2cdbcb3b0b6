//! Whether another text repeats what is deleted: the same call captured again,
//! a summary or a title that quotes it.

use remora_protocol::record::{Item, Kind};
use serde_json::Value;

/// Shorter lines say too little to know a copy by.
const LINE_CHARS: usize = 12;
/// So much of an item must be found for another to count as its copy.
const NEEDLE_CHARS: usize = 24;
/// The longest lines stand for the item.
const LINES: usize = 3;

/// What an item is known by when it is quoted.
#[derive(Debug)]
pub(super) struct Needles {
    session: String,
    project: String,
    /// Its longest lines; empty when they say too little.
    lines: Vec<String>,
    /// All of its words, for what quotes only a part.
    all: String,
}

impl Needles {
    pub(super) fn of(item: &Item) -> Self {
        let own = if item.text.trim().is_empty() || is_claim(item.kind) {
            &item.title
        } else {
            &item.text
        };
        let mut lines: Vec<String> = own.lines().map(plain).collect();
        lines.retain(|line| line.chars().count() >= LINE_CHARS);
        lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
        lines.dedup();
        lines.truncate(LINES);
        if lines.iter().map(|line| line.chars().count()).sum::<usize>() < NEEDLE_CHARS {
            lines.clear();
        }
        let all = [&item.title, &item.text].into_iter().chain(&item.facts);
        let all: Vec<String> = all.map(|text| plain(text)).collect();
        Self {
            session: item.session.clone(),
            project: item.project.clone(),
            lines,
            all: all.join("\n"),
        }
    }

    /// Whether a text of this project tells all that the item tells.
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
            lines.any(|line| line.chars().count() >= LINE_CHARS && self.all.contains(line))
                || self.lines.iter().any(|line| text.contains(line.as_str()))
        }
    }
}

fn is_claim(kind: Kind) -> bool {
    remora_memory::overrides::CLAIMS.contains(&kind)
}

/// Kinds that are made from other items rather than from an event alone.
pub(super) fn is_derived(kind: Kind) -> bool {
    matches!(kind, Kind::Summary | Kind::Fix)
}

/// A text with single blanks and no line ends.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All texts of a value, a line each.
pub(super) fn texts(value: &Value) -> String {
    let mut found = String::new();
    gather(value, &mut found);
    found
}

fn gather(value: &Value, found: &mut String) {
    match value {
        Value::String(text) => {
            found.push_str(&plain(text));
            found.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|value| gather(value, found)),
        Value::Object(map) => map.values().for_each(|value| gather(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// All texts of an item, a line each.
pub(super) fn item_texts(item: &Item) -> String {
    let mut found: String = [&item.title, &item.text]
        .into_iter()
        .flat_map(|text| text.lines())
        .chain(item.facts.iter().map(String::as_str))
        .map(|line| plain(line) + "\n")
        .collect();
    if let Some(detail) = &item.detail {
        gather(detail, &mut found);
    }
    found
}
