use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::growth::{MAX_GROWTH, cost_growth};

#[test]
fn private_passages_leave_a_mark() {
    let rows = [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b</Private> c", "a [private] c"),
        ("<private>a <private>b</private> c</private>d", "[private]d"),
        ("a <private>b", "a [private]"),
        ("a <private", "a [private]"),
        (
            "a <private reason='x'>b</private>c<private>d</private>e",
            "a [private]c[private]e",
        ),
        ("a </private> b", "a </private> b"),
        ("a <privateer>b</privateer>", "a <privateer>b</privateer>"),
        ("a <private>b\r\nc</private >d", "a [private]d"),
        ("é<private>密</private>码", "é[private]码"),
        ("a <private/> b", "a [private] b"),
        ("if a < b && private > c", "if a < b && private > c"),
    ];
    for (text, clean) in rows {
        assert_eq!(strip_private(text), clean, "{text}");
    }
}

#[test]
fn injected_blocks_leave_nothing() {
    let rows = [
        (
            "a <remora-context project=\"x\">b\nc</remora-context> d",
            "a  d",
        ),
        ("<remora-context>a", ""),
        ("a<Remora-Context>b</REMORA-CONTEXT>c", "ac"),
        ("a <remora> b", "a <remora> b"),
    ];
    for (text, clean) in rows {
        assert_eq!(strip_injected(text), clean, "{text}");
    }
}

#[test]
fn every_string_of_a_value_is_stripped() {
    let mut value = json!({"a": ["x <private>y</private>", {"b": "<remora-context>z</remora-context>w"}], "n": 1});
    strip_value(&mut value);
    assert_eq!(value, json!({"a": ["x [private]", {"b": "w"}], "n": 1}));
}

#[test]
fn plain_text_is_borrowed() {
    assert!(matches!(strip_private("a < b"), Cow::Borrowed(_)));
    assert!(matches!(strip_injected("a <b> c"), Cow::Borrowed(_)));
}

#[test]
fn what_is_left_joins_to_no_new_tag() {
    assert_eq!(strip_private("<private<private/>>a"), "<private[private]>a");
}

proptest! {
    #[test]
    fn nothing_private_is_left(
        parts in prop::collection::vec(
            prop::sample::select(vec!["<private>", "</private>", "<PRIVATE x>", "a", "<", "é", ">", "/", "<private"]), 0..16)
    ) {
        let text = parts.concat();
        let once = strip_private(&text).into_owned();
        prop_assert_eq!(strip_private(&once), once.as_str());
    }
}

#[test]
fn a_closing_tag_hides_no_opening_one() {
    for text in [
        "a </private <private>b</private> c",
        "<private>a</private <private>b</private> c</private> d",
        "</private\n<private>b",
    ] {
        let clean = strip_private(text);
        assert!(!clean.contains('b'), "{text}: {clean}");
    }
}

#[test]
fn no_text_costs_more_than_its_length() {
    for unit in [
        "</private ",
        "</private",
        "</private\n\t ",
        "<private ",
        "<private>",
        "<private/>",
        "<private></private>",
        "<private",
        "</remora-context ",
        "<remora-context ",
        "<",
        "</",
    ] {
        let growth = cost_growth(unit, 16 * 1024, |text| {
            let _ = (strip_private(text), strip_injected(text));
        });
        assert!(growth < MAX_GROWTH, "{unit:?} grows {growth:.1} times");
    }
}
