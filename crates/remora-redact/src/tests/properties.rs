//! What must hold for any text at all.

use std::borrow::Cow;
use std::sync::LazyLock;

use proptest::prelude::*;
use remora_agents::field_roles;
use serde_json::Value;

use super::cases::{lookalikes, secrets};
use super::redactor;
use crate::{RedactionCounts, RedactionRules, Redactor};

/// Pieces that make a text worth looking at, whole and broken.
fn pieces() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "password",
        "token",
        "api_key",
        "secret=",
        "=",
        ": ",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\n",
        "\r\n",
        "://",
        "user:",
        "@",
        "host",
        "[redacted:",
        "[redacted:token]",
        "]",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "-----END ",
        "Bearer ",
        "Basic ",
        "Cookie: a=",
        "; ",
        "curl -u ",
        "mysql -p",
        "machine ",
        "login a password ",
        ":5432:",
        ":$6$",
        "sk-",
        "ghp_",
        "AKIA",
        "eyJ",
        ".eyJ",
        "%22%3A%22",
        "<password>",
        "</password>",
        "{value: ",
        "is ",
        "\u{1b}[31m",
        "é",
        "密码",
        "\u{2192}",
        "--token ",
        "export ",
        "echo ",
        " | sudo -S",
        "$",
        "${",
        "}",
        "|\n",
        "Q~",
        ":AA",
        "name: TOKEN\n  value: ",
        "[]byte(\"",
        "Private-Lines: 2\n",
        "sig=",
        "| user | password |\n",
        "|---|---|\n",
        "| ",
        " |",
        "user,password\n",
        ",",
        "NAME  TOKEN\n",
        "kind: Secret\n",
        "data:\n  a: ",
        "\"kind\":\"Secret\"",
        "\"data\":{\"a\":\"",
        "Passwort lautet ",
        "密码是",
        "「",
        "sshpass -p ",
        "7z -p",
        "net use ",
        " /user:",
        "sqlplus a/",
        "@tcp(",
        "new PDO('a', 'b', '",
        "htpasswd -b f u ",
        "login with a / ",
        "variable \"password\" { default = \"",
        "--- PASS: ",
        "?",
        "&",
    ])
    .prop_map(str::to_owned);
    let random = prop_oneof![
        "[A-Za-z0-9]{1,44}",
        "[a-f0-9]{32}",
        "[A-Za-z0-9+/]{64}",
        "[!-~]{1,12}",
        ".{0,8}"
    ];
    prop_oneof![3 => fixed, 2 => random]
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(pieces(), 0..24).prop_map(|list| list.concat())
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        texts().prop_map(Value::String),
        any::<u32>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let key = prop_oneof![
            prop::sample::select(vec![
                "file_path",
                "content",
                "tool_input",
                "tool_response",
                "command",
                "password",
                "Authorization",
                "Cookie",
                "name",
                "value",
                "tool_name",
                "lines",
            ])
            .prop_map(str::to_owned),
            texts(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

static STRICT: LazyLock<Redactor> = LazyLock::new(|| {
    let rules = RedactionRules {
        patterns: vec![("badge".to_owned(), "[a-z]{2}-[0-9]+".to_owned())],
        deny_paths: vec!["secrets/**".to_owned(), "*.pem".to_owned()],
    };
    Redactor::new(&rules).expect("the rules compile")
});

/// Whether the text between the marks stands in the original, in this order and
/// from its beginning to its end.
fn kept_in_order(original: &str, redacted: &str) -> bool {
    let mark = regex::Regex::new(r"\[redacted:[a-z0-9-]+\]").expect("a plain expression");
    let pieces: Vec<&str> = mark.split(redacted).collect();
    let [first, between @ .., last] = pieces.as_slice() else {
        return original == redacted;
    };
    let Some(mut rest) = original.strip_prefix(first) else {
        return false;
    };
    for piece in between {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn redacting_twice_is_redacting_once(text in texts()) {
        let redactor = redactor();
        let mut marks = RedactionCounts::new();
        let once = redactor.redact_text(&text, &mut marks).into_owned();
        let mut more = RedactionCounts::new();
        let twice = redactor.redact_text(&once, &mut more);
        prop_assert_eq!(&twice, &once);
        prop_assert!(more.is_empty());
        prop_assert_eq!(marks.is_empty(), once == text);
        prop_assert!(redactor.find_secrets(&once).is_empty());
    }

    #[test]
    fn text_between_marks_is_left_as_it_was(text in texts()) {
        let redacted = STRICT.redact_text(&text, &mut RedactionCounts::new()).into_owned();
        prop_assert!(kept_in_order(&text, &redacted), "{text:?} -> {redacted:?}");
    }

    #[test]
    fn any_text_comes_back(text in ".{0,200}") {
        let redactor = redactor();
        let out = redactor.redact_text(&text, &mut RedactionCounts::new());
        prop_assert_eq!(out == text, redactor.find_secrets(&text).is_empty());
    }

    #[test]
    fn findings_are_in_order_and_at_boundaries(text in texts()) {
        let mut end = 0;
        for finding in STRICT.find_secrets(&text) {
            prop_assert!(finding.range.start >= end);
            prop_assert!(!finding.range.is_empty());
            prop_assert!(text.get(finding.range.clone()).is_some());
            end = finding.range.end;
        }
    }

    #[test]
    fn any_value_is_walked_and_settles(value in values()) {
        let redactor = &*STRICT;
        let mut once = value;
        redactor.redact_json(&mut once, field_roles("agent"), &mut RedactionCounts::new());
        let mut twice = once.clone();
        redactor.redact_json(&mut twice, field_roles("agent"), &mut RedactionCounts::new());
        prop_assert_eq!(once, twice);
    }
}

#[test]
fn text_without_secrets_is_borrowed() {
    let redactor = redactor();
    let mut marks = RedactionCounts::new();
    let borrowed = lookalikes(7)
        .iter()
        .filter(|text| matches!(redactor.redact_text(text, &mut marks), Cow::Borrowed(_)))
        .count();
    assert_eq!(borrowed + marks.total(), lookalikes(7).len());
}

#[test]
fn every_case_settles_at_once() {
    let redactor = redactor();
    for case in secrets(5) {
        let once = redactor
            .redact_text(&case.text, &mut RedactionCounts::new())
            .into_owned();
        assert_eq!(
            redactor.redact_text(&once, &mut RedactionCounts::new()),
            once
        );
    }
}

/// What makes each part of the scanner look, over and over.
const PROVOCATIONS: &[&str] = &[
    "password",
    "password=",
    "password,",
    "password | ",
    "|password|\n|---|\n",
    "a,password\n",
    "A  TOKEN  ",
    "A  TOKEN\n",
    "kind: Secret\n",
    "apiVersion: v1\nkind: Secret\n",
    "\"data\":{",
    "\"kind\":\"Secret\"",
    "passwort ",
    "Passwort ist ",
    "密码",
    "密码是",
    "login with a / ",
    "mysql -p",
    "zip -P ",
    "curl -b a=",
    "htpasswd -b ",
    "net use /user:",
    "sqlplus a/",
    "@tcp(",
    "new PDO('",
    ".login(",
    "variable \"password\" {",
    "pass ",
    "://a:",
    "echo --password-stdin ",
];

/// Sixteen times the text may cost some more than sixteen times as much, and not
/// 256 times. The shortest of some runs is taken, in time of the processor: others
/// share the machine.
#[test]
fn cost_grows_with_the_text_and_no_faster() {
    let redactor = redactor();
    let keywords: String = crate::rules::built_in()
        .expect("the rules are readable")
        .iter()
        .flat_map(|rule| &rule.keywords)
        .cloned()
        .collect();
    let least = |text: &str| {
        let runs = (0..3).map(|_| {
            let started = crate::growth::thread_time();
            redactor.find_secrets(text);
            crate::growth::thread_time().saturating_sub(started)
        });
        runs.min().unwrap_or_default()
    };
    for piece in PROVOCATIONS.iter().copied().chain([keywords.as_str()]) {
        let text = piece.repeat(8 * 1024 / piece.len() + 1);
        let (one, many) = (least(&text), least(&text.repeat(16)));
        let most = one * 80 + std::time::Duration::from_millis(200);
        assert!(many < most, "{piece:?}: {one:?}, then {many:?}");
    }
}
