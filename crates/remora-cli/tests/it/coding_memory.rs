//! The coding-memory set is what its README says: two disjoint halves in the
//! format of `remora bench retrieval`, with nothing private in them.
//!
//! Owns the invariants of the files, not how well any search does on them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const CATEGORIES: [&str; 7] = [
    "decision",
    "error-fix",
    "file",
    "how-to",
    "identifier",
    "multilingual",
    "when-why",
];
const SPEAKERS: [&str; 4] = ["assistant", "commit", "tool", "user"];
const LARGEST_FOLDER: u64 = 3 * 1024 * 1024;

/// One half of the set, as its two files hold it.
struct Half {
    name: &'static str,
    rows: Vec<Value>,
    queries: Vec<Value>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/coding-memory")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn halves() -> [Half; 2] {
    ["dev", "test"].map(|name| Half {
        name,
        rows: lines(&folder().join(name).join("corpus.jsonl")),
        queries: lines(&folder().join(name).join("queries.jsonl")),
    })
}

fn text<'a>(line: &'a Value, key: &str) -> &'a str {
    line[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} is no text in {line}"))
}

fn convs(half: &Half) -> BTreeSet<&str> {
    half.rows.iter().map(|row| text(row, "conv")).collect()
}

fn relevant(query: &Value) -> Vec<&str> {
    let ids = query["relevant"].as_array().unwrap();
    ids.iter().map(|id| id.as_str().unwrap()).collect()
}

/// Text that looks like an address of somebody, if there is any.
fn address(text: &str) -> Option<&str> {
    let host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    text.match_indices('@').find_map(|(at, _)| {
        let before = text[..at].chars().next_back()?;
        let after = &text[at + 1..];
        let end = after.find(|c| !host(c)).unwrap_or(after.len());
        let name = after[..end].trim_end_matches('.');
        let (_, last) = name.rsplit_once('.')?;
        let real = before.is_ascii_alphanumeric()
            && last.len() >= 2
            && last.chars().all(|c| c.is_ascii_alphabetic())
            && !name.starts_with("example.");
        real.then_some(name)
    })
}

/// The folder of a path that exists on somebody's machine only, if there is any.
fn private_path(text: &str) -> Option<&str> {
    let homes = text.match_indices("/home/").map(|(at, _)| &text[at + 6..]);
    let stranger = homes.into_iter().find(|rest| !rest.starts_with("dev"));
    ["root", "work", "Users"]
        .into_iter()
        .find(|folder| text.contains(&format!("/{folder}/")))
        .or(stranger)
}

#[test]
fn rows_are_well_formed_and_ordered() {
    let mut ids = HashSet::new();
    let mut sessions: HashMap<String, (String, u64, String)> = HashMap::new();
    for half in halves() {
        for row in &half.rows {
            let id = text(row, "id");
            let conv = text(row, "conv");
            assert!(ids.insert(id.to_owned()), "{id} occurs twice");
            assert!(id.starts_with(&format!("{conv}:")), "{id} is not of {conv}");
            assert!(SPEAKERS.contains(&text(row, "speaker")), "{id}");
            assert!(!text(row, "text").trim().is_empty(), "{id} says nothing");
            let seq = row["seq"].as_u64().unwrap();
            let when = text(row, "timestamp").to_owned();
            assert_eq!(when.len(), "2026-01-12T09:02:00".len(), "{id}");
            let session = text(row, "session").to_owned();
            let before = sessions.insert(session, (conv.to_owned(), seq, when.clone()));
            match before {
                None => assert_eq!(seq, 0, "{id} opens its session"),
                Some((of, last, earlier)) => {
                    assert_eq!(of, conv, "{id}: a session is of one project");
                    assert_eq!(seq, last + 1, "{id} follows the row before it");
                    assert!(earlier <= when, "{id} is told before {earlier}");
                }
            }
        }
    }
}

#[test]
fn queries_point_at_rows_of_their_own_project() {
    let mut ids = HashSet::new();
    for half in halves() {
        let rows: HashMap<&str, &Value> =
            half.rows.iter().map(|row| (text(row, "id"), row)).collect();
        let mut asked = HashSet::new();
        for query in &half.queries {
            let id = text(query, "id");
            assert!(ids.insert(id.to_owned()), "{id} occurs twice");
            let category = text(query, "category");
            assert!(CATEGORIES.contains(&category), "{id}: {category}");
            let question = (text(query, "conv"), text(query, "text"));
            assert!(asked.insert(question), "{id} is asked twice");
            let wanted = relevant(query);
            assert!((1..=4).contains(&wanted.len()), "{id}: {wanted:?}");
            assert_eq!(
                wanted.iter().collect::<HashSet<_>>().len(),
                wanted.len(),
                "{id}"
            );
            for doc in wanted {
                let row = rows
                    .get(doc)
                    .unwrap_or_else(|| panic!("{id}: no row {doc}"));
                assert_eq!(row["conv"], query["conv"], "{id}: {doc}");
                assert_ne!(row["text"], query["text"], "{id} repeats {doc}");
            }
        }
    }
}

#[test]
fn halves_share_no_project_and_are_large_enough() {
    let [dev, test] = halves();
    let shared: Vec<&str> = convs(&dev).intersection(&convs(&test)).copied().collect();
    assert_eq!(shared, Vec::<&str>::new());
    assert!(dev.rows.len() + test.rows.len() >= 2_500);
    for half in [&dev, &test] {
        assert!(convs(half).len() >= 4, "{}", half.name);
        assert!(half.queries.len() >= 90, "{}", half.name);
        let mut counts: BTreeMap<&str, usize> = CATEGORIES.map(|name| (name, 0)).into();
        for query in &half.queries {
            *counts.get_mut(text(query, "category")).unwrap() += 1;
        }
        let thin: Vec<_> = counts.iter().filter(|(_, count)| **count < 20).collect();
        assert_eq!(thin, Vec::new(), "{}", half.name);
    }
}

#[test]
fn nothing_private_is_in_it() {
    for half in halves() {
        for line in half.rows.iter().chain(&half.queries) {
            let said = text(line, "text");
            assert_eq!(address(said), None, "{}", line["id"]);
            assert_eq!(private_path(said), None, "{}", line["id"]);
        }
    }
    assert_eq!(address("mail someone@mail.net today"), Some("mail.net"));
    assert_eq!(
        address("qs@6.13.0 and\n@click.command, you@example.com"),
        None
    );
    assert_eq!(private_path("at /home/dev/x"), None);
    assert_eq!(private_path("at /home/somebody/x"), Some("somebody/x"));
    assert_eq!(private_path("at /Users/x"), Some("Users"));
}

#[test]
fn every_project_is_named_with_its_licence() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let notice = fs::read_to_string(folder().join("NOTICE")).unwrap();
    for half in halves() {
        for conv in convs(&half) {
            assert!(readme.contains(&format!("| {conv} ")), "{conv}");
            assert!(notice.contains(&format!("## {conv} ")), "{conv}");
        }
    }
    let size: u64 = ["dev", "test"]
        .iter()
        .flat_map(|half| fs::read_dir(folder().join(half)).unwrap())
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(size <= LARGEST_FOLDER, "{size}");
}
