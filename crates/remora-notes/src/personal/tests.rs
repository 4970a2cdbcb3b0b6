//! A table of lines, and any text at all.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[test]
fn lines_as_labelled() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/memories/personal.json");
    let cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(cases.len() > 50);
    let mut wrong = Vec::new();
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        let expected: Vec<&str> = case["finds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|what| what.as_str().unwrap())
            .collect();
        let found: Vec<&str> = find_personal_data(text)
            .iter()
            .map(|finding| finding.what)
            .collect();
        if found != expected {
            wrong.push(format!("{text}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn reasons_name_the_line_and_not_the_thing() {
    let secrets = |text: &str| -> Vec<String> {
        let found = text.contains("hunter2");
        found.then(|| "a password".to_owned()).into_iter().collect()
    };
    let found = list_sharing_obstacles("pw hunter2\n\nask jo@acme.io or jo@acme.io", &secrets);
    assert_eq!(found, ["a password", "an e-mail address on line 3"]);
    assert_eq!(
        list_sharing_obstacles("nothing here", &secrets),
        Vec::<String>::new()
    );
}

proptest! {
    #[test]
    fn any_text_is_looked_through(text in "[\\PC\n@+().0-9/]{0,200}") {
        for finding in find_personal_data(&text) {
            prop_assert!(finding.line <= text.lines().count());
        }
    }
}
