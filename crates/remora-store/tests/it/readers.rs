//! One writes, many read: readers never wait, and see whole batches only.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use remora_core::record::{Item, Kind};
use remora_memory::store::{
    Batch, FileMatch, Filter, ItemWrite, PageRequest, SortOrder, Store, StoreError,
};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_memory::words::Query;
use remora_store::{Access, SqliteStore, open_store};
use rusqlite::{Connection, TransactionBehavior};

fn batch(from: usize, rows: usize) -> Batch {
    let add = |n| ItemWrite::Add(item(&format!("u{n}"), &format!("walrus {n} in the zoo")));
    Batch {
        items: (from..from + rows).map(add).collect(),
        ..Batch::default()
    }
}

fn count(store: &dyn Store) -> u64 {
    store
        .count_contents()
        .unwrap()
        .items
        .iter()
        .map(|(_, count)| count)
        .sum()
}

/// A file as the version before lists left it: bare words, and files without
/// kind and time.
fn before_lists(path: &Path) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(
        "DROP TABLE item_files;
         CREATE TABLE item_files (path INTEGER NOT NULL, item INTEGER NOT NULL,
            PRIMARY KEY (path, item)) STRICT, WITHOUT ROWID;
         INSERT INTO item_files SELECT paths.id, items.id FROM paths, items;
         INSERT INTO words (words) VALUES ('delete-all');
         INSERT INTO words (rowid, terms)
            SELECT id, 'walrus _p' || project || ' _k' || kind || ' _a' || agent FROM items;
         DROP TABLE overrides;
         DROP TABLE said_sketches;
         ALTER TABLE vectors DROP COLUMN said;
         DELETE FROM migrations WHERE version > 3;
         PRAGMA user_version = 3",
    )
    .unwrap();
}

#[test]
fn lists_are_made_of_what_an_older_version_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let row = |n: usize| Item {
        kind: if n.is_multiple_of(2) {
            Kind::Fix
        } else {
            Kind::Summary
        },
        files_modified: vec!["src/a.rs".into()],
        ..item(&format!("u{n}"), &format!("a walrus {n}"))
    };
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    let items = (0..700).map(|n| ItemWrite::Add(row(n))).collect();
    store
        .apply(&Batch {
            items,
            ..Batch::default()
        })
        .unwrap();
    drop(store);
    before_lists(&path);
    let filter = Filter {
        project: Some(row(0).project),
        kinds: vec![Kind::Fix],
        ..Filter::default()
    };
    let of_file = Filter {
        file: Some(FileMatch::Exactly("src/a.rs".into())),
        ..filter.clone()
    };
    let counts = |store: &SqliteStore| {
        let hits = store.search(&Query::parse("walrus"), &filter, 1_000);
        let listed = store.list_items(&of_file, PageRequest::newest(1_000));
        (hits.unwrap().len(), listed.unwrap().len())
    };
    // Whoever reads it before a writer came finds what is there.
    let reader = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    assert_eq!(counts(&reader), (350, 350));
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    assert_eq!(counts(&store), (350, 350));
    assert_eq!(counts(&reader), (350, 350));
    let last = store.search(&Query::parse("698"), &filter, 9).unwrap();
    assert_eq!(last[0].item.uid, "u698");
}

#[test]
fn readers_see_whole_batches_while_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let writer = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    writer.apply(&batch(0, 10)).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let store = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(count(&store) % 10, 0);
                    let hits = store
                        .search(&Query::parse("walrus"), &Filter::default(), 5)
                        .unwrap();
                    assert_eq!(hits.len(), 5);
                }
            });
        }
        for n in 1..40 {
            writer.apply(&batch(n * 10, 10)).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(count(&writer), 400);
}

#[test]
fn a_reader_does_not_wait_for_an_open_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    open_store(&path, Access::Write, LOOK_TOOLS)
        .unwrap()
        .apply(&batch(0, 10))
        .unwrap();
    let mut other = Connection::open(&path).unwrap();
    let tx = other
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    tx.execute("DELETE FROM items", []).unwrap();
    let reader = open_store(
        &path,
        Access::ReadUntil(Instant::now() + Duration::from_mins(1)),
        LOOK_TOOLS,
    )
    .unwrap();
    assert_eq!(count(&reader), 10);
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: 99,
    };
    assert_eq!(
        reader.list_items(&Filter::default(), page).unwrap().len(),
        10
    );
}

#[test]
fn a_reader_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    open_store(&path, Access::Write, LOOK_TOOLS)
        .unwrap()
        .apply(&batch(0, 10))
        .unwrap();
    let reader = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    assert!(matches!(
        reader.apply(&batch(10, 1)),
        Err(StoreError::Failed(_))
    ));
    assert_eq!(count(&reader), 10);
}

#[test]
fn a_deadline_ends_every_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    open_store(&path, Access::Write, LOOK_TOOLS)
        .unwrap()
        .apply(&batch(0, 3_000))
        .unwrap();
    let past = Instant::now();
    let said = open_store(&path, Access::ReadUntil(past), LOOK_TOOLS)
        .and_then(|store| store.search(&Query::parse("walrus zoo"), &Filter::default(), 50));
    assert!(matches!(said, Err(StoreError::Again(_))), "{said:?}");
    let later = Instant::now() + Duration::from_mins(10);
    let store = open_store(&path, Access::ReadUntil(later), LOOK_TOOLS).unwrap();
    assert_eq!(
        store
            .search(&Query::parse("walrus zoo"), &Filter::default(), 50)
            .unwrap()
            .len(),
        50
    );
}

#[test]
fn whoever_has_a_deadline_is_answered_from_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let writer = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    writer.apply(&batch(0, 10)).unwrap();
    let later = Instant::now() + Duration::from_mins(10);
    let [hurried, patient] = [Access::ReadUntil(later), Access::Read]
        .map(|access| open_store(&path, access, LOOK_TOOLS).unwrap());
    assert_eq!((count(&hurried), count(&patient)), (10, 10));
    writer.apply(&batch(10, 5)).unwrap();
    assert_eq!((count(&hurried), count(&patient)), (10, 15));
    drop(hurried);
    let hurried = open_store(&path, Access::ReadUntil(later), LOOK_TOOLS).unwrap();
    assert_eq!(count(&hurried), 15);
}

#[test]
fn a_second_writer_waits_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let first = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    let writers: Vec<_> = (0..4)
        .map(|n| {
            let path = path.clone();
            thread::spawn(move || {
                let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
                for round in 0..10 {
                    store.apply(&batch(n * 1_000 + round * 10, 10)).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(count(&first), 400);
    assert_eq!(first.check_integrity().unwrap(), [""; 0]);
}
