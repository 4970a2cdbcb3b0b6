//! `remora ledger`: what was given, and how much of it was of use.

use insta::assert_snapshot;
use serde_json::json;

use crate::remembered::{CART, DISCOUNTS, Remembered};

const HOUR: i64 = 3_600_000;
/// The moment of the first event of the shop.
const FIRST: i64 = 1_794_646_800_000;

/// A session that was given rows of the one before: named and told at its start
/// and its prompt, a fix, a memory, and something that is gone.
fn given() -> Remembered {
    let mut memory = Remembered::shop();
    let at = |minutes: i64| FIRST + 29 * HOUR + minutes * 60_000;
    let lines = [
        format!("=\tSessionStart\t\t0\t{}\t", at(0)),
        format!("#5\tstart\tlast work\t12\t{}\t", at(0)),
        format!("#2\tstart\tlast work\t30\t{}\t", at(0)),
        format!("memory://project/no-mocks\tstart\tcore\t40\t{}\t", at(0)),
        format!("#2\tprompt\twords: cart, prices\t90\t{}\t", at(1)),
        format!("#999\tprompt\twords: cart\t8\t{}\t", at(1)),
        format!("#5\tfailure\tthe same error\t120\t{}\tagent-1", at(2)),
    ];
    memory.sandbox.write(
        &format!("home/.remora/run/sessions/{DISCOUNTS}.given"),
        lines.join("\n") + "\n",
    );
    let file = "/home/dev/shop/src/cart.rs";
    let fetch = json!({
        "tool_name": "mcp__remora__get", "tool_use_id": "t30",
        "tool_input": {"ids": [2]}, "tool_response": "…",
    });
    let read = json!({
        "tool_name": "Read", "tool_use_id": "t31", "tool_input": {"file_path": file},
        "tool_response": {"type": "text", "file": {
            "filePath": file, "content": "fn total() {}", "numLines": 1, "startLine": 1, "totalLines": 1,
        }},
    });
    memory.event(DISCOUNTS, "shop", 29 * HOUR + 180_000, "PostToolUse", fetch);
    memory.event(DISCOUNTS, "shop", 29 * HOUR + 240_000, "PostToolUse", read);
    memory.store();
    memory
}

#[test]
fn sums_and_the_last_lines() {
    let memory = given();
    assert_snapshot!(memory.go("ledger --project shop"), @"
    $ remora ledger --project shop
    given   300 tokens in 6 items, 1 session
    of use  210 tokens in 2 items
    rate    70.0 % of the tokens

    moment         items    used    tokens    of use     rate
    start              3       0        82         0    0.0 %
    prompt             2       1        98        90   91.8 %
    failure            1       1       120       120  100.0 %

    kind           items    used    tokens    of use     rate
    decision           2       1       120        90   75.0 %
    fix                2       1       132       120   90.9 %
    memory             1       0        40         0    0.0 %
    gone               1       0         8         0    0.0 %

    2026-11-15 Sunday
      14:02  failure   #5  cargo test: 1 of 2 tests failed (cart::tests::empty) → C…
                       120 tokens · to a subagent · the same error · opened 14:04
      14:01  prompt    #999  (no longer there)
                       8 tokens · words: cart · not used
      14:01  prompt    #2  We decided to keep prices in cents
                       90 tokens · words: cart, prices · fetched 14:03
      14:00  start     memory://project/no-mocks  (no longer there)
                       40 tokens · core · not used
      14:00  start     #2  We decided to keep prices in cents
                       30 tokens · last work · not used
      14:00  start     #5  cargo test: 1 of 2 tests failed (cart::tests::empty) → C…
                       12 tokens · last work · not used
    exit 0
    ");
}

#[test]
fn a_row_that_was_only_named_says_so() {
    let mut memory = Remembered::shop();
    let time = FIRST + 29 * HOUR;
    memory.sandbox.write(
        &format!("home/.remora/run/sessions/{DISCOUNTS}.given"),
        format!("#2\tsubagent (title)\twords: cart\t9\t{time}\t\n"),
    );
    let said = json!({"message": "waiting", "notification_type": "idle_prompt"});
    memory.event(DISCOUNTS, "shop", 30 * HOUR, "Notification", said);
    memory.store();
    assert_snapshot!(memory.go("ledger --project shop"), @"
    $ remora ledger --project shop
    given   9 tokens in 1 item, 1 session
    of use  0 tokens in 0 items
    rate    0.0 % of the tokens

    moment              items    used    tokens    of use     rate
    subagent (title)        1       0         9         0    0.0 %

    kind           items    used    tokens    of use     rate
    decision           1       0         9         0    0.0 %

    2026-11-15 Sunday
      14:00  subagent  #2  We decided to keep prices in cents
                       9 tokens · title only · words: cart · not used
    exit 0
    ");
}

#[test]
fn the_sums_are_those_of_all_lines() {
    let shown = given().go("ledger --all --limit 1").stdout;
    assert!(
        shown.starts_with("given   300 tokens in 6 items"),
        "{shown}"
    );
    assert!(
        shown.ends_with("opened 14:04\n\nand 5 lines more; see --limit\n"),
        "{shown}"
    );
}

#[test]
fn as_json() {
    let memory = given();
    let ledger = memory.json("ledger --session 7c2d --limit 2");
    assert_eq!(
        ledger,
        json!({
            "items": 6, "used": 2, "tokens": 300, "used_tokens": 210, "rate": 0.7, "sessions": 1,
            "moments": [
                {"moment": "start", "items": 3, "used": 0, "tokens": 82, "used_tokens": 0, "rate": 0.0},
                {"moment": "prompt", "items": 2, "used": 1, "tokens": 98, "used_tokens": 90, "rate": 0.918},
                {"moment": "failure", "items": 1, "used": 1, "tokens": 120, "used_tokens": 120, "rate": 1.0},
            ],
            "kinds": [
                {"kind": "decision", "items": 2, "used": 1, "tokens": 120, "used_tokens": 90, "rate": 0.75},
                {"kind": "fix", "items": 2, "used": 1, "tokens": 132, "used_tokens": 120, "rate": 0.909},
                {"kind": "memory", "items": 1, "used": 0, "tokens": 40, "used_tokens": 0, "rate": 0.0},
                {"kind": "gone", "items": 1, "used": 0, "tokens": 8, "used_tokens": 0, "rate": 0.0},
            ],
            "lines": [
                {
                    "time": "2026-11-15T14:02:00.000Z", "session": DISCOUNTS, "line": 6,
                    "moment": "failure", "item": "#5", "kind": "fix",
                    "title": "cargo test: 1 of 2 tests failed (cart::tests::empty) → \
                        Changed `total` in src/cart.rs: now `items.iter().map(|i| i.cents).sum()`",
                    "why": "the same error", "tokens": 120, "subagent": "agent-1",
                    "used": {"how": "opened", "time": "2026-11-15T14:04:00.000Z"},
                },
                {
                    "time": "2026-11-15T14:01:00.000Z", "session": DISCOUNTS, "line": 5,
                    "moment": "prompt", "item": "#999", "kind": "gone", "title": null,
                    "why": "words: cart", "tokens": 8, "subagent": null, "used": null,
                },
            ],
        })
    );
}

/// A database that is written anew, and a worker that starts anew, keep it.
#[test]
fn it_survives_pruning_and_rebuilding() {
    let memory = given();
    let before = memory.json("ledger --all");
    // Otherwise a worker stays for rows that wait for their meaning.
    let quiet = memory.go("config set search.background false");
    assert_eq!(quiet.code, Some(0), "{quiet}");
    for line in ["prune --older-than 2026-11-15", "rebuild"] {
        let done = memory.call(line).go();
        assert_eq!(done.code, Some(0), "{done}");
        assert_eq!(memory.json("ledger --all"), before, "{line}");
    }
    memory.store();
    assert_eq!(memory.json("ledger --all"), before);
}

#[test]
fn nothing() {
    assert_snapshot!(Remembered::nothing().go("ledger"), @"
    $ remora ledger
    nothing was injected into any session yet; `remora context` shows what would be
    exit 0
    ");
    let memory = given();
    for (line, said) in [
        (
            "ledger",
            "nothing was injected in this project yet; `--all` looks in every project\n",
        ),
        (
            "ledger --all --since 2030-01-01",
            "nothing was injected in that time\n",
        ),
        (
            &format!("ledger --session {CART}"),
            "nothing was injected into this session yet\n",
        ),
    ] {
        assert_eq!(memory.go(line).stdout, said, "{line}");
    }
    let (_, none) = Remembered::nothing().call("ledger").json();
    assert_eq!(
        none,
        json!({
            "items": 0, "used": 0, "tokens": 0, "used_tokens": 0, "rate": null, "sessions": 0,
            "moments": [], "kinds": [], "lines": [],
        })
    );
}
