//! `remora timeline`: rows and events in the order of time.

use insta::assert_snapshot;
use serde_json::Value;

use crate::remembered::{CART, Remembered};

fn names(line: &Value) -> Vec<String> {
    let entries = line["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| match entry["type"].as_str() {
            Some("item") => entry["kind"].as_str().unwrap().to_owned(),
            _ => entry["name"].as_str().unwrap().to_owned(),
        })
        .collect()
}

#[test]
fn rows_and_events_by_day_and_session() {
    assert_snapshot!(Remembered::shop().go("timeline --all"), @r"
    $ remora timeline --all
    2026-11-14 Saturday
      session 5b1c9f00 · The cart test fails on an empty cart. Please fix it. We de…
      09:00    ·              SessionStart: startup
      09:01   #1  prompt      The cart test fails on an empty cart. Please fix it.
                              We decided to keep prices in cents because floats lose
                              money.
      09:01   #2  decision    We decided to keep prices in cents
      09:02   #3  failure     cargo test: 1 of 2 tests failed (cart::tests::empty)
      09:03   #4  bugfix      Changed `total` in src/cart.rs: now
                              `items.iter().map(|i| i.cents).sum()`
      09:04   #6  command     cargo test: 2 tests passed
      09:04   #5  fix         cargo test: 1 of 2 tests failed (cart::tests::empty) →
                              Changed `total` in src/cart.rs: now
                              `items.iter().map(|i| i.cents).sum()`
      09:05   #7  summary     The cart test fails on an empty cart → Fixed the empty
                              cart: total now sums
      09:10    ·              SessionEnd: prompt_input_exit

    2026-11-15 Sunday
      session 7c2d9f00 · Add discounts to the cart. 折扣不能低于零。
      14:00    ·              SessionStart: startup
      14:01   #8  prompt      Add discounts to the cart. 折扣不能低于零。
      14:02   #9  failure     tsc: TS2322 in src/cart.ts:14: Type 'string' is not
                              assignable to type 'number'
      session 8d3e9f00 · List my notes about carts
      16:00  #10  prompt      List my notes about carts
    exit 0
    ");
}

#[test]
fn around_a_row() {
    let memory = Remembered::shop();
    let found = memory.json("search --all --kind bugfix,change,feature");
    let id = &found["results"][0]["id"];
    let around = memory.json(&format!("timeline --around {id} --limit 1"));
    assert_eq!(names(&around)[0], "failure");
    assert_eq!(names(&around).len(), 3);
    assert_eq!(&around["entries"][1]["id"], id);
    let told = memory
        .go(&format!("timeline --around #{id} --limit 1"))
        .stdout;
    assert_eq!(
        told.lines().filter(|line| line.starts_with("> ")).count(),
        1,
        "{told}"
    );
    assert_snapshot!(memory.go("timeline --around 99"), @"
    $ remora timeline --around 99
    stderr: remora: not found: `99`; `remora search` gives numbers
    exit 1
    ");
}

#[test]
fn every_event_is_told_once() {
    let memory = Remembered::shop();
    let all = names(&memory.json(&format!("timeline --session {CART}")));
    let first = all.first().map(String::as_str);
    assert_eq!(first, Some("SessionStart"));
    assert_eq!(all.last().map(String::as_str), Some("SessionEnd"));
    for told in [
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
    ] {
        assert!(!all.contains(&told.to_owned()), "{all:?}");
    }
    for many in 1..all.len() {
        let some = names(&memory.json(&format!("timeline --session 5b1c --limit {many}")));
        assert_eq!(some, all[all.len() - many..], "{many}");
    }
    let day = names(&memory.json("timeline --project shop --since 2026-11-15"));
    assert_eq!(day, ["SessionStart", "prompt", "failure"]);
}

#[test]
fn nothing() {
    assert_snapshot!(Remembered::nothing().go("timeline"), @"
    $ remora timeline
    nothing happened; `--all` looks in every project
    exit 0
    ");
    assert_snapshot!(Remembered::shop().go("timeline"), @"
    $ remora timeline
    nothing happened; `--all` looks in every project
    exit 0
    ");
}
