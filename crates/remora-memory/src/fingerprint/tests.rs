//! Cases live in `cases/fingerprints.json`: groups of errors that are the same
//! one; every group differs from every other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::fingerprint;
use crate::output::Problem;

fn cases() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/fingerprints.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn problem(value: &Value) -> Problem {
    let get = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    Problem {
        file: get("file"),
        line: value
            .get("line")
            .and_then(Value::as_u64)
            .and_then(|n| u32::try_from(n).ok()),
        code: get("code"),
        subject: get("subject"),
        message: get("message").unwrap_or_default(),
    }
}

fn made(error: &Value) -> super::Fingerprint {
    tried(error).unwrap()
}

fn tried(error: &Value) -> Option<super::Fingerprint> {
    let problems: Vec<Problem> = error["problems"]
        .as_array()
        .map(|list| list.iter().map(problem).collect())
        .unwrap_or_default();
    let text = error["text"].as_str().unwrap_or_default();
    fingerprint(error["tool"].as_str().unwrap_or("x"), &problems, text)
}

#[test]
fn errors_of_one_group_are_one_and_groups_differ() {
    let cases = cases();
    let mut owners: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut equal, mut unequal) = (0, 0);
    let groups = cases["groups"].as_array().unwrap();
    for (at, group) in groups.iter().enumerate() {
        let errors = group.as_array().unwrap();
        let first = made(&errors[0]);
        for error in errors {
            let print = made(error);
            assert_eq!(print, first, "the same error twice: {error}");
            equal += 1;
        }
        if let Some((other, normal)) = owners.insert(first.id, (at, first.normal.clone())) {
            panic!(
                "group {at} is as group {other}: {:?} and {normal:?}",
                first.normal
            );
        }
        unequal += at;
    }
    assert!(
        equal - groups.len() >= 60 && unequal >= 60,
        "{equal} {unequal}"
    );
}

#[test]
fn stored_names_stay_valid() {
    for case in cases()["stored"].as_array().unwrap() {
        let print = made(&case["error"]);
        assert_eq!(
            (print.id.as_str(), print.normal.as_str()),
            (
                case["id"].as_str().unwrap(),
                case["normal"].as_str().unwrap()
            )
        );
    }
}

#[test]
fn nothing_to_tell_it_by_gives_none() {
    for error in cases()["nothing"].as_array().unwrap() {
        assert_eq!(tried(error), None, "{error}");
    }
    assert_eq!(fingerprint("make", &[], ""), None);
    assert_eq!(fingerprint("make", &[], "\n 12 \n"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_bounded_name(tool in any::<String>(), message in any::<String>(), text in any::<String>()) {
        let problem = Problem { file: Some(text.clone()), line: Some(1), code: None, subject: Some(message.clone()), message };
        for list in [&[][..], &[problem][..]] {
            if let Some(print) = fingerprint(&tool, list, &text) {
                prop_assert_eq!(print.id.len(), 16);
                prop_assert!(print.normal.chars().count() <= 600);
            }
        }
    }

    #[test]
    fn numbers_in_a_message_do_not_matter(a in 0_u64..1_000_000, b in 0_u64..1_000_000) {
        let of = |n: u64| fingerprint("x", &[], &format!("error: row {n} of {n} failed after {n}ms at /srv/{n}/store.rs:{n}:9"));
        prop_assert_eq!(of(a), of(b));
    }
}
