use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn repair_and_parse(text: &str) -> (Value, Truncation) {
    let (out, cut) = repair_json(text);
    let value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{text:?} -> {out:?}: {e}"));
    (value, cut)
}

#[test]
fn what_was_begun_at_the_end_is_closed_or_dropped() {
    let cases = [
        ("{", json!({})),
        (r#"{"a"#, json!({})),
        (r#"{"a""#, json!({})),
        (r#"{"a":"#, json!({})),
        (r#"{"a":1"#, json!({})),
        (r#"{"a":1,"#, json!({"a": 1})),
        (r#"{"a":1 "#, json!({"a": 1})),
        (r#"{"a":1,"b":tru"#, json!({"a": 1})),
        (r#"{"a":"x"#, json!({"a": "x… [cut off]"})),
        (r#"{"a":"x","#, json!({"a": "x"})),
        (r#"{"a":"x\"#, json!({"a": "x… [cut off]"})),
        (r#"{"a":"x\u00e"#, json!({"a": "x… [cut off]"})),
        (r#"{"a":"x\ud83d"#, json!({"a": "x… [cut off]"})),
        (r#"{"a":"x\ud83d\ude"#, json!({"a": "x… [cut off]"})),
        (r#"{"a":"x\\"#, json!({"a": "x\\… [cut off]"})),
        (
            r#"{"a":{"b":[1,{"c":"d"#,
            json!({"a": {"b": [1, {"c": "d… [cut off]"}]}}),
        ),
        (
            r#"{"a":{"b":[1,{"c":"d"}"#,
            json!({"a": {"b": [1, {"c": "d"}]}}),
        ),
        (r#"{"a":[1,2"#, json!({"a": [1]})),
        (r#"{"a":["}","]"#, json!({"a": ["}", "]… [cut off]"]})),
    ];
    for (text, value) in cases {
        assert_eq!(repair_and_parse(text), (value, Truncation::Cut), "{text}");
    }
}

#[test]
fn what_javascript_writes_and_strict_readers_refuse_is_replaced() {
    let cases = [
        (r#"{"a":"x\ud83d y"}"#, json!({"a": "x\u{fffd} y"})),
        (r#"{"a":"\ude00"}"#, json!({"a": "\u{fffd}"})),
        (r#"{"a":"\ud83d\ud83d\ude00"}"#, json!({"a": "\u{fffd}😀"})),
        (r#"{"\ud83d":1}"#, json!({"\u{fffd}": 1})),
        ("{\"a\":\"x\ty\nz\"}", json!({"a": "x\ty\nz"})),
    ];
    for (text, value) in cases {
        assert_eq!(repair_and_parse(text), (value, Truncation::Whole), "{text}");
    }
}

#[test]
fn what_is_nested_too_deep_is_left_out_and_said() {
    for depth in [119, 120, 500, 100_000] {
        for open in ["[", "{\"k\":"] {
            let close = if open == "[" { "]" } else { "}" };
            let inner = if open == "[" { "\"]\"" } else { "{}" };
            let text = format!(
                "{{\"a\":{}{inner}{},\"b\":\"kept\"}}",
                open.repeat(depth),
                close.repeat(depth)
            );
            let (value, cut) = repair_and_parse(&text);
            assert_eq!(value["b"], "kept");
            let levels = depth + 1 + usize::from(open != "[");
            let expected = if levels > 120 {
                Truncation::Cut
            } else {
                Truncation::Whole
            };
            assert_eq!(cut, expected, "{depth} {open}");
            let (value, cut) = repair_and_parse(&text[..text.len() / 2]);
            assert!(value.is_object());
            assert_eq!(cut, Truncation::Cut);
        }
    }
}

#[test]
fn garbage_stays_garbage() {
    for text in [
        "{]",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12x4\"}",
        "{} {}",
    ] {
        let (out, _) = repair_json(text);
        assert!(
            serde_json::from_str::<Value>(&out).is_err(),
            "{text} -> {out}"
        );
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-e\"\\\\]{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_prefix_of_an_object_can_be_read(value in json_value(), pretty in any::<bool>(), at in any::<prop::sample::Index>()) {
        let object = json!({ "k": value, "end": 1 });
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
        let mut end = at.index(text.len()).max(1);
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let (out, cut) = repair_json(&text[..end]);
        let read: Value = serde_json::from_str(&out).unwrap();
        prop_assert!(read.is_object());
        prop_assert_eq!(cut, if end == text.len() { Truncation::Whole } else { Truncation::Cut });
        let (whole, cut) = repair_json(&text);
        prop_assert_eq!(whole, text);
        prop_assert_eq!(cut, Truncation::Whole);
    }

    #[test]
    fn any_text_is_survived(text in any::<String>(), odd in "[\\[\\]{}\":,\\\\u0d8 x]{0,40}") {
        repair_json(&text);
        let (out, _) = repair_json(&odd);
        prop_assert!(out.len() <= odd.len() * 6 + 200);
    }
}
