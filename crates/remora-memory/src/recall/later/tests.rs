use super::*;
use crate::testing::item;

fn said(title: &str, time: i64) -> Item {
    Item {
        kind: Kind::Decision,
        time,
        last_time: time,
        ..item(title, title)
    }
}

/// What was said, what was said later, and whether that replaces it.
const CASES: &[(&str, &str, bool)] = &[
    (
        "Let's use tantivy for it",
        "We drop tantivy and write our own index",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "Let's drop tantivy",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "Stop using tantivy.",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "We no longer use tantivy; the index is our own",
        true,
    ),
    (
        "We decided to use tantivy for the search index",
        "Switch from tantivy to our own search index",
        true,
    ),
    (
        "We decided to use tantivy",
        "Actually, let's not use tantivy for the search index, use our own",
        true,
    ),
    (
        "Use Postgres for the job queue",
        "Use Redis for the job queue with one worker",
        true,
    ),
    (
        "The retry limit is 3",
        "The retry limit is 5 from now on",
        true,
    ),
    (
        "Use print for debugging",
        "Never use print, use the logger",
        true,
    ),
    (
        "Redis holds the sessions",
        "Redis goes away next week",
        true,
    ),
    ("我们使用 tantivy 做搜索", "不再使用 tantivy", true),
    ("我们用 redis 存会话", "把 redis 换成 postgres", true),
    (
        "Let's use tantivy for it",
        "Tests go next to the module",
        false,
    ),
    (
        "We decided to use httpx for all HTTP calls",
        "We decided to use UTC everywhere",
        false,
    ),
    (
        "We decided to use exponential backoff with jitter instead of fixed delays",
        "Always use pathlib instead of os.path in this project",
        false,
    ),
    (
        "Never commit directly to the main branch.",
        "Always rebase a feature branch instead of merging it.",
        false,
    ),
    (
        "Use bcrypt for password hashing",
        "Remove the password hint field",
        false,
    ),
    (
        "We decided that the retry limit is 3",
        "We decided to support Python 3.10 and later",
        false,
    ),
    (
        "Never use print for logging, use the logger instead.",
        "We will go with SQLite instead of a JSON file for the cache.",
        false,
    ),
    (
        "Every feature gets a changelog entry",
        "Use feature switches for rollout",
        false,
    ),
    (
        "Use Redis for the job queue",
        "Log every failure of the job queue",
        false,
    ),
    (
        "Use httpx for the API client",
        "Write tests for the API client",
        false,
    ),
    (
        "We drop tantivy",
        "We dropped tantivy because it is big",
        true,
    ),
];

#[test]
fn what_a_later_statement_replaces() {
    let wrong: Vec<_> = CASES
        .iter()
        .filter(|(old, new, replaced)| {
            let (old, new) = (said(old, 1), said(new, 9));
            Later::among([&new]).replace(&old) != *replaced || Later::among([&old]).replace(&new)
        })
        .collect();
    assert_eq!(wrong, Vec::<&(&str, &str, bool)>::new());
}

#[test]
fn what_stands_beside_a_statement_takes_back_too() {
    let mut new = said("Our own index is good enough", 9);
    new.detail = Some(serde_json::json!({ TAKES_BACK: "let us drop tantivy then" }));
    assert!(Later::among([&new]).replace(&said("Use tantivy", 1)));
    assert!(Later::among([&new]).replace_note("Decision: Use tantivy for the index", 1));
    assert!(!Later::among([&new]).replace_note("Decision: Use tantivy for the index", 10));
}

#[test]
fn sentences_that_take_something_back_are_found() {
    assert_eq!(
        reversal("It is too big. Let's drop tantivy then. Good."),
        Some("Let's drop tantivy then".to_owned())
    );
    assert_eq!(reversal("Feature switches and dropdowns are fine"), None);
}
