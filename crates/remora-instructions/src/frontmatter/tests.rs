//! Heads as users write them, from `cases/frontmatter`, and hostile ones.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::{FrontmatterValue, MAX_FRONTMATTER_BYTES, parse_frontmatter, split_frontmatter};

fn cases(name: &str) -> Vec<Json> {
    let path = format!("{}/cases/frontmatter/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn json(value: &FrontmatterValue) -> Json {
    match value {
        FrontmatterValue::Text(text) => Json::from(text.as_str()),
        FrontmatterValue::List(items) => Json::Array(items.iter().map(json).collect()),
        FrontmatterValue::Map(entries) => map(entries),
        FrontmatterValue::Null => Json::Null,
        FrontmatterValue::Bool(yes) => Json::Bool(*yes),
        FrontmatterValue::Number(text) => serde_json::json!({ "number": text }),
    }
}

fn map(entries: &[(String, FrontmatterValue)]) -> Json {
    Json::Object(entries.iter().map(|(k, v)| (k.clone(), json(v))).collect())
}

#[test]
fn heads_are_cut_where_the_client_cuts_them() {
    for case in cases("split.json") {
        let text = case["text"].as_str().unwrap();
        let want = (case["front"].as_str(), case["body"].as_str().unwrap());
        assert_eq!(split_frontmatter(text), want, "{text:?}");
    }
}

#[test]
fn heads_are_read() {
    for case in cases("read.json") {
        let front = case["front"].as_str().unwrap();
        let got = parse_frontmatter(front);
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
    let entries = parse_frontmatter("z: 1\na: 2\nm: 3\na: 4\n").unwrap();
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
    assert!(parse_frontmatter(&bomb).unwrap_err().contains("alias"));

    let text = format!("t: &t {}\nl: [{}]\n", "x".repeat(2000), "*t, ".repeat(1000));
    assert!(
        parse_frontmatter(&text)
            .unwrap_err()
            .contains("repeat too much")
    );
}

#[test]
fn depth_count_and_length_are_limited() {
    let flow = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
    let block: String = (0..200).map(|n| " ".repeat(n) + "a:\n").collect();
    for deep in [flow, block] {
        assert!(
            parse_frontmatter(&deep)
                .unwrap_err()
                .contains("too deeply nested")
        );
    }
    // Never closed, so it is no YAML, and then it is a text.
    assert_eq!(
        parse_frontmatter(&format!("a: {}", "[".repeat(50_000)))
            .unwrap()
            .len(),
        1
    );
    assert!(parse_frontmatter(&format!("a: {}", "- ".repeat(50_000))).is_err());
    assert!(parse_frontmatter(&format!("a: [{}]", "x, ".repeat(30_000))).is_err());
    assert!(parse_frontmatter(&format!("a: {}", "x".repeat(MAX_FRONTMATTER_BYTES))).is_err());
}

#[test]
fn long_heads_are_read_in_time() {
    let many: Vec<String> = (0..9_000).map(|n| format!("key{n}: value {n}")).collect();
    assert_eq!(parse_frontmatter(&many.join("\n")).unwrap().len(), 9_000);
    let quoted = format!("a: \"{}\"\n", "x ".repeat(100_000));
    assert_eq!(parse_frontmatter(&quoted).unwrap().len(), 1);
    let stars = "k: *x: [y\n".repeat(5_000);
    assert_eq!(parse_frontmatter(&stars).unwrap().len(), 1);
}

proptest! {
    #[test]
    fn any_text_is_cut_and_read(text in any::<String>()) {
        let (front, body) = split_frontmatter(&text);
        prop_assert!(text.ends_with(body));
        let _ = parse_frontmatter(front.unwrap_or(&text));
    }

    #[test]
    fn near_yaml_is_read(text in "[-a:#&*!|>%@`'\"{}\\[\\], \t\r\n.?~1]{0,80}") {
        let _ = parse_frontmatter(&text);
        let head = format!("---\n{text}\n---\nbody");
        prop_assert!(split_frontmatter(&head).0.is_some());
    }

    #[test]
    fn plain_values_come_back(key in "[a-z_-]{0,8}[a-z]", value in "[a-z][a-z ]{0,30}[a-z]") {
        prop_assume!(!matches!(value.as_str(), "true" | "false" | "null"));
        prop_assume!(!key.starts_with('-'));
        prop_assume!(!matches!(key.as_str(), "true" | "false" | "null"));
        let got = parse_frontmatter(&format!("{key}: {value}\n"));
        prop_assert_eq!(got, Ok(vec![(key, FrontmatterValue::Text(value))]));
    }
}
