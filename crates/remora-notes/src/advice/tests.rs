//! A table of things users save, and the advice they get.

use std::fs;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const NOW: &str = "2026-11-16T03:48:19.837Z";

fn nothing(_: &str) -> Vec<String> {
    Vec::new()
}

fn told(body: &str, scope: MemoryScope, known: &[LoadedInstruction<'_>]) -> Vec<Advice> {
    let saving = AdviceRequest {
        scope,
        body,
        now: NOW,
        known,
    };
    list_advice(&saving, &nothing)
}

#[test]
fn things_people_save() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/memories/advice.json");
    let cases: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let known = cases["known"].as_str().unwrap();
    let known = [LoadedInstruction {
        path: Path::new("CLAUDE.md"),
        text: known,
    }];
    let mut wrong = Vec::new();
    for case in cases["saved"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let scope = case["scope"].as_str().and_then(MemoryScope::parse);
        let found: Vec<&str> = told(text, scope.unwrap_or(MemoryScope::Project), &known)
            .iter()
            .map(|advice| advice.matter.as_str())
            .collect();
        let expected: Vec<&str> = case["told"]
            .as_array()
            .unwrap()
            .iter()
            .map(|matter| matter.as_str().unwrap())
            .collect();
        if found != expected {
            wrong.push(format!("{text}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn dates_are_worked_out() {
    // 2026-11-16 is a Monday.
    for (text, day) in [
        ("done yesterday", Some("2026-11-15")),
        ("freeze begins tomorrow", Some("2026-11-17")),
        ("three days ago", Some("2026-11-13")),
        ("due in 2 weeks", Some("2026-11-30")),
        ("by friday", Some("2026-11-20")),
        ("next monday", Some("2026-11-23")),
        ("last monday", Some("2026-11-09")),
        ("last sunday", Some("2026-11-15")),
        ("next quarter", None),
        ("deploys on fridays", None),
    ] {
        let found = dates::find_relative_dates(text, NOW);
        assert_eq!(
            found.first().and_then(|date| date.absolute.as_deref()),
            day,
            "{text}"
        );
    }
    assert_eq!(
        dates::find_relative_dates("deploys on fridays, never mondays", NOW),
        []
    );
    assert_eq!(
        dates::find_relative_dates("yesterday", "nonsense")[0].absolute,
        None
    );
    let leap = dates::find_relative_dates("tomorrow", "2028-02-28T23:00:00Z");
    assert_eq!(leap[0].absolute.as_deref(), Some("2028-02-29"));
}

#[test]
fn advice_says_what_to_write_and_where_it_stands() {
    let known = [LoadedInstruction {
        path: Path::new("/p/CLAUDE.md"),
        text: "# Rules\n\n- Always use pnpm\n- Never mock the database in tests\n",
    }];
    let advice = told(
        "Do not mock the database in tests.",
        MemoryScope::Project,
        &known,
    );
    assert_eq!(
        advice[0].text,
        "/p/CLAUDE.md line 4 says it already, and is loaded in every session"
    );
    let advice = told("Mock the database in tests.", MemoryScope::Project, &known);
    assert_eq!(advice[0].matter, AdviceTopic::Contradicts);
    let secrets = |_: &str| vec!["an access key".to_owned()];
    let saving = AdviceRequest {
        scope: MemoryScope::User,
        body: "wip: key",
        now: NOW,
        known: &[],
    };
    let advice = list_advice(&saving, &secrets);
    assert_eq!(
        advice.iter().map(|a| a.matter).collect::<Vec<_>>(),
        [AdviceTopic::Secret, AdviceTopic::Momentary]
    );
}

proptest! {
    #[test]
    fn any_text_gets_bounded_advice(body in "[\\PC\n]{0,300}", now in "\\PC{0,30}") {
        let saving = AdviceRequest { scope: MemoryScope::Team, body: &body, now: &now, known: &[LoadedInstruction { path: Path::new("x"), text: &body }] };
        for advice in list_advice(&saving, &nothing) {
            prop_assert!(!advice.text.is_empty() && advice.text.len() < 3000);
        }
    }
}
