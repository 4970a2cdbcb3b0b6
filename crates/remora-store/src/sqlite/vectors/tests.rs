//! Likeness of single rows, and what hangs on a row when it goes.

use remora_embed::Embedding;
use remora_memory::store::{Batch, Filter, ItemWrite, Store};
use remora_memory::testing::{LOOK_TOOLS, item};
use rusqlite::Connection;

use super::{SimilarityReader, drop_item, gist_likeness, put_gist};
use crate::{Access, SqliteStore, open_store};

fn store(rows: usize) -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let items = (1..=rows).map(|n| ItemWrite::Add(item(&format!("u{n}"), "a walrus")));
    let batch = Batch {
        items: items.collect(),
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    (folder, store)
}

fn count(conn: &Connection, table: &str) -> u64 {
    conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
        row.get(0)
    })
    .unwrap()
}

fn is_near(found: Option<f32>, expected: f32) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 0.01)
}

#[test]
fn rows_are_compared_one_by_one() {
    let (_folder, store) = store(3);
    let conn = &store.conn;
    let query = Embedding::from_vector(&[1.0, 0.0]);
    put_gist(conn, 1, &Embedding::from_vector(&[1.0, 1.0])).unwrap();
    put_gist(conn, 2, &Embedding::from_vector(&[1.0, 1.0, 1.0])).unwrap();
    let gist = |item| gist_likeness(conn, item, &query).unwrap();
    assert!(is_near(gist(1), 0.707));
    // Of another space, and none.
    assert_eq!((gist(2), gist(9)), (None, None));
    put_gist(conn, 1, &Embedding::from_vector(&[-1.0, 0.0])).unwrap();
    assert!(is_near(gist(1), -1.0));

    store
        .store_embeddings(
            "m",
            &[
                (1, Embedding::from_vector(&[1.0, 1.0])),
                (2, Embedding::from_vector(&[1.0; 3])),
            ],
        )
        .unwrap();
    let by = |model, item| {
        let measure = SimilarityReader::new(conn, model).unwrap();
        measure.and_then(|mut measure| measure.find_similarity(item, &query).unwrap())
    };
    assert!(is_near(by("m", 1), 0.707));
    assert_eq!((by("m", 2), by("m", 3), by("other", 1)), (None, None, None));
}

#[test]
fn damaged_bytes_are_no_vectors() {
    let (_folder, store) = store(2);
    let conn = &store.conn;
    let query = Embedding::from_vector(&[1.0, 0.0]);
    store.store_embeddings("m", &[(1, query.clone())]).unwrap();
    for bytes in [
        "x''",
        "x'00'",
        "x'0000803f'",
        "x'ffffffff0101'",
        "x'0000803f010101'",
    ] {
        conn.execute_batch(&format!(
            "UPDATE vectors SET v = {bytes}; INSERT OR REPLACE INTO gists VALUES (1, {bytes})"
        ))
        .unwrap();
        let mut measure = SimilarityReader::new(conn, "m").unwrap().unwrap();
        assert_eq!(measure.find_similarity(1, &query).unwrap(), None, "{bytes}");
        assert_eq!(gist_likeness(conn, 1, &query).unwrap(), None, "{bytes}");
        let all = store
            .find_nearest("m", &query, &Filter::default(), 9)
            .unwrap();
        assert_eq!(all, [], "{bytes}");
    }
}

#[test]
fn a_row_that_goes_leaves_nothing() {
    let (_folder, store) = store(300);
    let conn = &store.conn;
    let meanings: Vec<(i64, Embedding)> = (1..=300)
        .map(|id| (id, Embedding::from_vector(&[1.0, 2.0])))
        .collect();
    store.store_embeddings("m", &meanings[..299]).unwrap();
    assert_eq!(
        ["sketches", "gists"].map(|table| count(conn, table)),
        [3, 300]
    );
    for id in 2..=300 {
        drop_item(conn, id).unwrap();
        drop_item(conn, id).unwrap();
    }
    let left = ["vectors", "sketches", "gists", "unembedded"].map(|table| count(conn, table));
    assert_eq!(left, [1, 1, 1, 0]);
    drop_item(conn, 1).unwrap();
    assert_eq!(count(conn, "sketches"), 0);
}

#[test]
fn no_block_needs_a_second_page() {
    let (_folder, store) = store(500);
    let meanings: Vec<(i64, Embedding)> = (1..=500)
        .map(|id| (id, Embedding::from_vector(&[1.0; 384])))
        .collect();
    store.store_embeddings("m", &meanings).unwrap();
    // Numbers as large as they can be beside the blob.
    let conn = &store.conn;
    conn.execute_batch(
        "UPDATE sketches SET project = 9000000000000000000;
         VACUUM",
    )
    .unwrap();
    let (blocks, longest): (u64, u64) = conn
        .query_row(
            "SELECT count(*), max(length(data)) FROM sketches",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!((blocks, longest), (4, 142 * 57));
    let more: u64 = conn
        .query_row(
            "SELECT count(*) FROM dbstat WHERE name = 'sketches' AND pagetype = 'overflow'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(more, 0);
}
