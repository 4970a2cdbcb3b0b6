//! Checks of what recall rests on: anchors of files, what was given and what of
//! it was used, and rows that go.

use remora_protocol::record::{Anchor, FileRecord, FileState, Given, Used};

use super::{Check, add, all, found, ok, uids};
use crate::store::{Batch, Filter, Name, Prune, PruneRun, Store};
use crate::testing::item;

pub(super) const CHECKS: &[Check] = &[
    ("anchors tell since when", anchors),
    ("what was given stays as it was", given),
    ("removed rows are gone", removing),
];

fn anchors(store: &dyn Store) {
    let put = |state, time, anchor| {
        let record = FileRecord {
            project: "project".into(),
            folder: "src".into(),
            name: "a.rs".into(),
            holds: String::new(),
            state,
            from: None,
            session: "s".into(),
            time,
            anchor,
        };
        ok(store.apply(&Batch {
            files: vec![record],
            ..Batch::default()
        }));
        ok(store.file("project", "src", "a.rs")).and_then(|file| file.anchor)
    };
    let anchor = |hash, modified: i64| {
        Some(Anchor {
            size: u64::MAX,
            modified: modified * 1_000_000,
            hash,
            since: modified,
        })
    };
    assert_eq!(put(FileState::Changed, 1, None), None);
    assert_eq!(put(FileState::Seen, 2, anchor(7, 2)), anchor(7, 2));
    // Nothing new is known.
    assert_eq!(put(FileState::Changed, 3, None), anchor(7, 2));
    // Written again with the same contents.
    let again = anchor(7, 4).map(|anchor| Anchor { since: 2, ..anchor });
    assert_eq!(put(FileState::Seen, 4, anchor(7, 4)), again);
    assert_eq!(
        put(FileState::Changed, 5, anchor(u64::MAX, 5)),
        anchor(u64::MAX, 5)
    );
    assert_eq!(ok(store.file("project", "src", "b.rs")), None);
    assert_eq!(ok(store.file("elsewhere", "src", "a.rs")), None);
}

fn given(store: &dyn Store) {
    let row = |session: &str, line, time| Given {
        session: session.into(),
        line,
        item: format!("#{line}"),
        subagent: (line == 2).then(|| "agent".into()),
        moment: "prompt".into(),
        why: "words".into(),
        tokens: 12,
        time,
        used: None,
    };
    let used = |how: &str, time| Used {
        how: how.into(),
        time,
    };
    let apply = |given: Vec<Given>, used| {
        ok(store.apply(&Batch {
            given,
            used,
            ..Batch::default()
        }))
    };
    let (a1, a2, b1) = (row("a", 1, 10), row("a", 2, 10), row("b", 1, 5));
    apply(vec![a2.clone(), a1.clone(), b1.clone()], Vec::new());
    let of = |session: &str| Filter {
        session: Some(session.into()),
        ..Filter::default()
    };
    // Told again, with other words: it stays as it was.
    let other = Given {
        why: "other".into(),
        ..a1.clone()
    };
    apply(vec![other], vec![("b".into(), 1, used("opened", 7))]);
    apply(
        Vec::new(),
        vec![
            ("b".into(), 1, used("edited", 8)),
            ("b".into(), 9, used("edited", 8)),
        ],
    );
    let b1 = Given {
        used: Some(used("opened", 7)),
        ..b1
    };
    assert_eq!(ok(store.given(&of("a"), 9)), [a1.clone(), a2.clone()]);
    assert_eq!(
        ok(store.given(&Filter::default(), 9)),
        [b1.clone(), a1.clone(), a2]
    );
    assert_eq!(ok(store.given(&Filter::default(), 2)), [b1.clone(), a1]);
    let early = Filter {
        until: Some(6),
        ..Filter::default()
    };
    assert_eq!(ok(store.given(&early, 9)), [b1]);
    let prune = Prune {
        before: Some(6),
        ..Prune::default()
    };
    ok(store.prune(&prune, PruneRun::Real));
    assert_eq!(ok(store.given(&of("b"), 9)), []);
}

fn removing(store: &dyn Store) {
    let ids = add(store, [item("a", "walrus a"), item("b", "walrus b")]);
    ok(store.remove(&[Name::Id(ids[0]), Name::Uid("nobody".into())]));
    assert_eq!(uids(&all(store)), ["b"]);
    assert_eq!(found(store, "walrus"), ["b"]);
}
