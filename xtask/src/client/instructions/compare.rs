//! Two lists of entries side by side: set, order, labels, texts.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shown::PromptEntry;
use super::tree::{InstructionTree, find_marks};

/// The client's words about a memory index that was cut; ours are our own.
const TRUNCATION_WARNING: &str = "> WARNING: MEMORY.md is ";

/// Where the client and we differ.
pub(super) fn compare_entries(
    tree: &InstructionTree,
    client: &[PromptEntry],
    ours: &[PromptEntry],
) -> Vec<String> {
    let mut found = compare_orders(
        tree,
        ("client", list_lines(client)),
        ("remora", list_lines(ours)),
    );
    let mut texts: BTreeMap<&str, Vec<&PromptEntry>> = BTreeMap::new();
    for entry in ours {
        texts.entry(&entry.path).or_default().push(entry);
    }
    for theirs in client {
        let same = texts.get_mut(theirs.path.as_str());
        let Some(mine) = same
            .filter(|list| !list.is_empty())
            .map(|list| list.remove(0))
        else {
            continue; // the order shows it
        };
        let (theirs_text, mine_text) = (normalise_text(&theirs.text), normalise_text(&mine.text));
        if let Some((kept, _)) = theirs_text.split_once(TRUNCATION_WARNING) {
            let kept = kept.trim_end();
            if !mine_text.starts_with(kept) || find_marks(kept) != find_marks(&mine_text) {
                found.push(format!("{}: the index is cut elsewhere", theirs.path));
            }
        } else if theirs_text != mine_text {
            found.push(format!(
                "{}: {}",
                theirs.path,
                first_difference(&theirs_text, &mine_text)
            ));
        }
    }
    found
}

/// Where the client differs from what was recorded of it.
pub(super) fn compare_recorded(
    tree: &InstructionTree,
    recorded: &Value,
    client: &[PromptEntry],
) -> Vec<String> {
    let line = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        (text("path"), text("label"))
    };
    let list = |key: &str| recorded[key].as_array().cloned().unwrap_or_default();
    let known = list("start")
        .iter()
        .chain(&list("later"))
        .map(line)
        .collect();
    let mut found = compare_orders(tree, ("recorded", known), ("client", list_lines(client)));
    let shown: String = client
        .iter()
        .flat_map(|e| [e.text.as_str(), "\n"])
        .collect();
    let shown = find_marks(&shown);
    for (word, there) in recorded["markers"].as_object().into_iter().flatten() {
        if there.as_bool() != Some(shown.contains(word)) {
            found.push(format!("{word}: recorded {there}, the client differs"));
        }
    }
    found
}

type EntryLine = (String, String);

fn list_lines(entries: &[PromptEntry]) -> Vec<EntryLine> {
    let lines = entries.iter().map(|e| (e.path.clone(), e.label.clone()));
    lines.collect()
}

/// Compares paths and labels in order; groups without an order are sorted at their places.
fn compare_orders(
    tree: &InstructionTree,
    left: (&str, Vec<EntryLine>),
    right: (&str, Vec<EntryLine>),
) -> Vec<String> {
    let (left, right) = (
        (left.0, sort_lines(tree, left.1)),
        (right.0, sort_lines(tree, right.1)),
    );
    if left.1 == right.1 {
        return Vec::new();
    }
    let mut found = vec![format!("order of {} | {}:", left.0, right.0)];
    for index in 0..left.1.len().max(right.1.len()) {
        let show = |line: Option<&EntryLine>| match line {
            Some((path, label)) => {
                let word = label.split(' ').nth(1).unwrap_or_default();
                format!("{path} [{word}]")
            }
            None => "-".to_owned(),
        };
        let (a, b) = (left.1.get(index), right.1.get(index));
        let mark = if a == b { ' ' } else { '!' };
        found.push(format!("  {mark} {} | {}", show(a), show(b)));
    }
    found
}

fn sort_lines(tree: &InstructionTree, mut lines: Vec<EntryLine>) -> Vec<EntryLine> {
    for group in &tree.unordered {
        let places: Vec<usize> = (0..lines.len())
            .filter(|place| group.contains(&lines[*place].0))
            .collect();
        let mut members: Vec<EntryLine> =
            places.iter().map(|place| lines[*place].clone()).collect();
        members.sort();
        for (place, member) in places.into_iter().zip(members) {
            lines[place] = member;
        }
    }
    lines
}

/// Trimmed, with one kind of line end, without the mark at the front that the client leaves in
/// nested texts: that is all the two may differ in.
fn normalise_text(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    text.trim_matches(blank).to_owned()
}

fn first_difference(left: &str, right: &str) -> String {
    let mut pairs = left.lines().map(Some).chain(std::iter::repeat(None));
    let mut others = right.lines().map(Some).chain(std::iter::repeat(None));
    let most = left.lines().count().max(right.lines().count());
    for number in 1..=most {
        let (a, b) = (pairs.next().flatten(), others.next().flatten());
        if a != b {
            return format!("line {number}: client {a:?}, remora {b:?}");
        }
    }
    "the texts differ in line ends".to_owned()
}
