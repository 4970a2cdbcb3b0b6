//! Heads as people write them, from `cases/frontmatter`, and hostile ones.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::{MAX_BYTES, Value, read, split};

fn cases(name: &str) -> Vec<Json> {
    let path = format!("{}/cases/frontmatter/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn json(value: &Value) -> Json {
    match value {
        Value::Text(text) => Json::from(text.as_str()),
        Value::List(items) => Json::Array(items.iter().map(json).collect()),
        Value::Map(entries) => map(entries),
        Value::Null => Json::Null,
        Value::Bool(yes) => Json::Bool(*yes),
        Value::Number(text) => serde_json::json!({ "number": text }),
    }
}

fn map(entries: &[(String, Value)]) -> Json {
    Json::Object(entries.iter().map(|(k, v)| (k.clone(), json(v))).collect())
}

#[test]
fn heads_are_cut_where_the_client_cuts_them() {
    for case in cases("split.json") {
        let text = case["text"].as_str().unwrap();
        let want = (case["front"].as_str(), case["body"].as_str().unwrap());
        assert_eq!(split(text), want, "{text:?}");
    }
}

#[test]
fn heads_are_read() {
    for case in cases("read.json") {
        let front = case["front"].as_str().unwrap();
        let got = read(front);
        match case["error"].as_str() {
            Some(part) => assert!(
                got.as_ref().is_err_and(|e| e.contains(part)),
                "{front:?}: {got:?}"
            ),
            None => assert_eq!(
                got.as_deref().map(map),
                Ok(case["values"].clone()),
                "{front:?}"
            ),
        }
    }
}

#[test]
fn keys_keep_their_order() {
    let entries = read("z: 1\na: 2\nm: 3\na: 4\n").unwrap();
    let keys: Vec<&str> = entries.iter().map(|(k, _)| k.as_str()).collect();
    assert_eq!(keys, ["z", "a", "m"]);
}

#[test]
fn a_bomb_of_aliases_is_refused() {
    let level = |n: usize| {
        let below = n - 1;
        format!("a{n}: &a{n} [*a{below}, *a{below}]")
    };
    let mut bomb = vec!["a0: &a0 [x, x]".to_owned()];
    bomb.extend((1..40).map(level));
    let bomb = bomb.join("\n");
    assert!(read(&bomb).unwrap_err().contains("alias"));

    let text = format!("t: &t {}\nl: [{}]\n", "x".repeat(2000), "*t, ".repeat(1000));
    assert!(read(&text).unwrap_err().contains("repeat too much"));
}

#[test]
fn depth_count_and_length_are_limited() {
    let flow = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
    let block: String = (0..200).map(|n| " ".repeat(n) + "a:\n").collect();
    for deep in [flow, block] {
        assert!(read(&deep).unwrap_err().contains("too deeply nested"));
    }
    // Never closed, so it is no YAML, and then it is a text.
    assert_eq!(
        read(&format!("a: {}", "[".repeat(50_000))).unwrap().len(),
        1
    );
    assert!(read(&format!("a: {}", "- ".repeat(50_000))).is_err());
    assert!(read(&format!("a: [{}]", "x, ".repeat(30_000))).is_err());
    assert!(read(&format!("a: {}", "x".repeat(MAX_BYTES))).is_err());
}

#[test]
fn long_heads_are_read_in_time() {
    let many: Vec<String> = (0..9_000).map(|n| format!("key{n}: value {n}")).collect();
    assert_eq!(read(&many.join("\n")).unwrap().len(), 9_000);
    let quoted = format!("a: \"{}\"\n", "x ".repeat(100_000));
    assert_eq!(read(&quoted).unwrap().len(), 1);
    let stars = "k: *x: [y\n".repeat(5_000);
    assert_eq!(read(&stars).unwrap().len(), 1);
}

proptest! {
    #[test]
    fn any_text_is_cut_and_read(text in any::<String>()) {
        let (front, body) = split(&text);
        prop_assert!(text.ends_with(body));
        let _ = read(front.unwrap_or(&text));
    }

    #[test]
    fn near_yaml_is_read(text in "[-a:#&*!|>%@`'\"{}\\[\\], \t\r\n.?~1]{0,80}") {
        let _ = read(&text);
        let head = format!("---\n{text}\n---\nbody");
        prop_assert!(split(&head).0.is_some());
    }

    #[test]
    fn plain_values_come_back(key in "[a-z_-]{0,8}[a-z]", value in "[a-z][a-z ]{0,30}[a-z]") {
        prop_assume!(!matches!(value.as_str(), "true" | "false" | "null"));
        prop_assume!(!key.starts_with('-'));
        prop_assume!(!matches!(key.as_str(), "true" | "false" | "null"));
        let got = read(&format!("{key}: {value}\n"));
        prop_assert_eq!(got, Ok(vec![(key, Value::Text(value))]));
    }
}
