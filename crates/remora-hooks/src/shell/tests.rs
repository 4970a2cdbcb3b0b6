//! Recorded answers of the client, odd rows one by one, and random input.

use proptest::prelude::*;
use serde_json::Value;

use super::{BashPattern, read_command};

const HOME: &str = "/home/dev";

fn runs(pattern: &str, command: &str) -> bool {
    BashPattern::new(pattern)
        .matches(&read_command(command, HOME))
        .matches
}

#[test]
fn recorded_answers_of_the_client() {
    let cases: Value = serde_json::from_str(include_str!("../../cases/if-bash.json"))
        .expect("the data file is JSON");
    let mut wrong = Vec::new();
    let mut pairs = 0;
    for case in cases.as_array().expect("a list") {
        let command = case["command"].as_str().expect("a command");
        let reading = read_command(command, HOME);
        for pair in case["patterns"].as_array().expect("patterns") {
            let pattern = pair[0].as_str().expect("a pattern");
            pairs += 1;
            let verdict = BashPattern::new(pattern).matches(&reading);
            if Some(verdict.matches) != pair[1].as_bool() {
                wrong.push(format!("{command:?} {pattern:?}: {}", verdict.why));
            }
        }
    }
    assert!(pairs > 10_000, "only {pairs} pairs");
    assert!(
        wrong.is_empty(),
        "{} of {pairs}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn patterns_match_as_the_client_does() {
    assert!(runs("git *", "git") && runs("git:*", "git status") && !runs("git *", "gitk"));
    assert!(runs("git*", "gitk") && !runs("npm run test:*", "npm run test:unit"));
    assert!(runs(":*", ":") && !runs("git:* x", "git a x"));
    assert!(runs("*", "") && runs("", "# c") && !runs("**", "# c"));
    assert!(runs(" git  status ", "git\tstatus"));
    assert!(runs("a*b*c", "a1b2bc") && !runs("a*b*b", "ab"));
    assert!(runs("rm *", "xargs rm x") && !runs("rm *", "xargs -r rm x"));
    assert!(!runs("curl * | sh", "curl x | sh"));
}

#[test]
fn an_unknown_argument_leaves_the_name() {
    assert!(runs("git push *", "ls $X") && runs("zzz", "ls $X"));
    assert!(!runs("git *", "ls $X") && !runs("git:*", "ls $X") && !runs("git*", "ls $X"));
    assert!(runs("pwd *", "ls $(pwd)"));
}

#[test]
fn explanations_are_plain() {
    let verdict = |pattern: &str, command: &str| {
        BashPattern::new(pattern)
            .matches(&read_command(command, HOME))
            .why
    };
    assert_eq!(
        verdict("git *", "echo \"ab $(git status)\""),
        "the command \"git status\" inside \"$( )\" fits \"git *\""
    );
    assert_eq!(
        verdict("git *", "ls; pwd"),
        "none of \"ls\", \"pwd\" fits \"git *\""
    );
    assert_eq!(
        verdict("git *", "ls ${X}"),
        "not understood (${ } expansion), so the handler runs"
    );
}

#[test]
fn many_stars_end_early() {
    let stars = BashPattern::new(&"*a".repeat(2_000));
    assert!(!stars.matches_text(&"a".repeat(1_999)));
}

proptest! {
    /// What the reader makes of odd shell text is tested with the reader.
    #[test]
    fn random_input_gets_a_reason(
        pattern in "[a-c *:.$]{0,12}",
        command in "[a-c0-9 \t\n'\"`$(){}\\[\\];&|<>=*?~#!\\\\é-]{0,40}",
    ) {
        let reading = read_command(&command, HOME);
        prop_assert!(!BashPattern::new(&pattern).matches(&reading).why.is_empty());
        let _ = BashPattern::new(&command).matches(&reading);
    }
}
