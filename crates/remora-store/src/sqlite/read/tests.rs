//! What a look-up costs does not grow with how much there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use remora_core::record::{FileRecord, FileState, Item};
use remora_memory::store::{Batch, FileMatch, Filter, ItemWrite, PageRequest, Store};
use remora_memory::testing::{LOOK_TOOLS, item, session};

use crate::{Access, SqliteStore, open_store};

/// A store with so many sessions, folders and files.
fn store(count: usize) -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let numbers = || 0..i64::try_from(count).unwrap();
    let file = |n| FileRecord {
        project: "project".into(),
        folder: format!("src/part{n}"),
        name: "lib.rs".into(),
        holds: "a walrus".into(),
        state: FileState::Seen,
        from: None,
        session: "s0".into(),
        time: n,
        anchor: None,
    };
    let row = |n: i64| Item {
        files_read: vec![format!("src/part{n}/lib.rs")],
        ..item(&format!("u{n}"), "a walrus")
    };
    let batch = Batch {
        sessions: numbers().map(|n| session(&format!("s{n}"), n)).collect(),
        files: numbers().map(file).collect(),
        items: numbers().map(|n| ItemWrite::Add(row(n))).collect(),
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    (folder, store)
}

/// A look-up and its name.
type Case = (&'static str, fn(&SqliteStore));

/// How many steps of its machine SQLite takes for this.
fn steps(store: &SqliteStore, read: fn(&SqliteStore)) -> usize {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    store.conn.progress_handler(1, Some(count)).unwrap();
    read(store);
    store
        .conn
        .progress_handler(0, None::<fn() -> bool>)
        .unwrap();
    steps.load(Ordering::Relaxed)
}

#[test]
fn looking_one_up_does_not_walk_through_all() {
    let (_few, few) = store(20);
    let (_many, many) = store(2_000);
    let cases: [Case; 3] = [
        ("the files of a folder", |store| {
            let files = store.list_files("project", Some("src/part3")).unwrap();
            assert_eq!(files.len(), 1);
        }),
        ("a session", |store| {
            let filter = Filter {
                session: Some("s3".into()),
                ..Filter::default()
            };
            assert_eq!(store.list_sessions(&filter, 9).unwrap().len(), 1);
        }),
        ("rows of a file", |store| {
            let filter = Filter {
                file: Some(FileMatch::Exactly("src/part3/lib.rs".into())),
                project: Some("project".into()),
                ..Filter::default()
            };
            let page = PageRequest::newest(9);
            assert_eq!(store.list_items(&filter, page).unwrap().len(), 1);
        }),
    ];
    for (what, read) in cases {
        let (few, many) = (steps(&few, read), steps(&many, read));
        assert!(many < few + 50, "{what}: {few} steps, then {many}");
    }
}
