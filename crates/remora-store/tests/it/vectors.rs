//! Meanings of rows: stored, replaced, forgotten with their rows, and found.

use std::path::Path;

use remora_core::record::{Item, Kind};
use remora_embed::{Embedding, MODEL_ID};
use remora_memory::store::{
    Batch, FileMatch, Filter, ItemWrite, PruneMode, PruneRequest, Store, StoreError,
};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_memory::words::Query;
use remora_store::{Access, SqliteStore, open_store};
use rusqlite::Connection;

const MODEL: &str = "made-up/1";

/// Numbers without a pattern, the same in every run.
fn noise(seed: usize) -> Vec<f32> {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state >> 56).map_or(0.0, |byte| f32::from(byte) - 127.5)
    };
    (0..384).map(|_| next()).collect()
}

fn meaning(seed: usize) -> Embedding {
    Embedding::from_vector(&noise(seed))
}

/// Near to the meaning of the first and a little to that of the second.
fn between(first: usize, second: usize) -> Embedding {
    let mixed = noise(first).into_iter().zip(noise(second));
    Embedding::from_vector(&mixed.map(|(a, b)| a + b * 0.4).collect::<Vec<f32>>())
}

/// Rows of three projects, two kinds and two agents, ten to a session.
fn row(n: usize) -> Item {
    Item {
        project: format!("p{}", n % 3).into(),
        kind: [Kind::Change, Kind::Decision][n % 2],
        agent: ["claude-code", "codex"][usize::from(n.is_multiple_of(7))].into(),
        session: format!("s{}", n / 10).into(),
        files_read: vec![format!("src/f{}.rs", n % 5)],
        time: i64::try_from(n).unwrap() * 1_000,
        last_time: i64::try_from(n).unwrap() * 1_000,
        ..item(&format!("u{n}"), &format!("row {n}"))
    }
}

fn add(store: &dyn Store, rows: impl Iterator<Item = usize>) {
    let batch = Batch {
        items: rows.map(|n| ItemWrite::Add(row(n))).collect(),
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
}

/// A store whose row `n` has the number `n + 1` and the meaning `n`.
fn filled(folder: &Path, rows: usize) -> SqliteStore {
    let store = open_store(&folder.join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    add(&store, 0..rows);
    embed_all(&store, MODEL);
    store
}

fn embed_all(store: &dyn Store, model: &str) {
    loop {
        let waiting = store.list_unembedded(model, 500).unwrap();
        if waiting.is_empty() {
            return;
        }
        let meanings: Vec<(i64, Embedding)> = waiting
            .iter()
            .map(|item| (item.id, meaning(usize::try_from(item.id).unwrap() - 1)))
            .collect();
        store.store_embeddings(model, &meanings).unwrap();
    }
}

fn near(store: &SqliteStore, wanted: &Embedding, filter: &Filter, limit: usize) -> Vec<usize> {
    let found = store.find_nearest(MODEL, wanted, filter, limit).unwrap();
    let numbers = found
        .iter()
        .map(|(id, _)| usize::try_from(*id).unwrap() - 1);
    numbers.collect()
}

fn waiting(store: &dyn Store, model: &str) -> Vec<i64> {
    let waiting = store.list_unembedded(model, 100).unwrap();
    waiting.iter().map(|item| item.id).collect()
}

#[test]
fn rows_wait_until_they_have_a_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let everything = Filter::default();
    assert_eq!(near(&store, &meaning(1), &everything, 5), [0; 0]);
    add(&store, 0..4);
    assert_eq!(waiting(&store, MODEL), [4, 3, 2, 1]);
    assert_eq!(store.list_unembedded(MODEL, 1).unwrap()[0].id, 4);
    let gone = (77, meaning(0));
    store
        .store_embeddings(MODEL, &[(2, meaning(1)), gone, (4, meaning(3))])
        .unwrap();
    assert_eq!(waiting(&store, MODEL), [3, 1]);
    assert_eq!(store.unembedded_count(MODEL).unwrap(), 2);
    assert_eq!(near(&store, &between(3, 1), &everything, 5), [3, 1]);
    store.store_embeddings(MODEL, &[]).unwrap();
    assert_eq!(store.unembedded_count(MODEL).unwrap(), 2);
}

#[test]
fn the_nearest_are_found_behind_a_crowd() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 4_000);
    let project = |n: usize| Filter {
        project: Some(format!("p{n}").into()),
        ..Filter::default()
    };
    for n in [0, 1_234, 3_999] {
        let wanted = between(n, n + 3);
        let found = store
            .find_nearest(MODEL, &wanted, &Filter::default(), 200)
            .unwrap();
        assert_eq!(found.len(), 200);
        assert!(found.is_sorted_by(|a, b| a.1 >= b.1));
        assert!((found[0].1 - wanted.cosine_similarity(&meaning(n))).abs() < 1e-6);
        let found = near(&store, &wanted, &project(n % 3), 200);
        assert_eq!(found[0], n);
        assert!(found.iter().all(|row| row % 3 == n % 3));
        let other = near(&store, &wanted, &project((n + 1) % 3), 2_000);
        assert!(!other.contains(&n) && other.len() >= 1_333);
    }
    assert_eq!(near(&store, &meaning(5), &Filter::default(), 0), [0; 0]);
    let blank = Embedding::from_vector(&[0.0; 384]);
    assert_eq!(near(&store, &blank, &Filter::default(), 5), [0; 0]);
    let other_space = Embedding::from_vector(&[1.0; 256]);
    assert_eq!(near(&store, &other_space, &Filter::default(), 5), [0; 0]);
}

/// Which rows a filter is to leave.
type Fits = fn(usize) -> bool;

#[test]
fn every_filter_holds() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 1_500);
    let any = Filter::default;
    let filters: [(Filter, Fits); 9] = [
        (
            Filter {
                kinds: vec![Kind::Decision],
                ..any()
            },
            |n| n % 2 == 1,
        ),
        (
            Filter {
                kinds: vec![Kind::Decision, Kind::Change],
                ..any()
            },
            |_| true,
        ),
        (
            Filter {
                kinds: vec![Kind::Summary],
                ..any()
            },
            |_| false,
        ),
        (
            Filter {
                session: Some("s3".into()),
                ..any()
            },
            |n| n / 10 == 3,
        ),
        (
            Filter {
                file: Some(FileMatch::Like("f2.rs".into())),
                kinds: vec![Kind::Change],
                ..any()
            },
            |n| n % 5 == 2 && n % 2 == 0,
        ),
        (
            Filter {
                agent: Some("codex".into()),
                ..any()
            },
            |n| n % 7 == 0,
        ),
        (
            Filter {
                since: Some(40_000),
                until: Some(60_000),
                project: Some("p1".into()),
                ..any()
            },
            |n| (40..60).contains(&n) && n % 3 == 1,
        ),
        (
            Filter {
                until: Some(100_000),
                ..any()
            },
            |n| n < 100,
        ),
        (
            Filter {
                project: Some("unknown".into()),
                ..any()
            },
            |_| false,
        ),
    ];
    for (filter, fits) in filters {
        let mut found = near(&store, &meaning(41), &filter, 2_000);
        found.sort_unstable();
        let expected: Vec<usize> = (0..1_500).filter(|n| fits(*n)).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

#[test]
fn a_meaning_is_replaced_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 1_500);
    store
        .store_embeddings(MODEL, &[(7, meaning(9_000)), (900, meaning(9_001))])
        .unwrap();
    let everything = Filter::default();
    assert_eq!(near(&store, &between(9_000, 5), &everything, 1), [6]);
    assert_eq!(near(&store, &between(9_001, 5), &everything, 1), [899]);
    assert_ne!(near(&store, &meaning(6), &everything, 1), [6]);
    let all = near(&store, &meaning(6), &everything, 5_000);
    assert_eq!(all.len(), 1_500);
}

#[test]
fn a_row_that_changes_waits_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 10);
    let batch = Batch {
        items: vec![ItemWrite::Add(Item {
            project: "p9".into(),
            text: "something else".into(),
            ..row(4)
        })],
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    assert_eq!(waiting(&store, MODEL), [5]);
    let everything = Filter::default();
    assert!(!near(&store, &meaning(4), &everything, 20).contains(&4));
    embed_all(&store, MODEL);
    let moved = Filter {
        project: Some("p9".into()),
        ..Filter::default()
    };
    assert_eq!(near(&store, &meaning(4), &moved, 20), [4]);
    assert_eq!(near(&store, &meaning(4), &everything, 1), [4]);
}

#[test]
fn what_was_pruned_is_not_near_and_its_place_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 600);
    let blocks = |store: &SqliteStore| -> u64 {
        assert_eq!(store.check_integrity().unwrap(), [""; 0]);
        let conn = Connection::open(folder.path().join("remora.db")).unwrap();
        conn.query_row("SELECT count(*) FROM sketches", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(blocks(&store), 6);
    let prune = PruneRequest {
        before: Some(300_000),
        ..PruneRequest::default()
    };
    assert_eq!(store.prune(&prune, PruneMode::Real).unwrap(), 300);
    let everything = Filter::default();
    let left = near(&store, &meaning(10), &everything, 1_000);
    assert_eq!(left.len(), 300);
    assert!(left.iter().all(|n| *n >= 300));
    // The last row of each project was in its second block already.
    add(&store, 600..900);
    embed_all(&store, MODEL);
    assert_eq!(blocks(&store), 6);
    assert_eq!(near(&store, &meaning(10), &everything, 1_000).len(), 600);
    let last = Filter {
        kinds: vec![Kind::Change],
        ..Filter::default()
    };
    assert_eq!(near(&store, &between(898, 3), &last, 1), [898]);
}

/// The rows that have an entry among the sketches of what was said, each with the
/// project of its block; and those that say so of themselves.
fn said(path: &Path) -> (Vec<(i64, i64)>, Vec<i64>) {
    /// The number, the kind and the signs.
    const ENTRY_BYTES: usize = 8 + 1 + 48;
    let conn = Connection::open(path).unwrap();
    let blocks: Vec<(i64, Vec<u8>)> = conn
        .prepare("SELECT project, data FROM said_sketches")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut listed = Vec::new();
    for (project, data) in blocks {
        let numbers = data
            .as_chunks::<ENTRY_BYTES>()
            .0
            .iter()
            .map(|entry| i64::from_le_bytes(*entry.first_chunk().unwrap()));
        listed.extend(
            numbers
                .filter(|item| *item != 0)
                .map(|item| (item, project)),
        );
    }
    listed.sort_unstable();
    let marked = conn
        .prepare("SELECT item FROM vectors WHERE said IS NOT NULL ORDER BY item")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    (listed, marked)
}

#[test]
fn what_was_said_is_listed_apart_also_of_a_file_from_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    add(&store, 0..900);
    embed_all(&store, MODEL_ID);
    let prune = PruneRequest {
        before: Some(100_000),
        ..PruneRequest::default()
    };
    assert_eq!(store.prune(&prune, PruneMode::Real).unwrap(), 100);
    let (listed, marked) = said(&path);
    let items: Vec<i64> = listed.iter().map(|(item, _)| *item).collect();
    // Every second row is a decision, and the numbers begin with 1.
    let decisions: Vec<i64> = (101..=900).filter(|id| id % 2 == 0).collect();
    assert_eq!((&items, &marked), (&decisions, &decisions));
    drop(store);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "DROP TABLE said_sketches;
         ALTER TABLE vectors DROP COLUMN said;
         DELETE FROM migrations WHERE version = 7;
         PRAGMA user_version = 6",
    )
    .unwrap();
    drop(conn);
    let quick = |text: &str, wanted: usize| {
        let store = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
        let query = Query::parse(text)
            .with_meaning(meaning(wanted))
            .with_quick_effort();
        let hits = store.search(&query, &Filter::default(), 5).unwrap();
        let hits = hits.iter().map(|hit| (hit.item.id, hit.fit));
        hits.collect::<Vec<_>>()
    };
    let before = quick("a question in other words", 201);
    assert_eq!(before[0].0, 202);
    drop(open_store(&path, Access::Write, LOOK_TOOLS).unwrap());
    assert_eq!(said(&path), (listed, marked));
    assert_eq!(quick("a question in other words", 201), before);
}

#[test]
fn another_model_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 300);
    let count = |model: &str| store.unembedded_count(model).unwrap();
    let everything = Filter::default();
    assert_eq!((count(MODEL), count("other/2")), (0, 300));
    assert_eq!(waiting(&store, "other/2")[..2], [300, 299]);
    let by_other = |n: usize| {
        store
            .find_nearest("other/2", &meaning(n), &everything, 500)
            .unwrap()
    };
    assert_eq!(by_other(1), []);
    store
        .store_embeddings("other/2", &[(300, meaning(299))])
        .unwrap();
    assert_eq!((count(MODEL), count("other/2")), (300, 299));
    assert_eq!(near(&store, &meaning(1), &everything, 5), [0; 0]);
    assert_eq!(by_other(1).len(), 1);
    assert_eq!(waiting(&store, "other/2")[..2], [299, 298]);
    embed_all(&store, "other/2");
    assert_eq!(by_other(1).len(), 300);
    // And back.
    store.store_embeddings(MODEL, &[(5, meaning(4))]).unwrap();
    assert_eq!((count(MODEL), count("other/2")), (299, 300));
    store.forget_meanings().unwrap();
    assert_eq!((count(MODEL), count("other/2")), (300, 300));
    assert_eq!(near(&store, &meaning(4), &everything, 5), [0; 0]);
    embed_all(&store, MODEL);
    assert_eq!(near(&store, &meaning(4), &everything, 5)[0], 4);
}

#[test]
fn damaged_sketches_and_vectors_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 600);
    let conn = Connection::open(folder.path().join("remora.db")).unwrap();
    let everything = Filter::default();
    conn.execute_batch(
        "UPDATE vectors SET v = x'00' WHERE item = 1;
         UPDATE vectors SET v = zeroblob(100000) WHERE item = 2;
         DELETE FROM vectors WHERE item = 3;
         UPDATE vectors SET model = 99 WHERE item = 4;
         UPDATE vectors SET block = 12345 WHERE item = 5;
         UPDATE vectors SET block = NULL WHERE item = 6;",
    )
    .unwrap();
    let found = near(&store, &meaning(0), &everything, 1_000);
    assert_eq!(found.len(), 596);
    assert!(found.iter().all(|n| *n > 3));
    // Rows whose sketch cannot be reached are written and removed as others.
    store
        .store_embeddings(MODEL, &[(5, meaning(4)), (6, meaning(5)), (1, meaning(0))])
        .unwrap();
    assert_eq!(near(&store, &meaning(4), &everything, 1), [4]);
    assert_eq!(near(&store, &meaning(0), &everything, 1_000).len(), 597);
    let entries = ["0", "-7", "5", "9223372036854775807", "142"];
    let blobs = [
        "x''",
        "x'07'",
        "zeroblob(9000)",
        "randomblob(100)",
        "randomblob(100000)",
    ];
    for (data, entries) in blobs.into_iter().zip(entries) {
        conn.execute_batch(&format!(
            "UPDATE sketches SET data = {data}, entries = {entries}"
        ))
        .unwrap();
        near(&store, &meaning(0), &everything, usize::MAX);
        store.store_embeddings(MODEL, &[(9, meaning(8))]).unwrap();
        assert_eq!(near(&store, &meaning(8), &everything, 1), [8], "{data}");
        let prune = PruneRequest {
            before: Some(1),
            ..PruneRequest::default()
        };
        store.prune(&prune, PruneMode::Real).unwrap();
    }
    store.forget_meanings().unwrap();
    embed_all(&store, MODEL);
    assert_eq!(near(&store, &meaning(0), &everything, 1_000).len(), 599);
}

#[test]
fn a_file_from_before_is_read_and_brought_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../../migrations/sqlite/0001_init.sql"))
        .unwrap();
    old.execute_batch(
        "INSERT INTO items (id, kind, project, session, agent, time, vec, uid, last_time, seen,
            raw_tokens, digest_tokens, title, text)
         VALUES (5, 7, 1, 1, 1, 5, x'', 'a', 5, 1, 0, 0, 'old', ''),
                (9, 7, 1, 1, 1, 5, x'', 'b', 5, 1, 0, 0, 'old', '');
         INSERT INTO kinds VALUES (7, 2);
         PRAGMA user_version = 1",
    )
    .unwrap();
    drop(old);
    let everything = Filter::default();
    let reader = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    assert_eq!(near(&reader, &meaning(4), &everything, 5), [0; 0]);
    assert_eq!(waiting(&reader, MODEL), [9, 5]);
    assert_eq!(reader.unembedded_count(MODEL).unwrap(), 2);
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    assert_eq!(store.schema_version(), 7);
    assert_eq!(waiting(&store, MODEL), [9, 5]);
    embed_all(&store, MODEL);
    assert_eq!(near(&store, &meaning(4), &everything, 5), [4, 8]);
    // The reader was there first and sees what came.
    assert_eq!(near(&reader, &meaning(4), &everything, 5), [4, 8]);
}

#[test]
fn a_newer_file_can_be_asked_but_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), 30);
    drop(store);
    let path = folder.path().join("remora.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("ALTER TABLE vectors ADD COLUMN later TEXT; PRAGMA user_version = 999")
        .unwrap();
    drop(conn);
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    assert_eq!(near(&store, &meaning(7), &Filter::default(), 1), [7]);
    for said in [store.store_embeddings(MODEL, &[]), store.forget_meanings()] {
        assert!(matches!(said, Err(StoreError::Newer { .. })), "{said:?}");
    }
}

#[test]
fn a_hit_says_how_alike_its_embedding_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    add(&store, 0..3);
    let model = remora_embed::MODEL_ID;
    store
        .store_embeddings(model, &[(1, meaning(0)), (2, meaning(1))])
        .unwrap();
    let cosines = |query: &Query| -> Vec<(i64, Option<f32>)> {
        let hits = store.search(query, &Filter::default(), 5).unwrap();
        let mut cosines: Vec<_> = hits
            .iter()
            .map(|hit| (hit.item.id, hit.fit.meaning))
            .collect();
        cosines.sort_by_key(|(id, _)| *id);
        cosines
    };
    let plain = Query::parse("row");
    assert_eq!(cosines(&plain), [(1, None), (2, None), (3, None)]);
    let wanted = between(0, 1);
    let expected = [
        (1, Some(wanted.cosine_similarity(&meaning(0)))),
        (2, Some(wanted.cosine_similarity(&meaning(1)))),
        (3, None),
    ];
    assert_eq!(cosines(&plain.with_meaning(wanted)), expected);
}
