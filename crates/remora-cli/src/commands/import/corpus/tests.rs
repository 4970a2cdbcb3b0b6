//! Messages as others write them.

use super::*;

fn message(json: &str) -> CorpusMessage {
    serde_json::from_str(json).unwrap()
}

#[test]
fn moments_in_the_forms_people_write() {
    for (text, millis) in [
        ("2023-05-08T13:56:00", Some(1_683_554_160_000)),
        ("2023-05-08 13:56:00", Some(1_683_554_160_000)),
        ("2023-05-08T13:56:00Z", Some(1_683_554_160_000)),
        ("2023-05-08T13:56:00.250+02:00", Some(1_683_546_960_250)),
        (" 2023-05-08 ", Some(1_683_504_000_000)),
        ("1:56 pm on 8 May, 2023", None),
        ("", None),
    ] {
        assert_eq!(parse_timestamp(text), millis, "{text}");
    }
    assert_eq!(number_to_millis(1_683_554_160.0), Some(1_683_554_160_000));
    assert_eq!(
        number_to_millis(1_683_554_160_000.0),
        Some(1_683_554_160_000)
    );
    assert_eq!(number_to_millis(1e300), None);
}

#[test]
fn names_are_stable_and_distinct() {
    let one = derive_uid(&["p", "c", "1"]);
    assert_eq!(one, derive_uid(&["p", "c", "1"]));
    assert_ne!(one, derive_uid(&["p", "c1", ""]));
    assert_eq!(one.len(), 36);
    assert_eq!(&one[14..15], "8");
    assert!("89ab".contains(&one[19..20]), "{one}");
}

#[test]
fn titles_are_one_short_line() {
    assert_eq!(derive_title(" a\n\tb "), "a b");
    assert_eq!(derive_title("\n"), "(empty)");
    let long = derive_title(&"word ".repeat(100));
    assert!(
        long.ends_with("word…") && long.chars().count() <= MAX_TITLE_CHARS,
        "{long}"
    );
    let unbroken = derive_title(&"é".repeat(500));
    assert_eq!(unbroken.chars().count(), MAX_TITLE_CHARS);
}

#[test]
fn numbers_serve_as_names_and_sessions_of_conversations_stay_apart() {
    let item = message(r#"{"id":7,"conv":"a","session":1,"text":"x"}"#).into_item("p", 5);
    assert_eq!(item.external_id.as_deref(), Some("7"));
    assert_eq!(item.session, "a/1");
    let own = message(r#"{"id":7,"conv":"a","session":"a:S1","text":"x"}"#).into_item("p", 5);
    assert_eq!(own.session, "a:S1");
    let bare = message(r#"{"id":7,"text":"x"}"#).into_item("p", 5);
    assert_eq!(bare.session, "p");
}

#[test]
fn what_is_private_or_our_own_is_left_out() {
    let text = "keep <private>not this</private> <remora-context>nor this</remora-context>end";
    let json = serde_json::json!({"id": "1", "conv": "c", "text": text}).to_string();
    let item = message(&json).into_item("c", 0);
    assert_eq!(item.text, "keep [private] end");
    assert_eq!(item.title, "keep [private] end");
}
