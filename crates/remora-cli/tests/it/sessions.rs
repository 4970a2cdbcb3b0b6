//! `remora sessions`: what was worked on, newest first.

use insta::assert_snapshot;

use crate::remembered::{CART, DISCOUNTS, NOTES, Remembered};

#[test]
fn newest_first() {
    let memory = Remembered::shop();
    assert_snapshot!(memory.go("sessions --all"), @"
    $ remora sessions --all
    2026-11-15 16:00  List my notes about carts
                      1 prompt · 1 item · notes · main · [AGENT] · open
                      8d3e9f00-3333-4000-8000-000000000003
    2026-11-15 14:02  Add discounts to the cart. 折扣不能低于零。
                      1 prompt · 2 items · shop · main · [AGENT] · open
                      7c2d9f00-2222-4000-8000-000000000002
    2026-11-14 09:10  The cart test fails on an empty cart. Please fix it. We
                      decided to keep prices…
                      1 prompt · 7 items · shop · main · [AGENT] · ended
                      5b1c9f00-1111-4000-8000-000000000001
    exit 0
    ");
}

#[test]
fn filters_and_json() {
    let memory = Remembered::shop();
    for (line, ids) in [
        ("sessions --all", vec![NOTES, DISCOUNTS, CART]),
        ("sessions --all --limit 1", vec![NOTES]),
        ("sessions --project shop", vec![DISCOUNTS, CART]),
        ("sessions --all --since 2026-11-15", vec![NOTES, DISCOUNTS]),
        ("sessions --all --until 2026-11-14", vec![CART]),
        ("sessions --all --agent nobody", vec![]),
        ("sessions", vec![]),
    ] {
        let found = memory.json(line);
        let rows = found["sessions"].as_array().unwrap();
        let found: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(found, ids, "{line}");
    }
    let found = memory.json("sessions --project shop");
    let cart = &found["sessions"][1];
    assert_eq!(cart["end_reason"], "prompt_input_exit");
    assert_eq!(cart["prompts"], 1);
    let prompt = cart["first_prompt"].as_str().unwrap();
    assert!(prompt.len() > 100 && !prompt.ends_with('…'), "{prompt}");
    assert_eq!(cart["started"], "2026-11-14T09:00:00.000Z");
    assert_eq!(cart["last"], "2026-11-14T09:10:00.000Z");
    assert!(cart["items"].as_u64().unwrap() >= 6, "{cart}");
    assert!(found["sessions"][0]["end_reason"].is_null());
}

#[test]
fn none() {
    assert_snapshot!(Remembered::nothing().go("sessions"), @"
    $ remora sessions
    no sessions
    exit 0
    ");
    assert_snapshot!(Remembered::shop().go("sessions"), @"
    $ remora sessions
    no sessions in this project; 3 in others: add --all
    exit 0
    ");
}
