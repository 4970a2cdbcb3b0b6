//! Searches over more rows than are ever looked at.

use remora_core::ids::{ItemUid, SessionId};
use remora_core::record::{Item, Kind};
use remora_memory::ask::SearchInput;
use remora_memory::store::{Batch, Filter, ItemWrite, Store};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_memory::words::Query;
use remora_store::{Access, SqliteStore, open_store};

/// Many rows with common words; a few of the oldest hold rarer ones.
fn crowd(folder: &std::path::Path) -> SqliteStore {
    let store = open_store(&folder.join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let title = |n: usize| match n {
        3 => "lock retry timeout octopus".to_owned(),
        5 => "lock retry timeout".to_owned(),
        _ if n.is_multiple_of(2) => format!("lock on row{n}"),
        _ => format!("retry of row{n}, no timeout"),
    };
    for from in (0..8_000).step_by(1_000) {
        let items = (from..from + 1_000)
            .map(|n| {
                ItemWrite::Add(Item {
                    project: format!("p{}", n % 3).into(),
                    ..item(&format!("u{n}"), &title(n))
                })
            })
            .collect();
        store
            .apply(&Batch {
                items,
                ..Batch::default()
            })
            .unwrap();
    }
    store
}

fn found(store: &dyn Store, text: &str, filter: &Filter) -> Vec<ItemUid> {
    let hits = store.search(&Query::parse(text), filter, 5).unwrap();
    hits.into_iter()
        .filter(|hit| hit.any_words)
        .map(|hit| hit.item.uid)
        .collect()
}

#[test]
fn old_rows_are_found_behind_a_crowd() {
    let folder = tempfile::tempdir().unwrap();
    let store = crowd(folder.path());
    let all = Filter::default();
    // All words, each of them common.
    assert_eq!(found(&store, "lock retry timeout", &all)[..2], ["u5", "u3"]);
    // One rare word among common ones.
    assert_eq!(found(&store, "lock octopus walrus", &all)[0], "u3");
    assert_eq!(found(&store, "row17", &all), ["u17"]);
    // Most of the words, when no row has all of them.
    let most = found(&store, "lock retry timeout zebra", &all);
    assert_eq!(most[..2], ["u5", "u3"], "{most:?}");
    let project = Filter {
        project: Some("p2".into()),
        ..Filter::default()
    };
    assert_eq!(found(&store, "lock retry", &project)[0], "u5");
    assert_eq!(found(&store, "octopus", &project), [""; 0]);
}

/// One old row says something that many newer ones only have the words of.
fn phrased(folder: &std::path::Path) -> SqliteStore {
    let store = open_store(&folder.join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let row = |n: i64, title: String| {
        ItemWrite::Add(Item {
            time: n * 1_000,
            ..item(&format!("u{n}"), &title)
        })
    };
    let mut items = vec![row(0, "the build ran out of memory".to_owned())];
    let crowd = |n: i64| row(n, format!("memory of run {n} was written out to disk"));
    items.extend((1..2_000).map(crowd));
    let batch = Batch {
        items,
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    store
}

#[test]
fn one_old_row_is_found_behind_many_that_almost_fit() {
    let folder = tempfile::tempdir().unwrap();
    let store = phrased(folder.path());
    let all = Filter::default();
    assert_eq!(found(&store, "\"out of memory\"", &all)[0], "u0");
    let asked = |text: &str| {
        let query = SearchInput::parse(text, |_| None).query;
        let hits = store.search(&query, &all, 5).unwrap();
        let own = hits.into_iter().filter(|hit| hit.any_words);
        own.map(|hit| hit.item.uid).collect::<Vec<ItemUid>>()
    };
    assert_eq!(asked("memory -disk"), ["u0"]);
    let old = Filter {
        until: Some(500),
        ..Filter::default()
    };
    assert_eq!(found(&store, "memory", &old), ["u0"]);
}

#[test]
fn what_was_pruned_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = crowd(folder.path());
    let prune = remora_memory::store::PruneRequest {
        before: Some(i64::MAX),
        project: Some("p0".into()),
        ..Default::default()
    };
    let gone = store
        .prune(&prune, remora_memory::store::PruneMode::Real)
        .unwrap();
    assert_eq!(gone, 2_667);
    assert_eq!(found(&store, "octopus", &Filter::default()), [""; 0]);
    assert_eq!(store.check_integrity().unwrap(), [""; 0]);
}

#[test]
fn commits_that_were_stored_one_after_the_other_are_not_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let titles = [
        "the octopus waits",
        "a walrus sleeps",
        "x",
        "y",
        "z",
        "the octopus rests",
    ];
    for (kind, helps) in [(Kind::Command, true), (Kind::Commit, false)] {
        let rows = titles.map(|title| {
            ItemWrite::Add(Item {
                kind,
                session: SessionId::default(),
                ..item(&format!("{kind} {title}"), title)
            })
        });
        let batch = Batch {
            items: rows.to_vec(),
            ..Batch::default()
        };
        store.apply(&batch).unwrap();
        let filter = Filter {
            kinds: vec![kind],
            ..Filter::default()
        };
        let query = Query::parse("octopus walrus");
        let hits = store.search(&query, &filter, 5).unwrap();
        let words = |title: &str| {
            let hit = hits.iter().find(|hit| hit.item.title == title);
            hit.map(|hit| hit.parts.words).unwrap()
        };
        assert_eq!(words(titles[0]) > words(titles[5]), helps, "{kind}");
    }
}
