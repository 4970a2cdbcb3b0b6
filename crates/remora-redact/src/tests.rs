//! What redaction must catch, what it must leave, and what must always hold.

mod cases;
mod events;
mod properties;

use std::borrow::Cow;
use std::sync::LazyLock;

use super::*;

/// Compiled once: in a debug build that takes longer than most tests.
fn redactor() -> &'static Redactor {
    static BUILT_IN: LazyLock<Redactor> = LazyLock::new(|| {
        Redactor::new(&RedactionRules::default()).expect("the built-in rules compile")
    });
    &BUILT_IN
}

#[test]
fn every_built_in_rule_compiles_and_can_be_reached() {
    let rules = rules::built_in().expect("the built-in rules are readable");
    assert!(rules.len() > 140, "{} rules", rules.len());
    for rule in rules {
        let regex = scan::compile_rule(rule).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
        assert!(
            rule.secret_group.unwrap_or(0) < regex.captures_len(),
            "{}",
            rule.id
        );
        assert!(!regex.is_match(""), "{}", rule.id);
        assert!(!rule.keywords.is_empty(), "{}", rule.id);
        assert!(
            rule.keywords.iter().all(|word| word.len() > 1),
            "{}",
            rule.id
        );
        assert_eq!(kind_of(&rule.id), rule.id);
    }
}

#[test]
fn a_bad_pattern_is_named() {
    let rules = RedactionRules {
        patterns: vec![("acme".to_owned(), "(".to_owned())],
        deny_paths: Vec::new(),
    };
    let error = Redactor::new(&rules).expect_err("the pattern is broken");
    assert!(error.to_string().contains("`acme`"), "{error}");
    let rules = RedactionRules {
        patterns: vec![("acme".to_owned(), "a*".to_owned())],
        deny_paths: Vec::new(),
    };
    let error = Redactor::new(&rules).expect_err("the pattern matches nothing");
    assert_eq!(
        error.to_string(),
        "redaction pattern `acme` matches the empty text"
    );
}

#[test]
fn patterns_of_the_configuration_name_their_marks() {
    let rules = RedactionRules {
        patterns: vec![
            ("Acme Badge".to_owned(), r"ACME-(\d{6})".to_owned()),
            ("host".to_owned(), r"[a-z]+\.internal".to_owned()),
        ],
        deny_paths: Vec::new(),
    };
    let redactor = Redactor::new(&rules).expect("the rules compile");
    let mut marks = RedactionCounts::new();
    let text = redactor.redact_text("badge ACME-123456 at db.internal", &mut marks);
    assert_eq!(text, "badge ACME-[redacted:acme-badge] at [redacted:host]");
    assert_eq!(marks.total(), 2);
    assert_eq!(marks.count("acme-badge"), 1);
    let kinds: Vec<&str> = marks.iter().map(|mark| mark.kind).collect();
    assert_eq!(kinds, ["acme-badge", "host"]);
}

#[test]
fn a_greedy_pattern_still_settles() {
    let rules = RedactionRules {
        patterns: vec![("all".to_owned(), "[a-z:]+".to_owned())],
        deny_paths: Vec::new(),
    };
    let redactor = Redactor::new(&rules).expect("the rules compile");
    let mut marks = RedactionCounts::new();
    let once = redactor
        .redact_text("one TWO three", &mut marks)
        .into_owned();
    assert_eq!(once, "[redacted:all] TWO [redacted:all]");
    assert_eq!(redactor.redact_text(&once, &mut marks), once);
}

#[test]
fn findings_hold_no_part_of_the_secret() {
    let secret = format!("AKIA{}", "QWERTYUI23456777");
    let text = format!("id {secret} end");
    let found = redactor().find_secrets(&text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, "aws-access-key");
    assert_eq!(found[0].range, 3..3 + secret.len());
    assert!(!format!("{found:?}").contains("QWERTY"));
}

#[test]
fn plain_text_is_borrowed() {
    let mut marks = RedactionCounts::new();
    let text = redactor().redact_text("nothing to see: tokens, keys and passwords", &mut marks);
    assert!(matches!(text, Cow::Borrowed(_)));
    assert!(marks.is_empty());
}

#[test]
fn globs_work_as_in_gitignore() {
    let rows = [
        ("secrets/**", "/home/dev/app/secrets/prod/db.yaml", true),
        ("secrets/**", "/home/dev/app/src/secrets.rs", false),
        ("secrets/", "secrets/a", true),
        ("*.tfstate", "/srv/infra/prod.tfstate", true),
        ("*.tfstate", "/srv/infra/prod.tfstate.md", false),
        ("/config/master.key", "/srv/app/config/master.key", true),
        ("config/*.yml", "/srv/app/config/a/b.yml", false),
        ("~/.aws/credentials", "/home/dev/.aws/credentials", true),
        ("**/private/**", "C:\\work\\private\\a.txt", true),
        ("id_[rd]sa", "/home/dev/.ssh/id_rsa", true),
        ("id_[!r]sa", "/home/dev/.ssh/id_rsa", false),
        ("a?c", "abc", true),
        ("a?c", "a/c", false),
        ("# note", "note", false),
        ("[", "x", false),
    ];
    for (glob, path, denied) in rows {
        let paths = DenyPaths::new(&[glob.to_owned()]).expect("a usable glob");
        assert_eq!(paths.is_denied(path), denied, "{glob} {path}");
    }
    let both = ["secrets/**".to_owned(), "!secrets/readme.md".to_owned()];
    let paths = DenyPaths::new(&both).expect("usable globs");
    assert!(paths.is_denied("secrets/a"));
    assert!(!paths.is_denied("secrets/readme.md"));
}

#[test]
fn heads_of_keys_cost_no_more_than_their_length() {
    for unit in [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\\\\\\\",
        "-----BEGIN RSA PRIVATE KEY----- a",
        "-----END PRIVATE KEY-----",
        "Private-Lines:",
        "Private-Lines: 1\n",
    ] {
        let growth = crate::growth::cost_growth(unit, 4 * 1024, |text| {
            redactor().find_secrets(text);
        });
        assert!(
            growth < crate::growth::MAX_GROWTH,
            "{unit:?} grows {growth:.1} times"
        );
    }
    // A run of backslashes behind a head, which may end a line.
    let growth = crate::growth::cost_growth("\\", 1024, |text| {
        redactor().find_secrets(&format!("-----BEGIN PRIVATE KEY-----{text}"));
    });
    assert!(growth < crate::growth::MAX_GROWTH, "{growth:.1} times");
}
