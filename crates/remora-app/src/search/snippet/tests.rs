//! Snippets, with their words in brackets.

use serde_json::json;

use super::*;

fn told(query: &str, text: &str, facts: &[&str]) -> String {
    let item: Item = serde_json::from_value(json!({
        "id": 1, "uid": "u", "kind": "change", "title": "t", "text": text, "facts": facts,
        "time": 0, "project": "p", "session": "s", "agent": "a",
    }))
    .unwrap();
    let found = build_snippet(
        &item,
        &SearchTerms::new(&Query::parse(query)),
        MAX_SNIPPET_CHARS,
    );
    assert!(found.text.chars().count() <= MAX_SNIPPET_CHARS, "{found:?}");
    found.highlight_words(|word| format!("[{word}]"))
}

#[test]
fn words_are_marked_in_whatever_form_they_stand() {
    for (query, text, marked) in [
        ("parse", "It parses the file.", "It [parses] the file."),
        ("token", "let accessToken = 1;", "let [accessToken] = 1;"),
        ("缓存", "修改了缓存的过期时间", "修改了[缓存]的过期时间"),
        ("E0308", "error[E0308]: bad", "error[[E0308]]: bad"),
        ("cart", "thread 'cart' of 'em", "thread '[cart]' of 'em"),
        ("absent", "nothing of it", "nothing of it"),
        ("", "nothing asked", "nothing asked"),
        ("x", "", ""),
        ("a b", "\u{1b}[1ma\r\n\tb", "[1m[a] [b]".trim_start()),
    ] {
        let found = told(query, text, &[]);
        if query == "a b" {
            // Single letters may be stop words; what counts is the one line.
            assert!(!found.contains(['\n', '\r', '\u{1b}']), "{found:?}");
        } else {
            assert_eq!(found, marked, "{query}");
        }
    }
}

#[test]
fn the_part_with_most_words_is_shown() {
    let text = format!(
        "retry {} the retry budget of the queue was too small {}",
        "filler ".repeat(60),
        "filler ".repeat(60)
    );
    let found = told("retry queue budget", &text, &[]);
    assert!(
        found.contains("the [retry] [budget] of the [queue]"),
        "{found}"
    );
    assert!(found.starts_with('…') && found.ends_with('…'), "{found}");
    assert!(told("limit", "text", &["the limit is 4"]).contains("the [limit] is 4"));
}

#[test]
fn long_text_without_blanks_is_cut() {
    for text in ["x".repeat(9000), "界".repeat(9000), "界 ".repeat(9000)] {
        told("x 界", &text, &[&text]);
        told("none", &text, &[]);
    }
}
