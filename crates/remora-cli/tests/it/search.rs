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
    assert_snapshot!(memory.go("search --project shop empty cart --limit 2"), @r"
    $ remora search --project shop empty cart --limit 2
    #5 fix · cargo test: 1 of 2 tests failed (cart::tests::empty) → Changed `total`
       in src/cart.rs: now `items.iter().map(|i| i.cents).sum()`
       2026-11-14 09:04 · main · src/cart.rs
       error: cargo test: 1 of 2 tests failed (cart::tests::empty) · fix: Changed
       `total` in src/cart.rs: now `items.iter().map(|i| i.cents).sum()` ·…

    #1 prompt · The cart test fails on an empty cart. Please fix it. We decided to
       keep prices in cents because floats lose money.
       2026-11-14 09:01 · main
    exit 0
    ");
    assert_snapshot!(memory.go("search --all notes"), @"
    $ remora search --all notes
    #10 prompt · List my notes about carts
        2026-11-15 16:00 · notes · main
    exit 0
    ");
    assert_snapshot!(memory.go("search --all discount"), @"
    $ remora search --all discount
    #8 prompt · Add discounts to the cart. 折扣不能低于零。
       2026-11-15 14:01 · shop · main

    #7 summary · The cart test fails on an empty cart → Fixed the empty cart: total
       now sums
       2026-11-14 09:05 · shop · main · src/cart.rs
       …steps: - add a test for a cart with a discount Request: The cart test fails
       on an empty cart. Please fix it. We decided to keep prices in cents…
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
            "any_words",
            "branch",
            "external_id",
            "files",
            "id",
            "kind",
            "project",
            "same",
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

/// What one text in the box finds, in any project unless it names one.
fn asked(memory: &Remembered, text: &str) -> Value {
    let (done, found) = memory.call("search").args(&[text]).json();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(done.stderr, "", "{text}");
    found
}

#[test]
fn filters_stand_among_the_words() {
    let memory = Remembered::shop();
    for (text, kinds) in [
        ("kind:prompt project:*", vec!["prompt"; 3]),
        (
            "project:* kind:prompts,fixes session:5b1c",
            vec!["fix", "prompt"],
        ),
        ("project:* since:2026-11-15 kind:failure", vec!["failure"]),
        ("project:* after:2026-11-14 kind:failure", vec!["failure"]),
        ("project:* until:2026-11-14 kind:prompt", vec!["prompt"]),
        ("project:* before:2026-11-15 kind:prompt", vec!["prompt"]),
        ("project:* file:src/cart.ts", vec!["failure"]),
        ("project:* file:\"src/cart.ts\" TS2322", vec!["failure"]),
        ("project:* file:src/cart.ts:14:7", vec!["failure"]),
        ("project:* agent:nobody", vec![]),
        ("project:shop kind:prompt 折扣", vec!["prompt"]),
        ("project:notes carts", vec!["prompt"]),
        ("project:shop kind:prompt cart -discounts", vec!["prompt"]),
        ("project:shop kind:prompt -discounts", vec!["prompt"]),
        (
            "project:shop kind:prompt -discounts cart -\"keep prices\"",
            vec![],
        ),
        (
            "project:shop kind:failure,prompt -kind:prompt cart",
            vec!["failure"; 2],
        ),
    ] {
        let found = asked(&memory, text);
        assert_eq!(titles(&found), kinds, "{text}");
        assert_eq!(found.get("notes"), None, "{text}");
    }
}

#[test]
fn an_error_as_met_finds_its_failure() {
    let memory = Remembered::shop();
    let found = asked(
        &memory,
        "project:* error: Type 'string' is not assignable to type 'number' -file:x \"",
    );
    assert_eq!(found["results"][0]["kind"], "failure", "{found}");
    assert_eq!(found["results"][0]["files"][0], "src/cart.ts", "{found}");
}

#[test]
fn words_behind_a_hyphen_need_no_quotes() {
    let memory = Remembered::shop();
    let kinds = |words: &[&str]| {
        let call = memory.call("search --project shop --kind prompt");
        let (done, found) = call.args(words).json();
        assert_eq!(done.code, Some(0), "{done}");
        titles(&found).len()
    };
    assert_eq!(kinds(&["cart"]), 2);
    assert_eq!(kinds(&["cart", "-n1"]), 1);
    assert_eq!(kinds(&["cart", "-discounts"]), 1);
    assert_eq!(kinds(&["-discounts", "cart"]), 1);
    // What a shell makes of -"keep prices".
    assert_eq!(kinds(&["cart", "-keep prices"]), 1);
    // What is no flag of a search is words.
    assert_eq!(kinds(&["mkdir", "cart", "-p"]), 2);
    assert_eq!(kinds(&["cart", "--amend was used"]), 2);
    assert_eq!(kinds(&["-> cart"]), 2);
    // Whatever it finds, it is no error.
    kinds(&["--amend was used"]);
    let all = memory.go("search --project shop --kind prompt cart -- -discounts");
    assert!(!all.stdout.contains("Add discounts"), "{all}");
}

#[test]
fn notes_say_what_was_read_otherwise() {
    let memory = Remembered::shop();
    assert_snapshot!(memory.go("search --all kind:prompt kind:nonsense since:soon notes").stderr, @"
    note: `nonsense` is not a kind, so it is searched as a word; kinds are decision, preference, correction, bugfix, feature, refactor, change, discovery, failure, command, task, prompt, message, summary, fix, memory, commit
    note: `since:soon` is not a time, so it is searched as words; try since:2026-11-15, since:yesterday or since:7d
    ");
    assert_snapshot!(memory.go("search --all --kind prompt notes kind:fix project:shop").stderr, @"
    note: --kind is given, so `kind:` does not count
    note: --all is given, so `project:` does not count
    ");
    assert_snapshot!(memory.go("search --project notes rm -rf notes").stderr, @r#"
    note: the text looks like a command, so these are words: `-rf`; write -"rf" to leave it out
    "#);
    let found = asked(&memory, "project:* kind:prompt since:soon notes");
    let notes = found["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{found}");
    assert_eq!(titles(&found)[0], "prompt");
    assert_eq!(
        Remembered::nothing().json("search x since:soon")["notes"],
        found["notes"]
    );
    let unknown = memory.go("search project:shops cart");
    assert_eq!(unknown.code, Some(1), "{unknown}");
    assert!(unknown.stderr.contains("github.com/acme/shop"), "{unknown}");
    let turned = memory.go("search since:2026-11-15 --until 2026-11-14 x");
    assert_eq!(
        turned.stderr,
        "remora: since is later than until: nothing lies between them\n"
    );
}

#[test]
fn help_tells_the_language() {
    let help = Remembered::nothing().call("search --help").go();
    assert_snapshot!(help.stdout, @r#"
    Search what was done, said and learned

    Usage: remora search [OPTIONS] [WORDS]...

    Arguments:
      [WORDS]...  The words, in any order, with filters among them (see below); none list the newest

    Options:
          --all                In every project, not only the one of the current directory
          --project <PROJECT>  In the project with this key, name or path
          --kind <KIND>        Only this kind; may be given several times [possible values: decision,
                               preference, correction, bugfix, feature, refactor, change, discovery,
                               failure, command, task, prompt, message, summary, fix, memory, commit]
          --file <PATH>        Only what read or changed this file, or a file in this folder
          --since <TIME>       From this time on: 2026-11-15, "2026-11-15 14:30", today, yesterday,
                               monday, "last week", 3d, 2h
          --until <TIME>       Up to this time; a day or week counts to its end
          --session <ID>       Only this session; the beginning of its id is enough
          --agent <AGENT>      Only this agent
      -n, --limit <N>          How many results at most [default: 20]
          --tier <TIER>        How thorough: fast (words, nothing to load) or full (also embeddings)
                               [default: full]
          --explain            Show what each score is made of
          --open               Show the best result in full
          --json               Print JSON instead of text
      -h, --help               Print help
      -V, --version            Print version

    Among the words:
      "out of memory"         these words, one after the other
      -word, -"a phrase"      only items without it
      file:src/cart.rs        read or changed this file, or one in this folder
      kind:fix,decision       of these kinds; -kind:prompt is any other
      project:shop            in this project; project:* is all of them
      since:7d, until:monday  from this time on, up to it; after: and before: leave
                              the named day out
      session:ID, agent:NAME  of this session, of this agent
      error:TEXT              this error as it was met, its failures and fixes; the
                              rest of the text is part of it

    Examples:
      remora search empty cart -discount kind:fix
      remora search 'file:"my notes/cart.md" since:"last week"'
      remora search 'error:cannot find module "left-pad"'
    "#);
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
