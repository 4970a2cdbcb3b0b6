//! Misspelt words against words that were taken in: a table of cases, and all
//! words within one step of every word of a small language.

use remora_core::text::{SwapCost, edit_distance};
use rusqlite::Connection;

use remora_memory::store::LookTools;

use super::find_similar_terms;
use crate::migrate;

const KNOWN: &[&str] = &[
    "authent",
    "authentication",
    "author",
    "middleware",
    "midden",
    "connection",
    "connector",
    "serialize",
    "deserialize",
    "lock",
    "clock",
    "block",
    "übergröße",
    "retry",
    "config",
    "kubernetes",
    "postgresql",
    "transaction",
    "getuserbyname",
    "tokenizer",
    "12345678",
    "from",
];

fn with(words: &[&str]) -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    migrate::bring_up(
        &mut conn,
        std::path::Path::new("none"),
        LookTools::default(),
    )
    .unwrap();
    for word in words {
        conn.execute("INSERT INTO words (terms) VALUES (?1)", [word])
            .unwrap();
    }
    conn
}

#[test]
fn words_are_forgiven() {
    let conn = with(KNOWN);
    let cases: &[(&str, &[&str])] = &[
        // Put in, taken out, changed, swapped; at the front, in the middle, at
        // the end.
        ("authentt", &["authent"]),
        ("uathent", &["authent"]),
        ("midleware", &["middleware"]),
        ("middlewear", &["middleware"]),
        ("konnection", &["connection"]),
        ("connectoin", &["connection"]),
        ("lokc", &["lock"]),
        ("rerty", &["retry"]),
        ("blocc", &["block"]),
        ("cofnig", &["config"]),
        ("ubergröße", &[]),
        ("übergröse", &["übergröße"]),
        // Several: the one that begins alike comes first.
        ("flock", &["block", "clock", "lock"]),
        // Two steps in the second half of a long word.
        ("kubernets", &["kubernetes"]),
        ("kbrenetes", &[]),
        ("postgrezkl", &["postgresql"]),
        ("tokenisr", &["tokenizer"]),
        ("getusrbynamme", &[]),
        ("aothur", &[]),
        // Known words are not like themselves.
        ("clock", &["block", "lock"]),
        ("walrus", &[]),
        // What says nothing is not offered.
        ("frmo", &[]),
        ("12345679", &[]),
        // Too short, too long, or odd.
        ("loc", &[]),
        ("", &[]),
        ("\" OR lock", &[]),
        ("lo*k", &[]),
    ];
    for (typed, expected) in cases {
        assert_eq!(
            find_similar_terms(&conn, typed, 8).unwrap(),
            *expected,
            "{typed}"
        );
    }
    assert_eq!(find_similar_terms(&conn, "flock", 1).unwrap(), ["block"]);
    assert_eq!(
        find_similar_terms(&conn, &"lock".repeat(500), 8).unwrap(),
        [""; 0]
    );
}

#[test]
fn every_word_within_one_step_is_found() {
    let alphabet = ['a', 'b', 'c'];
    let mut words: Vec<String> = vec![String::new()];
    for _ in 0..5 {
        let longer = words
            .iter()
            .filter(|word| word.len() + 1 > words[words.len() - 1].len());
        let longer: Vec<String> = longer
            .flat_map(|word| alphabet.map(|c| format!("{word}{c}")))
            .collect();
        words.extend(longer);
    }
    words.retain(|word| word.len() >= 4);
    let references: Vec<&str> = words.iter().map(String::as_str).collect();
    let conn = with(&references);
    for word in words.iter().step_by(3) {
        let mut expected: Vec<&str> = references
            .iter()
            .copied()
            .filter(|other| edit_distance(word, other, SwapCost::One, 1) == Some(1))
            .collect();
        let mut found = find_similar_terms(&conn, word, 1_000).unwrap();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{word}");
    }
}

#[test]
fn words_of_removed_rows_are_not_offered() {
    let conn = with(&["lock"]);
    assert_eq!(find_similar_terms(&conn, "lokc", 8).unwrap(), ["lock"]);
    conn.execute("DELETE FROM words WHERE rowid = 1", [])
        .unwrap();
    conn.execute("INSERT INTO words (words) VALUES ('optimize')", [])
        .unwrap();
    assert_eq!(find_similar_terms(&conn, "lokc", 8).unwrap(), [""; 0]);
}
