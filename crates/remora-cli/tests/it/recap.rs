//! `remora recap`: what to say at a stand-up.

use insta::assert_snapshot;
use serde_json::json;

use crate::remembered::Remembered;

#[test]
fn by_project_and_session() {
    assert_snapshot!(Remembered::shop().go("recap --all --since 2026-11-14"), @r"
    $ remora recap --all --since 2026-11-14
    notes

      2026-11-15 16:00  List my notes about carts
                        main · [AGENT] · open
        asked     - List my notes about carts

    shop

      2026-11-15 14:02  Add discounts to the cart. 折扣不能低于零。
                        main · [AGENT] · open
        asked     - Add discounts to the cart. 折扣不能低于零。
        open      - tsc: TS2322 in src/cart.ts:14: Type 'string' is not assignable
                    to type 'number' (#9)

      2026-11-14 09:10  The cart test fails on an empty cart. Please fix it. We
                        decided to keep prices…
                        main · [AGENT] · ended: prompt_input_exit
        asked     - The cart test fails on an empty cart. Please fix it. We decided
                    to keep prices in cents because floats lose money.
        done      - Fixed the empty cart: total now sums.
                  - Changed total in src/cart.rs: now items.iter().map(|i|
                    i.cents).sum()
                  - cargo test: 2 tests passed
        decided   - We decided to keep prices in cents (#2)
        learned   - cargo test: 1 of 2 tests failed (cart::tests::empty) → Changed
                    `total` in src/cart.rs: now `items.iter().map(|i|
                    i.cents).sum()` (#5)
        next      - add a test for a cart with a discount
        files       src/cart.rs
    exit 0
    ");
}

#[test]
fn as_json() {
    let memory = Remembered::shop();
    let recap = memory.json("recap --project shop --since 2026-11-01");
    assert_eq!(recap["since"], "2026-11-01T00:00:00.000Z");
    let sessions = &recap["projects"][0]["sessions"];
    assert_eq!(sessions[1]["files"], json!(["src/cart.rs"]));
    assert_eq!(
        sessions[1]["next_steps"],
        json!(["add a test for a cart with a discount"])
    );
    assert_eq!(sessions[1]["fixes"].as_array().unwrap().len(), 1);
    assert_eq!(sessions[1]["open_failures"], json!([]));
    assert_eq!(sessions[0]["open_failures"].as_array().unwrap().len(), 1);
}

#[test]
fn begins_with_yesterday() {
    let yesterday = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24);
    let day = yesterday.to_string()[..10].to_owned();
    let since = Remembered::nothing().json("recap")["since"].clone();
    // The day may end between the two looks at the clock.
    assert!(since.as_str().unwrap() >= day.as_str(), "{since}");
    assert!(
        since.as_str().unwrap().ends_with("T00:00:00.000Z"),
        "{since}"
    );
}

#[test]
fn another_session_may_mend_what_was_open() {
    let mut memory = Remembered::shop();
    let passed = json!({
        "tool_name": "Bash", "tool_use_id": "t20",
        "tool_input": {"command": "npm run build", "description": "Build"},
        "tool_response": {"stdout": "built\n", "stderr": "", "interrupted": false},
    });
    memory.event("later", "shop", 40 * 3_600_000, "PostToolUse", passed);
    memory.store();
    let recap = memory.json("recap --project shop --since 2026-11-01");
    let open = recap["projects"][0]["sessions"].as_array().unwrap();
    assert!(
        open.iter()
            .all(|session| session["open_failures"] == json!([])),
        "{recap}"
    );
}

#[test]
fn nothing() {
    assert_snapshot!(Remembered::nothing().go("recap --since 2026-11-14"), @"
    $ remora recap --since 2026-11-14
    nothing was done since 2026-11-14 00:00
    exit 0
    ");
    assert_snapshot!(Remembered::shop().go("recap --since 2026-11-14"), @"
    $ remora recap --since 2026-11-14
    nothing was done since 2026-11-14 00:00; `--all` looks in every project
    exit 0
    ");
    assert_snapshot!(Remembered::shop().go("recap --all --since 2030-01-01"), @"
    $ remora recap --all --since 2030-01-01
    nothing was done since 2030-01-01 00:00
    exit 0
    ");
}
