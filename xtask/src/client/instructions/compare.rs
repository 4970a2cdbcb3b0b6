//! Two lists of entries side by side: set, order, labels, texts.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shown::Entry;
use super::tree::{Tree, marks};

/// The client's words about a memory index that was cut; ours are our own.
const CUT: &str = "> WARNING: MEMORY.md is ";

/// Where the client and we differ.
pub(super) fn entries(tree: &Tree, client: &[Entry], ours: &[Entry]) -> Vec<String> {
    let mut found = orders(tree, ("client", lines(client)), ("remora", lines(ours)));
    let mut texts: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
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
        let (theirs_text, mine_text) = (plain(&theirs.text), plain(&mine.text));
        if let Some((kept, _)) = theirs_text.split_once(CUT) {
            let kept = kept.trim_end();
            if !mine_text.starts_with(kept) || marks(kept) != marks(&mine_text) {
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
pub(super) fn recorded(tree: &Tree, truth: &Value, client: &[Entry]) -> Vec<String> {
    let line = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        (text("path"), text("label"))
    };
    let list = |key: &str| truth[key].as_array().cloned().unwrap_or_default();
    let known = list("start")
        .iter()
        .chain(&list("later"))
        .map(line)
        .collect();
    let mut found = orders(tree, ("recorded", known), ("client", lines(client)));
    let shown: String = client
        .iter()
        .flat_map(|e| [e.text.as_str(), "\n"])
        .collect();
    let shown = marks(&shown);
    for (word, there) in truth["markers"].as_object().into_iter().flatten() {
        if there.as_bool() != Some(shown.contains(word)) {
            found.push(format!("{word}: recorded {there}, the client differs"));
        }
    }
    found
}

type Line = (String, String);

fn lines(entries: &[Entry]) -> Vec<Line> {
    let lines = entries.iter().map(|e| (e.path.clone(), e.label.clone()));
    lines.collect()
}

/// Compares paths and labels in order; groups without an order are sorted at their places.
fn orders(tree: &Tree, left: (&str, Vec<Line>), right: (&str, Vec<Line>)) -> Vec<String> {
    let (left, right) = (
        (left.0, sorted(tree, left.1)),
        (right.0, sorted(tree, right.1)),
    );
    if left.1 == right.1 {
        return Vec::new();
    }
    let mut found = vec![format!("order of {} | {}:", left.0, right.0)];
    for index in 0..left.1.len().max(right.1.len()) {
        let show = |line: Option<&Line>| match line {
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

fn sorted(tree: &Tree, mut lines: Vec<Line>) -> Vec<Line> {
    for group in &tree.unordered {
        let places: Vec<usize> = (0..lines.len())
            .filter(|place| group.contains(&lines[*place].0))
            .collect();
        let mut members: Vec<Line> = places.iter().map(|place| lines[*place].clone()).collect();
        members.sort();
        for (place, member) in places.into_iter().zip(members) {
            lines[place] = member;
        }
    }
    lines
}

/// Trimmed, with one kind of line end, without the mark at the front that the client leaves in
/// nested texts: that is all the two may differ in.
fn plain(text: &str) -> String {
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
