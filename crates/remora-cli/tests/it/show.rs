//! `remora show`: rows in full, by any of their names.

use insta::assert_snapshot;
use remora_core::text::is_invisible;

use crate::remembered::Remembered;

#[test]
fn a_row_by_number_and_by_name() {
    let memory = Remembered::shop();
    assert_snapshot!(memory.go("show #4"), @"
    $ remora show #4
    #4 bugfix
    Changed `total` in src/cart.rs: now `items.iter().map(|i| i.cents).sum()`
      time      2026-11-14 09:03
      project   shop (github.com/acme/shop)
      session   5b1c9f00-1111-4000-8000-000000000001, prompt 1
      agent     [AGENT]
      branch    main
      tool      Edit
      changed   src/cart.rs
      about     error handling, total
      name      0199a000-0000-7000-8000-000000000004
      tokens    76 of 159

      - `total`: now `items.iter().map(|i| i.cents).sum()`
      - after: cargo test: 1 of 2 tests failed (cart::tests::empty)

      @@ total
      -    items.iter().map(|i| i.cents).reduce(|a, b| a + b).unwrap()
      +    items.iter().map(|i| i.cents).sum()
    exit 0
    ");
    let by_number = memory.go("show 4").stdout;
    let name = memory.json("show 4")["items"][0]["uid"].clone();
    assert_eq!(
        by_number,
        memory
            .go(&format!("show {}", name.as_str().unwrap()))
            .stdout
    );
}

#[test]
fn a_fix_has_its_record_and_a_summary_its_parts() {
    let memory = Remembered::shop();
    let fixes = memory.json("search --all --kind fix");
    let fix = memory.json(&format!("show {}", fixes["results"][0]["id"]));
    let fix = &fix["items"][0];
    assert_eq!(
        (&fix["fixed"], &fix["held"], &fix["returned"]),
        (&1.into(), &0.into(), &0.into())
    );
    assert_eq!(fix["when"], "2026-11-14T09:04:00.000Z");
    let told = memory.go(&format!("show {}", fix["id"])).stdout;
    assert!(
        told.contains("record    fixed once, held never, came back never"),
        "{told}"
    );
    let summaries = memory.json("search --all --kind summary");
    let summary = memory.json(&format!("show {}", summaries["results"][0]["id"]));
    assert_eq!(
        summary["items"][0]["next_steps"][0],
        "add a test for a cart with a discount"
    );
}

#[test]
fn what_is_not_there_is_named() {
    let memory = Remembered::shop();
    let some = memory.go("show 1 99 nothing");
    assert_eq!(some.code, Some(0));
    assert_eq!(some.stderr, "remora: not found: `99`, `nothing`\n");
    assert_snapshot!(memory.go("show 99"), @"
    $ remora show 99
    stderr: remora: not found: `99`
    exit 1
    ");
    assert_snapshot!(memory.go("show 0 #-1 18446744073709551616"), @"
    $ remora show 0 #-1 18446744073709551616
    stderr: remora: not found: `0`, `#-1`, `18446744073709551616`
    exit 1
    ");
    assert_snapshot!(Remembered::nothing().go("show 1"), @"
    $ remora show 1
    stderr: remora: nothing is remembered yet
    exit 1
    ");
    assert_eq!(
        memory.json("show 1 99")["missing"],
        serde_json::json!(["99"])
    );
    assert_eq!(memory.go("show").code, Some(1));
}

#[test]
fn text_from_elsewhere_cannot_drive_the_terminal() {
    let mut memory = Remembered::nothing();
    let prompt = "red \u{1b}[31malert\u{7}\r\nsecond line\u{9b}2J \u{202e}txet\u{202c} \
                  z\u{200b}ero \u{2066}width \u{e0041}\u{3164}";
    let fields = serde_json::json!({ "prompt": prompt });
    memory.event("s", "shop", 0, "UserPromptSubmit", fields);
    memory.store();
    for line in [
        "show 1",
        "search --all second",
        "sessions --all",
        "timeline --all",
        "recap --all --since 2020-01-01",
    ] {
        let told = memory.go(line);
        assert!(told.stdout.contains("alert"), "{told}");
        let bad = |c: char| c.is_control() && c != '\n' || is_invisible(c);
        assert!(!told.stdout.contains(bad), "{:?}", told.stdout);
    }
}
