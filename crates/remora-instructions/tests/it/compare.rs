//! What a session showed against a tree's truth.
//!
//! Texts are compared modulo line ends, groups without an order as sets at their places.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::tree::{Entry, Shown, strings};

type Line = (String, String);

/// Every difference, one or more lines each.
pub(crate) fn problems(case: &Value, shown: &Shown) -> Vec<String> {
    let truth = &case["truth"];
    let mut found = Vec::new();
    let ours = lines(&shown.start);
    found.extend(orders(case, "start", &truth_lines(&truth["start"]), &ours));
    let later: Vec<Entry> = shown.reads.concat();
    let ours = lines(&later);
    found.extend(orders(case, "later", &truth_lines(&truth["later"]), &ours));
    let by_read = truth["later_by_read"].as_array().into_iter().flatten();
    for (index, (wanted, entries)) in by_read.zip(&shown.reads).enumerate() {
        let wanted: Vec<Line> = strings(wanted)
            .into_iter()
            .map(|p| (p, String::new()))
            .collect();
        let name = format!("read {index}");
        found.extend(orders(case, &name, &wanted, &lines(entries)));
    }
    let all: Vec<&Entry> = shown.start.iter().chain(&later).collect();
    found.extend(markers(&truth["markers"], &all));
    for (path, text) in members(&truth["texts"]) {
        let ours = all.iter().find(|entry| entry.path == *path);
        let ours = ours.map_or("", |entry| entry.text.as_str());
        let wanted = text.as_str().unwrap();
        if plain(ours) != plain(wanted) {
            found.push(format!("  text of {path}:\n    {wanted:?}\n    {ours:?}"));
        }
    }
    found.extend(facts(&truth["facts"], &all));
    for (path, why) in members(&truth["skipped"]) {
        let why = why.as_str().unwrap();
        let said: Vec<&str> = shown
            .skipped
            .iter()
            .filter(|(skipped, _)| skipped == path)
            .map(|(_, why)| why.as_str())
            .collect();
        if !said.iter().any(|said| said.contains(why)) {
            found.push(format!("  {path} should be left out: {why:?}, is {said:?}"));
        }
    }
    found
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn lines(entries: &[Entry]) -> Vec<Line> {
    let lines = entries.iter().map(|e| (e.path.clone(), e.label.clone()));
    lines.collect()
}

fn truth_lines(list: &Value) -> Vec<Line> {
    let list = list.as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list.map(|entry| (text(&entry["path"]), text(&entry["label"])))
        .collect()
}

/// The two orders side by side, if they differ.
fn orders(case: &Value, name: &str, client: &[Line], ours: &[Line]) -> Option<String> {
    let (client, ours) = (sorted(case, client), sorted(case, ours));
    if client == ours {
        return None;
    }
    let mut shown = format!("  {name}: client | ours");
    for index in 0..client.len().max(ours.len()) {
        let (a, b) = (client.get(index), ours.get(index));
        let mark = if a == b { ' ' } else { '!' };
        let side = |line: Option<&Line>| {
            line.map_or("-".to_owned(), |(path, label)| {
                let word = label.split(' ').nth(1).unwrap_or_default();
                format!("{path} {word}")
            })
        };
        let _ = write!(shown, "\n  {mark} {} | {}", side(a), side(b)); // a String takes everything
    }
    Some(shown)
}

fn sorted(case: &Value, lines: &[Line]) -> Vec<Line> {
    let mut lines = lines.to_vec();
    for group in case["unordered"].as_array().into_iter().flatten() {
        let group = strings(group);
        let places: Vec<usize> = (0..lines.len())
            .filter(|place| group.contains(&lines[*place].0))
            .collect();
        let mut inside: Vec<Line> = places.iter().map(|place| lines[*place].clone()).collect();
        inside.sort();
        for (place, line) in places.into_iter().zip(inside) {
            lines[place] = line;
        }
    }
    lines
}

/// Which marker words stand in the texts.
fn markers(truth: &Value, all: &[&Entry]) -> Vec<String> {
    let mut words = Vec::new();
    for entry in all {
        for (at, mark) in entry.text.match_indices("MARK-") {
            let rest = &entry.text[at + mark.len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
            words.push(format!("MARK-{}", &rest[..end.unwrap_or(rest.len())]));
        }
    }
    let wrong =
        members(truth).filter(|(word, there)| there.as_bool() != Some(words.contains(word)));
    wrong
        .map(|(word, there)| format!("  {word}: the client says {there}"))
        .collect()
}

/// Kind, reason and the rest, of the files that the truth names.
fn facts(truth: &Value, all: &[&Entry]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, wanted) in members(truth) {
        let Some(entry) = all.iter().find(|entry| entry.path == *path) else {
            found.push(format!("  {path} is not there"));
            continue;
        };
        for (key, wanted) in members(wanted) {
            let ours = match key.as_str() {
                "kind" => Value::from(entry.kind.clone()),
                "reason" => Value::from(entry.reason.clone()),
                "parent" => Value::from(entry.parent.clone()),
                "globs" => Value::from(entry.globs.clone()),
                "trigger" => Value::from(entry.trigger.clone()),
                other => panic!("a truth names the fact `{other}`"),
            };
            if ours != *wanted {
                found.push(format!("  {key} of {path}: {ours}, should be {wanted}"));
            }
        }
    }
    found
}

fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .trim()
        .to_owned()
}

#[test]
fn differences_are_seen() {
    let entry = |path: &str, text: &str| Entry {
        path: path.to_owned(),
        label: String::new(),
        text: text.to_owned(),
        kind: "Project".to_owned(),
        reason: "include".to_owned(),
        parent: None,
        globs: None,
        trigger: None,
    };
    let shown = Shown {
        start: vec![entry("/a", "MARK-1"), entry("/b", "x")],
        reads: vec![vec![entry("/c", "y")]],
        skipped: vec![("/d".to_owned(), "too large".to_owned())],
    };
    let line = |path: &str| serde_json::json!({"path": path, "label": ""});
    let good = serde_json::json!({
        "start": [line("/a"), line("/b")],
        "later": [line("/c")],
        "later_by_read": [["/c"]],
        "markers": {"MARK-1": true, "MARK-2": false},
        "texts": {"/b": "x\r\n"},
        "facts": {"/a": {"kind": "Project", "reason": "include", "parent": null}},
        "skipped": {"/d": "large"},
    });
    let check = |truth: &Value| problems(&serde_json::json!({"truth": truth}), &shown).len();
    assert_eq!(check(&good), 0);
    for (key, wrong) in [
        ("start", serde_json::json!([line("/b"), line("/a")])),
        ("later", serde_json::json!([])),
        ("later_by_read", serde_json::json!([[]])),
        ("markers", serde_json::json!({"MARK-1": false})),
        ("texts", serde_json::json!({"/b": "z"})),
        ("facts", serde_json::json!({"/a": {"kind": "User"}})),
        ("skipped", serde_json::json!({"/d": "missing"})),
    ] {
        let mut truth = good.clone();
        truth[key] = wrong;
        assert_eq!(check(&truth), 1, "{key}");
    }
    let sets = serde_json::json!({
        "truth": {"start": [line("/b"), line("/a")], "later": [line("/c")]},
        "unordered": [["/a", "/b"]],
    });
    assert!(problems(&sets, &shown).is_empty());
}
