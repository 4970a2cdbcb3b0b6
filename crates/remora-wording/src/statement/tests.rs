//! What counts as a statement, and where it is.

use proptest::prelude::*;

use super::*;

#[test]
fn items_and_sentences_with_their_lines() {
    let text = "---\nname: x\n---\n\n# Heading\n\nFirst one. Second, e.g. this\ngoes on. Third\n\n\
                - [ ] ticked? no\n  goes on\n* other\n1. numbered\n\n```\nNot this.\n```\n\
                <!-- nor\nthis -->\n| nor | this |\n---\n> quoted\n\n[ref]: https://x.test\n\nlead up:\n";
    let (_, body) = text.split_once("x\n---\n").unwrap();
    let found: Vec<(usize, String)> = parse_statements(text, body)
        .into_iter()
        .map(|statement| (statement.line, statement.text))
        .collect();
    let expected = [
        (7, "First one."),
        (7, "Second, e.g. this goes on."),
        (8, "Third"),
        (10, "ticked? no goes on"),
        (12, "other"),
        (13, "numbered"),
        (22, "quoted"),
    ];
    let expected: Vec<(usize, String)> = expected
        .into_iter()
        .map(|(line, text)| (line, text.to_owned()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn headings_say_where_a_statement_holds() {
    let only = |text: &str, name: &str| {
        let found = statements_of_body(text, name);
        assert_eq!(found.len(), 1, "{text}");
        found.into_iter().next().unwrap()
    };
    for (one, other, meet) in [
        ("Use tabs", "Use spaces", true),
        ("# App\n\nUse tabs", "Use spaces", true),
        ("## Python\n\nUse tabs", "Use spaces", false),
        ("## Python\n\nUse tabs", "## Go\n\nUse spaces", false),
        ("## Python\n\nUse tabs", "Use spaces in Python", true),
        ("Python\n------\n\nUse tabs", "Use spaces in Python", true),
        ("## Worker\n\nUse tabs", "## Billing\n\nUse spaces", false),
        ("## Worker\n\nUse tabs", "## The worker\n\nUse spaces", true),
        ("## Code style\n\nUse tabs", "## Rules\n\nUse spaces", true),
        ("## Go\n# B\nUse tabs", "Use spaces", true),
        ("####### no\nheading", "Use spaces", true),
    ] {
        let (one, other) = (only(one, "CLAUDE"), only(other, "CLAUDE"));
        assert_eq!(one.has_same_subject(&other), meet, "{one:?} {other:?}");
        assert_eq!(other.has_same_subject(&one), meet, "{one:?} {other:?}");
        assert_eq!(one.shares_headings(&other), one.scope == other.scope);
    }
    assert!(!only("Use tabs", "python").has_same_subject(&only("Use tabs", "CLAUDE")));
}

#[test]
fn fences_close_with_their_own_mark() {
    let text = "````\nUse x\n```\nUse y\n````\n- Use z\n~~~ sh\nUse a\n```\n~~~\n- Use b";
    let found: Vec<String> = statements_of_body(text, "")
        .into_iter()
        .map(|s| s.text)
        .collect();
    assert_eq!(found, ["Use z", "Use b"]);
}

#[test]
fn what_is_too_long_is_left_out() {
    assert_eq!(statements_of_body(&"word ".repeat(1000), ""), []);
    assert_eq!(statements_of_body("", ""), []);
}

proptest! {
    #[test]
    fn any_text_has_its_statements_on_its_lines(text in "[\\PC\n#>.`~*|-]{0,200}") {
        for statement in statements_of_body(&text, "") {
            prop_assert!(statement.line <= text.lines().count());
            prop_assert!(!statement.text.trim().is_empty());
            prop_assert!(!statement.text.contains('\n'));
        }
    }
}
