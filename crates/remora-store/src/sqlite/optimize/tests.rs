//! Pieces become few, and nobody can tell from what is found.

use remora_core::record::{Item, Kind};
use remora_memory::store::{Batch, Filter, IndexState, ItemRef, ItemWrite, Store};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_memory::words::Query;

use crate::{Access, SqliteStore, open_store};

const ANIMALS: [&str; 5] = ["walrus", "otter", "heron", "gecko", "mole"];

fn row(n: usize) -> ItemWrite {
    let animal = ANIMALS[n % ANIMALS.len()];
    ItemWrite::Add(Item {
        kind: if n.is_multiple_of(3) {
            Kind::Fix
        } else {
            Kind::Change
        },
        text: format!("the {animal} number {n} met a {}", ANIMALS[n / 7 % 5]),
        ..item(&format!("u{n}"), animal)
    })
}

/// Stores rows one by one, as a worker does that is always awake.
fn add(store: &SqliteStore, numbers: std::ops::Range<usize>) {
    for n in numbers {
        let batch = Batch {
            items: vec![row(n)],
            ..Batch::default()
        };
        store.apply(&batch).unwrap();
    }
}

fn pieces(store: &SqliteStore) -> usize {
    store.count_segments().unwrap()
}

/// Until there is nothing to do; how many steps that takes.
fn settle(store: &SqliteStore) -> usize {
    let steps = (0..1_000).take_while(|_| store.optimize_index().unwrap() == IndexState::Partly);
    let steps = steps.count();
    assert!(steps < 1_000, "it does not end");
    steps
}

fn found(store: &SqliteStore) -> Vec<Vec<(i64, f64)>> {
    let fixes = Filter {
        kinds: vec![Kind::Fix],
        project: Some("project".into()),
        ..Filter::default()
    };
    let ask = |text: &str, filter: &Filter| {
        let hits = store.search(&Query::parse(text), filter, 100).unwrap();
        hits.iter().map(|hit| (hit.item.id, hit.score)).collect()
    };
    [
        "walrus",
        "heron met a mole",
        "number 77",
        "gecko -otter",
        "wal",
    ]
    .iter()
    .flat_map(|text| [ask(text, &Filter::default()), ask(text, &fixes)])
    .collect()
}

#[test]
fn pieces_become_few_and_searches_find_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    assert_eq!(store.optimize_index().unwrap(), IndexState::Wholly);
    add(&store, 0..300);
    store
        .remove(&[ItemRef::Uid("u4".into()), ItemRef::Uid("u77".into())])
        .unwrap();
    let (before, reader) = (
        found(&store),
        open_store(&path, Access::Read, LOOK_TOOLS).unwrap(),
    );
    assert!(pieces(&store) > 3, "{} pieces", pieces(&store));
    assert!(settle(&store) > 0);
    assert_eq!(pieces(&store), 1);
    assert_eq!((found(&store), found(&reader)), (before.clone(), before));
    assert_eq!(store.check_integrity().unwrap(), [""; 0]);
    // Nothing was written, so there is nothing to do.
    assert_eq!(settle(&store), 0);
}

#[test]
fn for_a_few_rows_the_index_is_not_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let all = Batch {
        items: (0..20_000).map(row).collect(),
        ..Batch::default()
    };
    store.apply(&all).unwrap();
    settle(&store);
    let largest = || -> (i64, i64) {
        let sql =
            "SELECT segid, max(pgno) / 2 FROM words_idx GROUP BY segid ORDER BY 2 DESC LIMIT 1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        store.conn.query_row(sql, [], row).unwrap()
    };
    let before = largest();
    assert!(before.1 > 50, "{before:?}");
    add(&store, 20_000..20_007);
    assert!(pieces(&store) > 4, "{} pieces", pieces(&store));
    settle(&store);
    assert_eq!(largest(), before);
    assert!(pieces(&store) < 5, "{} pieces", pieces(&store));
}

#[test]
fn a_reader_does_not_settle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    add(&open_store(&path, Access::Write, LOOK_TOOLS).unwrap(), 0..9);
    let reader = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    assert!(reader.optimize_index().is_err());
}

#[test]
fn a_batch_that_repeats_and_replaces_is_written_as_one_segment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    let replaced = |n: usize, text: &str| match row(n) {
        ItemWrite::Add(item) => ItemWrite::Add(Item {
            text: text.to_owned(),
            ..item
        }),
        other => other,
    };
    add(&store, 0..1);
    let before = pieces(&store);
    let mut items: Vec<ItemWrite> = (1..20).map(row).collect();
    // Of the store and of the same batch, rows that are written and counted up between.
    items.push(replaced(0, "first walnut"));
    items.push(ItemWrite::Again {
        uid: "u3".into(),
        time: 9,
    });
    items.push(replaced(5, "second walnut"));
    items.push(replaced(5, "third walnut"));
    items.extend((20..30).map(row));
    let batch = Batch {
        items,
        ..Batch::default()
    };
    let ids = store.apply(&batch).unwrap();
    assert_eq!(pieces(&store), before + 1);
    let find = |text: &str| {
        let hits = store.search(&Query::parse(text), &Filter::default(), 100);
        let mut ids: Vec<i64> = hits.unwrap().iter().map(|hit| hit.item.id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(find("walnut"), [ids[19], ids[21]]);
    assert_eq!(find("\"second walnut\""), [0_i64; 0]);
    assert_eq!(find("\"number 5\""), [0_i64; 0]);
    assert_eq!(find("\"number 29\""), [ids[32]]);
}
