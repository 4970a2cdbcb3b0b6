//! Tests of the engine: answers recorded from Node.js, hostile patterns, and what Node.js 20
//! does not know yet.

use proptest::prelude::*;
use serde_json::Value;

use super::{BudgetUsedUp, JsRegex};

const BUDGET: u64 = 1_000_000;

fn compile(pattern: &str) -> JsRegex {
    JsRegex::new(pattern).unwrap_or_else(|error| panic!("{pattern:?}: {error}"))
}

fn test(pattern: &str, subject: &str) -> Result<bool, BudgetUsedUp> {
    compile(pattern).is_match(subject, BUDGET)
}

fn error(pattern: &str) -> String {
    JsRegex::new(pattern).map_or_else(|error| error.to_string(), |_| "valid".to_owned())
}

#[test]
fn agrees_with_the_answers_recorded_from_node() -> Result<(), serde_json::Error> {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../cases/node.json"))?;
    let (mut answers, mut wrong) = (0, Vec::new());
    for case in &cases {
        let pattern = case["pattern"].as_str().unwrap_or_default();
        let regex = match (JsRegex::new(pattern), &case["valid"]) {
            (Ok(regex), Value::Bool(true)) => regex,
            (Err(_), Value::Bool(false)) => continue,
            (result, _) => {
                wrong.push(format!("{pattern:?}: {:?}", result.map(|_| "valid")));
                continue;
            }
        };
        for pair in case["subjects"].as_array().into_iter().flatten() {
            let subject = pair[0].as_str().unwrap_or_default();
            let answer = regex.is_match(subject, BUDGET);
            answers += 1;
            if answer.ok() != pair[1].as_bool() {
                wrong.push(format!("{pattern:?} on {subject:?}: {answer:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        cases.len() >= 800 && answers >= 4_000,
        "{} patterns, {answers} answers",
        cases.len()
    );
    Ok(())
}

#[test]
fn errors_say_what_and_where() {
    assert_eq!(error("abc|*"), "nothing to repeat at 4");
    assert_eq!(error("a**"), "nothing to repeat at 2");
    assert_eq!(error("{1}"), "nothing to repeat at 0");
    assert_eq!(error("(?<=a)+"), "nothing to repeat at 6");
    assert_eq!(
        error("a{2,1}"),
        "numbers out of order in {} quantifier at 1"
    );
    assert_eq!(
        error("x[z-a]"),
        "range out of order in character class at 2"
    );
    assert_eq!(error("x[abc"), "unterminated character class at 1");
    assert_eq!(error("x(a"), "unterminated group at 1");
    assert_eq!(error("xa)"), "unmatched ) at 2");
    assert_eq!(error("x(?P<n>a)"), "invalid group at 1");
    assert_eq!(error("a\\"), "\\ at end of pattern at 1");
    assert_eq!(error("(?<1>a)"), "invalid group name at 2");
    assert_eq!(error("(?<a>x)(?<a>y)"), "duplicate group name at 7");
    assert_eq!(error("(?<a>x)\\k"), "invalid named reference at 7");
    assert_eq!(
        error("(?<a>x)\\k<b>"),
        "reference to a group name that does not exist at 7"
    );
    assert_eq!(
        error("😀*?*"),
        "nothing to repeat at 4",
        "positions count UTF-16 code units"
    );
    let parts = JsRegex::new("a)").map_err(|error| (error.message, error.position));
    assert_eq!(parts.err(), Some(("unmatched )", 1)));
}

#[test]
fn modifier_groups_ignore_case_inside_only() {
    for (pattern, subject, expected) in [
        ("(?i:bash)", "BaSh", true),
        ("(?i:bash)x", "BASHX", false),
        ("(?i:[a-c]+)$", "xABC", true),
        ("^(?i:[^a])", "A", false),
        ("^(?i:(a)\\1)$", "aA", true),
        ("^(a)(?i:\\1)$", "aA", true),
        ("^(?i:a(?-i:b)c)$", "AbC", true),
        ("^(?i:a(?-i:b)c)$", "ABC", false),
        ("(?i:é)", "É", true),
        ("(?i:µ)", "Μ", true),
        ("(?i:[Μ])", "µ", true),
        ("(?i:ß)", "SS", false),
        ("(?i:k)", "\u{212A}", false),
        ("(?i:ſ)", "s", false),
        ("^(?s:.)$", "\n", true),
        ("^(?s:(?-s:.))$", "\n", false),
        ("(?m:^b$)", "a\nb\nc", true),
        ("(?m:^)b$", "a\nb\nc", false),
        ("(?ims-:.)", "a", true),
        ("(?i-sm:A)+", "aaa", true),
        ("(?<=(?i:A))b", "ab", true),
    ] {
        assert_eq!(
            test(pattern, subject),
            Ok(expected),
            "{pattern:?} on {subject:?}"
        );
    }
    for pattern in [
        "(?i)",
        "(?i)a",
        "(?s)",
        "(?-:a)",
        "(?ii:a)",
        "(?i-i:a)",
        "(?i--s:a)",
        "(?x:a)",
        "(?i",
        "(?I:a)",
    ] {
        assert!(
            error(pattern).starts_with("invalid group at 0"),
            "{pattern:?}: {}",
            error(pattern)
        );
    }
}

#[test]
fn a_group_name_may_come_again_in_another_alternative() {
    for (pattern, subject, expected) in [
        ("^(?:(?<n>a)|(?<n>b))\\k<n>$", "bb", true),
        ("^(?:(?<n>a)|(?<n>b))\\k<n>$", "aa", true),
        ("^(?:(?<n>a)|(?<n>b))\\k<n>$", "ab", false),
        ("^(?:(?:(?<n>a)|(?<n>b))\\k<n>)+$", "aabb", true),
        ("(?<n>a)|(?:(?<n>b)|c)(?<m>d)", "bd", true),
    ] {
        assert_eq!(
            test(pattern, subject),
            Ok(expected),
            "{pattern:?} on {subject:?}"
        );
    }
    for pattern in [
        "(?<n>a)(?:(?<n>b)|c)",
        "(?:(?<n>a)|b)(?<n>c)",
        "(?<n>a|(?<n>b))",
        "(?<n>a|b)(?<n>c)",
        "(?<n>a|b|(?:c|(?<n>d)))",
        "x|(?:(?<n>a)|b)(?:c|(?<n>d))",
        "(?:(?<n>a)|(?<n>b))|(?:c|(?<n>d)(?<n>e))",
    ] {
        assert!(
            error(pattern).starts_with("duplicate group name"),
            "{pattern:?}: {}",
            error(pattern)
        );
    }
}

#[test]
fn hostile_patterns_stop() {
    for length in [50, 5_000] {
        let subject = "a".repeat(length) + "!";
        for pattern in [
            "(a+)+$",
            "(a|a)*b",
            "(.*)*x",
            "((a*)*)*c",
            "(a|aa)+$",
            "(?:a?){40}a{40}$",
            "^(?=(a+)+$)",
            "(?<=b(a+)+!)$",
        ] {
            assert_eq!(
                test(pattern, &subject),
                Err(BudgetUsedUp),
                "{pattern:?} on {length}"
            );
        }
        assert_eq!(test("(a+)+", &subject), Ok(true));
        assert_eq!(test("(a+)+!$", &subject), Ok(true));
    }
}

#[test]
fn the_budget_counts_every_start_position() {
    let regex = compile("b");
    let subject = "a".repeat(100);
    assert_eq!(regex.is_match(&subject, 101), Ok(false));
    assert_eq!(regex.is_match(&subject, 100), Err(BudgetUsedUp));
    assert_eq!(compile("").is_match("", 0), Err(BudgetUsedUp));
}

#[test]
fn the_stack_is_bounded_even_if_the_budget_is_not() {
    let subject = "a".repeat(600_000);
    assert_eq!(
        compile("^(a|b)*$").is_match(&subject, u64::MAX),
        Err(BudgetUsedUp)
    );
    assert_eq!(
        compile("(?:|){2147483646}x").is_match("", u64::MAX),
        Ok(false),
        "consumes nothing: not repeated"
    );
    assert_eq!(
        compile("(?:a?){2147483646}x").is_match("", BUDGET),
        Err(BudgetUsedUp)
    );
}

#[test]
fn repeat_counts_do_not_make_the_program_larger() {
    for pattern in [
        "a{100000}",
        "(?:(?:a{100000}){100000}){100000}",
        "((a{2,99999999999}){5})*",
    ] {
        assert!(compile(pattern).program.code.len() < 30, "{pattern}");
    }
    assert_eq!(test("^a{5000}$", &"a".repeat(5_000)), Ok(true));
    assert_eq!(test("^a{5001}$", &"a".repeat(5_000)), Ok(false));
}

#[test]
fn nesting_is_limited() {
    for open in ["(", "(?:", "(?=", "(?<!", "(?:x|(?<=", "(?i:"] {
        let per_round = open.matches('(').count();
        let nested = |rounds: usize| open.repeat(rounds) + "a" + &")".repeat(rounds * per_round);
        let _ = compile(&nested(250 / per_round)).is_match("aa", BUDGET);
        assert!(
            error(&nested(252 / per_round)).starts_with("nested too deeply"),
            "{open}"
        );
        assert!(
            error(&open.repeat(100_000)).starts_with("nested too deeply"),
            "{open}"
        );
    }
    let loops = "(?:".repeat(250) + "a" + &")*".repeat(250);
    assert_eq!(test(&loops, "a"), Ok(true));
}

#[test]
fn long_patterns_are_fine() {
    let names: Vec<String> = (0..5_000)
        .map(|number| format!("mcp__tool{number}"))
        .collect();
    assert_eq!(
        test(&format!("^(?:{})$", names.join("|")), "mcp__tool4999"),
        Ok(true)
    );
    assert_eq!(test(&"(?<n>a)|".repeat(5_000), ""), Ok(true));
    assert!(error(&"()".repeat(40_000)).starts_with("too many groups"));
}

/// Text that is often a valid pattern.
fn pattern_like() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "a", "b", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "(?i:", "(?-s:", "\\1",
        "\\k<n>", "*", "+", "?", "{2}", "{1,}", "{0,3}", "{", "}", "|", "^", "$", "\\b", ".", "[",
        "]", "[^", "-", "\\d", "\\W", "\\x4", "\\u", "\\c", "\\0", "\\", "é", "😀", "ß",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn arbitrary_text_never_panics(pattern in any::<String>(), subject in any::<String>()) {
        if let Ok(regex) = JsRegex::new(&pattern) {
            let _ = regex.is_match(&subject, 20_000);
        }
    }

    #[test]
    fn pattern_like_text_never_panics(pattern in pattern_like(), subject in "[abé😀ß\n-]{0,20}") {
        if let Ok(regex) = JsRegex::new(&pattern) {
            let _ = regex.is_match(&subject, 20_000);
        }
    }

    #[test]
    fn escaped_text_matches_itself(text in any::<String>()) {
        let pattern: String = text.chars().flat_map(|c| c.is_ascii_punctuation().then_some('\\').into_iter().chain([c])).collect();
        prop_assert_eq!(test(&format!("^(?:{pattern})$"), &text), Ok(true));
    }
}
