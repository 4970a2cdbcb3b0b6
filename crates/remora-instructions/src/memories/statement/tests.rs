//! What counts as a statement, and where it stands.

use proptest::prelude::*;

use super::*;

#[test]
fn items_and_sentences_with_their_lines() {
    let text = "---\nname: x\n---\n\n# Heading\n\nFirst one. Second, e.g. this\ngoes on. Third\n\n\
                - [ ] ticked? no\n  goes on\n* other\n1. numbered\n\n```\nNot this.\n```\n\
                <!-- nor\nthis -->\n| nor | this |\n---\n> quoted\n\n[ref]: https://x.test\n\nlead up:\n";
    let found: Vec<(usize, String)> = statements(text)
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
fn what_is_too_long_is_left_out() {
    assert_eq!(statements(&"word ".repeat(1000)), []);
    assert_eq!(statements(""), []);
}

proptest! {
    #[test]
    fn any_text_has_its_statements_on_its_lines(text in "[\\PC\n#>.`~*|-]{0,200}") {
        for statement in statements(&text) {
            prop_assert!(statement.line <= text.lines().count());
            prop_assert!(!statement.text.trim().is_empty());
            prop_assert!(!statement.text.contains('\n'));
        }
    }
}
