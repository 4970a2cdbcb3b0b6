//! Steps of the schema on real files: each once, with a copy of what was there.

use std::path::Path;

use remora_memory::store::{LookTools, StoreError};
use rusqlite::Connection;

use super::{
    MIGRATIONS, Migration, SchemaVersions, compute_checksum, inspect_schema, run_migrations,
};

const ONE: Migration = Migration {
    version: 1,
    sql: "CREATE TABLE a (x); INSERT INTO a VALUES (1);",
    then: None,
};
const TWO: Migration = Migration {
    version: 2,
    sql: "CREATE TABLE b (x); UPDATE a SET x = 2;",
    then: None,
};
const BROKEN: Migration = Migration {
    version: 2,
    sql: "CREATE TABLE b (x); UPDATE nothing SET x = 2;",
    then: None,
};

fn with<T>(test: impl FnOnce(&mut Connection, &Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    test(&mut Connection::open(&path).unwrap(), &path)
}

fn number(conn: &Connection, sql: &str) -> i64 {
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn steps_are_numbered_from_one() {
    let versions: Vec<u32> = MIGRATIONS.iter().map(|step| step.version).collect();
    let expected: Vec<u32> = (1..).take(MIGRATIONS.len()).collect();
    assert_eq!(versions, expected);
}

#[test]
fn a_new_file_needs_no_copy() {
    with(|conn, path| {
        assert_eq!(
            run_migrations(conn, path, LookTools::default(), &[ONE, TWO]).unwrap(),
            SchemaVersions { found: 2, known: 2 }
        );
        assert_eq!(
            run_migrations(conn, path, LookTools::default(), &[ONE, TWO]).unwrap(),
            SchemaVersions { found: 2, known: 2 }
        );
        assert_eq!(number(conn, "SELECT sum(x) FROM a"), 2);
        assert_eq!(number(conn, "SELECT count(*) FROM migrations"), 2);
        let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert!(
            files
                .flatten()
                .all(|file| !file.file_name().to_string_lossy().contains("backup"))
        );
    });
}

#[test]
fn an_older_file_is_copied_first() {
    with(|conn, path| {
        run_migrations(conn, path, LookTools::default(), &[ONE]).unwrap();
        assert_eq!(
            run_migrations(conn, path, LookTools::default(), &[ONE, TWO]).unwrap(),
            SchemaVersions { found: 2, known: 2 }
        );
        assert_eq!(number(conn, "SELECT x FROM a"), 2);
        let copy = path.with_file_name("remora.db.backup-v1");
        let old = Connection::open(&copy).unwrap();
        assert_eq!(number(&old, "SELECT x FROM a"), 1);
        assert_eq!(number(&old, "PRAGMA user_version"), 1);
        assert!(!path.with_file_name("remora.db.backup-v1.part").exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    });
}

#[test]
fn a_step_that_fails_leaves_nothing() {
    with(|conn, path| {
        run_migrations(conn, path, LookTools::default(), &[ONE]).unwrap();
        assert!(matches!(
            run_migrations(conn, path, LookTools::default(), &[ONE, BROKEN]),
            Err(StoreError::Failed(_))
        ));
        assert_eq!(number(conn, "PRAGMA user_version"), 1);
        assert_eq!(
            number(conn, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"),
            0
        );
        assert_eq!(
            run_migrations(conn, path, LookTools::default(), &[ONE, TWO])
                .unwrap()
                .found,
            2
        );
    });
}

#[test]
fn rows_from_before_vectors_wait_for_one() {
    with(|conn, path| {
        run_migrations(conn, path, LookTools::default(), &MIGRATIONS[..1]).unwrap();
        conn.execute_batch(
            "INSERT INTO items (id, kind, project, session, agent, time, vec, uid, last_time, seen,
                raw_tokens, digest_tokens, title, text)
             VALUES (3, 7, 1, 1, 1, 5, x'', 'a', 5, 1, 0, 0, '', ''),
                    (8, 7, 1, 1, 1, 5, x'', 'b', 5, 1, 0, 0, '', '')",
        )
        .unwrap();
        run_migrations(conn, path, LookTools::default(), MIGRATIONS).unwrap();
        let waiting = "SELECT group_concat(item) = '3,8' FROM unembedded";
        assert_eq!(number(conn, waiting), 1);
    });
}

#[test]
fn a_newer_file_is_left_alone() {
    with(|conn, path| {
        run_migrations(conn, path, LookTools::default(), &[ONE, TWO]).unwrap();
        assert_eq!(
            run_migrations(conn, path, LookTools::default(), &[ONE]).unwrap(),
            SchemaVersions { found: 2, known: 1 }
        );
        assert_eq!(number(conn, "PRAGMA user_version"), 2);
    });
}

#[test]
fn another_step_of_the_same_number_is_refused() {
    with(|conn, path| {
        run_migrations(conn, path, LookTools::default(), &[ONE]).unwrap();
        let other = Migration {
            version: 1,
            sql: "CREATE TABLE other (x)",
            then: None,
        };
        let error = run_migrations(conn, path, LookTools::default(), &[other]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the store failed: migration 1 is not the one that made this database"
        );
    });
}

#[test]
fn a_file_without_schema_cannot_be_read() {
    with(|conn, _| assert!(matches!(inspect_schema(conn), Err(StoreError::Empty))));
}

#[test]
fn line_ends_do_not_change_a_checksum() {
    assert_eq!(compute_checksum("a\r\nb"), compute_checksum("a\nb"));
    assert_ne!(compute_checksum("a\nb"), compute_checksum("a\nc"));
}
