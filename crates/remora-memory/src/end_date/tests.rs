//! Which ends are read, and which are none, from data.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const CASES: &str = include_str!("../../cases/end_dates.json");

/// Noon of a day.
fn noon(day: &str) -> i64 {
    let words = read_words(day);
    let (day, _) = day::read_day(&words, 0).unwrap();
    day.number * DAY_MS + DAY_MS / 2
}

#[test]
fn ends_that_are_said_are_read_and_others_are_not() {
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    assert!(cases.len() > 60);
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        let said = noon(case["said"].as_str().unwrap());
        let end = last_day(text, said).map(|day| format_date(day * DAY_MS));
        assert_eq!(end.as_deref(), case["end"].as_str(), "{text}");
    }
}

#[test]
fn a_day_is_over_when_it_is_over_everywhere() {
    let text = "Use the old gateway until 2026-10-01";
    let ended = |now: i64| ended_on(text, noon("2026-08-03"), now);
    let midnight = noon("2026-10-01") + DAY_MS / 2;
    assert_eq!(ended(midnight), None);
    assert_eq!(ended(midnight + MAX_ZONE_OFFSET_MS - 1), None);
    let over = ended(midnight + MAX_ZONE_OFFSET_MS);
    assert_eq!(over.as_deref(), Some("2026-10-01"));
}

#[test]
fn only_what_is_stated_or_saved_ends() {
    let text = "Use the old gateway until 2026-10-01";
    for (kind, ends) in [
        (Kind::Decision, true),
        (Kind::Preference, true),
        (Kind::Correction, true),
        (Kind::Memory, true),
        (Kind::Command, false),
        (Kind::Commit, false),
    ] {
        let item = Item {
            kind,
            text: text.to_owned(),
            time: noon("2026-08-03"),
            ..crate::testing::item("a", text)
        };
        let ended = item_ended_on(&item, noon("2026-11-01"));
        assert_eq!(ended.is_some(), ends, "{kind}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in ".{0,200}", cue in "(until|bis|hasta|まで|直到|not after) ", more in ".{0,60}") {
        let _ = last_day(&format!("{text} {cue}{more}"), 1_794_731_400_000);
        let _ = last_day(&format!("{more}{cue}{text}"), 1_794_731_400_000);
    }

    #[test]
    fn every_iso_day_is_read_as_itself(day in 11_000i64..47_000) {
        let text = format!("Keep it until {}.", format_date(day * DAY_MS));
        prop_assert_eq!(last_day(&text, 0), Some(day));
    }
}
