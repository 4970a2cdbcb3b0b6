//! `remora status`: always an answer.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::remembered::Remembered;
use crate::sandbox::Sandbox;

#[test]
fn before_anything() {
    let memory = Remembered::nothing();
    assert_snapshot!(memory.go("status"), @"
    $ remora status
    remora 0.1.0
      data      [HOME]/.remora
      kept      0 observations, 0 prompts, 0 summaries, 0 fixes, 0 memories
      from      0 events in 0 sessions of 0 projects
      size      0 bytes database, 0 bytes archive
      waiting   0 events, 0 dead letters
      worker    does not run; the next event starts it
    exit 0
    ");
    assert!(!memory.sandbox.path("home/.remora").exists());
}

#[test]
fn what_is_kept() {
    let memory = Remembered::shop();
    let status = memory.json("status");
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["data_dir"], memory.sandbox.text("home/.remora"));
    assert_eq!(status["events"], 11);
    assert_eq!(
        (&status["summaries"], &status["fixes"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        (&status["memories"], &status["prompts"]),
        (&json!(0), &json!(3))
    );
    assert_eq!((&status["spool"], &status["dead"]), (&json!(0), &json!(0)));
    assert!(status["observations"].as_u64().unwrap() >= 4, "{status}");
    assert!(status["db_bytes"].as_u64().unwrap() > 0);
    let worker = &status["worker"];
    assert_eq!(worker["running"], false);
    for name in ["pid", "version", "port"] {
        assert_eq!(worker[name], json!(null));
    }
    let told = memory.go("status").stdout;
    assert!(
        told.contains("11 events in 3 sessions of 2 projects"),
        "{told}"
    );
}

#[test]
fn with_a_worker_at_work() {
    let memory = Remembered::shop();
    let started = memory.call("worker start").leaving_a_process().go();
    assert_eq!(started.code, Some(0), "{started}");
    let (done, status) = memory.call("status").leaving_a_process().json();
    let stopped = memory.call("worker stop").go();
    assert_eq!((done.code, stopped.code), (Some(0), Some(0)));
    assert_eq!(status["worker"]["running"], true);
    assert_eq!(status["worker"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(status["worker"]["pid"].as_u64().unwrap() > 1);
}

#[test]
fn a_damaged_database_is_said_and_no_failure() {
    let memory = Remembered::shop();
    fs::write(
        memory.sandbox.path("home/.remora/remora.db"),
        "this is no database".repeat(500),
    )
    .unwrap();
    let status = memory.json("status");
    assert_eq!(status["events"], 0);
    assert!(
        status["trouble"].as_str().unwrap().contains("damaged"),
        "{status}"
    );
    let told = memory.go("status");
    assert_eq!(told.code, Some(0));
    assert!(told.stdout.contains("see `remora doctor`"), "{told}");
}

#[test]
fn a_database_that_is_gone_is_said_wherever_it_is_missed() {
    let memory = Remembered::shop();
    let database = memory.sandbox.path("home/.remora/remora.db");
    let before = memory.json("status")["events"].clone();
    for text in [None, Some("")] {
        memory
            .sandbox
            .shell(&format!("rm -f '{}'*", database.display()));
        if let Some(text) = text {
            fs::write(&database, text).unwrap();
        }
        let gone =
            "is gone or empty, but the archive is there; `remora rebuild` brings everything back";
        let trouble = memory.json("status")["trouble"].clone();
        assert_eq!(trouble, json!(format!("the database {gone}")));
        let missed = memory.go("sessions --all");
        assert_eq!(
            (missed.code, missed.stderr),
            (
                Some(1),
                format!("remora: [HOME]/.remora/remora.db: {gone}\n")
            )
        );
        // Whatever writes first brings everything back.
        memory.sandbox.write("project/c.jsonl", "");
        assert_eq!(memory.go("import jsonl c.jsonl").code, Some(0));
        assert_eq!(memory.json("status")["events"], before);
    }
}

#[test]
fn an_empty_database_without_an_archive_holds_nothing_yet() {
    let memory = Remembered::nothing();
    memory.sandbox.write("home/.remora/remora.db", "");
    assert_eq!(memory.json("status")["trouble"], json!(null));
    for command in ["sessions --all", "search --all cart", "doctor"] {
        let done = memory.go(command);
        assert!(
            !done.stderr.contains("store") && !done.stdout.contains("store is"),
            "{done}"
        );
    }
}

#[test]
fn what_is_kept_can_be_read_where_nothing_can_be_written() {
    let sandbox = Sandbox::unprivileged();
    sandbox.shell(&format!("chmod 777 '{}'", sandbox.text("home")));
    let line = r#"{"id":"1","conv":"a","text":"The lighthouse keeper waters his tomatoes"}"#;
    let import = ["import", "jsonl", "-", "--no-vectors"];
    let environment = ["config", "set", "search.background", "false"];
    assert_eq!(sandbox.remora(&environment).go().code, Some(0));
    let done = sandbox.remora(&import).stdin(line).go();
    assert_eq!(done.code, Some(0), "{done}");
    let data = sandbox.text("home/.remora");
    sandbox.shell(&format!("chmod -R a-w '{data}'"));
    let calls = [
        &["search", "--all", "lighthouse"][..],
        &["sessions", "--all"],
        &["show", "1"],
        &["timeline", "--all"],
        &["context"],
        &["status"],
        &["doctor"],
    ];
    let told: Vec<_> = calls.iter().map(|args| sandbox.remora(args).go()).collect();
    sandbox.shell(&format!("chmod -R u+w '{data}'"));
    for done in &told[..6] {
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done}");
    }
    assert!(told[0].stdout.contains("tomatoes"), "{}", told[0]);
    assert!(
        told[5].stdout.contains("1 session of 1 project"),
        "{}",
        told[5]
    );
    assert!(told[6].stdout.contains("sound"), "{}", told[6]);
}

#[test]
fn a_bad_configuration_does_not_hinder_it() {
    let memory = Remembered::shop();
    memory.sandbox.write("home/.remora/config.toml", "nonsense");
    let value = memory.json("status");
    assert_eq!(value["events"], 11);
    assert!(value["config_trouble"].is_string(), "{value}");
    let told = memory.go("status").stdout;
    let words: Vec<&str> = told.split_whitespace().collect();
    let flat = words.join(" ");
    assert!(flat.contains("nothing is stored until"), "{told}");
}
