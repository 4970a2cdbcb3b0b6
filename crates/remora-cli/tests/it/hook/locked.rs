//! A database that another process keeps to itself, or is just making.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::den::{Den, until};

#[test]
fn a_locked_database_holds_nobody_up() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    den.decided("s1", &folder, "before");
    den.drain();
    den.stop();
    let lock = rusqlite::Connection::open(den.paths.database_file()).unwrap();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (x);")
        .unwrap();
    let started = Instant::now();
    // With the deadline that hooks have.
    let event = json!({
        "session_id": "s2", "transcript_path": "/t", "cwd": folder,
        "hook_event_name": "SessionStart", "source": "startup",
    });
    let hook = den.remora(&["hook", "claude-code"]);
    let told = hook.environment("REMORA_DEADLINE_MS", "150");
    assert_eq!(told.stdin(event.to_string()).go().raw.trim_end(), "{}");
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    lock.execute_batch("ROLLBACK").unwrap();
    drop(lock);
    let told = until("the lock is gone", || den.begin("s3", &folder).context);
    assert!(told.contains("before"), "{told}");
}

#[test]
fn a_database_that_is_being_made_is_no_trouble() {
    let den = Den::new();
    den.paths.prepare_data_dir().unwrap();
    fs::write(den.paths.database_file(), "").unwrap();
    den.begin("s1", &den.sandbox.path("project"));
    den.drain();
    den.stop();
    assert!(!den.paths.hook_log().exists());
}
