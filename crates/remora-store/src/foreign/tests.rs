//! Databases of several versions, made by their own words.

use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

fn made(sql: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a ?#%.db");
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    conn.execute_batch(sql).unwrap();
    (dir, path)
}

const EARLY: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT,
        project TEXT, user_prompt TEXT, started_at_epoch INTEGER, completed_at_epoch INTEGER);
    INSERT INTO sdk_sessions VALUES (1, 'c1', 's1', 'shop', 'mend it', 1000, 2000);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT,
        type TEXT, created_at_epoch INTEGER);
    INSERT INTO observations VALUES (3, 's1', 'shop', 'The loop ran too often', 'bugfix', 1500);";

#[test]
fn an_early_version_is_read_as_far_as_it_goes() {
    let (_dir, path) = made(EARLY);
    let foreign = ForeignDatabase::open(&path).unwrap();
    assert_eq!(
        foreign.list_sessions().unwrap(),
        [ForeignSession {
            id: "c1".into(),
            memory_id: "s1".into(),
            project: "shop".into(),
            title: "mend it".into(),
            started: 1000,
            ended: Some(2000),
            ..ForeignSession::default()
        }]
    );
    assert_eq!(
        foreign.list_observations(0).unwrap(),
        [ForeignObservation {
            id: 3,
            session: "s1".into(),
            project: "shop".into(),
            kind: "bugfix".into(),
            narrative: "The loop ran too often".into(),
            time: 1500,
            ..ForeignObservation::default()
        }]
    );
    assert_eq!(foreign.list_observations(3).unwrap(), []);
    assert_eq!(foreign.list_summaries(0).unwrap(), []);
    assert_eq!(foreign.list_pending_calls(0).unwrap(), []);
}

#[test]
fn odd_values_are_taken_as_far_as_they_go() {
    let (_dir, path) = made(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id, project, type, title,
            facts, concepts, files_read, prompt_number, created_at_epoch, merged_into_project);
         INSERT INTO observations VALUES (1, 7, 'tree', 'change', x'ff00', '[\"a\", 2, null, \" \"]',
            'one\ntwo', '\"src/a.rs\"', '4', 1.5e3, 'shop');
         CREATE TABLE pending_messages (id INTEGER PRIMARY KEY, content_session_id, message_type,
            status, tool_name);
         INSERT INTO pending_messages VALUES (1, 'c', 'observation', 'pending', 'Bash');
         INSERT INTO pending_messages VALUES (2, 'c', 'summarize', 'pending', NULL);
         INSERT INTO pending_messages VALUES (3, 'c', 'observation', 'processed', 'Bash');",
    );
    let foreign = ForeignDatabase::open(&path).unwrap();
    assert_eq!(
        foreign.list_observations(0).unwrap(),
        [ForeignObservation {
            id: 1,
            session: "7".into(),
            project: "shop".into(),
            kind: "change".into(),
            facts: vec!["a".into(), "2".into()],
            concepts: vec!["one".into(), "two".into()],
            files_read: vec!["src/a.rs".into()],
            prompt: Some(4),
            time: 1500,
            ..ForeignObservation::default()
        }]
    );
    let pending: Vec<i64> = foreign
        .list_pending_calls(0)
        .unwrap()
        .iter()
        .map(|p| p.id)
        .collect();
    assert_eq!(pending, [1]);
}

#[test]
fn it_is_read_while_its_owner_writes_and_is_never_changed() {
    let (dir, path) = made(EARLY);
    let before = std::fs::read(&path).unwrap();
    ForeignDatabase::open(&path)
        .unwrap()
        .list_observations(0)
        .unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        1,
        "no journal"
    );
    let owner = Connection::open(&path).unwrap();
    owner
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM observations;")
        .unwrap();
    let foreign = ForeignDatabase::open(&path).unwrap();
    assert_eq!(foreign.list_observations(0).unwrap().len(), 1);
    owner.execute_batch("COMMIT").unwrap();
    assert_eq!(foreign.list_observations(0).unwrap().len(), 0);
}

#[test]
fn damage_far_behind_is_found_before_anything_is_read() {
    let (_dir, path) = made(EARLY);
    let conn = Connection::open(&path).unwrap();
    let long = "x".repeat(2000);
    for id in 10..400 {
        let sql = "INSERT INTO observations VALUES (?1, 's1', 'shop', ?2, 'bugfix', 1)";
        conn.execute(sql, (id, &long)).unwrap();
    }
    drop(conn);
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len() - 4096;
    bytes[end..].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let error = ForeignDatabase::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
}

#[test]
fn one_that_is_locked_is_said_to_be() {
    let (_dir, path) = made(EARLY);
    let owner = Connection::open(&path).unwrap();
    owner.pragma_update(None, "journal_mode", "DELETE").unwrap();
    owner
        .execute_batch("BEGIN EXCLUSIVE; DELETE FROM observations;")
        .unwrap();
    let error = ForeignDatabase::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Again(_)), "{error:?}");
}

#[test]
fn what_is_no_such_database_is_refused() {
    let (dir, path) = made("CREATE TABLE notes (id INTEGER)");
    let error = ForeignDatabase::open(&path).unwrap_err().to_string();
    assert!(error.contains("none of its tables"), "{error}");
    for sql in [
        "CREATE TABLE observations (text TEXT)",
        "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, words TEXT)",
    ] {
        let (_dir, path) = made(sql);
        let error = ForeignDatabase::open(&path).unwrap_err().to_string();
        assert!(error.contains("a version of claude-mem"), "{error}");
    }
    let error = ForeignDatabase::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("is a folder"), "{error}");
    let text = dir.path().join("x.db");
    std::fs::write(&text, "no database at all, but longer than a header of one hundred bytes; that is what makes it a fault").unwrap();
    assert!(ForeignDatabase::open(&text).is_err());
    assert!(ForeignDatabase::open(&dir.path().join("gone.db")).is_err());
}
