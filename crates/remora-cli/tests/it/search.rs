//! `remora search`: what is found, where, and how it is told.

use insta::assert_snapshot;
use serde_json::Value;

use crate::remembered::{CART, DISCOUNTS, Remembered};

fn titles(found: &Value) -> Vec<&str> {
    let rows = found["results"].as_array().unwrap();
    rows.iter()
        .map(|row| row["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn results_have_title_place_and_snippet() {
    let memory = Remembered::shop();
    assert_snapshot!(memory.go("search --project shop empty cart --limit 2"), @"
    $ remora search --project shop empty cart --limit 2
    #3 failure · cargo test: 1 of 2 tests failed (cart::tests::empty)
       2026-11-14 09:02 · main · src/cart.rs
       running 2 tests test cart::tests::empty ... FAILED failures: ----
       cart::tests::empty stdout ---- thread 'cart::tests::empty' panicked at…

    #1 prompt · The cart test fails on an empty cart. Please fix it. We decided to
       keep prices in cents because floats lose money.
       2026-11-14 09:01 · main
    exit 0
    ");
    assert_snapshot!(memory.go("search --all notes"), @"
    $ remora search --all notes
    #10 prompt · List my notes about carts
        2026-11-15 16:00 · notes · main

    #7 summary · The cart test fails on an empty cart → Total now sums
       2026-11-14 09:05 · shop · main · src/cart.rs
       …add a test for a cart with a discount Notes: - Decision: We decided to keep
       prices in cents (floats lose money)
    exit 0
    ");
}

#[test]
fn as_json() {
    let memory = Remembered::shop();
    let found = memory.json("search --all --kind failure unwrap");
    assert!(found["ms"].is_f64());
    let row = &found["results"][0];
    let mut keys: Vec<&str> = row
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "agent",
            "all_words",
            "branch",
            "external_id",
            "files",
            "id",
            "kind",
            "project",
            "score",
            "seen",
            "session",
            "snippet",
            "time",
            "title",
            "uid"
        ]
    );
    assert_eq!(row["time"], "2026-11-14T09:02:00.000Z");
    assert_eq!(row["project"], "github.com/acme/shop");
    assert_eq!(row["session"], CART);
    assert_eq!(row["files"][0], "src/cart.rs");
    let snippet = row["snippet"].as_str().unwrap();
    assert!(
        snippet.contains("unwrap") && snippet.chars().count() <= 240,
        "{snippet}"
    );
}

#[test]
fn filters_hold_together() {
    let memory = Remembered::shop();
    for (line, kinds) in [
        ("search --all --kind prompt", vec!["prompt"; 3]),
        (
            "search --all --kind prompt,fix --session 5b1c",
            vec!["fix", "prompt"],
        ),
        (
            "search --all --since 2026-11-15 --kind failure",
            vec!["failure"],
        ),
        (
            "search --all --until 2026-11-14 --kind prompt",
            vec!["prompt"],
        ),
        ("search --all --file src/cart.ts", vec!["failure"]),
        ("search --all --file ./src/cart.ts", vec!["failure"]),
        ("search --all --agent nobody", vec![]),
        (
            "search --project shop --kind prompt --limit 1",
            vec!["prompt"],
        ),
        ("search --project SHOP --kind prompt 折扣", vec!["prompt"]),
        ("search --all ***", vec![]),
    ] {
        assert_eq!(titles(&memory.json(line)), kinds, "{line}");
    }
    let open = memory.json(&format!("search --session {DISCOUNTS} --kind prompt"));
    assert_eq!(
        open["results"][0]["title"],
        "Add discounts to the cart. 折扣不能低于零。"
    );
}

#[test]
fn a_project_goes_by_key_name_and_path() {
    let mut memory = Remembered::nothing();
    let here = memory.sandbox.text("project");
    let mut event = |project: &str, prompt: &str| {
        let fields = serde_json::json!({ "prompt": prompt });
        memory.event(project, project, 0, "UserPromptSubmit", fields);
    };
    event("shop", "in the shop");
    event("one/tools", "tools of one");
    event("two/tools", "tools of two");
    memory.store();
    for project in [
        "github.com/acme/shop",
        "shop",
        "/home/dev/shop",
        "/home/dev/shop/",
    ] {
        let found = memory.json(&format!("search --project {project} shop"));
        assert_eq!(titles(&found), ["prompt"], "{project}");
    }
    // A directory that is there is a project, though nothing is known of it.
    assert_eq!(
        titles(&memory.json(&format!("search --project {here}"))),
        [""; 0]
    );
    assert_snapshot!(memory.go("search --project shp x"), @r"
    $ remora search --project shp x
    stderr: remora: `shp` is not a project; known:
    stderr:   github.com/acme/one/tools
    stderr:   github.com/acme/shop
    stderr:   github.com/acme/two/tools
    exit 1
    ");
    assert_snapshot!(memory.go("search --project shops x"), @r"
    $ remora search --project shops x
    stderr: remora: `shops` is not a project; did you mean
    stderr:   github.com/acme/shop
    exit 1
    ");
}

#[test]
fn what_was_imported_goes_by_the_key_it_was_given() {
    let memory = Remembered::nothing();
    let line = r#"{"id":"D1:3","conv":"conv-26","session":"s1","seq":3,"timestamp":"2023-05-08T13:56:00","speaker":"Ann","text":"I went to the harbour festival yesterday."}"#;
    let file = memory
        .sandbox
        .write("project/corpus.jsonl", format!("{line}\n"));
    let file = file.display();
    let done = memory.go(&format!("import jsonl {file} --project conv-26"));
    assert_eq!(done.code, Some(0), "{done}");
    let found = memory.json("search --project conv-26 harbour festivals");
    assert_eq!(found["results"][0]["external_id"], "D1:3", "{found}");
    assert_eq!(memory.json("show D1:3")["items"][0]["speaker"], "Ann");
}

#[test]
fn nothing_found_says_where_there_is_something() {
    let memory = Remembered::shop();
    assert_snapshot!(memory.go("search discounts"), @"
    $ remora search discounts
    nothing found in this project; 2 results in others: add --all
    exit 0
    ");
    assert_snapshot!(memory.go("search --all zebra"), @"
    $ remora search --all zebra
    nothing found
    exit 0
    ");
    assert_snapshot!(Remembered::nothing().go("search x"), @"
    $ remora search x
    nothing is remembered yet; `remora status` says whether capture works
    exit 0
    ");
    assert_eq!(titles(&Remembered::nothing().json("search x")), [""; 0]);
}

#[test]
fn the_best_result_opens() {
    let memory = Remembered::shop();
    let shown = memory.go("search --all --open --kind prompt notes").stdout;
    assert_eq!(shown, memory.go("show 10").stdout);
    let shown = memory.json("search --all --open --kind prompt notes");
    assert_eq!(shown["items"][0]["title"], "List my notes about carts");
}

#[test]
fn faults_name_the_flag() {
    let memory = Remembered::shop();
    assert_snapshot!(memory.go("search --since soon x"), @r#"
    $ remora search --since soon x
    stderr: remora: --since: `soon` is not a time; try 2026-11-15, "2026-11-15 14:30", yesterday, monday, "last week", 3d or 2h
    exit 1
    "#);
    assert_snapshot!(memory.go("search --since today --until 2020-01-01 x"), @"
    $ remora search --since today --until 2020-01-01 x
    stderr: remora: --since is later than --until: nothing lies between them
    exit 1
    ");
    assert_snapshot!(memory.go("search --session 9 x"), @"
    $ remora search --session 9 x
    stderr: remora: `9` is not a session; `remora sessions --all` lists them
    exit 1
    ");
    let unknown = memory.go("search --kind nonsense x");
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("decision"), "{unknown}");
}
