use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

#[test]
fn fields_are_read_by_what_they_hold() {
    let text = r#"{"command":"cargo test","says":["a \"b\"","ü\n"],"fixed":3,"modified":-5,"turns":true,"offered":[["a","one"],["b","two"]]}"#;
    let detail = ItemDetail::from_json(text).unwrap();
    assert_eq!(detail.to_string(), text);
    assert_eq!(detail.read_text(DetailText::Command), Some("cargo test"));
    assert_eq!(
        detail.list_entries(DetailList::Says).collect::<Vec<_>>(),
        ["a \"b\"", "ü\n"]
    );
    assert_eq!(detail.read_count(DetailNumber::Fixed), Some(3));
    assert_eq!(detail.read_signed(DetailNumber::Modified), Some(-5));
    assert_eq!(detail.read_flag(DetailFlag::Turns), Some(true));
    let offered: Vec<_> = detail.list_offered().collect();
    assert_eq!(offered, [("a", "one"), ("b", "two")]);
    assert_eq!(detail.read_text(DetailText::Tool), None);
    assert_eq!(detail.list_entries(DetailList::Asked).count(), 0);
}

#[test]
fn a_field_of_another_type_costs_itself_alone() {
    let text = r#"{"command":7,"says":"one","fixed":"two","turns":1,"asked":["x",null,["y"],"z"],"tool":"cargo"}"#;
    let detail = ItemDetail::from_json(text).unwrap();
    assert_eq!(detail.read_text(DetailText::Command), None);
    assert_eq!(detail.list_entries(DetailList::Says).count(), 0);
    assert_eq!(detail.read_count(DetailNumber::Fixed), None);
    assert_eq!(detail.read_flag(DetailFlag::Turns), None);
    assert_eq!(
        detail.list_entries(DetailList::Asked).collect::<Vec<_>>(),
        ["x", "z"]
    );
    assert_eq!(detail.read_text(DetailText::Tool), Some("cargo"));
    assert_eq!(detail.to_string(), text);
}

#[test]
fn what_is_no_object_is_kept() {
    for text in ["null", "[1,\"a\"]", "\"said\"", "-2.5", "true"] {
        let mut detail = ItemDetail::from_json(text).unwrap();
        detail.set_text(DetailText::Command, "ls");
        assert_eq!(detail.read_text(DetailText::Command), None);
        assert_eq!(detail.to_string(), text);
        assert_eq!(detail, serde_json::from_str(text).unwrap());
    }
    for text in ["", "{", "{\"a\":1} x", "{\"a\":}", "[1"] {
        assert_eq!(ItemDetail::from_json(text), None, "{text}");
    }
}

#[test]
fn of_a_field_that_is_there_twice_the_last_one_counts() {
    let text = r#"{"tool":"a","command":"b","tool":"c"}"#;
    let detail = ItemDetail::from_json(text).unwrap();
    assert_eq!(detail.to_string(), r#"{"tool":"c","command":"b"}"#);
}

#[test]
fn a_detail_is_written_in_the_order_it_was_made() {
    let mut detail = ItemDetail::new()
        .with_text(DetailText::Fingerprint, Some("E1"))
        .with_text(DetailText::Reason, None)
        .with_list(DetailList::Says, ["one", "two"])
        .with_list_of(DetailList::Edits, None)
        .with_number(DetailNumber::Held, 0)
        .with_flag(DetailFlag::Named, false);
    detail.set_offered([("a", "one")]);
    detail.set_text(DetailText::Fingerprint, "E2");
    detail.set_number(DetailNumber::Held, 4);
    let json = r#"{"fingerprint":"E2","reason":null,"says":["one","two"],"edits":null,"held":4,"named":false,"offered":[["a","one"]]}"#;
    assert_eq!(detail.to_string(), json);
    let other = ItemDetail::new()
        .with_list_of(DetailList::Says, Some(&detail))
        .with_list_of(DetailList::Notes, Some(&detail));
    assert_eq!(other.to_string(), r#"{"says":["one","two"],"notes":null}"#);
    detail.remove_text(DetailText::Fingerprint);
    detail.remove_list(DetailList::Asked);
    let json = r#"{"offered":[["a","one"]],"reason":null,"says":["one","two"],"edits":null,"held":4,"named":false}"#;
    assert_eq!(detail.to_string(), json);
}

#[test]
fn entries_can_be_taken_out() {
    let text = r#"{"notes":["a","b","a"],"learned":["a",1,"b"],"tool":"a"}"#;
    let mut detail = ItemDetail::from_json(text).unwrap();
    assert!(detail.retain_entries(DetailList::Notes, |entry| entry != "a"));
    assert!(detail.retain_entries(DetailList::Learned, |entry| entry != "b"));
    assert!(!detail.retain_entries(DetailList::Learned, |entry| entry != "b"));
    assert!(!detail.retain_entries(DetailList::Asked, |_| false));
    assert_eq!(
        detail.to_string(),
        r#"{"notes":["b"],"learned":["a",1],"tool":"a"}"#
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 4.0)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(any::<String>(), 0..4).prop_map(Value::from),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c\"ü]{0,2}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    /// Whatever was stored is written back to the byte, on every way through.
    #[test]
    fn any_json_comes_back_as_it_was(value in any_json()) {
        let text = value.to_string();
        let read = ItemDetail::from_json(&text).unwrap();
        prop_assert_eq!(read.to_string(), text.clone());
        prop_assert_eq!(read.to_value().to_string(), text.clone());
        let converted = ItemDetail::from(value);
        prop_assert_eq!(converted.to_string(), text.clone());
        prop_assert_eq!(&converted, &read);
        let parsed: ItemDetail = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(parsed, read);
    }
}

#[test]
fn order_does_not_make_a_difference_and_values_do() {
    let detail = |value: Value| ItemDetail::from(value);
    let one = detail(json!({"a": 1, "b": ["x"]}));
    assert_eq!(one, detail(json!({"b": ["x"], "a": 1})));
    for other in [
        json!({"a": 1}),
        json!({"a": 1, "b": ["y"]}),
        json!({"a": 1, "c": ["x"]}),
        json!([]),
    ] {
        assert_ne!(one, detail(other));
    }
}
