//! Files that are not what they should be: damaged, newer, or open to others.

use std::fs;
use std::path::{Path, PathBuf};

use remora_memory::store::{Batch, Filter, ItemWrite, PageRequest, SortOrder, Store, StoreError};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_store::{Access, open_store};
use rusqlite::Connection;

fn fill(path: &Path) {
    let store = open_store(path, Access::Write, LOOK_TOOLS).unwrap();
    let items = (0..500)
        .map(|n| ItemWrite::Add(item(&format!("u{n}"), "a walrus in the zoo")))
        .collect();
    store
        .apply(&Batch {
            items,
            ..Batch::default()
        })
        .unwrap();
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    (folder, path)
}

/// What opening and reading everything says.
fn read_all(path: &Path, access: Access) -> Result<usize, StoreError> {
    let store = open_store(path, access, LOOK_TOOLS)?;
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: 10_000,
    };
    store
        .list_items(&Filter::default(), page)
        .map(|rows| rows.len())
}

#[test]
fn a_file_that_is_no_database_is_damaged() {
    for bytes in [
        &b"not a database, just some text that is long enough to be looked at"[..],
        &[0xFF; 8192],
    ] {
        let (_folder, path) = folder();
        fs::write(&path, bytes).unwrap();
        for access in [Access::Write, Access::Read] {
            let error = read_all(&path, access).unwrap_err();
            assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
        }
        // It is evidence: nothing of it is touched.
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn a_file_that_was_cut_is_damaged() {
    let (_folder, path) = folder();
    fill(&path);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    for access in [Access::Write, Access::Read] {
        let error = read_all(&path, access).unwrap_err();
        assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
    }
}

#[test]
fn damage_in_the_middle_is_found() {
    let (_folder, path) = folder();
    fill(&path);
    assert_eq!(
        open_store(&path, Access::Read, LOOK_TOOLS)
            .unwrap()
            .check_integrity()
            .unwrap(),
        [""; 0]
    );
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..half + 8192].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let said =
        open_store(&path, Access::Read, LOOK_TOOLS).and_then(|store| store.check_integrity());
    assert!(!matches!(said, Ok(lines) if lines.is_empty()));
}

#[test]
fn an_empty_file_is_a_new_database() {
    let (_folder, path) = folder();
    fs::write(&path, "").unwrap();
    assert!(matches!(
        read_all(&path, Access::Read),
        Err(StoreError::Empty)
    ));
    assert_eq!(read_all(&path, Access::Write).unwrap(), 0);
}

#[test]
fn reading_makes_no_file() {
    let (_folder, path) = folder();
    assert!(matches!(
        read_all(&path, Access::Read),
        Err(StoreError::Failed(_))
    ));
    assert!(!path.exists());
}

#[test]
fn a_newer_database_can_be_read_but_not_written() {
    let (_folder, path) = folder();
    fill(&path);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("ALTER TABLE items ADD COLUMN later TEXT; PRAGMA user_version = 999")
        .unwrap();
    drop(conn);
    assert_eq!(read_all(&path, Access::Read).unwrap(), 500);
    assert_eq!(read_all(&path, Access::Write).unwrap(), 500);
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    assert_eq!(store.schema_version(), 999);
    let error = store.apply(&Batch::default()).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 999, .. }),
        "{error:?}"
    );
    let prune = remora_memory::store::PruneRequest {
        before: Some(i64::MAX),
        ..Default::default()
    };
    let error = store
        .prune(&prune, remora_memory::store::PruneMode::Real)
        .unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }), "{error:?}");
}

#[test]
fn a_batch_that_fails_leaves_nothing() {
    let (_folder, path) = folder();
    fill(&path);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "CREATE TRIGGER no BEFORE INSERT ON items WHEN NEW.title = 'poison'
         BEGIN SELECT raise(ABORT, 'no'); END",
    )
    .unwrap();
    drop(conn);
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    let mut batch = Batch {
        events: vec![remora_memory::testing::event("e", 1)],
        items: vec![
            ItemWrite::Add(item("good", "octopus")),
            ItemWrite::Add(item("bad", "poison")),
        ],
        ..Batch::default()
    };
    let before = store.count_contents().unwrap();
    assert!(matches!(store.apply(&batch), Err(StoreError::Failed(_))));
    let after = store.count_contents().unwrap();
    assert_eq!((&before.items, before.events), (&after.items, after.events));
    batch.items.pop();
    assert_eq!(store.apply(&batch).unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn every_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let modes = |folder: &Path| -> Vec<(String, u32)> {
        let mut modes: Vec<(String, u32)> = fs::read_dir(folder)
            .unwrap()
            .map(|file| {
                let file = file.unwrap();
                let mode = file.metadata().unwrap().permissions().mode() & 0o777;
                (file.file_name().to_string_lossy().into_owned(), mode)
            })
            .collect();
        modes.sort();
        modes
    };
    let expected =
        ["remora.db", "remora.db-shm", "remora.db-wal"].map(|name| (name.to_owned(), 0o600));
    let (folder, path) = folder();
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    store
        .apply(&Batch {
            items: vec![ItemWrite::Add(item("a", "a"))],
            ..Batch::default()
        })
        .unwrap();
    assert_eq!(modes(folder.path()), expected);
    drop(store);
    // A file that others could read is taken from them.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let _store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    let _reader = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    assert_eq!(modes(folder.path())[0], expected[0]);
}
