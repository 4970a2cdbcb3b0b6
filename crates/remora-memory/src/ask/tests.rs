//! What becomes of the box: cases, and what must hold for any text.

use std::fmt::Write;

use proptest::prelude::*;

use remora_core::record::Kind;

use super::{ProjectSelection, SearchInput};
use crate::fingerprint::fingerprint_error;
use crate::words::{Query, TermGroup};

/// Times as the caller would read them, but fixed.
fn time(text: &str) -> Option<(i64, i64)> {
    match text {
        "2026-11-01" => Some((100, 200)),
        "yesterday" => Some((300, 400)),
        "7d" => Some((500, 500)),
        "last week" => Some((600, 700)),
        "2026-11-15 14:30" => Some((800, 800)),
        "3 days" | "3 days ago" => Some((900, 900)),
        _ => None,
    }
}

/// Each word as its ways, separated by `|`; a phrase stands in quotes.
fn groups(groups: &[TermGroup]) -> String {
    let shown = groups.iter().map(|group| {
        let ways: Vec<String> = group.ways().iter().map(|way| way.join("+")).collect();
        match (group.phrase(), group.prefix()) {
            (Some(_), _) => format!("\"{}\"", ways.join("|")),
            (_, Some(prefix)) => format!("{prefix}*"),
            _ => ways.join("|"),
        }
    });
    shown.collect::<Vec<String>>().join(" ")
}

fn filters(ask: &SearchInput) -> String {
    let filter = &ask.filter;
    let mut out = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(out, "{name}={} ", value.escape_default());
        }
    };
    add("file", filter.file.clone());
    let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.name()).collect();
    add("kinds", Some(kinds.join(",")).filter(|k| !k.is_empty()));
    let project = filter.project.as_ref().map(|project| match project {
        ProjectSelection::All => "*",
        ProjectSelection::Named(name) => name,
    });
    add("project", project.map(str::to_owned));
    add("since", filter.since.map(|at| at.to_string()));
    add("until", filter.until.map(|at| at.to_string()));
    add("session", filter.session.clone());
    add("agent", filter.agent.clone());
    add(
        "error",
        filter.error.as_ref().map(|error| error.text.clone()),
    );
    out.trim_end().to_owned()
}

#[test]
fn typed_text_becomes_a_question() {
    let cases = include_str!("../../cases/ask.tsv");
    let mut wrong = String::new();
    let mut count = 0;
    for line in cases.lines().filter(|line| !line.starts_with("# ")) {
        count += 1;
        let mut columns = line.split('\t');
        let mut next = || columns.next().unwrap_or_default();
        let (typed, words, narrowed, without, notes) = (next(), next(), next(), next(), next());
        let ask = SearchInput::parse(&typed.replace("\\n", "\n"), time);
        let notes: Vec<&str> = notes
            .split(" ;; ")
            .filter(|note| !note.is_empty())
            .collect();
        let agree = notes.len() == ask.notes.len()
            && notes
                .iter()
                .zip(&ask.notes)
                .all(|(note, told)| told.starts_with(note));
        let found = [
            groups(ask.query.groups()),
            filters(&ask),
            groups(ask.query.excluded_groups()),
        ];
        if found != [words, narrowed, without] || !agree {
            let _ = writeln!(wrong, "{typed}\n  {found:?}\n  {:?}", ask.notes);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 120, "only {count} cases were read");
}

#[test]
fn what_is_asked_for_is_kept_as_typed() {
    for (typed, text) in [
        (" why \"Empty Cart\"  fails ", "why \"Empty Cart\"  fails"),
        ("why kind:fix Empty -discount cart", "why Empty cart"),
        ("kind:fix", ""),
        (
            "cart error:no such file /home/dev/a/b.rs:14",
            "cart no such file b.rs",
        ),
    ] {
        assert_eq!(
            SearchInput::parse(typed, time).query.text(),
            text,
            "{typed:?}"
        );
    }
}

#[test]
fn only_an_error_favours_kinds() {
    let favours = |typed| {
        SearchInput::parse(typed, time)
            .query
            .favoured_kinds()
            .to_vec()
    };
    assert_eq!(favours("cart kind:fix"), []);
    assert_eq!(favours("error:E0502"), [Kind::Fix, Kind::Failure]);
}

#[test]
fn an_error_has_the_name_that_it_was_stored_under() {
    let stored = |text: &str| fingerprint_error("", &[], text).unwrap();
    let asked = |typed: &str| {
        SearchInput::parse(typed, time)
            .filter
            .error
            .unwrap()
            .fingerprints
    };
    let met = "error: no such table: carts (at 2026-11-15 09:30, pid 4711)";
    // Pasted as it was printed, and typed behind the name of the filter.
    assert_eq!(asked(met)[0], stored(met));
    assert_eq!(
        asked("error:no such table: carts (at 2026-11-16 11:00, pid 12)")[1],
        stored(met)
    );
    assert!(
        asked("error:137")
            .iter()
            .all(|print| print.normal.contains("error"))
    );
}

#[test]
fn a_blank_box_asks_for_the_newest() {
    let blank = |typed| SearchInput::parse(typed, time).query.is_blank();
    assert!(blank(""));
    assert!(blank("kind:fix since:7d -discount"));
    assert!(!blank("kind:fix ***"));
    assert!(!blank("error:E0502"));
}

#[test]
fn rows_that_hold_what_is_left_out_are_not_allowed() {
    for (typed, row, allowed) in [
        ("cart", "anything at all", true),
        ("cart -discount", "an empty cart", true),
        ("cart -discount", "Discounts in a cart", false),
        ("cart -parseRequest", "parse the next request", true),
        ("cart -parseRequest", "parse_request(cart)", false),
        (
            "cart -\"out of memory\"",
            "memory ran out of the cart",
            true,
        ),
        ("cart -\"out of memory\"", "cart: Out of memory!", false),
        ("cart -src/cart.rs", "src/main.rs and cart.rs", true),
        ("cart -src/cart.rs", "in src/cart.rs:14", false),
        ("cart -数据库", "数据和库", true),
        ("cart -数据库", "连接数据库", false),
        ("cart -库", "数据库", false),
        ("cart -\"0502\"", "error E0502", false),
    ] {
        let query = SearchInput::parse(typed, time).query;
        assert_eq!(
            query.allows_texts(["title", row]),
            allowed,
            "{typed:?} of {row:?}"
        );
    }
}

/// Text with what the language is made of.
fn messy() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "-?(file|kind|since|until|project|session|agent|error):",
        "[a-z]{1,6}",
        "(fix|7d|last week|yesterday|\\*|x,prompt)",
        "[-\"“”:,./\\\\|$=]{1,3}",
        "[ \t\r\n]",
        "[数据库é\u{301}]{0,3}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn whatever_is_typed_is_bounded(text in messy()) {
        let ask = SearchInput::parse(&text.repeat(5), time);
        prop_assert!(ask.query.groups().len() <= 32 && ask.query.excluded_groups().len() <= 16);
        prop_assert!(ask.notes.len() <= 8);
        for note in &ask.notes {
            prop_assert!(note.chars().count() <= 400 && !note.contains('\n'), "{note}");
        }
    }

    #[test]
    fn plain_text_is_what_it_was(text in "([a-z]{1,7}[.,]? |[0-9]{1,2}:[0-9]{2} |\"[a-z ]{1,9}\" |[A-Z]:x |a-b |数据库 |\n){0,12}") {
        let ask = SearchInput::parse(&text, time);
        prop_assert_eq!(&ask, &SearchInput { query: Query::parse(&text), ..SearchInput::default() });
    }

    #[test]
    fn a_prompt_leaves_nothing_out(text in messy()) {
        let query = Query::parse(&text);
        prop_assert!(query.excluded_groups().is_empty() && query.favoured_kinds().is_empty());
        prop_assert!(query.allows_texts([text.as_str()]));
    }

    #[test]
    fn what_is_left_out_is_held_by_itself(text in "[a-zA-Z_数据/.]{5,20}") {
        let ask = SearchInput::parse(&format!("zebra -\"{text}\""), time);
        if !ask.query.excluded_groups().is_empty() {
            prop_assert!(!ask.query.allows_texts([text.as_str()]), "{text:?}");
        }
    }
}
