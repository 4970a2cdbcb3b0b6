//! A deletion that ends before it is done, at every step that it has, and is
//! carried out by whoever comes next.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{MARKER, assert_gone, marked};
use crate::remembered::Remembered;

/// Puts something of every kind there that a deletion has to see to.
fn laden() -> Remembered {
    let memory = marked();
    let home = memory.sandbox.path("home/.remora");
    fs::copy(home.join("remora.db"), home.join("remora.db.backup-v4")).unwrap();
    let payload = format!(r#"{{"prompt":"the {MARKER} again"}}"#);
    let letter = json!({ "id": "x", "at": 5, "reason": "odd", "payload": payload });
    memory
        .sandbox
        .write("home/.remora/dead/x.json", letter.to_string());
    memory.sandbox.write(
        "home/.remora/run/sessions/other.given",
        "#1\tstart\twhy\t5\t5\n",
    );
    memory
}

fn finished(memory: &Remembered, when: &str) {
    let started = memory.call("worker start").leaving_a_process().go();
    assert_eq!(started.code, Some(0), "{started}");
    assert_eq!(memory.go("worker stop").code, Some(0));
    let order = memory.sandbox.path("home/.remora/forgetting.json");
    assert!(!order.exists(), "{when}");
    assert_gone(memory, when);
    assert_ne!(
        memory.json("search cents --all")["results"],
        json!([]),
        "{when}"
    );
    let receipts = fs::read_to_string(memory.sandbox.path("home/.remora/forgotten.jsonl")).unwrap();
    let receipts = receipts.lines().filter(|line| !line.is_empty());
    assert_eq!(receipts.count(), 1, "{when}");
}

/// Steps, and a path that each needs and that is a folder meanwhile.
const OBSTACLES: &[(&str, &str)] = &[
    ("the old copy", "remora.db.backup-v4"),
    ("the file of corrections", "overrides.jsonl"),
    ("the notes of injections", "run/sessions/other.given.part"),
];

#[test]
fn a_deletion_that_fails_at_any_step_is_carried_out_by_the_next() {
    let forget = format!("forget --matching {MARKER} --all --yes");
    for (name, path) in OBSTACLES {
        let memory = laden();
        let home = memory.sandbox.path("home/.remora");
        let path = home.join(path);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.join("full")).unwrap();
        let failed = memory.call(&forget).leaving_a_process().go();
        assert_eq!(failed.code, Some(1), "{name}: {failed}");
        assert!(home.join("forgetting.json").exists(), "{name}");
        fs::remove_dir_all(&path).unwrap();
        finished(&memory, name);
    }
}

fn start(memory: &Remembered) -> Child {
    Command::new(env!("CARGO_BIN_EXE_remora"))
        .args(["forget", "--matching", MARKER, "--all", "--yes"])
        .current_dir(memory.sandbox.path("project"))
        .env_clear()
        .env("HOME", memory.sandbox.path("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Whether a deletion has come so far, by the look of its data directory.
type IsReached = fn(&Path) -> bool;

/// What can be seen of a deletion under way, in the order of its steps.
const MOMENTS: &[(&str, IsReached)] = &[
    ("the order is written", |home| {
        home.join("forgetting.json").exists()
    }),
    ("the ledger has it", |home| {
        home.join("forgotten.jsonl").exists()
    }),
    ("the dead letter is gone", |home| {
        !home.join("dead/x.json").exists()
    }),
    ("the old copy is gone", |home| {
        !home.join("remora.db.backup-v4").exists()
    }),
    ("the database is written", |home| {
        let wal = fs::metadata(home.join("remora.db-wal"));
        !home.join("remora.db.backup-v4").exists() && wal.is_ok_and(|meta| meta.len() > 0)
    }),
    ("it is over", |home| {
        home.join("forgotten.jsonl").exists() && !home.join("forgetting.json").exists()
    }),
];

#[test]
fn a_deletion_that_was_killed_at_any_moment_is_carried_out_by_the_next() {
    for (name, is_reached) in MOMENTS {
        let memory = laden();
        let home = memory.sandbox.path("home/.remora");
        let mut child = start(&memory);
        let end = Instant::now() + Duration::from_mins(1);
        while !is_reached(&home) && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "{name}: it never came");
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        finished(&memory, name);
    }
}

#[test]
fn with_a_damaged_database_a_rebuild_carries_it_out() {
    let memory = laden();
    let home = memory.sandbox.path("home/.remora");
    let mut child = start(&memory);
    let end = Instant::now() + Duration::from_mins(1);
    while !home.join("forgetting.json").exists() && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it never began");
        std::thread::yield_now();
    }
    let _ = child.kill();
    child.wait().unwrap();
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.join(format!("remora.db{end}")));
    }
    let mut bytes = fs::read(home.join("remora.db")).unwrap();
    bytes[..4096].fill(0x55);
    fs::write(home.join("remora.db"), bytes).unwrap();
    let done = memory.call("rebuild").leaving_a_process().go();
    assert_eq!(done.code, Some(0), "{done}");
    finished(&memory, "after a rebuild");
}
