//! `remora status`: always an answer.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::remembered::Remembered;

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
fn a_bad_configuration_does_not_hinder_it() {
    let memory = Remembered::shop();
    memory.sandbox.write("home/.remora/config.toml", "nonsense");
    assert_eq!(memory.json("status")["events"], 11);
}
