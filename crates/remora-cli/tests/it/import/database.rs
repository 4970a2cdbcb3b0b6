//! `remora import` of another memory system's database: its rows as ours,
//! joined with the projects that are known, and the same however often.

use std::fs;

use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::rebuild::exported;
use crate::remembered::Remembered;
use crate::sandbox::Sandbox;

const TABLES: &str = include_str!("../../../../remora-store/tests/foreign/claude-mem-35.sql");

/// The database, with a secret in it, and no worker afterwards.
fn with_database(sandbox: &Sandbox) -> String {
    let args = ["config", "set", "search.background", "false"];
    assert_eq!(sandbox.remora(&args).go().code, Some(0));
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let conn = Connection::open(sandbox.path("project/mem.db")).unwrap();
    conn.execute_batch(&TABLES.replace("SECRET", &secret))
        .unwrap();
    secret
}

const IMPORT: [&str; 4] = ["import", "claude-mem", "mem.db", "--no-vectors"];

fn rows(sandbox: &Sandbox) -> Vec<Value> {
    let lines = exported(sandbox);
    let items = lines.iter().filter_map(|line| {
        let value: Value = serde_json::from_str(line).unwrap();
        value.get("item").cloned()
    });
    items.collect()
}

fn told(sandbox: &Sandbox) -> String {
    let lines: Vec<String> = rows(sandbox)
        .iter()
        .map(|row| {
            let of = |field: &str| row[field].as_str().unwrap_or("-").to_owned();
            let fields = ["project", "external_id", "kind", "title"];
            fields.map(of).join(" · ")
        })
        .collect();
    lines.join("\n")
}

#[test]
fn rows_keep_their_names_and_again_changes_nothing() {
    let sandbox = Sandbox::new();
    let secret = with_database(&sandbox);
    let before = fs::read(sandbox.path("project/mem.db")).unwrap();
    assert_snapshot!(sandbox.remora(&IMPORT).go(), @r"
    $ remora import claude-mem mem.db --no-vectors
    imported 2 sessions, 3 prompts, 2 observations, 1 summary, 2 calls
    redacted 2 github-token
    no project here is called notes, shop; the same again in the folder of that name, or with --project THEIRS=OURS, moves the items of one of theirs to yours
    8 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    exit 0
    ");
    assert_snapshot!(told(&sandbox), @r"
    shop · prompt:1 · prompt · The cart test fails, mend it [private]
    shop · observation:10 · bugfix · Empty carts no longer panic
    shop · observation:11 · discovery · An old row of plain text
    shop · prompt:2 · prompt · Push it with [redacted:github-token]
    shop · summary:5 · summary · Mend the cart
    shop · - · command · cargo test: 2 tests passed
    shop · - · feature · Created src/tax.rs with `tax`
    notes · prompt:3 · prompt · Sort my notes
    ");
    let all = rows(&sandbox);
    let bugfix = all
        .iter()
        .find(|row| row["external_id"] == "observation:10");
    assert_eq!(bugfix.unwrap()["facts"][1], "an empty cart costs 0");
    let summary = all.iter().find(|row| row["kind"] == "summary").unwrap();
    assert_eq!(
        summary["detail"]["completed"],
        json!(["Changed total() to sum"])
    );
    let text = exported(&sandbox).join("\n");
    assert!(
        !text.contains(&secret) && !text.contains("not this"),
        "{text}"
    );
    let known = exported(&sandbox);
    assert_snapshot!(sandbox.remora(&IMPORT).json().0, @r#"
    $ remora import claude-mem mem.db --no-vectors --json
    {
      "sessions": 0,
      "prompts": 0,
      "observations": 0,
      "summaries": 0,
      "calls": 0,
      "unchanged": 8,
      "moved": 0,
      "apart": [
        "notes",
        "shop"
      ],
      "embedded": 0,
      "waiting": 8
    }
    exit 0
    "#);
    assert_eq!(exported(&sandbox), known);
    assert_eq!(fs::read(sandbox.path("project/mem.db")).unwrap(), before);
}

#[test]
fn their_projects_are_joined_with_ours() {
    let memory = Remembered::shop();
    let sandbox = &memory.sandbox;
    with_database(sandbox);
    let before = rows(sandbox).len();
    let args = ["--project", "notes=shop"];
    let (done, value) = sandbox.remora(&IMPORT).args(&args).json();
    assert_eq!(value["apart"], json!([]), "{done}");
    let all = rows(sandbox);
    assert!(all.len() > before, "{done}");
    for row in all.iter().filter(|row| !row["external_id"].is_null()) {
        assert_eq!(row["project"], "github.com/acme/shop", "{row}");
    }
    let bad = sandbox.remora(&IMPORT).args(&["--project", "=x"]).go();
    assert_snapshot!(bad.stderr, @r"remora: --project: `=x` names no project on one side; write THEIRS=OURS");
}

#[test]
fn what_came_into_a_wrong_project_is_moved() {
    let sandbox = Sandbox::new();
    with_database(&sandbox);
    assert_eq!(sandbox.remora(&IMPORT).go().code, Some(0));
    let lost = sandbox.remora(&IMPORT).args(&["--project", "shop=nowhere"]);
    assert_snapshot!(lost.go(), @"
    $ remora import claude-mem mem.db --no-vectors --project shop=nowhere
    stderr: remora: `nowhere` is not a project; known:
    stderr:   notes
    stderr:   shop
    exit 1
    ");
    let known = exported(&sandbox);
    let again = sandbox.remora(&IMPORT).args(&["--project", "shop=."]);
    assert_snapshot!(again.go(), @"
    $ remora import claude-mem mem.db --no-vectors --project shop=.
    imported nothing; 8 items were here already; 7 items moved to another project
    no project here is called notes; the same again in the folder of that name, or with --project THEIRS=OURS, moves the items of one of theirs to yours
    8 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    exit 0
    ");
    let key = sandbox.path("project").canonicalize().unwrap();
    let key = key.to_string_lossy();
    assert_snapshot!(told(&sandbox).replace(&*key, "[HERE]"), @"
    [HERE] · prompt:1 · prompt · The cart test fails, mend it [private]
    [HERE] · observation:10 · bugfix · Empty carts no longer panic
    [HERE] · observation:11 · discovery · An old row of plain text
    [HERE] · prompt:2 · prompt · Push it with [redacted:github-token]
    [HERE] · summary:5 · summary · Mend the cart
    [HERE] · - · command · cargo test: 2 tests passed
    [HERE] · - · feature · Created src/tax.rs with `tax`
    notes · prompt:3 · prompt · Sort my notes
    ");
    let here = sandbox.remora(&["search", "cart"]).go();
    assert!(
        here.stdout.contains("Empty carts no longer panic"),
        "{here}"
    );
    assert_eq!(exported(&sandbox).len(), known.len() + 1);
    // Without a word about it, nothing moves back.
    assert!(
        sandbox
            .remora(&IMPORT)
            .go()
            .stdout
            .contains("8 items were here already")
    );
}

#[test]
fn every_session_is_over() {
    let sandbox = Sandbox::new();
    with_database(&sandbox);
    let conn = Connection::open(sandbox.path("project/mem.db")).unwrap();
    // One that no table of sessions knows.
    conn.execute_batch(
        "UPDATE pending_messages SET content_session_id = '5e55a000-0000-4000-8000-000000000003'",
    )
    .unwrap();
    drop(conn);
    let (done, value) = sandbox.remora(&IMPORT).json();
    assert_eq!(value["sessions"], 3, "{done}");
    let (_, value) = sandbox.remora(&["sessions", "--all"]).json();
    let sessions = value["sessions"].as_array().unwrap();
    let ends: Vec<&Value> = sessions.iter().map(|row| &row["end_reason"]).collect();
    assert_eq!(ends, ["import", "import", "import"]);
    let (done, value) = sandbox.remora(&IMPORT).json();
    assert_eq!(
        (&value["sessions"], &value["calls"]),
        (&json!(0), &json!(0)),
        "{done}"
    );
}

#[test]
fn what_is_no_such_database_is_said() {
    let sandbox = Sandbox::new();
    let said = || {
        let done = sandbox.remora(&IMPORT).go();
        assert_eq!(done.code, Some(1), "{done}");
        assert!(!sandbox.path("home/.remora/remora.db").exists());
        done.stderr
    };
    assert_snapshot!(said(), @"remora: mem.db: no such file");
    sandbox.write("project/mem.db", "only some words, ".repeat(10));
    assert_snapshot!(said(), @"remora: mem.db: file is not a database");
    sandbox.write("project/mem.db", "");
    assert_snapshot!(said(), @"remora: mem.db: no database of claude-mem: none of its tables is there");
    sandbox.shell("rm mem.db; mkdir mem.db");
    assert_snapshot!(said(), @"remora: mem.db: is a folder; name the database in it");
}

#[test]
fn the_folder_of_their_name_is_their_project() {
    let sandbox = Sandbox::new();
    with_database(&sandbox);
    assert_eq!(sandbox.remora(&IMPORT).go().code, Some(0));
    sandbox.shell(
        "git init -q; git remote add origin git@github.com:acme/shop.git; mv mem.db ../mem.db",
    );
    // What lies in no folder's project goes where it belongs.
    let import = ["import", "claude-mem", "../mem.db", "--no-vectors"];
    assert_snapshot!(sandbox.remora(&import).go(), @"
    $ remora import claude-mem ../mem.db --no-vectors
    imported nothing; 8 items were here already; 7 items moved to another project
    their shop is github.com/acme/shop, the project of this folder
    no project here is called notes; the same again in the folder of that name, or with --project THEIRS=OURS, moves the items of one of theirs to yours
    8 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    exit 0
    ");
    let at = |project: &str| {
        let all = rows(&sandbox);
        all.iter().filter(|row| row["project"] == project).count()
    };
    assert_eq!(
        (at("github.com/acme/shop"), at("shop"), at("notes")),
        (7, 0, 1)
    );
    let known = exported(&sandbox);
    let unmet = sandbox.remora(&import).args(&["--project", "zzz=."]);
    assert_snapshot!(unmet.go(), @"
    $ remora import claude-mem ../mem.db --no-vectors --project zzz=.
    imported nothing; 8 items were here already
    their shop is github.com/acme/shop, the project of this folder
    --project: they have no project called zzz
    no project here is called notes; the same again in the folder of that name, or with --project THEIRS=OURS, moves the items of one of theirs to yours
    8 items cannot be found by meaning yet: `remora rebuild --vectors --missing`
    exit 0
    ");
    assert_eq!(exported(&sandbox), known);
}
