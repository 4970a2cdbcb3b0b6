//! Rules as the client was seen to activate them, from `cases/paths`, and hostile
//! patterns.

use proptest::prelude::*;
use serde_json::Value;

use super::gitignore::IgnorePatterns;
use super::{Globs, RuleScope, parse_rule_scope};
use crate::frontmatter;

fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/cases/paths/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn strings(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

fn head(paths: &Value) -> String {
    format!("paths: {paths}\n")
}

/// The patterns of a head that is known to hold some.
fn globs(front: &str) -> Globs {
    match parse_rule_scope(Some(front)).0 {
        RuleScope::On(globs) => globs,
        RuleScope::Always => panic!("{front:.200} always applies"),
    }
}

#[test]
fn rules_wake_when_the_client_wakes_them() {
    for case in cases("wakes.json") {
        let text = case["text"].as_str().unwrap();
        let (front, _) = frontmatter::split_frontmatter(text);
        let reads = strings(&case["reads"]);
        let wakes = match parse_rule_scope(front).0 {
            RuleScope::Always => "always",
            RuleScope::On(globs) => reads
                .into_iter()
                .find(|read| globs.matches(read))
                .unwrap_or("never"),
        };
        assert_eq!(wakes, case["wakes"], "{text:?}");
    }
}

#[test]
fn patterns_are_spelled_out_as_the_client_reports_them() {
    for case in cases("texts.json") {
        let front = head(&serde_json::json!([case["paths"], "wake.py"]));
        let mut want = strings(&case["texts"]);
        want.push("wake.py");
        assert_eq!(globs(&front).texts(), want, "{}", case["paths"]);
    }
}

#[test]
fn paths_match_as_in_the_client() {
    for case in cases("matches.json") {
        let globs = globs(&head(&case["patterns"]));
        let path = case["path"].as_str().unwrap();
        assert_eq!(globs.matches(path), case["matches"], "{case}");
    }
}

#[test]
fn a_rule_without_patterns_always_applies() {
    let heads = [
        "",
        "a: b\n",
        "paths:\n",
        "paths: \"\"\n",
        "paths: []\n",
        "paths: 7\n",
        "paths: true\n",
        "paths: {a: 1}\n",
        "paths: \"**\"\n",
        "paths: [\"**\", \"**/**\"]\n",
        "paths: /**\n",
        "globs: x\n",
        "Paths: x\n",
        "paths: \" , \"\n",
    ];
    for front in heads {
        assert!(
            matches!(parse_rule_scope(Some(front)).0, RuleScope::Always),
            "{front:?}"
        );
    }
    assert!(matches!(parse_rule_scope(None), (RuleScope::Always, w) if w.is_empty()));
}

fn group(name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|n| format!("{name}{n}")).collect();
    format!("{{{}}}", names.join(","))
}

#[test]
fn braces_have_a_budget_for_each_file() {
    let count = |paths: &[&str]| globs(&head(&serde_json::json!(paths))).texts().len();
    let short = format!("{{{}a}}", "a,".repeat(999));
    let long = format!("{{{}a}}", "a,".repeat(1000));
    assert_eq!(count(&[&short]), 1000);
    assert_eq!(count(&[&long]), 1);
    assert_eq!(count(&[&group("p", 600), &group("q", 400)]), 1000);
    // What goes over stays as it is; what still fits behind it is spelled out.
    assert_eq!(count(&[&group("p", 600), &group("q", 401), "{x,y}"]), 603);
    assert_eq!(count(&[&"{a,b}".repeat(9)]), 512);
    assert_eq!(count(&[&"{a,b}".repeat(10), "{x,y}"]), 3);
    assert_eq!(count(&[&"{a,b}".repeat(10_000), "{x,y}"]), 3);
    // Many long parts go over the bytes before they go over the number.
    assert_eq!(count(&[&group(&"a".repeat(410), 90)]), 90);
    assert_eq!(count(&[&group(&"a".repeat(420), 110)]), 1);
    // Patterns without braces are free.
    let plain: Vec<String> = (0..1200).map(|n| format!("p{n}")).collect();
    let mut plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    plain.push("{x,y}");
    assert_eq!(count(&plain), 1202);
}

#[test]
fn what_can_never_match_is_told() {
    let paths = serde_json::json!([
        "./src/**",
        "../x",
        "~/x",
        "#x",
        "a\\",
        "src/[a.py",
        "/",
        "fine",
        "{a,b}".repeat(10)
    ]);
    let (_, warnings) = parse_rule_scope(Some(&head(&paths)));
    assert_eq!(
        warnings,
        [
            "pattern \"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\" is over the brace budget of its file and matches nothing",
            "pattern \"./src\" begins with ./, which is never part of a path, and matches nothing",
            "pattern \"../x\" leaves the directory of the rules and matches nothing",
            "pattern \"~/x\" begins with ~, which is not expanded, and matches nothing",
            "pattern \"#x\" begins with # and is a comment and matches nothing",
            "pattern \"a\\\\\" ends in a backslash and matches nothing",
            "pattern \"src/[a.py\" has a [ that cannot be read as a set and matches nothing",
            "pattern \"/\" names nothing and matches nothing",
        ]
    );
    let never = |front: &str| globs(front).never_matches();
    assert_eq!(never("paths: [a, ./b]\n"), None);
    assert_eq!(
        never("paths: [\"!a\", ./b]\n").unwrap(),
        "pattern \"!a\" only takes back what others match; pattern \"./b\" begins with ./, which is never part of a path, and matches nothing"
    );
}

#[test]
fn broken_heads_are_told() {
    let (applies, warnings) = parse_rule_scope(Some("paths:\n  - **/*.py\n"));
    assert!(matches!(applies, RuleScope::Always));
    assert!(
        matches!(&warnings[..], [one] if one.starts_with("frontmatter, line 3: ") && one.ends_with("; the rule always applies")),
        "{warnings:?}"
    );
}

#[test]
fn hostile_patterns_take_no_time() {
    let path = format!("{}b/{}", "a".repeat(250), "dir/".repeat(40));
    let patterns = [
        "a*".repeat(200) + "c",
        "*a".repeat(2_000),
        "**/".repeat(3_000) + "c",
        "/**".repeat(3_000) + "/c",
        "?*".repeat(120) + "c",
        "{".repeat(10_000),
        "}".repeat(10_000),
        "{a,".repeat(10_000),
        "{a,b}".repeat(10_000),
        "[".repeat(10_000),
        "[a-".repeat(3_000),
        "\\".repeat(9_999),
        "!".repeat(9_999),
        "x".repeat(20_000),
    ];
    let globs = globs(&head(&serde_json::json!(patterns)));
    assert!(!globs.matches(&path));
    assert!(Globs::new(vec!["a*".repeat(200)]).matches(&"a".repeat(250)));
}

proptest! {
    #[test]
    fn any_head_and_path_are_taken(front in any::<String>(), path in any::<String>()) {
        if let (RuleScope::On(globs), _) = parse_rule_scope(Some(&front)) {
            let _ = globs.matches(&path);
        }
    }

    #[test]
    fn any_pattern_is_taken(
        patterns in prop::collection::vec("[ab/*?!#,{}\\[\\]^ \\\\.é-]{0,12}", 1..4),
        path in "[ab./é-]{0,12}",
    ) {
        let globs = Globs::new(patterns);
        let taken = globs.matches(&path);
        prop_assert!(!(taken && globs.never_matches().is_some()));
    }

    #[test]
    fn what_is_taken_is_worth_trying(
        patterns in prop::collection::vec("!?/?(\\*\\*/)?[abAé]{0,2}([*?/\\[\\]\\\\.-]{0,2}[abBÉſ]{0,2}){0,3}", 1..4),
        path in "[abAé]{1,3}(/[abBÉsſ.-]{1,3}){0,3}",
    ) {
        let patterns = IgnorePatterns::new(patterns.iter().map(String::as_str));
        let path: Vec<char> = path.chars().collect();
        prop_assert!(!patterns.takes_any(&path) || patterns.may_take(&path));
    }

    #[test]
    fn what_is_in_a_taken_directory_is_taken(path in "[a-c]{1,3}(/[a-c]{1,3}){0,3}") {
        let first = path.split('/').next().unwrap_or_default().to_owned();
        let below = format!("{path}/deeper/file");
        prop_assert!(Globs::new(vec![first.clone()]).matches(&path));
        let taken_back = format!("!{below}");
        prop_assert!(Globs::new(vec![first, taken_back]).matches(&below));
    }
}
